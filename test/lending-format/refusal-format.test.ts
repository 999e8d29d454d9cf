import { expect } from 'chai';
import { describe, it } from 'mocha';
import { refusal } from '../../src/lending/refusals.ts';
import { apiErrors } from '../../src/lending-format/refusal-format.ts';

describe('a refusal in the lending API', () => {
  it('has its number, its name and the field at fault', () => {
    expect(apiErrors([refusal('EXCESS_REPAYMENT_ERROR', 'amount')])).to.deep.equal([
      { errorCode: 110, errorReason: 'EXCESS_REPAYMENT_ERROR', errorSource: 'amount' },
    ]);
  });

  it('names the account where no single field is at fault', () => {
    expect(apiErrors([refusal('INVALID_ACCOUNT_STATE')])).to.deep.equal([
      { errorCode: 105, errorReason: 'INVALID_ACCOUNT_STATE', errorSource: 'loanAccountId' },
    ]);
  });
});

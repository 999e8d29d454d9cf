import { expect } from 'chai';
import { describe, it } from 'mocha';
import { withoutFeesDueWhileLocked } from '../../../src/lending/fees/locked-fees.ts';
import { disbursed, dynamicProduct, fee, loanOf, money } from '../loan-fixtures.ts';

const each = fee({ id: 'each', trigger: 'PAYMENT_DUE', amount: money(10), feeApplication: 'REQUIRED' });
const loan = loanOf(disbursed(dynamicProduct({ feesSettings: { fees: [each] } })));
const locked = { ...loan.position, lockedOperations: ['APPLY_FEES'] as const };

describe('fees that fall due while fees are locked', () => {
  it('are dropped up to the day, its own included', () => {
    const after = withoutFeesDueWhileLocked(loan, locked, '2011-02-23');
    expect(after.charges).to.have.length(5);
    expect(after.installments.map((row) => row.fee.amount.expected.toFixed(2)).slice(0, 2)).to.deep.equal([
      '0.00',
      '10.00',
    ]);
  });

  it('stay before their day, and when something else is locked', () => {
    expect(withoutFeesDueWhileLocked(loan, locked, '2011-02-22')).to.equal(locked);
    const { position } = loan;
    expect(withoutFeesDueWhileLocked(loan, position, '2011-02-23')).to.equal(position);
  });
});

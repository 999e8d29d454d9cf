import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../src/lending/balances.ts';
import {
  adjust,
  applyFee,
  applyPenalty,
  create,
  disbursed,
  dynamicProduct,
  given,
  loanOf,
  product,
  reasons,
  repay,
  texts,
  type Story,
  undoWriteOff,
  when,
  writeOff,
} from '../loan-fixtures.ts';

const late = when(when(disbursed(dynamicProduct()), applyFee(30)), applyPenalty(8));
const namesOf = ({ events }: Story): string[] =>
  events.flatMap((event) => (event.eventType === 'loan_state_changed' ? [event.name] : []));

describe('a write-off', () => {
  it('gives up all that is owed on the day, and closes the account', () => {
    const paid = when(late, repay(100, '2011-02-23'));
    const story = when(paid, writeOff('2011-03-08'));
    const { type, amount, affected } = story.transactions.at(-1) ?? expect.fail('no transaction');
    expect(type).to.equal('WRITE_OFF');
    // 100 paid 38.00 of fee and penalty, 8.33 of interest and 53.67 of principal; 946.33 earned for 15 of 30 days.
    expect(texts({ ...affected, amount })).to.deep.equal({
      principal: '946.33',
      interest: '3.94',
      fees: '0.00',
      penalty: '0.00',
      amount: '950.27',
    });
    expect(loanOf(story).position).to.include({ accountState: 'CLOSED', accountSubState: 'WRITTEN_OFF' });
    const { total, principal } = figuresOf(loanOf(story));
    expect([total.toFixed(2), principal.paid.toFixed(2)]).to.deep.equal(['0.00', '53.67']);
    expect(namesOf(story).at(-1)).to.equal('loan_written_off');
  });

  it('is taken back exactly, by its own command or by an adjustment', () => {
    const story = when(late, writeOff('2011-03-08'));
    for (const undone of [when(story, undoWriteOff), when(story, adjust(4))]) {
      expect(loanOf(undone).position).to.deep.equal(loanOf(late).position);
      expect(undone.transactions.at(-1)).to.include({ type: 'WRITE_OFF_ADJUSTMENT' });
      expect(namesOf(undone).at(-1)).to.equal('loan_reopened');
    }
  });

  it('is refused for a loan that is not active, and on days that are not possible', () => {
    expect(reasons(when(given(create(product())), writeOff('2011-02-23')))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    expect(reasons(when(when(late, writeOff('2011-03-08')), writeOff('2011-03-08')))).to.deep.equal([
      'INVALID_ACCOUNT_STATE',
    ]);
    expect(reasons(when(late, writeOff('2040-01-02')))).to.deep.equal(['INVALID_DATE valueDate']);
    expect(reasons(when(late, writeOff('2011-01-22')))).to.deep.equal([
      'ENTRY_DATE_BEFORE_OTHER_TRANSACTION valueDate',
    ]);
  });

  it('can be taken back only while the account is written off', () => {
    expect(reasons(when(late, undoWriteOff))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    const repaid = when(disbursed(), repay('1261.88', '2011-02-23'));
    expect(reasons(when(repaid, undoWriteOff))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
  });
});

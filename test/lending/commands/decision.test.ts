import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../src/lending/balances.ts';
import { refuse, transactionOf } from '../../../src/lending/commands/decision.ts';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import { previewRefusals } from '../../../src/lending/schedule/preview.ts';
import { noAmounts } from '../../../src/lending/ledger.ts';
import {
  type Story,
  applyFee,
  applyPenalty,
  create,
  disbursed,
  dynamicProduct,
  given,
  loanOf,
  money,
  product,
  reasons,
  repay,
  when,
} from '../loan-fixtures.ts';

describe('a decision', () => {
  it('refuses with a reason and the field in question', () => {
    expect(refuse('INVALID_AMOUNT', 'amount')).to.deep.equal({
      refusals: [{ errorReason: 'INVALID_AMOUNT', errorSource: 'amount' }],
    });
  });

  it('adds the terms to a transaction, and books it on its value date by default', () => {
    const own = { amount: money(1), valueDate: '2011-02-23', affected: noAmounts, taxes: noAmounts };
    const header = { commandId: 'c', digest: 'd', receivedAt: 0 };
    const transaction = transactionOf(loanOf(disbursed()), header, { newKey: (purpose) => purpose }, 'REPAYMENT', own);
    expect(transaction).to.include({ commandId: 'c', commandDigest: 'd' });
    expect(transaction).to.include({ encodedKey: 'transaction', bookingDate: '2011-02-23', externalId: null });
    expect(transaction.terms.interestRate.toFixed()).to.equal('10');
    expect(transaction.terms.periodicPayment?.toFixed(2)).to.equal('315.47');
  });

  it('accepts amounts and charges only up to the maximum that can be shown, all added up', () => {
    const free = product({ interestSettings: { interestRate: { defaultValue: money(0) } } });
    const most = '9999999999999.99';
    const full = disbursed(free, most);
    expect(full.outcome).to.equal('committed');
    expect(reasons(when(full, applyFee('0.01', { installmentNumber: 1 })))).to.deep.equal(['INVALID_AMOUNT amount']);
    expect(reasons(when(full, applyPenalty('0.01')))).to.deep.equal(['INVALID_AMOUNT amount']);
    const almost = disbursed(free, '9999999999999.97');
    const fees = when(almost, applyFee('0.01', { installmentNumber: 1 }));
    const penalties = when(fees, applyPenalty('0.01'));
    expect([fees.outcome, penalties.outcome]).to.deep.equal(['committed', 'committed']);
    expect(figuresOf(loanOf(penalties)).total.toFixed(2)).to.equal(most);
    // With additional interest, the same loan would have an amount of sixteen digits.
    expect(reasons(disbursed(product(), most))).to.deep.equal(['INVALID_AMOUNT loanAmount']);
    expect(previewRefusals(loanOf(given(create(product(), most))), alwaysOpen)).to.have.length(1);
  });

  it('accepts them only up to that maximum if nothing is ever repaid and overdue principal keeps accruing', () => {
    const late = (accrueLateInterest: boolean) =>
      disbursed(dynamicProduct({ interestSettings: { accrueLateInterest } }), '9716599190283.39');
    // As scheduled, the total is 9999999999999.99; on the last due date, unpaid, it is 10202429149797.57.
    expect(reasons(late(true))).to.deep.equal(['INVALID_AMOUNT loanAmount']);
    expect(figuresOf(loanOf(when(late(false), repay(1, '2011-07-23')))).total.toFixed(2)).to.equal('9999999999998.99');
    const earning = disbursed(dynamicProduct(), '9500000000000.00');
    const atTheEnd = (story: Story): string =>
      figuresOf(loanOf(when(story, repay('0.01', '2011-07-23'))))
        .total.plus('0.01')
        .toFixed(2);
    expect(atTheEnd(earning)).to.equal('9975000000000.02');
    for (const charge of [(amount: string) => applyFee(amount), (amount: string) => applyPenalty(amount)]) {
      expect(atTheEnd(when(earning, charge('24999999999.97')))).to.equal('9999999999999.99');
      expect(reasons(when(earning, charge('24999999999.98')))).to.deep.equal(['INVALID_AMOUNT amount']);
    }
  });
});

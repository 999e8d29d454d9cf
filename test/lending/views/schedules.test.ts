import { expect } from 'chai';
import { describe, it } from 'mocha';
import { changedInstallments, scheduleOf } from '../../../src/lending/views/schedules.ts';
import { startOfDay } from '../../../src/lending/instants.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { disbursed, dynamicProduct, loanOf, money, overpay, product, repay, under, when } from '../loan-fixtures.ts';

describe('the overpayment field', () => {
  const overpaid = when(disbursed(), overpay(100, '2011-01-23'));
  it('is on every installment under PRINCIPAL_OVERPAYMENT', () => {
    const rows = scheduleOf(loanOf(overpaid), { ...allTogglesOff, PRINCIPAL_OVERPAYMENT: true }).installments;
    expect(rows.map((row) => row.nonScheduledPrincipalBalanceOverpayment?.toFixed(2))).to.deep.equal([
      '100.00',
      '0.00',
      '0.00',
      '0.00',
    ]);
  });

  it('is otherwise on no installment, not even as null', () => {
    const rows = scheduleOf(loanOf(overpaid), allTogglesOff).installments;
    expect(rows.some((row) => 'nonScheduledPrincipalBalanceOverpayment' in row)).to.equal(false);
  });

  it('is reported again, row by row, after the toggle is switched', () => {
    const flipped = when(under({ PRINCIPAL_OVERPAYMENT: true }, overpaid), repay(1, '2011-01-23'));
    const last = flipped.events.findLast((event) => event.eventType === 'loan_schedule_changed');
    expect(last?.changedInstallments.map(({ number }) => number)).to.deep.equal(['1', '2', '3', '4']);
  });
});

describe('an installment of which only interest is left to pay', () => {
  const stateOf = (principalPaidInstallmentStatus: string, day: string): string | undefined => {
    const loanProduct = dynamicProduct({
      paymentSettings: { prepaymentSettings: { principalPaidInstallmentStatus } },
    });
    const parts = [{ customPaymentAmountType: 'PRINCIPAL', amount: money('166.67') }];
    const paid = when(disbursed(loanProduct), repay('166.67', '2011-01-24', { customPaymentAmounts: parts }));
    const later = when(paid, { type: 'APPLY_INTEREST', valueDate: day });
    return scheduleOf(loanOf(later), allTogglesOff).installments[0]?.state;
  };

  it('is PARTIALLY_PAID, or PAID where the product says so, and LATE after its due date', () => {
    expect(stateOf('PARTIALLY_PAID', '2011-02-23')).to.equal('PARTIALLY_PAID');
    expect(stateOf('PAID', '2011-02-23')).to.equal('PAID');
    expect(stateOf('PAID', '2011-02-24')).to.equal('LATE');
  });
});

describe('the state of an installment', () => {
  const states = (story: ReturnType<typeof disbursed>): string[] =>
    scheduleOf(loanOf(story), allTogglesOff).installments.map(({ state }) => state);
  it('depends on what was paid and on the day of the last transaction', () => {
    expect(states(disbursed())).to.deep.equal(['PENDING', 'PENDING', 'PENDING', 'PENDING']);
    expect(states(when(disbursed(), repay('400', '2011-02-23')))).to.deep.equal([
      'PAID',
      'PARTIALLY_PAID',
      'PENDING',
      'PENDING',
    ]);
    expect(states(when(disbursed(), repay('10', '2011-03-24')))).to.deep.equal(['LATE', 'LATE', 'PENDING', 'PENDING']);
  });

  it('is the only change of a row that has become late', () => {
    const start = disbursed();
    const later = when(start, repay('1', '2011-04-01'));
    const changed = changedInstallments(loanOf(start), loanOf(later), allTogglesOff);
    expect(changed.map(({ number, state }) => `${number} ${state}`)).to.deep.equal(['1 LATE', '2 LATE']);
    expect(changedInstallments(loanOf(later), loanOf(later), allTogglesOff)).to.deep.equal([]);
  });

  it('is GRACE when the grace period leaves nothing to pay', () => {
    const free = product({
      interestSettings: { interestRate: { defaultValue: money(0) } },
      gracePeriodSettings: { gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: { defaultValue: 2 } },
    });
    expect(states(disbursed(free))).to.deep.equal(['GRACE', 'GRACE', 'PENDING', 'PENDING']);
  });

  it('is PENDING until its due date if nothing is due, and PAID from then on or when the loan is paid', () => {
    // With two cents, nothing is left for the last two rows.
    const cents = product({ interestSettings: { interestRate: { defaultValue: money(0) } } });
    const start = disbursed(cents, '0.02');
    const asked = (story: typeof start): string[] =>
      scheduleOf(loanOf(story), allTogglesOff).installments.map(
        ({ principal, state }) => `${principal.amount.expected.toFixed(2)} ${state}`,
      );
    expect(asked(start)).to.deep.equal(['0.01 PENDING', '0.01 PENDING', '0.00 PENDING', '0.00 PENDING']);
    expect(asked(when(start, repay('0.01', '2011-04-23')))).to.deep.equal([
      '0.01 PAID',
      '0.01 LATE',
      '0.00 PAID',
      '0.00 PENDING',
    ]);
    const closed = when(start, repay('0.02', '2011-01-23'));
    expect(asked(closed)).to.deep.equal(['0.01 PAID', '0.01 PAID', '0.00 PAID', '0.00 PAID']);
    const emitted = closed.events.findLast((event) => event.eventType === 'loan_schedule_changed');
    expect(emitted?.changedInstallments.map(({ number, state }) => `${number} ${state}`)).to.deep.equal([
      '1 PAID',
      '2 PAID',
      '3 PAID',
      '4 PAID',
    ]);
  });

  it('includes the dates of payment', () => {
    const [row] = scheduleOf(loanOf(when(disbursed(), repay('315.47', '2011-02-23'))), allTogglesOff).installments;
    expect([row?.lastPaidDate, row?.repaidDate]).to.deep.equal([startOfDay('2011-02-23'), '2011-02-23T00:00:00Z']);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isUsableDate, refusalOfDays } from '../../../src/lending/commands/transaction-days.ts';
import {
  type AskedCommand,
  type Story,
  adjust,
  applyFee,
  applyPenalty,
  approve,
  create,
  disburse,
  given,
  overpay,
  product,
  reasons,
  repay,
  when,
} from '../loan-fixtures.ts';

describe('the days of a transaction', () => {
  it('accepts no transaction with a future date, of any kind', () => {
    const start = given(create(product()), approve);
    const [today, tomorrow] = ['2026-03-01', '2026-03-02'];
    const receivedAt = Date.parse(`${today}T23:59:59.999Z`);
    const active = when(start, disburse('2011-01-23'));
    const commands: readonly (readonly [story: Story, command: AskedCommand, inFuture: string])[] = [
      [start, disburse(today), 'INVALID_DISBURSEMENT_DATE'],
      [active, repay(1, today), 'REPAYMENT_DATE_IN_THE_FUTURE_ERROR'],
      [active, overpay(1, today), 'REPAYMENT_DATE_IN_THE_FUTURE_ERROR'],
      [active, applyFee(1, { installmentNumber: 1 }), 'INVALID_DATE'],
      [active, applyPenalty(1), 'INVALID_DATE'],
    ];
    for (const [story, command, inFuture] of commands) {
      const asked = (days: object): Story => when(story, { ...command, ...days, receivedAt });
      expect(asked({ valueDate: today, bookingDate: today }).outcome, command.type).to.equal('committed');
      expect(reasons(asked({ valueDate: tomorrow }))).to.deep.equal([`${inFuture} valueDate`]);
      expect(reasons(asked({ valueDate: '2999-12-31' }))).to.deep.equal([`${inFuture} valueDate`]);
      expect(reasons(asked({ valueDate: today, bookingDate: tomorrow }))).to.deep.equal(['INVALID_DATE bookingDate']);
      expect(reasons(asked({ valueDate: today, bookingDate: '1899-12-31' }))).to.deep.equal([
        'INVALID_DATE bookingDate',
      ]);
      const outside = command.type === 'DISBURSE' ? 'INVALID_DISBURSEMENT_DATE valueDate' : 'INVALID_DATE valueDate';
      for (const valueDate of ['1899-12-31', '3000-01-01', '3500-01-01', '9999-12-31']) {
        expect(reasons(asked({ valueDate })), `${command.type} ${valueDate}`).to.deep.equal([outside]);
      }
    }
    const back = when(active, { ...adjust(1), bookingDate: tomorrow, receivedAt } as AskedCommand);
    expect(reasons(back)).to.deep.equal(['INVALID_DATE bookingDate']);
  });

  for (const futurePaymentsAcceptance of ['NO_FUTURE_PAYMENTS', 'ACCEPT_FUTURE_PAYMENTS', 'ACCEPT_OVERPAYMENTS']) {
    for (const type of ['FIXED_TERM_LOAN', 'DYNAMIC_TERM_LOAN'] as const) {
      it(`takes a repayment dated ahead as ${futurePaymentsAcceptance} says, and not more than the total, of a ${type}`, () => {
        const additionalFields = { paymentSettings: { prepaymentSettings: { futurePaymentsAcceptance } } };
        const story = when(given(create(product({ type, additionalFields })), approve), disburse('2026-03-01'));
        const receivedAt = Date.parse('2026-03-02T23:59:59.999Z');
        const asked = (amount: number, day: string): string[] =>
          reasons(when(story, { ...repay(amount, day), receivedAt }));
        expect(asked(1, '2026-03-02')).to.deep.equal([]);
        const isAccepted = futurePaymentsAcceptance !== 'NO_FUTURE_PAYMENTS';
        const inFuture = 'REPAYMENT_DATE_IN_THE_FUTURE_ERROR valueDate';
        expect(asked(1, '2026-03-03')).to.deep.equal(isAccepted ? [] : [inFuture]);
        // Only repayments wait for their day.
        expect(reasons(when(story, { ...overpay(1, '2026-03-03'), receivedAt }))).to.deep.equal([inFuture]);
        expect(asked(1_000_000, '2026-03-02')).to.deep.equal(['EXCESS_REPAYMENT_ERROR amount']);
      });
    }
  }

  it('takes the current day from the command, not from the clock', () => {
    const days = { receivedAt: Date.parse('1999-12-31T23:59:59.999Z'), valueDate: '1999-12-31' };
    expect(refusalOfDays(days)).to.equal(null);
    expect(refusalOfDays({ ...days, valueDate: '2000-01-01' })).to.deep.equal({
      errorReason: 'INVALID_DATE',
      errorSource: 'valueDate',
    });
  });

  it('accepts the dates that schedules can be computed for', () => {
    expect(['1899-12-31', '1900-01-01', '2999-12-31', '3000-01-01'].map(isUsableDate)).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
  });
});

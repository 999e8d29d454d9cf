import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../../src/lending/balances.ts';
import { installmentEncodedKey } from '../../../../src/lending/identifiers.ts';
import {
  adjust,
  applyFee,
  applyPenalty,
  create,
  disbursed,
  dynamicProduct,
  fee,
  given,
  loanOf,
  lock,
  money,
  product,
  reasons,
  repay,
  rowsOf,
  terminate,
  texts,
  type Story,
  unlock,
  when,
  writeOff,
} from '../../loan-fixtures.ts';

const start = disbursed(dynamicProduct());
const namesOf = ({ events }: Story): string[] =>
  events.flatMap((event) => (event.eventType === 'loan_state_changed' ? [event.name] : []));
const dueDates = (story: Story): string[] => loanOf(story).position.installments.map(({ dueDate }) => dueDate);

describe('a termination', () => {
  const paid = when(start, repay(175, '2011-02-23'));
  const story = when(paid, terminate('2011-03-08'));

  it('makes all principal due on the day in the row that was running, with the interest earned until then', () => {
    // 833.33 at 5 percent a year for 15 of 30 days.
    expect(rowsOf(loanOf(story))).to.deep.equal(['166.67/166.67 8.33/8.33', '833.33/0.00 3.47/0.00']);
    expect(dueDates(story)).to.deep.equal(['2011-02-23', '2011-03-08']);
    const { principal, interest, total } = figuresOf(loanOf(story));
    expect(texts({ principal: principal.due, interest: interest.due, total })).to.deep.equal({
      principal: '833.33',
      interest: '3.47',
      total: '836.80',
    });
  });

  it('leaves the account active and open to repayments, and the last one closes it', () => {
    expect(loanOf(story).position).to.include({ accountState: 'ACTIVE', accountSubState: 'TERMINATED' });
    expect(namesOf(story).at(-1)).to.equal('loan_terminated');
    const repaid = when(story, repay('836.80', '2011-04-01'));
    expect(loanOf(repaid).position).to.include({ accountState: 'CLOSED', accountSubState: 'REPAID' });
    const reopened = when(repaid, adjust(4));
    expect(loanOf(reopened).position).to.deep.equal(loanOf(story).position);
    expect(namesOf(reopened).at(-1)).to.equal('loan_reopened');
  });

  it('is taken back exactly by the adjustment of its transaction', () => {
    const undone = when(story, adjust(3));
    expect(loanOf(undone).position).to.deep.equal(loanOf(paid).position);
    expect(undone.transactions.at(-1)).to.include({ type: 'ACCOUNT_TERMINATED_ADJUSTMENT' });
    expect(namesOf(undone).at(-1)).to.equal('loan_termination_undone');
  });

  it('keeps fees and penalties that were charged, and drops fees for due dates that the loan does not reach', () => {
    const each = fee({ id: 'each', trigger: 'PAYMENT_DUE', amount: money(10), feeApplication: 'REQUIRED' });
    const charged = when(
      when(disbursed(dynamicProduct({ feesSettings: { fees: [each] } })), applyFee(30)),
      applyPenalty(8),
    );
    const ended = when(charged, terminate('2011-02-08'));
    const { fees, penalty } = figuresOf(loanOf(ended));
    // The fee of the row that now is due, and the one charged by hand.
    expect(texts({ fees: fees.due, penalty: penalty.due })).to.deep.equal({ fees: '40.00', penalty: '8.00' });
    expect(loanOf(when(ended, adjust(4))).position).to.deep.equal(loanOf(charged).position);
  });

  it('takes what was paid of later installments into the last one', () => {
    const second = loanOf(start).position.installments[1] ?? expect.fail('no row');
    const ahead = when(start, repay(100, '2011-01-23', { prepaymentRecalculationMethod: 'NO_RECALCULATION' }));
    const ended = when(ahead, terminate('2011-01-24'));
    expect(second.number).to.equal(2);
    const [row = expect.fail('no row'), ...others] = loanOf(ended).position.installments;
    expect(others).to.deep.equal([]);
    expect(texts({ ...row.principal })).to.deep.equal({ expected: '1000.00', paid: '100.00' });
  });

  it('keeps all that was paid of the installments that it joins, and the last day on which one of them was', () => {
    const pay = (story: Story, number: number, day: string): Story =>
      when(story, repay(10, day, { installmentEncodedKey: installmentEncodedKey(loanOf(start), number) }));
    for (const numbers of [
      [1, 2],
      [2, 1],
    ] as const) {
      const twice = pay(pay(start, numbers[0], '2011-01-24'), numbers[1], '2011-01-26');
      expect(reasons(twice)).to.deep.equal([]);
      const [row = expect.fail('no row')] = loanOf(when(twice, terminate('2011-01-27'))).position.installments;
      expect(row.lastPaidDate).to.equal('2011-01-26');
      const { principal, interest } = figuresOf(loanOf(twice));
      expect(texts({ ...row.principal })['paid']).to.equal(principal.paid.toFixed(2));
      expect(principal.paid.plus(interest.paid).toFixed(2)).to.equal('20.00');
    }
    for (const number of [1, 2]) {
      const once = when(pay(start, number, '2011-01-24'), terminate('2011-01-27'));
      expect(loanOf(once).position.installments.map(({ lastPaidDate }) => lastPaidDate)).to.deep.equal(['2011-01-24']);
    }
  });

  it('leaves fees with installments that are due, and moves those of later ones to the last one', () => {
    const first = when(start, applyFee(5, { valueDate: '2011-02-10' }));
    // Charged within the third installment, before the account is terminated within the second.
    const charged = when(first, applyFee(6, { valueDate: '2011-04-01' }));
    const keysOf = (story: Story): unknown[] =>
      loanOf(story).position.charges.map(({ installmentKey }) => installmentKey);
    expect(keysOf(charged)).to.deep.equal([1, 3]);
    const ended = when(charged, terminate('2011-03-08'));
    expect(reasons(ended)).to.deep.equal([]);
    expect(dueDates(ended)).to.deep.equal(['2011-02-23', '2011-03-08']);
    expect(keysOf(ended)).to.deep.equal([1, 2]);
    expect(figuresOf(loanOf(ended)).fees.due.toFixed(2)).to.equal('11.00');
  });

  it('after the last due date, or on it, changes no row', () => {
    for (const day of [dueDates(start).at(-1) ?? '', '2012-01-01']) {
      const ended = when(start, terminate(day));
      expect(dueDates(ended)).to.deep.equal(dueDates(start));
      expect(loanOf(ended).position.accountSubState).to.equal('TERMINATED');
    }
  });

  it('stays when the account is locked and unlocked', () => {
    const locked = when(story, lock('2011-03-09'));
    expect(loanOf(locked).position).to.include({ accountSubState: 'TERMINATED' });
    expect(loanOf(locked).position.lockedOperations).to.have.length(3);
    expect(loanOf(when(locked, unlock('2011-03-10'))).position).to.include({ accountSubState: 'TERMINATED' });
  });

  it('is refused twice, for a fixed term, on days that are not possible, and when the loan is not active', () => {
    expect(reasons(when(story, terminate('2011-03-09')))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    expect(reasons(when(disbursed(), terminate('2011-03-09')))).to.deep.equal(['LOAN_PRODUCT_MISMATCH']);
    expect(reasons(when(paid, terminate('2040-01-02')))).to.deep.equal(['INVALID_DATE valueDate']);
    expect(reasons(when(paid, terminate('2011-02-22')))).to.deep.equal([
      'ENTRY_DATE_BEFORE_OTHER_TRANSACTION valueDate',
    ]);
    expect(reasons(when(given(create(product())), terminate('2011-02-22')))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    expect(reasons(when(when(paid, writeOff('2011-03-08')), terminate('2011-03-08')))).to.deep.equal([
      'INVALID_ACCOUNT_STATE',
    ]);
  });

  it('is refused for a loan that owes nothing and is kept open for some days', () => {
    const kept = disbursed(dynamicProduct({ internalControls: { dormancyPeriodDays: 30 } }));
    // 1000 and its interest of one month: 8.33.
    const repaid = when(kept, repay('1008.33', '2011-02-23'));
    expect(loanOf(repaid).position).to.include({ accountState: 'ACTIVE', paidSince: '2011-02-23' });
    expect(reasons(when(repaid, terminate('2011-02-23')))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    const owing = when(kept, repay('1008.32', '2011-02-23'));
    expect(when(owing, terminate('2011-02-23')).refusals).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  allocate,
  allocateCustom,
  dueNow,
  principalAhead,
  refusalOfCustomAmounts,
} from '../../src/lending/allocation.ts';
import { currentRowIndex } from '../../src/lending/installments.ts';
import type { CustomPaymentAmount } from '../../src/lending/commands.ts';
import { type Ledger, openLedger } from '../../src/lending/ledger.ts';
import { applyFee, disbursed, fee, loanOf, money, product, when } from './loan-fixtures.ts';

/** Two rows of principal 100 with interest 10 and 9, and a fee of 5 on the first: the example of the documentation. */
function example(order: readonly string[], paymentMethod = 'HORIZONTAL', valueDate = '2011-02-23'): Ledger {
  const loanProduct = product({
    paymentSettings: { repaymentAllocationOrder: order, paymentMethod },
    scheduleSettings: { numInstallments: { defaultValue: 2 } },
    feesSettings: { fees: [fee({ id: 'other' })] },
  });
  const loan = loanOf(when(disbursed(loanProduct, 200), applyFee(5, { installmentNumber: 1 })));
  const interests = ['10', '9'];
  const installments = loan.position.installments.map((row, index) => ({
    ...row,
    principal: { expected: money(100), paid: money(0) },
    interest: { ...row.interest, amount: { expected: money(interests[index] ?? 0), paid: money(0) } },
  }));
  return openLedger(loan, { ...loan.position, installments }, valueDate);
}

const paidOf = ({ rows }: Ledger): string[] =>
  rows.map(
    (row) =>
      `F${row.fee.amount.paid.toFixed()} I${row.interest.amount.paid.toFixed()} P${row.principal.paid.toFixed()}`,
  );

describe('allocating 120', () => {
  const table: readonly (readonly [order: string, rows: string[]])[] = [
    ['FEE PENALTY INTEREST PRINCIPAL', ['F5 I10 P100', 'F0 I5 P0']],
    ['PRINCIPAL INTEREST FEE PENALTY', ['F5 I10 P100', 'F0 I0 P5']],
  ];
  for (const [order, rows] of table) {
    it(`in the order ${order} pays one row after another`, () => {
      const ledger = example(order.split(' '));
      expect(allocate(ledger, money(120), false).toFixed()).to.equal('0');
      expect(paidOf(ledger)).to.deep.equal(rows);
    });
  }

  const vertical: readonly (readonly [what: string, valueDate: string, order: string, rows: string[]])[] = [
    ['all of both rows', '2011-03-23', 'FEE PENALTY INTEREST PRINCIPAL', ['F5 I10 P96', 'F0 I9 P0']],
    ['all of both rows', '2011-03-23', 'PRINCIPAL INTEREST FEE PENALTY', ['F0 I0 P100', 'F0 I0 P20']],
    ['the row of the day first', '2011-02-23', 'PRINCIPAL INTEREST FEE PENALTY', ['F5 I10 P100', 'F0 I0 P5']],
  ];
  for (const [what, valueDate, order, rows] of vertical) {
    it(`by VERTICAL in the order ${order} pays one element after another, ${what}`, () => {
      const ledger = example(order.split(' '), 'VERTICAL', valueDate);
      expect(allocate(ledger, money(120), false).toFixed()).to.equal('0');
      expect(paidOf(ledger)).to.deep.equal(rows);
    });
  }

  it('to one row pays no other', () => {
    const ledger = example(['FEE', 'PENALTY', 'INTEREST', 'PRINCIPAL']);
    expect(dueNow(ledger, 0).toFixed()).to.equal('115');
    expect(allocate(ledger, money(120), false, 0).toFixed()).to.equal('5');
    expect(paidOf(ledger)).to.deep.equal(['F5 I10 P100', 'F0 I0 P0']);
    expect(allocate(ledger, money(4), false, 1).toFixed()).to.equal('0');
    expect(paidOf(ledger)).to.deep.equal(['F5 I10 P100', 'F0 I4 P0']);
  });

  it('leaves principal of later rows to a recalculation', () => {
    const ledger = example(['FEE', 'PENALTY', 'INTEREST', 'PRINCIPAL']);
    expect(currentRowIndex(ledger)).to.equal(0);
    expect(principalAhead(ledger).toFixed()).to.equal('100');
    expect(allocate(ledger, money(150), true).toFixed()).to.equal('26');
    expect(paidOf(ledger)).to.deep.equal(['F5 I10 P100', 'F0 I9 P0']);
  });

  it('computes the amount due on the day', () => {
    expect(dueNow(example(['FEE', 'PENALTY', 'INTEREST', 'PRINCIPAL'])).toFixed()).to.equal('115');
  });
});

describe('a fee of each installment', () => {
  const fees = [fee({ id: 'each', trigger: 'PAYMENT_DUE', amount: money(5), feeApplication: 'REQUIRED' })];
  const loan = loanOf(disbursed(product({ feesSettings: { fees } })));
  const dueOn = (date: string): string => dueNow(openLedger(loan, loan.position, date)).toFixed(2);

  it('is due together with its installment', () => {
    expect([dueOn('2011-02-22'), dueOn('2011-02-23'), dueOn('2011-03-23')]).to.deep.equal(['0.00', '320.47', '640.94']);
  });
});

describe('custom amounts', () => {
  const part = (
    customPaymentAmountType: CustomPaymentAmount['customPaymentAmountType'],
    amount: string,
    predefinedFeeKey?: string,
  ): CustomPaymentAmount => ({
    customPaymentAmountType,
    amount: money(amount),
    ...(predefinedFeeKey === undefined ? {} : { predefinedFeeKey }),
  });
  const pay = (...parts: CustomPaymentAmount[]): string[] | string => {
    const ledger = example(['FEE', 'PENALTY', 'INTEREST', 'PRINCIPAL']);
    const left = allocateCustom(ledger, parts, false);
    return 'errorReason' in left ? `${left.errorReason} ${left.errorSource ?? ''}` : paidOf(ledger);
  };
  it('pay the elements that they name', () => {
    expect(pay(part('PRINCIPAL', '120'), part('INTEREST', '12'))).to.deep.equal(['F0 I10 P100', 'F0 I2 P20']);
    expect(pay(part('MANUAL_FEE', '3'))).to.deep.equal(['F3 I0 P0', 'F0 I0 P0']);
  });

  it('never exceed what is owed for the element', () => {
    expect(pay(part('INTEREST', '19.01'))).to.equal('EXCESS_REPAYMENT_ERROR customPaymentAmounts[0].amount');
    expect(pay(part('INTEREST', '1'), part('PAYMENT_DUE_FEE', '1'))).to.equal(
      'EXCESS_REPAYMENT_ERROR customPaymentAmounts[1].amount',
    );
    expect(pay(part('MANUAL_FEE', '1', 'other'))).to.equal('EXCESS_REPAYMENT_ERROR customPaymentAmounts[0].amount');
  });

  it('are checked in a fixed order: allowed, positive, not repeated, complete', () => {
    const check = (isAllowed: boolean, amount: string, ...parts: CustomPaymentAmount[]): string | undefined =>
      refusalOfCustomAmounts(isAllowed, money(amount), parts, 2)?.errorReason;
    const wrong = [part('INTEREST', '0'), part('INTEREST', '1')];
    expect(check(false, '5', ...wrong)).to.equal('CUSTOM_PAYMENT_NOT_ALLOWED_BY_PRODUCT');
    expect(check(true, '5', ...wrong)).to.equal('INVALID_AMOUNT');
    expect(check(true, '5', part('INTEREST', '1'), part('INTEREST', '1'))).to.equal(
      'SAME_CUSTOM_PAYMENT_AMOUNT_TYPE_USED_MULTIPLE_TIMES',
    );
    expect(check(true, '5', part('INTEREST', '1'))).to.equal(
      'CUSTOM_PAYMENT_AMOUNT_DIFFERENT_THAN_TOTAL_PAYMENT_AMOUNT',
    );
    expect(check(true, '1', part('INTEREST', '1'))).to.equal(undefined);
  });
});

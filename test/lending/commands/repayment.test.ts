import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../src/lending/balances.ts';
import { installmentEncodedKey } from '../../../src/lending/identifiers.ts';
import { refusalOfPayment } from '../../../src/lending/commands/repayment.ts';
import {
  applyFee,
  create,
  disbursed,
  dynamicProduct,
  fee,
  given,
  loanOf,
  money,
  product,
  reasons,
  repay,
  rowsOf,
  under,
  when,
} from '../loan-fixtures.ts';

const pays = (...parts: readonly (readonly [type: string, amount: string])[]): object => ({
  customPaymentAmounts: parts.map(([customPaymentAmountType, amount]) => ({
    customPaymentAmountType,
    amount: money(amount),
  })),
});

describe('a repayment', () => {
  it('of the total balance closes the loan, and a cent more is refused without any change', () => {
    const start = disbursed();
    const { total } = figuresOf(loanOf(start));
    expect(total.toFixed(2)).to.equal('1261.88');
    const tooMuch = when(start, repay('1261.89', '2011-02-23'));
    expect(reasons(tooMuch)).to.deep.equal(['EXCESS_REPAYMENT_ERROR amount']);
    expect(tooMuch.events).to.equal(start.events);
    const closed = when(start, repay(total, '2011-02-23'));
    expect(loanOf(closed).position).to.include({ accountState: 'CLOSED', accountSubState: 'REPAID' });
    expect(closed.events.at(-1)).to.include({ eventType: 'loan_state_changed', name: 'loan_closed' });
  });

  it('leaves a loan open while a fee outside the schedule is unpaid', () => {
    const outside = product({ feesSettings: { fees: [fee({ id: 'outside', allocation: 'NO_ALLOCATION' })] } });
    const allowed = under({ ALLOW_NON_SCHEDULED_FEES: true }, disbursed(outside));
    const charged = when(allowed, applyFee(15, { predefinedFeeKey: 'outside' }));
    const paid = when(charged, repay('1261.88', '2011-02-23'));
    expect(loanOf(paid).position.accountState).to.equal('ACTIVE');
    const six = when(paid, repay(6, '2011-02-23', pays(['NON_SCHEDULED_FEE', '6'])));
    const { nonScheduledFees, fees } = figuresOf(loanOf(six));
    expect(
      [nonScheduledFees.balance, nonScheduledFees.paid, fees.paid].map((amount) => amount.toFixed(2)),
    ).to.deep.equal(['9.00', '6.00', '0.00']);
    const nine = when(six, repay(9, '2011-02-23', pays(['NON_SCHEDULED_FEE', '9'])));
    expect(loanOf(nine).position.accountState).to.equal('CLOSED');
  });

  it('may pay all interest of an installment alone, and not a cent more', () => {
    const interestOnly = product({
      gracePeriodSettings: { gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: { defaultValue: 3 } },
    });
    const start = disbursed(interestOnly);
    expect(when(start, repay(100, '2011-02-23', pays(['INTEREST', '100']))).outcome).to.equal('committed');
    const dynamic = disbursed(dynamicProduct());
    expect(reasons(when(dynamic, repay('8.34', '2011-02-23', pays(['INTEREST', '8.34']))))).to.deep.equal([
      'EXCESS_REPAYMENT_ERROR customPaymentAmounts[0].amount',
    ]);
    expect(rowsOf(loanOf(when(dynamic, repay('8.33', '2011-02-23', pays(['INTEREST', '8.33'])))))[0]).to.equal(
      '166.67/0.00 8.33/8.33',
    );
  });

  it('pays interest accrued in the middle of a period, before its due date', () => {
    const story = when(disbursed(dynamicProduct()), repay('4', '2011-02-08', pays(['INTEREST', '4'])));
    expect(rowsOf(loanOf(story))[0]).to.equal('166.67/0.00 8.33/4.00');
  });

  describe('of a named installment', () => {
    const start = disbursed(dynamicProduct());
    const keyOf = (number: number): string => installmentEncodedKey(loanOf(start), number);
    const named = (amount: string, number: number, more: object = {}): ReturnType<typeof repay> =>
      repay(amount, '2011-03-01', { installmentEncodedKey: keyOf(number), ...more });

    it('pays that installment and no other, and recalculates nothing', () => {
      const story = when(start, named('100', 3, { prepaymentRecalculationMethod: 'RESCHEDULE_REMAINING_REPAYMENTS' }));
      expect(loanOf(story).position.installments.map(({ principal }) => principal.paid.toFixed())).to.deep.equal([
        '0',
        '0',
        '100',
        '0',
        '0',
        '0',
      ]);
      expect(loanOf(story).position.installments[3]?.principal.expected.toFixed()).to.equal('166.67');
      expect(story.transactions.at(-1)).to.include({ installmentKey: 3, isInstallmentNamed: true });
    });

    it('pays custom amounts within it', () => {
      const parts = { customPaymentAmounts: [{ customPaymentAmountType: 'PRINCIPAL', amount: money(50) }] };
      expect(loanOf(when(start, named('50', 2, parts))).position.installments[1]?.principal.paid.toFixed()).to.equal(
        '50',
      );
      const more = { customPaymentAmounts: [{ customPaymentAmountType: 'PRINCIPAL', amount: money(167) }] };
      expect(reasons(when(start, named('167', 2, more)))).to.deep.equal([
        'EXCESS_REPAYMENT_ERROR customPaymentAmounts[0].amount',
      ]);
    });

    it('is posted again to the same installment', () => {
      const story = when(when(start, named('100', 3)), repay(10, '2011-02-10'));
      expect(story.transactions.at(-1)).to.include({ installmentKey: 3, isInstallmentNamed: true });
    });

    it('is refused when there is none, when it is paid, and beyond what it owes', () => {
      const noSuch = repay(1, '2011-03-01', { installmentEncodedKey: keyOf(7) });
      expect(reasons(when(start, noSuch))).to.deep.equal(['INVALID_REPAYMENT_ID installmentEncodedKey']);
      expect(reasons(when(start, named('166.68', 3)))).to.deep.equal(['EXCESS_REPAYMENT_ERROR amount']);
      const paid = when(start, repay(175, '2011-02-23'));
      expect(reasons(when(paid, named('1', 1)))).to.deep.equal(['REPAYMENT_WAS_FULLY_PAID installmentEncodedKey']);
    });

    it('pays ahead when it is not due', () => {
      const fixed = product({ paymentSettings: { prepaymentSettings: { prepaymentAcceptance: 'NO_PREPAYMENTS' } } });
      const installment = (number: number): object => ({
        installmentEncodedKey: installmentEncodedKey(loanOf(disbursed(fixed)), number),
      });
      expect(reasons(when(disbursed(fixed), repay(1, '2011-02-23', installment(2))))).to.deep.equal([
        'PREPAYMENT_NOT_ALLOWED_ERROR amount',
      ]);
      expect(when(disbursed(fixed), repay(1, '2011-02-23', installment(1))).outcome).to.equal('committed');
    });
  });

  const unpaid = product({ allowCustomRepaymentAllocation: false });
  const strict = product({ paymentSettings: { prepaymentSettings: { prepaymentAcceptance: 'NO_PREPAYMENTS' } } });
  const table: readonly (readonly [
    what: string,
    loanProduct: typeof unpaid,
    command: ReturnType<typeof repay>,
    reason: string,
  ])[] = [
    ['when it is zero', product(), repay(0, '2011-02-23'), 'INVALID_AMOUNT amount'],
    ['with more digits than the currency', product(), repay('0.001', '2011-02-23'), 'INVALID_AMOUNT amount'],
    ['before the disbursement', product(), repay(1, '2011-01-22'), 'ENTRY_DATE_BEFORE_OTHER_TRANSACTION valueDate'],
    ['beyond the calendar', product(), repay(1, '3000-01-01'), 'INVALID_DATE valueDate'],
    [
      'before anything is due, where the product accepts no prepayments',
      strict,
      repay(1, '2011-02-22'),
      'PREPAYMENT_NOT_ALLOWED_ERROR amount',
    ],
    [
      'beyond the amount due, where the product accepts no prepayments',
      strict,
      repay('315.48', '2011-02-23'),
      'PREPAYMENT_NOT_ALLOWED_ERROR amount',
    ],
    [
      'with a recalculation of a fixed loan',
      product(),
      repay(1, '2011-02-23', { prepaymentRecalculationMethod: 'REDUCE_AMOUNT_PER_INSTALLMENT' }),
      'LOAN_PRODUCT_PREPAYMENT_OPTIONS_MISMATCH prepaymentRecalculationMethod',
    ],
    [
      'with custom amounts, where the product allows none',
      unpaid,
      repay(1, '2011-02-23', pays(['INTEREST', '1'])),
      'CUSTOM_PAYMENT_NOT_ALLOWED_BY_PRODUCT customPaymentAmounts',
    ],
    [
      'with custom amounts that sum to less than the total',
      product(),
      repay(100, '2011-02-23', pays(['INTEREST', '40'], ['PRINCIPAL', '50'])),
      'CUSTOM_PAYMENT_AMOUNT_DIFFERENT_THAN_TOTAL_PAYMENT_AMOUNT customPaymentAmounts',
    ],
    [
      'with a repeated custom amount',
      product(),
      repay(100, '2011-02-23', pays(['INTEREST', '40'], ['INTEREST', '60'])),
      'SAME_CUSTOM_PAYMENT_AMOUNT_TYPE_USED_MULTIPLE_TIMES customPaymentAmounts[1].customPaymentAmountType',
    ],
    [
      'for a fee that was not charged',
      product(),
      repay(1, '2011-02-23', pays(['MANUAL_FEE', '1'])),
      'EXCESS_REPAYMENT_ERROR customPaymentAmounts[0].amount',
    ],
    [
      'for a fee unknown to the product',
      product(),
      repay(2, '2011-02-23', {
        customPaymentAmounts: [
          { customPaymentAmountType: 'INTEREST', amount: money(1) },
          { customPaymentAmountType: 'MANUAL_FEE', amount: money(1), predefinedFeeKey: 'unheard-of' },
        ],
      }),
      'INVALID_FEE_KEY customPaymentAmounts[1].predefinedFeeKey',
    ],
  ];
  for (const [what, loanProduct, command, reason] of table) {
    it(`is refused ${what}`, () => {
      expect(reasons(when(disbursed(loanProduct), command))).to.deep.equal([reason]);
    });
  }

  it('may pay interest as it is earned, and not a cent of principal, where the product accepts no prepayments', () => {
    const loanProduct = dynamicProduct({
      paymentSettings: { prepaymentSettings: { prepaymentAcceptance: 'NO_PREPAYMENTS' } },
    });
    // 1000 * 10 % * 15/360 = 4.1667
    const start = disbursed(loanProduct);
    expect(reasons(when(start, repay('4.18', '2011-02-08')))).to.deep.equal(['PREPAYMENT_NOT_ALLOWED_ERROR amount']);
    const paid = loanOf(when(start, repay('4.17', '2011-02-08')));
    expect([figuresOf(paid).interest.paid, figuresOf(paid).principal.paid].map(String)).to.deep.equal(['4.17', '0']);
  });

  it('is accepted on the due date where the product accepts no prepayments', () => {
    expect(when(disbursed(strict), repay('315.47', '2011-02-23')).outcome).to.equal('committed');
  });

  it('pays fees outside of the installments in addition to the amount due, where the product accepts no prepayments', () => {
    const outside = fee({ id: 'outside', allocation: 'NO_ALLOCATION' });
    const loanProduct = product({
      paymentSettings: { prepaymentSettings: { prepaymentAcceptance: 'NO_PREPAYMENTS' } },
      feesSettings: { fees: [outside] },
    });
    const charged = when(
      under({ ALLOW_NON_SCHEDULED_FEES: true }, disbursed(loanProduct)),
      applyFee(20, { predefinedFeeKey: 'outside' }),
    );
    const ask = (principal: string): ReturnType<typeof when> =>
      when(
        charged,
        repay(
          money(principal).plus(120),
          '2011-02-23',
          pays(['NON_SCHEDULED_FEE', '20'], ['INTEREST', '100'], ['PRINCIPAL', principal]),
        ),
      );
    expect(ask('215.47').outcome).to.equal('committed');
    expect(reasons(ask('215.48'))).to.deep.equal(['PREPAYMENT_NOT_ALLOWED_ERROR amount']);
  });

  it('refuses interest ahead of its due date, where principal may be prepaid', () => {
    const loanProduct = dynamicProduct({
      interestSettings: { interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED' },
      paymentSettings: { prepaymentSettings: { prepaymentRecalculationMethod: 'REDUCE_AMOUNT_PER_INSTALLMENT' } },
    });
    const ask = (interest: string): ReturnType<typeof when> =>
      when(disbursed(loanProduct), repay(interest, '2011-02-23', pays(['INTEREST', interest])));
    expect(ask('8.33').outcome).to.equal('committed');
    expect(reasons(ask('8.34'))).to.deep.equal(['EXCESS_REPAYMENT_ERROR customPaymentAmounts[0].amount']);
  });

  it('is refused before the disbursement and once the loan is closed', () => {
    const opened = given(create(product()));
    expect(reasons(when(opened, repay(1, '2011-02-23')))).to.deep.equal(['INVALID_ACCOUNT_STATE_FOR_REPAYMENTS']);
    const closed = when(disbursed(), repay('1261.88', '2011-02-23'));
    expect(refusalOfPayment(loanOf(closed), { amount: money(1), receivedAt: 0 })?.errorReason).to.equal(
      'INVALID_ACCOUNT_STATE_FOR_REPAYMENTS',
    );
  });
});

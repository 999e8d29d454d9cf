import { expect } from 'chai';
import { describe, it } from 'mocha';
import { accrueTo } from '../../../src/lending/accrual.ts';
import { figuresOf } from '../../../src/lending/balances.ts';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import { feeBalancesOf } from '../../../src/lending/views/fee-balance-names.ts';
import { feeAmount } from '../../../src/lending/fees/amounts.ts';
import { newCharge, transactionFee } from '../../../src/lending/fees/charges.ts';
import { noAmounts } from '../../../src/lending/ledger.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import {
  type Story,
  adjust,
  applyFee,
  create,
  disbursed,
  dynamicProduct,
  fee,
  given,
  loanOf,
  money,
  nothingYet,
  product,
  reasons,
  repay,
  texts,
  under,
  when,
} from '../loan-fixtures.ts';

const fees = [
  fee({ id: 'manual', amount: money(20) }),
  fee({ id: 'open' }),
  fee({ id: 'old', amount: money(1), state: 'INACTIVE' }),
  fee({ id: 'upfront', amount: money(1), trigger: 'UPFRONT_DISBURSEMENT' }),
  fee({ id: 'outside', allocation: 'NO_ALLOCATION' }),
];
const fixed = product({ feesSettings: { fees } });
const dynamic = dynamicProduct({ feesSettings: { fees } });
const first = { installmentNumber: 1 };

describe('a manual fee', () => {
  it('is added to the named installment, by its encodedKey or its id', () => {
    for (const predefinedFeeKey of ['manual', 'manual-key']) {
      const story = when(disbursed(fixed), {
        type: 'APPLY_FEE',
        predefinedFeeKey,
        installmentNumber: 2,
        valueDate: '2011-01-23',
      });
      expect(loanOf(story).position.installments[1]?.fee.amount.expected.toFixed(2)).to.equal('20.00');
      expect(story.transactions.at(-1)).to.include({ type: 'FEE_CHARGED', installmentKey: 2 });
    }
  });

  it('is added to the next due installment of a dynamic loan', () => {
    const story = when(disbursed(dynamic), applyFee(5, { valueDate: '2011-03-01' }));
    expect(loanOf(story).position.charges[0]?.installmentKey).to.equal(2);
  });

  it('without allocation is added to no installment and publishes no schedule', () => {
    const start = under({ ALLOW_NON_SCHEDULED_FEES: true }, disbursed(fixed));
    const story = when(start, applyFee(15, { predefinedFeeKey: 'outside', valueDate: '2011-06-01' }));
    const emitted = story.events.slice(start.events.length);
    expect(emitted.map(({ eventType }) => eventType)).to.deep.equal([
      'loan_transaction_posted',
      'loan_fee_event',
      'loan_balance_changed',
    ]);
    const [, feeEvent, balance] = emitted;
    expect(feeEvent).to.include({ feeEvent: 'APPLIED', allocation: 'NO_ALLOCATION' });
    const changes = balance?.eventType === 'loan_balance_changed' ? balance.changes : [];
    expect(changes.map(({ type, amount }) => `${type} ${amount.toFixed(2)}`)).to.deep.equal([
      'nonScheduledFeeBalance 15.00',
    ]);
  });

  it('without allocation is refused while its toggle is off, under every setting of the others', () => {
    const settings = [false, true];
    for (const PRINCIPAL_OVERPAYMENT of settings) {
      for (const fixInstallmentTaxOnPenalty of settings) {
        const toggles = { ALLOW_NON_SCHEDULED_FEES: false, PRINCIPAL_OVERPAYMENT, fixInstallmentTaxOnPenalty };
        const start = under(toggles, disbursed(fixed));
        const refused = when(start, applyFee(15, { predefinedFeeKey: 'outside', valueDate: '2011-06-01' }));
        expect(reasons(refused)).to.deep.equal(['FEATURE_DISABLED predefinedFeeKey']);
        expect(refused.events).to.equal(start.events);
      }
    }
  });

  it('without allocation accepts no installment number', () => {
    const start = under({ ALLOW_NON_SCHEDULED_FEES: true }, disbursed(fixed));
    const asked = applyFee(15, { predefinedFeeKey: 'outside', valueDate: '2011-06-01', installmentNumber: 1 });
    expect(reasons(when(start, asked))).to.deep.equal(['INVALID_PARAMETERS installmentNumber']);
  });

  it('is 30 due of 50 after 20 was paid', () => {
    const paid = when(when(disbursed(), applyFee(50, first)), repay(20, '2011-01-23'));
    const { feesDue, feesBalance, feesPaid } = balancesOf(loanOf(paid), allTogglesOff);
    expect([feesDue, feesBalance, feesPaid].map((amount) => amount?.toFixed(2))).to.deep.equal([
      '30.00',
      '30.00',
      '20.00',
    ]);
  });

  const tables: readonly (readonly [what: string, loan: typeof fixed, command: object, reason: string])[] = [
    [
      'names no installment of a fixed loan',
      fixed,
      { amount: money(1) },
      'INSTALLMENT_NUMBER_MANDATORY_FOR_FIXED_ACCOUNTS installmentNumber',
    ],
    [
      'names an installment of a dynamic loan',
      dynamic,
      { amount: money(1), ...first },
      'INSTALLMENT_NUMBER_NOT_ALLOWED_FOR_DYNAMIC_ACCOUNTS installmentNumber',
    ],
    [
      'names an unknown installment',
      fixed,
      { amount: money(1), installmentNumber: 5 },
      'INVALID_REPAYMENT_NUMBER installmentNumber',
    ],
    ['is unknown', fixed, { predefinedFeeKey: 'none', ...first }, 'INVALID_FEE_KEY predefinedFeeKey'],
    ['is inactive', fixed, { predefinedFeeKey: 'old', ...first }, 'FEE_NOT_ACTIVE predefinedFeeKey'],
    [
      'belongs to the disbursement',
      fixed,
      { predefinedFeeKey: 'upfront', ...first },
      'FEE_NOT_ALLOWED predefinedFeeKey',
    ],
    ['has no amount', fixed, { predefinedFeeKey: 'open', ...first }, 'MANDATORY_FEE_AMOUNT amount'],
    [
      'has an amount that differs from the product',
      fixed,
      { predefinedFeeKey: 'manual', amount: money(21), ...first },
      'FEE_AMOUNT_ALREADY_DEFINED_IN_PRODUCT amount',
    ],
    ['is zero', fixed, { amount: money(0), ...first }, 'FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE amount'],
    ['has more digits than the currency', fixed, { amount: money('0.001'), ...first }, 'INVALID_AMOUNT amount'],
    [
      'is dated before the disbursement',
      fixed,
      { amount: money(1), valueDate: '2011-01-22', ...first },
      'INVALID_DATE valueDate',
    ],
    [
      'is arbitrary where the product has none',
      product({ feesSettings: { allowArbitraryFees: false } }),
      { amount: money(1), ...first },
      'ARBITRARY_FEE_NOT_ALLOWED',
    ],
  ];
  for (const [what, loanProduct, command, reason] of tables) {
    it(`is refused when it ${what}`, () => {
      const asked = { type: 'APPLY_FEE', valueDate: '2011-01-23', ...command } as const;
      expect(reasons(when(disbursed(loanProduct), asked))).to.deep.equal([reason]);
    });
  }

  it('is refused before the disbursement and on a paid installment', () => {
    expect(reasons(when(given(create(fixed)), applyFee(1, first)))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    const paid = when(disbursed(fixed), repay('315.47', '2011-02-23'));
    expect(reasons(when(paid, applyFee(1, { ...first, valueDate: '2011-02-23' })))).to.deep.equal([
      'CANNOT_APPLY_FEE_ON_PAID_INSTALLMENT installmentNumber',
    ]);
  });
});

describe('the amount of a fee', () => {
  const loan = loanOf(disbursed());
  const table: readonly (readonly [method: Parameters<typeof fee>[0]['amountCalculationMethod'], amount: string])[] = [
    ['FLAT', '10.00'],
    ['LOAN_AMOUNT_PERCENTAGE', '30.00'],
    ['REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE', '6.46'],
    ['LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS', '7.50'],
    ['FLAT_NUMBER_OF_INSTALLMENTS', '2.50'],
  ];
  for (const [method, expected] of table) {
    it(`is ${expected} by ${method}`, () => {
      const of = fee({
        id: 'f',
        amount: money(10),
        percentageAmount: money(3),
        ...(method === undefined ? {} : { amountCalculationMethod: method }),
      });
      const amount = feeAmount(loan, of, undefined, money('215.47'));
      expect('errorReason' in amount ? amount.errorReason : amount.toFixed(2)).to.equal(expected);
    });
  }

  for (const [method, amount, tax] of [
    ['EXCLUSIVE', '116.00', '16.00'],
    ['INCLUSIVE', '100.00', '13.79'],
  ] as const) {
    it(`of 100 with 16 percent ${method} tax is ${amount}, ${tax} of it tax`, () => {
      const taxed = product({
        taxSettings: { taxRate: money(16), taxCalculationMethod: method, taxesOnFeesEnabled: true },
      });
      const added = newCharge(loanOf(disbursed(taxed)), {
        encodedKey: 'k',
        fee: null,
        allocation: 'INSTALLMENT',
        net: money(100),
        installmentKey: 1,
      });
      const listed = transactionFee(added);
      expect([listed.amount.toFixed(2), listed.tax.toFixed(2), listed.trigger]).to.deep.equal([
        amount,
        tax,
        'ARBITRARY',
      ]);
    });
  }
});

for (const trigger of ['PAYMENT_DUE', 'PAYMENT_DUE_APPLIED_ON_DUE_DATES'] as const)
  describe(`a fee on each due date of a dynamic loan, ${trigger}`, () => {
    const each = dynamicProduct({
      interestSettings: { interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED' },
      feesSettings: {
        fees: [fee({ id: 'each', trigger, amount: money(5), feeApplication: 'REQUIRED' })],
      },
    });
    const start = disbursed(each);
    const feesOf = (story: Story): string[] =>
      loanOf(story).position.installments.map(
        ({ fee: { amount } }) => `${amount.expected.toFixed(2)}/${amount.paid.toFixed(2)}`,
      );
    const feeEvents = (story: Story, from: Story): string[] =>
      story.events
        .slice(from.events.length)
        .flatMap((event) =>
          event.eventType === 'loan_fee_event'
            ? [`${event.feeEvent} ${event.installmentNumber ?? ''} ${event.amount.toFixed(2)}`]
            : [],
        );
    const owed = (story: Story): unknown => texts(feeBalancesOf(figuresOf(loanOf(story)), allTogglesOff));

    it('is planned in its row, and is due from its date on', () => {
      expect(feesOf(start)).to.deep.equal(Array.from({ length: 6 }, () => '5.00/0.00'));
      expect(owed(start)).to.deep.equal({ feesDue: '0.00', feesPaid: '0.00', feesBalance: '0.00' });
      expect(feeEvents(start, nothingYet)).to.deep.equal([]);
      const dayBefore = when(start, repay(1, '2011-02-22'));
      expect(owed(dayBefore)).to.deep.equal({ feesDue: '0.00', feesPaid: '0.00', feesBalance: '0.00' });
      const onItsDay = when(start, repay(1, '2011-02-23'));
      expect(owed(onItsDay)).to.deep.equal({ feesDue: '4.00', feesPaid: '1.00', feesBalance: '4.00' });
      expect(feeEvents(onItsDay, start)).to.deep.equal(['APPLIED 1 5.00', 'PAID 1 1.00']);
    });

    it('takes no part of a payment before its date', () => {
      const paid = when(
        start,
        repay(700, '2011-02-23', { prepaymentRecalculationMethod: 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW' }),
      );
      const { fees: taken, principal } = paid.transactions.at(-1)?.affected ?? noAmounts;
      expect([taken.toFixed(2), principal.toFixed(2)]).to.deep.equal(['5.00', '686.67']);
      expect(owed(paid)).to.deep.equal({ feesDue: '0.00', feesPaid: '5.00', feesBalance: '0.00' });
      // The rest is repaid in fewer rows, and the removed rows took their fees with them.
      expect(feesOf(paid)).to.deep.equal(['5.00/5.00', '5.00/0.00', '5.00/0.00']);
      expect(feeEvents(paid, start)).to.deep.equal(['APPLIED 1 5.00', 'PAID 1 5.00']);
      const back = when(paid, adjust(2));
      expect(loanOf(back).position).to.deep.equal(loanOf(start).position);
      expect(feeEvents(back, paid)).to.deep.equal(['ADJUSTED 1 -5.00', 'ADJUSTED 1 -5.00']);
    });

    it('is not due on a loan that is paid off before, with any method', () => {
      for (const method of ['NO_RECALCULATION', 'REDUCE_AMOUNT_PER_INSTALLMENT'] as const) {
        const valueDate = '2011-02-10';
        const { total } = figuresOf(loanOf(start), accrueTo(loanOf(start), loanOf(start).position, valueDate));
        const more = { prepaymentRecalculationMethod: method };
        expect(reasons(when(start, repay(total.plus('0.01'), valueDate, more)))).to.deep.equal([
          'EXCESS_REPAYMENT_ERROR amount',
        ]);
        const closed = when(start, repay(total, valueDate, more));
        expect(loanOf(closed).position.accountState).to.equal('CLOSED');
        expect(new Set(feesOf(closed))).to.deep.equal(new Set(['0.00/0.00']));
      }
    });

    it('cannot be paid as a custom amount before its date, and can be from it on', () => {
      const part = { customPaymentAmountType: 'PAYMENT_DUE_FEE' as const, amount: money(5) };
      const pay = (valueDate: string): Story => when(start, repay(5, valueDate, { customPaymentAmounts: [part] }));
      expect(reasons(pay('2011-02-22'))).to.deep.equal(['EXCESS_REPAYMENT_ERROR customPaymentAmounts[0].amount']);
      expect(pay('2011-02-23').outcome).to.equal('committed');
    });
  });

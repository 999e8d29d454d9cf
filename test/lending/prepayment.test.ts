import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { PrepaymentRecalculationMethod } from '../../src/lending/payment-options.ts';
import { figuresOf } from '../../src/lending/balances.ts';
import { sum } from '../../src/lending/money.ts';
import { openLedger } from '../../src/lending/ledger.ts';
import { fitsProduct, reamortize } from '../../src/lending/prepayment.ts';
import {
  approve,
  create,
  disburse,
  dynamicProduct,
  given,
  loanOf,
  money,
  overpay,
  product,
  repay,
  rowsOf,
  when,
} from './loan-fixtures.ts';

/**
 * The published cases: 1000 over six months at ten percent a year, disbursed on 2017-01-21, nothing paid, then 600 on
 * 2017-03-21.
 */
function afterSixHundred(prepaymentRecalculationMethod: PrepaymentRecalculationMethod): ReturnType<typeof given> {
  const start = given(create(dynamicProduct()), approve, disburse('2017-01-21'));
  return when(start, repay(600, '2017-03-21', { prepaymentRecalculationMethod }));
}

describe('600 repaid when 350 is due', () => {
  const table: readonly (readonly [method: PrepaymentRecalculationMethod, rows: readonly string[]])[] = [
    [
      'NO_RECALCULATION',
      [
        '166.67/166.67 8.33/8.33',
        '166.67/166.67 8.33/8.33',
        '166.67/166.67 3.47/0.00',
        '166.67/83.33 3.47/0.00',
        '166.67/0.00 2.78/0.00',
        '166.65/0.00 1.39/0.00',
      ],
    ],
    [
      'RESCHEDULE_REMAINING_REPAYMENTS',
      [
        '166.67/166.67 8.33/8.33',
        '416.67/416.67 8.33/8.33',
        '104.17/0.00 3.47/0.00',
        '104.17/0.00 2.60/0.00',
        '104.17/0.00 1.74/0.00',
        '104.15/0.00 0.87/0.00',
      ],
    ],
    [
      'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS',
      [
        '166.67/166.67 8.33/8.33',
        '416.67/416.67 8.33/8.33',
        '104.17/0.00 3.47/0.00',
        '104.17/0.00 2.60/0.00',
        '104.17/0.00 1.74/0.00',
        '104.15/0.00 0.87/0.00',
      ],
    ],
    [
      'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT',
      [
        '166.67/166.67 8.33/8.33',
        '416.67/416.67 8.33/8.33',
        '166.67/0.00 3.47/0.00',
        '166.67/0.00 2.08/0.00',
        '83.32/0.00 0.69/0.00',
      ],
    ],
    [
      'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT',
      [
        '166.67/166.67 8.33/8.33',
        '416.67/416.67 8.33/8.33',
        '168.76/0.00 3.47/0.00',
        '168.77/0.00 2.07/0.00',
        '79.13/0.00 0.66/0.00',
      ],
    ],
  ];
  for (const [method, rows] of table) {
    it(`results in these rows with ${method}`, () => {
      const story = afterSixHundred(method);
      expect(rowsOf(loanOf(story))).to.deep.equal(rows);
      expect(figuresOf(loanOf(story)).principal.balance.toFixed(2)).to.equal('416.66');
    });
  }

  it('reports which row was removed', () => {
    const last = afterSixHundred('RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT').events.at(-1);
    expect(last).to.include({ eventType: 'loan_schedule_changed', reason: 'PREPAYMENT_RECALCULATED' });
    expect(
      last?.eventType === 'loan_schedule_changed' ? last.removedInstallmentKeys.map((key) => key.slice(24)) : [],
    ).to.deep.equal(['00000006']);
  });
});

describe('200 repaid ahead of a level payment of 171.56', () => {
  const level = dynamicProduct({ interestSettings: { interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED' } });
  const start = given(create(level), approve, disburse('2017-01-21'));
  const onTime = when(when(start, repay('171.56', '2017-02-21')), repay('171.56', '2017-03-21'));
  const ahead = (prepaymentRecalculationMethod: PrepaymentRecalculationMethod): ReturnType<typeof given> =>
    when(onTime, repay(200, '2017-03-21', { prepaymentRecalculationMethod }));

  it('leaves 672.18 after two payments', () => {
    expect(figuresOf(loanOf(onTime)).principal.balance.toFixed(2)).to.equal('672.18');
  });

  it('lowers the payment of the same installments', () => {
    const loan = loanOf(ahead('REDUCE_AMOUNT_PER_INSTALLMENT'));
    expect(loan.position.periodicPayment?.toFixed(2)).to.equal('120.51');
    const totals = loan.position.installments
      .slice(2)
      .map((row) => row.principal.expected.plus(row.interest.amount.expected).toFixed(2));
    expect(totals.slice(0, 3)).to.deep.equal(['120.51', '120.51', '120.51']);
    expect(totals).to.have.length(4);
  });

  it('keeps the payment for fewer installments', () => {
    const loan = loanOf(ahead('REDUCE_NUMBER_OF_INSTALLMENTS_NEW'));
    expect(loan.position.installments.slice(2).map((row) => row.principal.expected.toFixed(2))).to.deep.equal([
      '167.63',
      '169.02',
      '135.53',
    ]);
    expect(loan.product.paymentSettings.prepaymentSettings.prepaymentRecalculationMethod).to.equal('NO_RECALCULATION');
  });

  it('keeps the payment of the loan, not the smaller one of a row that was already prepaid', () => {
    const less = when(onTime, repay(100, '2017-03-21', { prepaymentRecalculationMethod: 'NO_RECALCULATION' }));
    const story = when(
      less,
      repay(100, '2017-03-21', { prepaymentRecalculationMethod: 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW' }),
    );
    const totals = loanOf(story)
      .position.installments.slice(2)
      .map((row) => row.principal.expected.plus(row.interest.amount.expected).toFixed(2));
    // The earlier 100 are shown with the first of them.
    expect(totals).to.deep.equal(['271.56', '171.56', '136.66']);
  });
});

describe('200 repaid ahead in the middle of a period, with optimized payments', () => {
  const even = dynamicProduct({
    interestSettings: { interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED' },
    paymentSettings: { amortizationMethod: 'OPTIMIZED_PAYMENTS' },
  });
  const start = given(create(even), approve, disburse('2017-01-21'));

  it('leaves later installments with the interest of their own periods, so that the last one is like the others', () => {
    const story = when(
      start,
      repay('371.56', '2017-02-06', { prepaymentRecalculationMethod: 'REDUCE_AMOUNT_PER_INSTALLMENT' }),
    );
    const totals = loanOf(story)
      .position.installments.slice(1)
      .map((row) => row.principal.expected.plus(row.interest.amount.expected).toFixed(2));
    expect(totals).to.deep.equal(['129.70', '129.70', '129.70', '129.70', '129.71']);
  });
});

describe('paid ahead without a recalculation, with TOTAL_EXPECTED_FIXED', () => {
  const totalsFixed = dynamicProduct({
    paymentSettings: { prepaymentSettings: { elementsRecalculationMethod: 'TOTAL_EXPECTED_FIXED' } },
  });
  const start = given(create(totalsFixed), approve, disburse('2017-01-21'));

  it('rows keep their totals: what they no longer ask for in interest is principal', () => {
    expect(rowsOf(loanOf(when(start, repay(600, '2017-03-21'))))).to.deep.equal([
      '166.67/166.67 8.33/8.33',
      '166.67/166.67 8.33/8.33',
      '168.76/166.67 3.47/0.00',
      '167.39/83.33 3.45/0.00',
      '166.70/0.00 2.75/0.00',
      '163.81/0.00 1.37/0.00',
    ]);
  });

  it('principal overpaid leaves the first rows with their totals, and the last with less', () => {
    const rows = rowsOf(loanOf(when(start, overpay(100, '2017-01-21'))));
    expect(rows.slice(0, 2)).to.deep.equal(['167.50/0.00 7.50/0.00', '167.51/0.00 6.10/0.00']);
  });

  it('nothing changes when nothing is paid ahead', () => {
    const rows = rowsOf(loanOf(when(start, repay(175, '2017-02-21'))));
    expect(rows.slice(1, 3)).to.deep.equal(['166.67/0.00 6.94/0.00', '166.67/0.00 5.56/0.00']);
  });
});

describe('level payments with a threshold of 15 calendar days', () => {
  /** The published case: due on 2024-05-20, so the payment stays from 2024-05-05 on. */
  const level = dynamicProduct({
    interestSettings: {
      interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED',
      pmtAdjustmentThreshold: { method: 'CALENDAR_DAYS', numberOfDays: 15 },
    },
    paymentSettings: { prepaymentSettings: { prepaymentRecalculationMethod: 'REDUCE_AMOUNT_PER_INSTALLMENT' } },
  });
  const start = given(create(level), approve, disburse('2024-04-20'));
  const totals = (day: string): string[] =>
    loanOf(when(start, overpay(200, day))).position.installments.map((row) =>
      row.principal.expected.plus(row.interest.amount.expected).toFixed(2),
    );

  it('are computed again a day before', () => {
    expect(new Set(totals('2024-05-04').slice(1, 5)).size).to.equal(1);
    expect(totals('2024-05-04')[1]).not.to.equal('171.56');
  });

  it('stay for the coming installment from then on, and are computed again for those after it', () => {
    const [first, second, third] = totals('2024-05-05');
    expect(first).to.equal('171.56');
    expect(Number(second)).to.be.lessThan(171);
    expect(third).to.equal(second);
    const { periodicPayment } = loanOf(when(start, overpay(200, '2024-05-05'))).position;
    expect(periodicPayment?.toFixed(2)).to.equal(second);
  });
});

describe('a repayment where interest is applied by hand (MANUAL)', () => {
  const byHand = dynamicProduct({
    paymentSettings: {
      prepaymentSettings: {
        applyInterestOnPrepaymentMethod: 'MANUAL',
        prepaymentRecalculationMethod: 'RESCHEDULE_REMAINING_REPAYMENTS',
      },
    },
  });
  const start = given(create(byHand), approve, disburse('2017-01-21'));
  const paid = (story: typeof start): string => {
    const { interest, principal } = story.transactions.at(-1)?.affected ?? { interest: money(0), principal: money(0) };
    return `${interest.toFixed(2)} ${principal.toFixed(2)}`;
  };

  it('pays no interest before the due date that was not applied', () => {
    expect(paid(when(start, repay(100, '2017-02-06')))).to.equal('0.00 100.00');
    const applied = when(start, { type: 'APPLY_INTEREST', valueDate: '2017-01-31' });
    expect(paid(when(applied, repay(100, '2017-02-06')))).to.equal('2.50 97.50');
  });

  it('pays all interest on the due date', () => {
    expect(paid(when(start, repay(100, '2017-02-21')))).to.equal('8.33 91.67');
  });

  it('pays what was not applied after all principal, and so closes the loan', () => {
    const { total } = figuresOf(loanOf(when(start, { type: 'APPLY_INTEREST', valueDate: '2017-02-05' })));
    expect(total.toFixed(2)).to.equal('1003.89');
    const story = when(start, repay(total, '2017-02-05'));
    expect(paid(story)).to.equal('3.89 1000.00');
    expect(loanOf(story).position.accountState).to.equal('CLOSED');
  });
});

describe('exactly one cent', () => {
  const declining = dynamicProduct();
  const level = dynamicProduct({ interestSettings: { interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED' } });
  const methods: readonly (readonly [PrepaymentRecalculationMethod, typeof level])[] = [
    ['NO_RECALCULATION', declining],
    ['RESCHEDULE_REMAINING_REPAYMENTS', declining],
    ['RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS', declining],
    ['RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT', declining],
    ['REDUCE_AMOUNT_PER_INSTALLMENT', level],
    ['RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT', declining],
    ['REDUCE_NUMBER_OF_INSTALLMENTS', level],
    ['REDUCE_NUMBER_OF_INSTALLMENTS_NEW', level],
  ];
  for (const [prepaymentRecalculationMethod, loanProduct] of methods) {
    it(`prepaid, or left unpaid, is that much principal with ${prepaymentRecalculationMethod}`, () => {
      const start = given(create(loanProduct), approve, disburse('2017-01-21'));
      const [first] = loanOf(start).position.installments;
      const due = first === undefined ? money(0) : first.principal.expected.plus(first.interest.amount.expected);
      const repaid = (amount: ReturnType<typeof money>): ReturnType<typeof loanOf> =>
        loanOf(when(start, repay(amount, '2017-02-21', { prepaymentRecalculationMethod })));
      const principalOf = (loan: ReturnType<typeof loanOf>): string =>
        sum(loan.position.installments.map(({ principal }) => principal.expected)).toFixed(2);
      const [onTime, ahead, allButOne] = [repaid(due), repaid(due.plus('0.01')), repaid(money('1008.32'))];
      expect([onTime, ahead, allButOne].map(principalOf)).to.deep.equal(['1000.00', '1000.00', '1000.00']);
      const balances = [onTime, ahead].map((loan) => figuresOf(loan).principal.balance);
      expect(balances[0]?.minus(balances[1] ?? 0).toFixed(2)).to.equal('0.01');
      expect(figuresOf(allButOne).principal.balance.toFixed(2)).to.equal('0.01');
      expect(allButOne.position.accountState).to.equal('ACTIVE');
      expect(repaid(money('1008.33')).position.accountState).to.equal('CLOSED');
      for (const loan of [onTime, ahead, allButOne]) {
        const unpaid = loan.position.installments.map(({ principal }) => principal.expected.minus(principal.paid));
        expect(unpaid.filter((amount) => amount.isNegative())).to.deep.equal([]);
      }
    });
  }
});

describe('a recalculation method', () => {
  it('is accepted for a product that has what it changes', () => {
    expect(fitsProduct('NO_RECALCULATION', product())).to.equal(true);
    expect(fitsProduct('RESCHEDULE_REMAINING_REPAYMENTS', product())).to.equal(false);
    expect(fitsProduct('RESCHEDULE_REMAINING_REPAYMENTS', dynamicProduct())).to.equal(true);
    expect(fitsProduct('REDUCE_AMOUNT_PER_INSTALLMENT', dynamicProduct())).to.equal(false);
  });

  it('divides the remaining principal into rows that sum to it', () => {
    const loan = loanOf(given(create(dynamicProduct()), approve, disburse('2017-01-21')));
    const ledger = openLedger(loan, loan.position, '2017-01-21');
    expect(reamortize(ledger, 0, money(400), 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT', '2017-01-21')).to.equal(
      null,
    );
    expect(ledger.rows.map((row) => row.principal.expected.toFixed(2))).to.deep.equal([
      '166.67',
      '166.67',
      '166.67',
      '99.99',
    ]);
  });
});

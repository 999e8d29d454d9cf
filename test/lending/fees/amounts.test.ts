import { expect } from 'chai';
import { describe, it } from 'mocha';
import { feeAmount, withPercentage } from '../../../src/lending/fees/amounts.ts';
import { Decimal, type RoundingMode } from '../../../src/lending/money.ts';
import type { FeeAmountCalculationMethod, FeeTrigger, LoanProduct } from '../../../src/lending/products/product.ts';
import { createProduct } from '../../../src/lending/products/product-rules.ts';
import { taxedAmount } from '../../../src/lending/taxes.ts';
import {
  type Story,
  approve,
  create,
  disburse,
  disbursed,
  fee,
  given,
  loanOf,
  money,
  product,
  reasons,
  when,
} from '../loan-fixtures.ts';

const triggers = [
  'DISBURSEMENT',
  'CAPITALIZED_DISBURSEMENT',
  'UPFRONT_DISBURSEMENT',
  'PAYMENT_DUE',
  'MANUAL',
  'ARBITRARY',
] as const satisfies readonly FeeTrigger[];
/** The methods by which an amount can have more digits than the currency. */
const roundedMethods = [
  'LOAN_AMOUNT_PERCENTAGE',
  'REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE',
  'LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS',
  'FLAT_NUMBER_OF_INSTALLMENTS',
] as const satisfies readonly FeeAmountCalculationMethod[];

/** 1000 in four rows of 250, so that each method can produce a tie. */
const lent = 1000;
const rowPrincipal = 250;
const rowCount = 4;

type Setting = { readonly amount: Decimal } | { readonly percentageAmount: Decimal };

/** The product setting of a fee with this amount before rounding, plus some units of the last digit. */
function settingFor(
  method: (typeof roundedMethods)[number],
  trigger: FeeTrigger,
  exact: string,
  units: number,
): Setting {
  if (method === 'FLAT_NUMBER_OF_INSTALLMENTS') {
    return { amount: money(exact).times(rowCount).plus(money(units).dividedBy(100)) };
  }
  const joinsRow = trigger !== 'DISBURSEMENT' && trigger !== 'CAPITALIZED_DISBURSEMENT';
  const base = {
    LOAN_AMOUNT_PERCENTAGE: lent,
    REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE: joinsRow ? rowPrincipal : lent,
    LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS: lent / rowCount,
  }[method];
  const percentage = money(exact).times(100).dividedBy(base);
  // A number in a command has at most 15 significant digits, and amounts are distinguished by 16 decimals.
  return { percentageAmount: percentage.plus(new Decimal(10).pow(Math.max(percentage.e - 14, -14)).times(units)) };
}

function productWith(
  trigger: FeeTrigger,
  amountCalculationMethod: FeeAmountCalculationMethod,
  roundingMode: RoundingMode,
  setting: Setting,
): LoanProduct {
  const isManual = trigger === 'MANUAL' || trigger === 'ARBITRARY';
  const feeApplication = isManual ? 'OPTIONAL' : 'REQUIRED';
  return product({
    interestSettings: { interestCalculationMethod: 'DECLINING_BALANCE' },
    scheduleSettings: { roundingSettings: { roundingMode } },
    feesSettings: { fees: [fee({ id: 'f', trigger, amountCalculationMethod, feeApplication, ...setting })] },
  });
}

/** The loan with the fee charged, by its disbursement or manually. */
function charged(loanProduct: LoanProduct): Story {
  const story = given(create(loanProduct, lent), approve, disburse('2011-01-23'));
  const [{ trigger } = expect.fail()] = loanProduct.feesSettings.fees;
  if (trigger !== 'MANUAL' && trigger !== 'ARBITRARY') return story;
  return when(story, {
    type: 'APPLY_FEE',
    predefinedFeeKey: 'f',
    installmentNumber: 2,
    valueDate: '2011-01-23',
  });
}

const amountsOf = (story: Story): string[] => [
  ...new Set(story.transactions.at(-1)?.fees.map(({ amount }) => amount.toFixed(2))),
];

/** The digits of an amount, one unit below, at and one unit above the tie. */
const ties: readonly (readonly [exact: string, mode: RoundingMode, expected: readonly [string, string, string]])[] = [
  ['2.345', 'HALF_UP', ['2.34', '2.35', '2.35']],
  ['2.345', 'HALF_EVEN', ['2.34', '2.34', '2.35']],
  ['2.335', 'HALF_UP', ['2.33', '2.34', '2.34']],
  ['2.335', 'HALF_EVEN', ['2.33', '2.34', '2.34']],
];

describe('a fee at a rounding tie, one unit below and one above', () => {
  for (const trigger of triggers) {
    for (const method of roundedMethods) {
      it(`is rounded as the product defines: ${trigger}, ${method}`, () => {
        for (const [exact, mode, expected] of ties) {
          const found = [-1, 0, 1].map((units) => {
            const setting = settingFor(method, trigger, exact, units);
            return amountsOf(charged(productWith(trigger, method, mode, setting)));
          });
          expect(found, `${exact} ${mode}`).to.deep.equal(expected.map((amount) => [amount]));
        }
      });

      it(`is not charged when it rounds to nothing: ${trigger}, ${method}`, () => {
        for (const [mode, units] of [
          ['HALF_UP', -1],
          ['HALF_EVEN', 0],
        ] as const) {
          const setting = settingFor(method, trigger, '0.005', units);
          const story = charged(productWith(trigger, method, mode, setting));
          expect(amountsOf(story)).to.deep.equal([]);
          const isManual = trigger === 'MANUAL' || trigger === 'ARBITRARY';
          expect(reasons(story)).to.deep.equal(isManual ? ['FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE amount'] : []);
        }
        const least = settingFor(method, trigger, '0.005', 1);
        expect(amountsOf(charged(productWith(trigger, method, 'HALF_EVEN', least)))).to.deep.equal(['0.01']);
      });
    }

    it(`cannot occur, because such an amount is refused: ${trigger}, FLAT`, () => {
      for (const [amount, refused] of [
        ['2.34', []],
        ['2.345', ['INVALID_AMOUNT feesSettings.fees[0].amount']],
        ['2.35', []],
      ] as const) {
        const created = createProduct(productWith(trigger, 'FLAT', 'HALF_EVEN', { amount: money(amount) }));
        const refusals = Array.isArray(created) ? created : [];
        expect(refusals.map(({ errorReason, errorSource }) => `${errorReason} ${errorSource}`)).to.deep.equal(refused);
      }
    });
  }

  const currencies: readonly (readonly [code: string, digits: number, tie: string, rounded: readonly string[]])[] = [
    ['JPY', 0, '2.5', ['2', '3', '3', '2']],
    ['JOD', 3, '0.0025', ['0.002', '0.003', '0.003', '0.002']],
    ['BTC', 8, '0.000000025', ['0.00000002', '0.00000003', '0.00000003', '0.00000002']],
  ];
  for (const [code, digits, tie, rounded] of currencies) {
    it(`is first cut to 16 decimals, and then rounded to ${digits} digits, in ${code}`, () => {
      const amountOf = (exact: Decimal, roundingMode: RoundingMode): string => {
        const loan = loanOf(
          disbursed(
            product({ currency: { code, digits }, scheduleSettings: { roundingSettings: { roundingMode } } }),
            1,
          ),
        );
        const percentageAmount = exact.times(100);
        const of = fee({ id: 'f', amountCalculationMethod: 'LOAN_AMOUNT_PERCENTAGE', percentageAmount });
        const amount = feeAmount(loan, of, undefined, money(0));
        return 'errorReason' in amount ? amount.errorReason : amount.toFixed(digits);
      };
      const exact = money(tie);
      expect([
        amountOf(exact.minus('1e-16'), 'HALF_UP'),
        amountOf(exact.minus('4e-17'), 'HALF_UP'),
        amountOf(exact, 'HALF_UP'),
        amountOf(exact.plus('4e-17'), 'HALF_EVEN'),
      ]).to.deep.equal(rounded);
    });
  }
});

describe('tax at a rounding tie, one unit below and one above', () => {
  const table = [
    ['EXCLUSIVE', 10, ['0.04', '0.05', '0.06'], 'HALF_UP', ['0.00', '0.01', '0.01']],
    ['EXCLUSIVE', 10, ['0.04', '0.05', '0.06'], 'HALF_EVEN', ['0.00', '0.00', '0.01']],
    ['EXCLUSIVE', 10, ['0.14', '0.15', '0.16'], 'HALF_EVEN', ['0.01', '0.02', '0.02']],
    ['INCLUSIVE', 25, ['0.02', '0.025', '0.03'], 'HALF_UP', ['0.00', '0.01', '0.01']],
    ['INCLUSIVE', 100, ['0.04', '0.05', '0.06'], 'HALF_UP', ['0.02', '0.03', '0.03']],
    ['INCLUSIVE', 100, ['0.04', '0.05', '0.06'], 'HALF_EVEN', ['0.02', '0.02', '0.03']],
    ['INCLUSIVE', 100, ['0.02', '0.03', '0.04'], 'HALF_EVEN', ['0.01', '0.02', '0.02']],
  ] as const;
  for (const [taxCalculationMethod, rate, amounts, mode, taxes] of table) {
    it(`${taxCalculationMethod} at ${rate} % of ${amounts.join(', ')}, ${mode}, is ${taxes.join(', ')}`, () => {
      const terms = { taxRate: money(rate), taxCalculationMethod };
      const found = amounts.map((amount) => {
        const { income, tax, owed } = taxedAmount(money(amount), terms, { code: 'EUR', digits: 2 }, mode);
        expect(income.plus(tax).equals(owed)).to.equal(true);
        return tax.toFixed(2);
      });
      expect(found).to.deep.equal(taxes);
    });
  }
});

describe('the percentage that a command gives a fee', () => {
  const of = (percentageAmount: string | null, method: FeeAmountCalculationMethod, asked: string): unknown => {
    const defined = percentageAmount === null ? {} : { percentageAmount: money(percentageAmount) };
    const found = withPercentage(
      fee({ id: 'f', amountCalculationMethod: method, ...defined }),
      money(asked),
      'fees[0]',
    );
    return 'errorReason' in found ? found.errorReason : found.percentageAmount?.toFixed();
  };

  it('is used where the product leaves it open, and otherwise repeats the product', () => {
    expect(of(null, 'LOAN_AMOUNT_PERCENTAGE', '2.5')).to.equal('2.5');
    expect(of('2.50', 'LOAN_AMOUNT_PERCENTAGE', '2.5')).to.equal('2.5');
    expect(of('3', 'LOAN_AMOUNT_PERCENTAGE', '2.5')).to.equal('FEE_AMOUNT_ALREADY_DEFINED_IN_PRODUCT');
    expect(of(null, 'LOAN_AMOUNT_PERCENTAGE', '0')).to.equal('FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE');
    expect(of(null, 'FLAT', '2.5')).to.equal('INVALID_FEE');
    const plain = fee({ id: 'f' });
    expect(withPercentage(plain, undefined, 'fees[0]')).to.equal(plain);
  });
});

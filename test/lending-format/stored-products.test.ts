import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parseCommand } from '../../src/lending-format/command-format.ts';
import { writeProduct } from '../../src/lending-format/response-bodies.ts';
import { decodeProduct, encodeProduct } from '../../src/lending-format/stored-products.ts';
import type { LoanProduct } from '../../src/lending/products/product.ts';
import { type Json, commandRecord } from '../support/lending/lending-log.ts';
import { richProduct } from '../support/lending/lending-script.ts';

function productFrom(payload: Json) {
  const record = commandRecord({ ...richProduct('P', 'FIXED_TERM_LOAN'), payload });
  const parsed = parseCommand(record.value as Buffer, { partition: 0, offset: 0, appendedAt: 0 });
  if (parsed.kind !== 'product' || parsed.request.type !== 'CREATE_PRODUCT') throw new Error(JSON.stringify(parsed));
  return parsed.request.product;
}

/** What GET shows of the first version of a product. */
const shownAs = (product: LoanProduct): string => writeProduct({ product, version: 1, createdAt: 0, modifiedAt: 0 });

describe('a product', () => {
  const bounds = { defaultValue: 1000.5, minValue: 0.01, maxValue: 99_999_999_999.99 };
  const payload: Json = {
    ...richProduct('P', 'FIXED_TERM_LOAN').payload,
    loanAmountSettings: { loanAmount: bounds },
    interestSettings: { interestRate: { defaultValue: 5.25, minValue: 0, maxValue: 100 } },
    feesSettings: {
      fees: [
        {
          name: 'a',
          trigger: 'MANUAL',
          amountCalculationMethod: 'LOAN_AMOUNT_PERCENTAGE',
          percentageAmount: 0.123456789,
        },
      ],
    },
  };

  it('is stored in the registry without losing a digit', () => {
    const product = productFrom(payload);
    const kept: unknown = JSON.parse(JSON.stringify(encodeProduct(product)));
    expect(decodeProduct(kept)).to.deep.equal(product);
    expect(JSON.stringify(kept)).to.contain('"99999999999.99"');
  });

  it('shows amounts with the digits of its currency and percentages with their own', () => {
    const text = shownAs(productFrom(payload));
    expect(text).to.contain('"loanAmount":{"defaultValue":1000.50,"minValue":0.01,"maxValue":99999999999.99}');
    expect(text).to.contain('"interestRate":{"defaultValue":5.25,"minValue":0,"maxValue":100}');
    expect(text).to.contain('"percentageAmount":0.123456789');
    expect(text).to.contain('"taxRate":19');
  });

  it('can be sent again as it is shown', () => {
    const product = productFrom({
      ...payload,
      interestSettings: {
        interestRate: { defaultValue: 5.25 },
        pmtAdjustmentThreshold: { method: 'CALENDAR_DAYS', numberOfDays: 15 },
      },
      paymentSettings: { prepaymentSettings: { elementsRecalculationMethod: 'TOTAL_EXPECTED_FIXED' } },
    });
    expect(product.interestSettings.pmtAdjustmentThreshold?.numberOfDays).to.equal(15);
    const shown = JSON.parse(shownAs(product)) as Json;
    expect(JSON.parse(shownAs(productFrom(shown)))).to.deep.equal(shown);
  });

  const digits: [code: string, digits: number][] = [
    ['EUR', 2],
    ['JPY', 0],
    ['JOD', 3],
    ['BTC', 8],
  ];
  for (const [code, expected] of digits) {
    it(`in ${code} has amounts of ${expected} digits`, () => {
      expect(productFrom({ ...payload, currency: { code } }).currency).to.deep.equal({ code, digits: expected });
    });
  }

  it('has default settings where it names none', () => {
    const product = productFrom({ name: 'n', type: 'DYNAMIC_TERM_LOAN', currency: { code: 'EUR' } });
    expect(product.state).to.equal('ACTIVE');
    expect(product.scheduleSettings).to.include({ repaymentPeriodUnit: 'MONTHS', defaultRepaymentPeriodCount: 1 });
    expect(product.paymentSettings.repaymentAllocationOrder).to.deep.equal(['FEE', 'PENALTY', 'INTEREST', 'PRINCIPAL']);
    expect(product.allowCustomRepaymentAllocation).to.equal(false);
    expect(product.adjustInterestForFirstInstallment).to.equal(false);
  });
});

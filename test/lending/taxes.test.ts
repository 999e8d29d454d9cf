import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { Decimal, sum } from '../../src/lending/money.ts';
import { taxWithin, taxedAmount } from '../../src/lending/taxes.ts';
import type { TaxCalculationMethod } from '../../src/lending/taxes.ts';
import { euro } from './schedule/schedule-terms.ts';

function taxed(amount: string, rate: string, taxCalculationMethod: TaxCalculationMethod): string {
  const { income, tax, owed } = taxedAmount(
    new Decimal(amount),
    { taxRate: new Decimal(rate), taxCalculationMethod },
    euro,
  );
  return `${income.toFixed(2)} + ${tax.toFixed(2)} = ${owed.toFixed(2)}`;
}

describe('tax', () => {
  it('is added to an amount when exclusive', () => {
    expect(taxed('1000', '16', 'EXCLUSIVE')).to.equal('1000.00 + 160.00 = 1160.00');
  });

  it('is part of an amount when inclusive', () => {
    expect(taxed('1000', '16', 'INCLUSIVE')).to.equal('862.07 + 137.93 = 1000.00');
  });

  it('within an amount owed is the tax that it was made with', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.integer({ min: 0, max: 4000 }),
        fc.constantFrom<TaxCalculationMethod>('INCLUSIVE', 'EXCLUSIVE'),
        (cents, rate, taxCalculationMethod) => {
          const terms = { taxRate: new Decimal(rate).dividedBy(100), taxCalculationMethod };
          const { owed, tax } = taxedAmount(new Decimal(cents).dividedBy(100), terms, euro);
          expect(taxWithin(owed, terms, euro).toFixed(2)).to.equal(tax.toFixed(2));
        },
      ),
    );
  });

  it('of nothing, or at a rate of zero, is nothing', () => {
    expect(taxed('0', '16', 'INCLUSIVE')).to.equal('0.00 + 0.00 = 0.00');
    expect(taxed('5', '0', 'EXCLUSIVE')).to.equal('5.00 + 0.00 = 5.00');
  });

  it('rounded on each of three penalties differs from tax on their sum', () => {
    const terms = { taxRate: new Decimal(19), taxCalculationMethod: 'EXCLUSIVE' } as const;
    const penalties = Array.from({ length: 3 }, () => new Decimal('0.13'));
    const each = sum(penalties.map((penalty) => taxedAmount(penalty, terms, euro).tax));
    expect(each.toFixed(2)).to.equal('0.06');
    expect(taxedAmount(sum(penalties), terms, euro).tax.toFixed(2)).to.equal('0.07');
  });

  it('and income sum to the amount due, to the minor unit', () => {
    const methods = fc.constantFrom<TaxCalculationMethod>('INCLUSIVE', 'EXCLUSIVE');
    fc.assert(
      fc.property(fc.nat(9_999_999), fc.nat(99), methods, (cents, rate, taxCalculationMethod) => {
        const amount = new Decimal(cents).dividedBy(100);
        const terms = { taxRate: new Decimal(rate), taxCalculationMethod };
        const { income, tax, owed } = taxedAmount(amount, terms, euro);
        expect(income.plus(tax).equals(owed)).to.equal(true);
        expect((taxCalculationMethod === 'INCLUSIVE' ? owed : income).equals(amount)).to.equal(true);
        expect(tax.minus(income.times(rate).dividedBy(100)).abs().lessThanOrEqualTo('0.01')).to.equal(true);
      }),
    );
  });
});

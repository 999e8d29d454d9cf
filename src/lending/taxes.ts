import { roundAmount } from './money.ts';
import type { Currency, Decimal, RoundingMode } from './money.ts';

/** INCLUSIVE: the amount contains its tax. EXCLUSIVE: the tax is added on top. */
export type TaxCalculationMethod = 'INCLUSIVE' | 'EXCLUSIVE';

export interface TaxTerms {
  /** Percent. */
  readonly taxRate: Decimal;
  readonly taxCalculationMethod: TaxCalculationMethod;
}

/** An amount and its tax, each in the currency's digits; owed = income + tax. */
export interface TaxedAmount {
  readonly income: Decimal;
  readonly tax: Decimal;
  readonly owed: Decimal;
}

/** The tax in an amount owed: t / (1 + t) of it. Owed amounts made by {@link taxedAmount} have exactly this tax. */
export function taxWithin(
  owed: Decimal,
  { taxRate }: TaxTerms,
  currency: Currency,
  mode: RoundingMode = 'HALF_UP',
): Decimal {
  return roundAmount(owed.times(taxRate).dividedBy(taxRate.plus(100)), currency, mode);
}

/**
 * Splits an amount of a charge into income and tax: a - a / (1 + t) of it when included, a * t on top when not.
 * @param amount in the currency's digits.
 */
export function taxedAmount(
  amount: Decimal,
  { taxRate, taxCalculationMethod }: TaxTerms,
  currency: Currency,
  mode: RoundingMode = 'HALF_UP',
): TaxedAmount {
  if (taxCalculationMethod === 'EXCLUSIVE') {
    const tax = roundAmount(amount.times(taxRate).dividedBy(100), currency, mode);
    return { income: amount, tax, owed: amount.plus(tax) };
  }
  const tax = taxWithin(amount, { taxRate, taxCalculationMethod }, currency, mode);
  return { income: amount.minus(tax), tax, owed: amount };
}

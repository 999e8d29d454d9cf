import { Decimal, zero } from '../money.ts';

/**
 * The level payment that repays a principal over `periods` periods of one rate: P * i / (1 - (1 + i)^-n), or P / n
 * without interest. Unrounded. Source: the ordinary annuity, Excel's PMT.
 * @param rate of one period, as a fraction.
 * @throws RangeError when there is no period.
 */
export function annuityPayment(principal: Decimal, rate: Decimal, periods: number): Decimal {
  return optimizedPayment(
    principal,
    Array.from({ length: periods }, () => rate),
  );
}

/**
 * The level payment that repays a principal over periods of unequal rates: P divided by the sum of all periods'
 * discount factors, each the product of 1 / (1 + rate) up to its own period. Unrounded. The closed form subtracts two
 * numbers close to one; summing factors keeps every digit at any rate.
 * @param rates of each period in order, as fractions.
 * @throws RangeError when there is no period.
 */
export function optimizedPayment(principal: Decimal, rates: readonly Decimal[]): Decimal {
  if (rates.length === 0) throw new RangeError('a level payment needs a period');
  let discount = new Decimal(1);
  let discounts = zero;
  for (const rate of rates) {
    discount = discount.dividedBy(rate.plus(1));
    discounts = discounts.plus(discount);
  }
  return principal.dividedBy(discounts);
}

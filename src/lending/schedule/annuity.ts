import { Decimal, zero } from '../money.ts';

/**
 * The level payment that repays a principal in that many equal periods: P * i / (1 - (1 + i)^-n), or P / n without
 * interest. Unrounded. Source: the ordinary annuity; Excel's PMT.
 * @param rate of one period, as a fraction.
 * @throws RangeError when there is no period.
 */
export function annuityPayment(principal: Decimal, rate: Decimal, periods: number): Decimal {
  if (periods < 1) throw new RangeError('an annuity needs a period');
  if (rate.isZero()) return principal.dividedBy(periods);
  const growth = rate.plus(1).pow(periods);
  return principal.times(rate).times(growth).dividedBy(growth.minus(1));
}

/**
 * The level payment that repays a principal over periods of unequal rates: P divided by the sum of the discount factors
 * of all periods, each the product of 1 / (1 + rate) up to its own. Unrounded; equals the annuity when all rates agree.
 * @param rates of each period in order, as fractions.
 * @throws RangeError when there is no period.
 */
export function optimizedPayment(principal: Decimal, rates: readonly Decimal[]): Decimal {
  if (rates.length === 0) throw new RangeError('a level payment needs a period');
  if (rates.every((rate) => rate.isZero())) return principal.dividedBy(rates.length);
  let discount = new Decimal(1);
  let discounts = zero;
  for (const rate of rates) {
    discount = discount.dividedBy(rate.plus(1));
    discounts = discounts.plus(discount);
  }
  return principal.dividedBy(discounts);
}

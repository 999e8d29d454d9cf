import { fraction, multiplyFractions } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import { Decimal, sum } from '../money.ts';
import { countedDays, daysPerYear, elapsedYears, regularPeriodYears } from './day-count.ts';
import type { AccrualPeriod, AccrualTerms } from './day-count.ts';
import type { InterestChargeFrequency, InterestTerms, LocalDate } from '../terms.ts';
import { rateAfter, rateSpans } from './interest-rates.ts';

/**
 * Interest of a principal that stayed unchanged from one date (excluded) to another (included), unrounded, in up to 40
 * significant digits.
 *
 * The period is that of the installment which contains the days. Without `from` and `to` the whole period counts. Parts
 * of a period sum to the whole. A principal that changes inside a period is charged part by part.
 *
 * Simple: principal * rate * units, where units is the elapsed time in the rate's own unit (years, months, weeks,
 * days). Compounding daily: principal * ((1 + rate)^units - 1), with the growth counted from the period's start. Where
 * the rate changes, the days before and after count apart: simple interest is their sum, growth their product.
 * FLAT takes the amount lent as its principal, the other methods what is outstanding.
 */
export function periodInterest(
  principal: Decimal,
  terms: AccrualTerms,
  period: AccrualPeriod,
  from: LocalDate = period.accruesAfter,
  to: LocalDate = period.dueDate,
): Decimal {
  const { rateSegments, interestType } = terms.interest;
  if (interestType === 'COMPOUNDING_INTEREST') {
    const growthAt = (date: LocalDate): Decimal =>
      rateSpans(rateSegments, period.accruesAfter, date)
        .map((span) => compoundGrowth(span.interestRate, chargeUnits(terms, period, span.from, span.to)))
        .reduce((product, growth) => product.times(growth), one);
    return principal.times(growthAt(to).minus(growthAt(from)));
  }
  const interests = rateSpans(rateSegments, from, to).map((span) => {
    const { numerator, denominator } = chargeUnits(terms, period, span.from, span.to);
    // The only division comes last: exact values stay exact, and a tie between two minor units is recognised as one.
    return principal.times(span.interestRate).times(numerator).dividedBy(new Decimal(denominator).times(100));
  });
  return sum(interests);
}

const one = new Decimal(1);

/**
 * The rate of a regular period after a day, as a fraction. STANDARD_PAYMENTS computes its level payment from it, and so
 * assumes that the rate of its first period stays.
 */
export function regularPeriodRate(terms: AccrualTerms, day: LocalDate): Decimal {
  const { interest } = terms;
  const interestRate = rateAfter(interest.rateSegments, day);
  const units = multiplyFractions(regularPeriodYears(terms), chargeUnitsPerYear(interest));
  if (interest.interestType === 'COMPOUNDING_INTEREST') return compoundGrowth(interestRate, units).minus(1);
  return interestRate.times(units.numerator).dividedBy(new Decimal(units.denominator).times(100));
}

/** The most growth factors cached: a portfolio's rates times the few lengths its periods have. */
const maxGrowthsKept = 4096;
const growthsKept = new Map<string, Decimal>();

/** (1 + rate)^units. A power in 40 digits costs as much as a schedule of simple interest, so known ones are kept. */
function compoundGrowth(interestRate: Decimal, { numerator, denominator }: Fraction): Decimal {
  const key = `${interestRate.toString()}^${numerator}/${denominator}`;
  const cached = growthsKept.get(key);
  if (cached !== undefined) return cached;
  const growth = interestRate.dividedBy(100).plus(1).pow(new Decimal(numerator).dividedBy(denominator));
  if (growthsKept.size >= maxGrowthsKept) growthsKept.clear();
  growthsKept.set(key, growth);
  return growth;
}

/** The elapsed time in the unit for which the rate is quoted. */
function chargeUnits(terms: AccrualTerms, period: AccrualPeriod, from: LocalDate, to: LocalDate): Fraction {
  const { interest } = terms;
  if (interest.scheduleInterestDaysCountMethod === 'ACTUAL_DAYS_COUNT' && isQuotedPerDay(interest)) {
    return fraction(countedDays(interest.daysInYear, from, to), daysOfCharge(interest));
  }
  return multiplyFractions(elapsedYears(terms, period, from, to), chargeUnitsPerYear(interest));
}

function isQuotedPerDay({ interestChargeFrequency }: InterestTerms): boolean {
  return interestChargeFrequency === 'EVERY_DAY' || interestChargeFrequency === 'EVERY_X_DAYS';
}

function daysOfCharge(interest: InterestTerms): number {
  return interest.interestChargeFrequency === 'EVERY_X_DAYS' ? interest.interestChargeFrequencyCount : 1;
}

/** How many of the rate's units a year has: 12 months, 13 times four weeks, 52 weeks, or the day count's days. */
function chargeUnitsPerYear(interest: InterestTerms): Fraction {
  const unitsPerYear: Record<InterestChargeFrequency, Fraction> = {
    ANNUALIZED: fraction(1),
    EVERY_MONTH: fraction(12),
    EVERY_FOUR_WEEKS: fraction(13),
    EVERY_WEEK: fraction(52),
    EVERY_DAY: fraction(daysPerYear[interest.daysInYear]),
    EVERY_X_DAYS: fraction(daysPerYear[interest.daysInYear], daysOfCharge(interest)),
  };
  return unitsPerYear[interest.interestChargeFrequency];
}

import type { Decimal } from '../money.ts';
import type { LocalDate, RateSegment } from '../terms.ts';

/** The rate that interest is earned at after a day, in percent. @throws Error when there is no segment: a bug */
export function rateAfter(rateSegments: readonly RateSegment[], day: LocalDate): Decimal {
  const segment = rateSegments.findLast(({ from }) => from === null || from <= day);
  if (segment === undefined) throw new Error(`no interest rate after ${day}`);
  return segment.interestRate;
}

/** Days with one rate: after the first date, up to and including the second. */
export interface RateSpan {
  readonly interestRate: Decimal;
  readonly from: LocalDate;
  readonly to: LocalDate;
}

/** The days after `from` up to `to`, split where the rate changes. None of them is empty, unless there is one rate. */
export function rateSpans(segments: readonly RateSegment[], from: LocalDate, to: LocalDate): RateSpan[] {
  const [only, second] = segments;
  if (only !== undefined && second === undefined) return [{ interestRate: only.interestRate, from, to }];
  return segments.flatMap(({ from: start, interestRate }, index) => {
    const next = segments[index + 1]?.from ?? to;
    const span = { interestRate, from: start === null || start < from ? from : start, to: next < to ? next : to };
    return span.from < span.to ? [span] : [];
  });
}

import { Decimal } from '../lending/money.ts';
import { exactNumber, plainNumber } from './exact-json.ts';

/** Decimals that are no money, so that no currency's digits apply: percentages. */
const rateNames = new Set(['interestRate', 'taxRate', 'penaltyRate', 'percentageAmount']);

/**
 * A view of lending as exact JSON: each amount with its currency's digits (315.50; 1000 in yen), more only when it has
 * more (accrued interest), each percentage as it is. This is the one place that decides how a number looks, in answers
 * and in events alike.
 * @param digits Of the currency.
 */
export function exactView(view: unknown, digits: number, isRate = false): unknown {
  if (view instanceof Decimal) {
    return isRate ? plainNumber(view) : exactNumber(view, Math.max(digits, view.decimalPlaces()));
  }
  if (Array.isArray(view)) return view.map((item) => exactView(item, digits, isRate));
  if (typeof view !== 'object' || view === null) return view;
  return Object.fromEntries(
    Object.entries(view).map(([name, value]) => [name, exactView(value, digits, isRate || rateNames.has(name))]),
  );
}

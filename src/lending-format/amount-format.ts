import type { WithNumbersAs } from '../contract.ts';
import { Decimal } from '../lending/money.ts';
import { type JsonFieldName, cachedNamesMaximum, jsonFieldName } from '../lending/changelog/json-field-name.ts';

/** A view that is written as this JSON: amounts are Decimals, counts may be numbers. */
export type Written<Json> = WithNumbersAs<Decimal | number, Json>;

/** Decimals that are no money, so that no currency's digits apply: percentages. */
const rateNames = new Set([
  'interestRate',
  'taxRate',
  'penaltyRate',
  'percentageAmount',
  'tolerancePercentageOfOutstandingPrincipal',
]);

/**
 * A view of lending as one line of JSON: each amount with its currency's digits (315.50; 1000 in yen), more only when
 * it has more (accrued interest), each percentage as it is. Fields that are undefined are left out. Only this function
 * decides how a number looks, both in responses and in events.
 * @param view Plain data.
 * @param digits Decimal digits of the currency.
 */
export function writeView(view: unknown, digits: number): string {
  return write(view, digits, false);
}

/**
 * The fields of a view as {@link writeView} writes them, without the braces around them.
 * @param left The name of a field to leave out.
 * @param end The name of the field to stop at; it is left out with all that follow it.
 */
export function writeFields(view: object, digits: number, left?: string, end?: string): string {
  return fieldsOf(view, digits, false, left, end);
}

// The text is built by hand, in one pass: each command writes about five events of some sixty values.
function write(view: unknown, digits: number, isRate: boolean): string {
  if (typeof view === 'string' && plainText.test(view)) return `"${view}"`;
  if (view === null) return 'null';
  // Calling JSON.stringify for a count or a boolean takes longer than all the rest.
  if (typeof view === 'boolean' || (typeof view === 'number' && Number.isInteger(view))) return String(view);
  if (typeof view !== 'object') return JSON.stringify(view) ?? 'null';
  if (view instanceof Decimal) return isRate ? view.toFixed() : writeAmount(view, digits);
  if (!Array.isArray(view)) return `{${fieldsOf(view, digits, isRate)}}`;
  let text = '';
  for (const item of view) text += text === '' ? write(item, digits, isRate) : `,${write(item, digits, isRate)}`;
  return `[${text}]`;
}

function fieldsOf(view: object, digits: number, isRate: boolean, left?: string, end?: string): string {
  const fields = view as Record<string, unknown>;
  let text = '';
  for (const name in fields) {
    if (name === end) break;
    const field = fields[name];
    if (field === undefined || name === left) continue;
    const { first, next, isRateName } = memberOf(name);
    text += text === '' ? first : next;
    text += write(field, digits, isRate || isRateName);
  }
  return text;
}

interface Member extends JsonFieldName {
  readonly isRateName: boolean;
}

function memberOf(name: string): Member {
  const cached = members.get(name);
  if (cached !== undefined) return cached;
  const { first, next } = jsonFieldName(name);
  const member = { first, next, isRateName: rateNames.has(name) };
  if (members.size < cachedNamesMaximum) members.set(name, member);
  return member;
}

const members = new Map<string, Member>();

/** Keys, dates and states: texts that JSON contains unescaped. This test is faster than JSON.stringify. */
const plainText = /^[\w .:-]*$/;

function writeAmount(amount: Decimal, digits: number): string {
  // Most amounts of a loan are zero.
  if (amount.isZero()) return writtenZeros[digits] ?? amount.toFixed(digits);
  // Decimal rounds before it pads, which costs more than all the rest; here there is nothing to round.
  const text = amount.toFixed();
  const point = text.indexOf('.');
  if (point === -1) return digits === 0 ? text : `${text}.${'0'.repeat(digits)}`;
  return text.padEnd(point + 1 + digits, '0');
}

/** Zero, by the digits of the currency. */
const writtenZeros = ['0', '0.0', '0.00', '0.000', '0.0000'];

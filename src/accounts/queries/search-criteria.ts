import { type ExactJson, decimalOfText, isExactObject, scalarText } from '../../lending-format/exact-json.ts';
import { type Refusal, type RefusalReason, refusal } from '../../lending/refusals.ts';
import { isSortable, sortableAmount } from '../sortable-amount.ts';
import { type Condition, type ConditionTest, type FieldKind, isEmpty, withoutCase } from './conditions.ts';
import {
  type CriterionDate,
  type DateKind,
  type RelativeDays,
  type SearchTime,
  lastDays,
  readDate,
  relativeDays,
  wholeDays,
} from './date-ranges.ts';
import type { SearchField, SearchFields } from './search-field.ts';
import type { Sorting } from './search-query.ts';

/**
 * Reads the body of a search: criteria that an item must meet all of, and the order of the items. What cannot be read
 * is refused with its path: a criterion that is left out would return more than was asked for.
 */

/** The most criteria of a search, and the most values of a criterion. */
export const criteriaMaximum = 50;
export const criterionValuesMaximum = 1_000;
/** The longest value and the longest name of a field. Characters. */
const valueCharactersMaximum = 256;
/** The most days that LAST_DAYS may go back. */
const lastDaysMaximum = 36_500;

/** What a criterion must have beside its field. */
type Values = 'none' | 'one' | 'two' | 'list';

interface Operator {
  readonly values: Values;
  readonly kinds: readonly FieldKind[];
}

const words = ['text', 'key'] as const;
const dates = ['instant', 'day'] as const;
const anyButFlag = ['text', 'key', 'number', 'instant', 'day'] as const;

const operators = {
  EQUALS: { values: 'one', kinds: [...anyButFlag, 'flag'] },
  EQUALS_CASE_SENSITIVE: { values: 'one', kinds: words },
  DIFFERENT_THAN: { values: 'one', kinds: [...anyButFlag, 'flag'] },
  MORE_THAN: { values: 'one', kinds: ['number'] },
  LESS_THAN: { values: 'one', kinds: ['number'] },
  BETWEEN: { values: 'two', kinds: ['number', ...dates] },
  ON: { values: 'one', kinds: dates },
  AFTER: { values: 'one', kinds: dates },
  AFTER_INCLUSIVE: { values: 'one', kinds: dates },
  BEFORE: { values: 'one', kinds: dates },
  BEFORE_INCLUSIVE: { values: 'one', kinds: dates },
  STARTS_WITH: { values: 'one', kinds: words },
  STARTS_WITH_CASE_SENSITIVE: { values: 'one', kinds: words },
  IN: { values: 'list', kinds: [...words, 'number', 'flag'] },
  TODAY: { values: 'none', kinds: dates },
  THIS_WEEK: { values: 'none', kinds: dates },
  THIS_MONTH: { values: 'none', kinds: dates },
  THIS_YEAR: { values: 'none', kinds: dates },
  LAST_DAYS: { values: 'one', kinds: dates },
  EMPTY: { values: 'none', kinds: anyButFlag },
  NOT_EMPTY: { values: 'none', kinds: anyButFlag },
} as const satisfies Readonly<Record<string, Operator>>;

export type OperatorName = keyof typeof operators;

const isOperatorName = (name: string): name is OperatorName => Object.hasOwn(operators, name);

/** Every operator, with the kinds of field that it fits. */
export const operatorNames = Object.keys(operators).filter(isOperatorName);

/** Whether an operator can be used on fields of a kind. */
export function fits(operator: OperatorName, kind: FieldKind): boolean {
  return (operators[operator].kinds as readonly FieldKind[]).includes(kind);
}

/** What the body of a search asks for. */
export interface SearchCriteria {
  readonly conditions: readonly Condition[];
  /** Undefined when the body names no order. */
  readonly sorting: Sorting | undefined;
}

/**
 * Reads the body of a search.
 * @param refusals Gets a refusal for every part that cannot be read.
 */
export function readCriteria(
  body: ExactJson,
  fields: SearchFields<never>,
  time: SearchTime,
  refusals: Refusal[],
): SearchCriteria {
  const refuse: Refuse = (path, reason = 'INVALID_PARAMETERS') => void refusals.push(refusal(reason, path));
  const { filterCriteria, sortingCriteria, ...others } = body;
  for (const name of Object.keys(others)) refuse(name.slice(0, valueCharactersMaximum));
  return {
    conditions: readConditions(filterCriteria, fields, time, refuse),
    sorting: readSorting(sortingCriteria, fields, refuse),
  };
}

type Refuse = (path: string, reason?: RefusalReason) => void;

function readConditions(list: unknown, fields: SearchFields<never>, time: SearchTime, refuse: Refuse): Condition[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) {
    refuse('filterCriteria');
    return [];
  }
  if (list.length > criteriaMaximum) {
    refuse('filterCriteria', 'MAX_NUMBER_OF_FILTERS_REACHED');
    return [];
  }
  return list.flatMap((item: unknown, index) => {
    const path = `filterCriteria[${index}]`;
    if (!isExactObject(item)) {
      refuse(path);
      return [];
    }
    const condition = readCondition(item, fields, time, (part) => refuse(`${path}.${part}`));
    return condition === undefined ? [] : [condition];
  });
}

function readCondition(
  criterion: ExactJson,
  fields: SearchFields<never>,
  time: SearchTime,
  refuse: Refuse,
): Condition | undefined {
  const { field: fieldName, operator: operatorName, value, secondValue, values, ...others } = criterion;
  for (const name of Object.keys(others)) refuse(name.slice(0, valueCharactersMaximum));
  const name = typeof fieldName === 'string' ? fieldName : '';
  const field = name.length > valueCharactersMaximum ? undefined : fields.find(name);
  if (field === undefined) refuse('field');
  // Clients of the lending API write operators in lower case too.
  const operator = typeof operatorName === 'string' ? operatorName.toUpperCase() : '';
  if (!isOperatorName(operator)) refuse('operator');
  if (field === undefined || !isOperatorName(operator)) return undefined;
  const given = givenValues(operators[operator].values, { value, secondValue, values }, refuse);
  if (given === undefined) return undefined;
  const kind = kindOf(field, operator, given.texts);
  if (!fits(operator, kind)) {
    refuse('operator');
    return undefined;
  }
  const read = new CriterionReader(kind, field.words, given, time, refuse);
  const test = read.test(operator);
  if (test === undefined) return undefined;
  if (operator === 'EMPTY' || operator === 'NOT_EMPTY') return isEmpty(name, kind, operator === 'NOT_EMPTY');
  return { field: name, kind, negated: operator === 'DIFFERENT_THAN', ...test };
}

const namesOfValues: Readonly<Record<Values, readonly string[]>> = {
  none: [],
  one: ['value'],
  two: ['value', 'secondValue'],
  list: ['values'],
};

/** The values of a criterion as texts, with the path of each. */
interface GivenValues {
  readonly texts: readonly string[];
  readonly paths: readonly string[];
}

/** The values that an operator needs; undefined when one is missing, is none, or is one too many. */
function givenValues(
  needed: Values,
  { value, secondValue, values }: Readonly<Record<'value' | 'secondValue' | 'values', unknown>>,
  refuse: Refuse,
): GivenValues | undefined {
  const isAbsent = (sent: unknown): boolean =>
    sent === undefined || sent === null || sent === '' || (Array.isArray(sent) && sent.length === 0);
  const names = namesOfValues[needed];
  const sent = { value, secondValue, values };
  const wrong = Object.entries(sent).filter(([name, each]) => names.includes(name) === isAbsent(each));
  for (const [name] of wrong) refuse(name);
  if (wrong.length > 0) return undefined;
  if (needed !== 'list') return textsOf([value, secondValue].slice(0, names.length), names, refuse);
  if (!Array.isArray(values) || values.length > criterionValuesMaximum) {
    refuse('values');
    return undefined;
  }
  return textsOf(
    values,
    values.map((_, index) => `values[${index}]`),
    refuse,
  );
}

function textsOf(sent: readonly unknown[], paths: readonly string[], refuse: Refuse): GivenValues | undefined {
  const texts: string[] = [];
  for (const [index, each] of sent.entries()) {
    const text = scalarText(each);
    if (text === undefined || text === '' || text.length > valueCharactersMaximum) refuse(paths[index] ?? 'value');
    else texts.push(text);
  }
  return texts.length === sent.length ? { texts, paths } : undefined;
}

/** The kind of a field. That of a custom field without a definition follows from the operator and its values. */
function kindOf(field: SearchField<never>, operator: OperatorName, values: readonly string[]): FieldKind {
  if (field.definedKind !== undefined) return field.definedKind;
  if (field.isCustom === undefined) return field.kind;
  const [first = ''] = values;
  const areNumbers = values.every((text) => decimalOfText(text) !== null);
  const dateKind = first.includes('T') ? 'instant' : 'day';
  if (fits(operator, 'text')) return fits(operator, 'number') && values.length > 0 && areNumbers ? 'number' : 'text';
  if (!fits(operator, 'day')) return 'number';
  return fits(operator, 'number') && areNumbers ? 'number' : operator === 'LAST_DAYS' ? 'day' : dateKind;
}

/** Reads the values of one criterion as its kind requires. */
class CriterionReader {
  readonly #kind: FieldKind;
  readonly #words: readonly string[] | undefined;
  readonly #given: GivenValues;
  readonly #time: SearchTime;
  readonly #refuse: Refuse;

  constructor(
    kind: FieldKind,
    words: readonly string[] | undefined,
    given: GivenValues,
    time: SearchTime,
    refuse: Refuse,
  ) {
    this.#kind = kind;
    this.#words = words;
    this.#given = given;
    this.#time = time;
    this.#refuse = refuse;
  }

  /** Undefined when a value was refused. */
  test(operator: OperatorName): ConditionTest | undefined {
    switch (operator) {
      case 'EMPTY':
      case 'NOT_EMPTY':
        return { test: 'empty' };
      case 'EQUALS':
      case 'DIFFERENT_THAN':
      case 'IN':
        return this.#dateKind === undefined ? this.#oneOf(this.#kind === 'text') : this.#dates(operator);
      case 'EQUALS_CASE_SENSITIVE':
        return this.#oneOf(false);
      case 'STARTS_WITH':
        return this.#startsWith(true);
      case 'STARTS_WITH_CASE_SENSITIVE':
        return this.#startsWith(false);
      case 'MORE_THAN':
      case 'LESS_THAN':
        return this.#numbers(operator);
      case 'BETWEEN':
        return this.#dateKind === undefined ? this.#numbers(operator) : this.#dates(operator);
      case 'ON':
      case 'AFTER':
      case 'AFTER_INCLUSIVE':
      case 'BEFORE':
      case 'BEFORE_INCLUSIVE':
      case 'TODAY':
      case 'THIS_WEEK':
      case 'THIS_MONTH':
      case 'THIS_YEAR':
      case 'LAST_DAYS':
        break;
    }
    return this.#dates(operator);
  }

  get #dateKind(): DateKind | undefined {
    return this.#kind === 'instant' || this.#kind === 'day' ? this.#kind : undefined;
  }

  #oneOf(ignoresCase: boolean): ConditionTest | undefined {
    const values = this.#each((text) => this.#comparable(text));
    return values === undefined
      ? undefined
      : { test: 'oneOf', values: ignoresCase ? values.map(withoutCase) : values, ignoresCase };
  }

  /** Keys and words are in the case that they are in, whatever the operator says. */
  #startsWith(ignoresCaseOfTexts: boolean): ConditionTest | undefined {
    const [prefix = ''] = this.#given.texts;
    const ignoresCase = ignoresCaseOfTexts && this.#kind === 'text';
    return { test: 'startsWith', prefix: ignoresCase ? withoutCase(prefix) : prefix, ignoresCase };
  }

  #numbers(operator: 'MORE_THAN' | 'LESS_THAN' | 'BETWEEN'): ConditionTest | undefined {
    const numbers = this.#each((text) => this.#comparable(text));
    if (numbers === undefined) return undefined;
    const [first = '', second = ''] = numbers;
    if (operator === 'MORE_THAN') return { test: 'range', from: { value: first, included: false }, to: null };
    if (operator === 'LESS_THAN') return { test: 'range', from: null, to: { value: first, included: false } };
    return { test: 'range', from: { value: first, included: true }, to: { value: second, included: true } };
  }

  #dates(operator: OperatorName): ConditionTest | undefined {
    const range = this.#rangeOf(operator);
    return range === undefined ? undefined : { test: 'range', ...range };
  }

  #rangeOf(operator: OperatorName): OpenRange | undefined {
    const kind = this.#dateKind ?? 'day';
    const { zone } = this.#time;
    if (isRelative(operator)) return wholeDays(...relativeDays(operator, this.#time), kind, zone);
    if (operator === 'LAST_DAYS') {
      const days = this.#each(countOf)?.[0];
      return days === undefined ? undefined : wholeDays(...lastDays(Number(days), this.#time), kind, zone);
    }
    const read = this.#each((text) => readDate(text, kind, this.#time));
    if (read === undefined) return undefined;
    const [first, second] = read as [CriterionDate, CriterionDate?];
    const { from, to } = first.range;
    const ranges: Partial<Record<OperatorName, OpenRange>> = {
      ON: wholeDays(first.day, first.day, kind, zone),
      AFTER: { from: { value: to.value, included: !to.included }, to: null },
      AFTER_INCLUSIVE: { from, to: null },
      BEFORE: { from: null, to: { value: from.value, included: !from.included } },
      BEFORE_INCLUSIVE: { from: null, to },
      BETWEEN: { from, to: (second ?? first).range.to },
    };
    return ranges[operator] ?? first.range;
  }

  /** What each value is read as; undefined when one cannot be read, which is refused. */
  #each<Read>(readOne: (text: string) => Read | undefined): Read[] | undefined {
    const { texts, paths } = this.#given;
    const results = texts.map((text, index) => {
      const result = readOne(text);
      if (result === undefined) this.#refuse(paths[index] ?? 'value');
      return result;
    });
    return results.every((result) => result !== undefined) ? results : undefined;
  }

  #comparable(text: string): string | undefined {
    if (this.#kind === 'flag') return /^(?:true|false)$/i.test(text) ? text.toLowerCase() : undefined;
    if (this.#kind === 'number') {
      const decimal = decimalOfText(text);
      return decimal !== null && isSortable(decimal) ? sortableAmount(decimal) : undefined;
    }
    return this.#words === undefined || this.#words.includes(text) ? text : undefined;
  }
}

type OpenRange = Pick<Extract<ConditionTest, { test: 'range' }>, 'from' | 'to'>;

function countOf(text: string): string | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= lastDaysMaximum ? text : undefined;
}

function isRelative(operator: OperatorName): operator is RelativeDays {
  return ['TODAY', 'THIS_WEEK', 'THIS_MONTH', 'THIS_YEAR'].includes(operator);
}

function readSorting(sent: unknown, fields: SearchFields<never>, refuse: Refuse): Sorting | undefined {
  if (sent === undefined || sent === null) return undefined;
  if (!isExactObject(sent)) {
    refuse('sortingCriteria');
    return undefined;
  }
  const { field: fieldName, order, ...others } = sent;
  for (const name of Object.keys(others)) refuse(`sortingCriteria.${name.slice(0, valueCharactersMaximum)}`);
  const field = typeof fieldName === 'string' ? fields.find(fieldName) : undefined;
  if (field === undefined || field.isCustom !== undefined) {
    refuse('sortingCriteria.field', 'INVALID_SORTING_SELECTION');
  }
  const direction = typeof order === 'string' ? order.toUpperCase() : (order ?? 'DESC');
  if (direction !== 'ASC' && direction !== 'DESC') refuse('sortingCriteria.order');
  return { field: String(fieldName), descending: direction === 'DESC' };
}

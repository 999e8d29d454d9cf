import { isLocalDate } from '../dates.ts';
import { Decimal } from '../money.ts';
import type { RefusalReason } from '../refusals.ts';
import type { FieldDefinition, FieldType, ValueLimits } from './definitions.ts';

/** The number of a NUMBER field: up to forty digits on each side of the point, exactly. */
const numberForm = /^-?\d{1,40}(?:\.\d{1,40})?$/;
const instantForm =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:0\d|1[0-8]):?[0-5]\d)$/;
const keyForm = /^[0-9a-f]{32}$/;

/** The form of the values of each type; undefined where every text is one. */
const forms: Readonly<Record<FieldType, ((text: string) => boolean) | undefined>> = {
  FREE_TEXT: undefined,
  SELECTION: undefined,
  NUMBER: (text) => numberForm.test(text),
  CHECKBOX: (text) => /^(?:true|false)$/i.test(text),
  DATE: (text) => isLocalDate(text),
  DATE_TIME: (text) => isLocalDate(instantForm.exec(text)?.[1] ?? ''),
  CLIENT_LINK: (text) => keyForm.test(text),
  GROUP_LINK: (text) => keyForm.test(text),
  USER_LINK: (text) => keyForm.test(text),
};

/**
 * Why a field may not have a value; null when it may.
 *
 * - INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE: no number, date or option of the field
 * - INVALID_CUSTOM_FIELD_LINKED_ENTITY_KEY: a link that is no encodedKey
 * - INVALID_FIELD_LENGTH: too short or too long a text
 * - INCONSISTENT_CUSTOM_FIELD_VALUE_WITH_PATTERN: a text in another form than the field asks for
 * - INVALID_PARAMETERS: a number outside the field's limits
 * - DEPENDENT_CUSTOM_FIELD_VALUE_REQUIRED: the selection that this one depends on has no value
 * - INVALID_DEPENDENT_CUSTOM_FIELD_VALUE: no option for the value of that selection
 *
 * @param value The value of a field of the same set, by its id; undefined where it has none.
 */
export function faultOfValue(
  field: FieldDefinition,
  text: string,
  value: (id: string) => string | undefined,
): RefusalReason | null {
  if (forms[field.type]?.(text) === false) {
    return field.type.endsWith('_LINK')
      ? 'INVALID_CUSTOM_FIELD_LINKED_ENTITY_KEY'
      : 'INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE';
  }
  if (field.type === 'SELECTION') return faultOfSelection(field, text, value);
  return faultOfLimits(field.limits, text);
}

function faultOfSelection(
  { selectionOptions, dependsOn }: FieldDefinition,
  text: string,
  value: (id: string) => string | undefined,
): RefusalReason | null {
  if (dependsOn === null) {
    const isOption = selectionOptions.some(({ values }) => values.includes(text));
    return isOption ? null : 'INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE';
  }
  const other = value(dependsOn);
  if (other === undefined) return 'DEPENDENT_CUSTOM_FIELD_VALUE_REQUIRED';
  const isOption = selectionOptions.some(({ forValue, values }) => forValue === other && values.includes(text));
  return isOption ? null : 'INVALID_DEPENDENT_CUSTOM_FIELD_VALUE';
}

function faultOfLimits(
  { validationPattern, minLength, maxLength, minValue, maxValue }: ValueLimits,
  text: string,
): RefusalReason | null {
  const characters = minLength === undefined && maxLength === undefined ? 0 : Array.from(text).length;
  if (characters < (minLength ?? 0) || characters > (maxLength ?? Infinity)) return 'INVALID_FIELD_LENGTH';
  if (validationPattern !== undefined && !hasForm(validationPattern, text)) {
    return 'INCONSISTENT_CUSTOM_FIELD_VALUE_WITH_PATTERN';
  }
  const isBelow = minValue !== undefined && new Decimal(text).lessThan(minValue);
  const isAbove = maxValue !== undefined && new Decimal(text).greaterThan(maxValue);
  return isBelow || isAbove ? 'INVALID_PARAMETERS' : null;
}

/** What each place of a pattern stands for; any other character stands for itself. */
const places: Readonly<Record<string, RegExp>> = {
  '@': /^[A-Za-z]$/,
  '#': /^[0-9]$/,
  $: /^[A-Za-z0-9]$/,
};

function hasForm(pattern: string, text: string): boolean {
  const [wanted, given] = [Array.from(pattern), Array.from(text)];
  const fits = (place: string, character: string | undefined): boolean =>
    character !== undefined && (places[place]?.test(character) ?? place === character);
  return wanted.length === given.length && wanted.every((place, index) => fits(place, given[index]));
}

import { isLosslessNumber } from 'lossless-json';
import { groupIndexField } from '../../lending/custom-fields/field-sets.ts';
import type { RefusalReason } from '../../lending/refusals.ts';
import { isExactObject, readDecimal } from '../exact-json.ts';

/** The longest value of a custom field. Characters. */
export const fieldValueCharactersMaximum = 2_048;
/** The most fields of a set, and the most groups of a grouped one. */
const fieldsMaximum = 200;
const groupsMaximum = 200;
/** The longest id of a field. Characters. */
const fieldIdCharactersMaximum = 256;

type FieldSetValues = Readonly<Record<string, string>> | readonly Readonly<Record<string, string>>[];

/** Whether a field of a body is a custom field set. */
export function isFieldSetName(name: string): boolean {
  return name.startsWith('_') && name !== '__proto__';
}

/** What is wrong in a set: the path below it, with its separator, and why. */
export interface FieldSetFault {
  readonly path: string;
  readonly reason: RefusalReason;
}

/**
 * The values of a custom field set: an object of fields, or a list of them for a grouped set. Each value becomes a
 * text: a number as its shortest one, a boolean as TRUE or FALSE. Groups may say their indexes, and then come in that
 * order.
 *
 * Faults: INVALID_PARAMETERS; MAX_CUSTOM_FIELD_VALUE_LENGTH_EXCEEDED; INVALID_CUSTOM_FIELD_GROUP_INDEX for an index
 * that is none, or is not the place of its group where others say none; TO_MANY_VALUES_FOR_SAME_GROUPED_CUSTOM_FIELD
 * for one that two groups have; GROUPED_INDEXES_NOT_CONSECUTIVE for one that leaves a gap.
 */
export function readFieldSet(sent: unknown): {
  readonly fields: FieldSetValues;
  readonly faults: readonly FieldSetFault[];
} {
  const faults: FieldSetFault[] = [];
  if (!Array.isArray(sent)) return { fields: readFields(sent, '', faults), faults };
  if (sent.length > groupsMaximum) return { fields: {}, faults: [{ path: '', reason: 'INVALID_PARAMETERS' }] };
  const groups = sent.map((group: unknown, index) => readGroup(group, index, faults));
  return { fields: inTheirPlaces(groups, faults), faults };
}

interface Group {
  readonly fields: Readonly<Record<string, string>>;
  /** Undefined where it says none. */
  readonly index: number | undefined;
}

function readGroup(sent: unknown, place: number, faults: FieldSetFault[]): Group {
  const path = `[${place}]`;
  if (!isExactObject(sent)) return { fields: readFields(sent, path, faults), index: undefined };
  const { [groupIndexField]: sentIndex, ...fields } = sent;
  const read = readFields(fields, path, faults);
  if (sentIndex === undefined) return { fields: read, index: undefined };
  const index = groupIndexOf(sentIndex);
  if (index === undefined) faults.push(indexFault(place, 'INVALID_CUSTOM_FIELD_GROUP_INDEX'));
  return { fields: read, index };
}

/** The index of a group, as a response or a client writes it; undefined for anything else. */
export function groupIndexOf(sent: unknown): number | undefined {
  const text = textOf(sent) ?? '';
  return /^(?:0|[1-9]\d{0,3})$/.test(text) ? Number(text) : undefined;
}

/** A response numbers its groups, and a client may send them back. */
function inTheirPlaces(groups: readonly Group[], faults: FieldSetFault[]): readonly Group['fields'][] {
  const isOrdered = groups.every(({ index }) => index !== undefined);
  for (const [place, { index }] of groups.entries()) {
    if (index === undefined) continue;
    const isRepeated = groups.slice(0, place).some((other) => other.index === index);
    if (!isOrdered && index !== place) faults.push(indexFault(place, 'INVALID_CUSTOM_FIELD_GROUP_INDEX'));
    else if (isRepeated) faults.push(indexFault(place, 'TO_MANY_VALUES_FOR_SAME_GROUPED_CUSTOM_FIELD'));
    else if (index >= groups.length) faults.push(indexFault(place, 'GROUPED_INDEXES_NOT_CONSECUTIVE'));
  }
  const ordered = isOrdered ? groups.toSorted((one, other) => Number(one.index) - Number(other.index)) : groups;
  return ordered.map(({ fields }) => fields);
}

function indexFault(place: number, reason: RefusalReason): FieldSetFault {
  return { path: `[${place}].${groupIndexField}`, reason };
}

function readFields(sent: unknown, path: string, faults: FieldSetFault[]): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  if (!isExactObject(sent) || Object.keys(sent).length > fieldsMaximum) {
    faults.push({ path, reason: 'INVALID_PARAMETERS' });
    return fields;
  }
  for (const [id, value] of Object.entries(sent)) {
    const text = textOf(value);
    const isField = id !== '' && id !== '__proto__' && id.length <= fieldIdCharactersMaximum;
    if (text === undefined || !isField) faults.push({ path: `${path}.${id}`, reason: 'INVALID_PARAMETERS' });
    else if (!hasAtMost(text, fieldValueCharactersMaximum)) faults.push(tooLong(`${path}.${id}`));
    else fields[id] = text;
  }
  return fields;
}

function tooLong(path: string): FieldSetFault {
  return { path, reason: 'MAX_CUSTOM_FIELD_VALUE_LENGTH_EXCEEDED' };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (isLosslessNumber(value)) return readDecimal(value)?.toFixed();
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A character beyond the basic plane counts as one, as in the schemas. */
function hasAtMost(text: string, charactersMaximum: number): boolean {
  return text.length <= charactersMaximum || Array.from(text).length <= charactersMaximum;
}

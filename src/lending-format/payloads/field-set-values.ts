import { isLosslessNumber } from 'lossless-json';
import { groupIndexField } from '../../lending/custom-fields/field-sets.ts';
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

/**
 * The values of a custom field set: an object of fields, or a list of them for a grouped set. Each value becomes a
 * text: a number as its shortest one, a boolean as TRUE or FALSE.
 * @returns with the paths of the wrong values below the set, each with its separator
 */
export function readFieldSet(sent: unknown): { readonly fields: FieldSetValues; readonly faults: readonly string[] } {
  const faults: string[] = [];
  if (!Array.isArray(sent)) return { fields: readFields(sent, '', faults), faults };
  if (sent.length > groupsMaximum) return { fields: {}, faults: [''] };
  const groups = sent.map((group: unknown, index) => readGroup(group, index, faults));
  return { fields: groups, faults };
}

function readGroup(sent: unknown, index: number, faults: string[]): Readonly<Record<string, string>> {
  const path = `[${index}]`;
  if (!isExactObject(sent)) return readFields(sent, path, faults);
  const { [groupIndexField]: sentIndex, ...fields } = sent;
  // An answer numbers its groups, and may be sent back.
  if (sentIndex !== undefined && textOf(sentIndex) !== String(index)) faults.push(`${path}.${groupIndexField}`);
  return readFields(fields, path, faults);
}

function readFields(sent: unknown, path: string, faults: string[]): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  if (!isExactObject(sent) || Object.keys(sent).length > fieldsMaximum) {
    faults.push(path);
    return fields;
  }
  for (const [id, value] of Object.entries(sent)) {
    const text = textOf(value);
    const isField = id !== '' && id !== '__proto__' && id.length <= fieldIdCharactersMaximum;
    if (text === undefined || !isField) faults.push(`${path}.${id}`);
    else fields[id] = text;
  }
  return fields;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (isLosslessNumber(value)) return readDecimal(value)?.toFixed();
  const isText = typeof value === 'string' && value.trim() !== '' && hasAtMost(value, fieldValueCharactersMaximum);
  return isText ? value : undefined;
}

/** A character beyond the basic plane counts as one, as in the schemas. */
function hasAtMost(text: string, charactersMaximum: number): boolean {
  return text.length <= charactersMaximum || Array.from(text).length <= charactersMaximum;
}

import { LosslessNumber, isLosslessNumber } from 'lossless-json';
import type { AdditionalFields, FieldValue } from '../../lending/additional-fields.ts';
import { isLocalDate } from '../../lending/dates.ts';
import type { Decimal } from '../../lending/money.ts';
import { type Refusal, type RefusalReason, refusal } from '../../lending/refusals.ts';
import type { LocalDate } from '../../lending/terms.ts';
import { type ExactJson, isExactObject, readDecimal } from '../exact-json.ts';
import { isFieldSetName, readFieldSet } from './field-set-values.ts';
import { encodedKeyForm } from './id-forms.ts';

/** The longest name, key or id. Characters. */
const textCharactersMaximum = 256;
/** The longest note. Characters. */
const notesCharactersMaximum = 2_000;
/** The largest count (installments, days, offsets). */
const countMaximum = 10_000;
/**
 * How many faults of a payload are reported, and how many characters of a field's name: both end up in records of
 * limited size.
 */
export const refusalsMaximum = 50;
const fieldNameCharactersMaximum = 100;
/** The longest list in a payload (fees, custom amounts). */
const listItemsMaximum = 200;

/** A day, with or without a time and an offset, each within its bounds: no zone is further than 18 hours off. */
const dateForm =
  /^(\d{4}-\d{2}-\d{2})(?:T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:(?:0\d|1[0-7]):?[0-5]\d|18:?00))?)?$/;

/**
 * Reads the fields of a JSON object one by one. A field that is missing or has the wrong form becomes a refusal that
 * names it by its path, and reads as absent, so that one pass finds every fault. A null or an empty text is an absent
 * field, and a number or a boolean may be a text, as clients of the lending API send them. A field that was never read
 * is refused at the end: a misspelt date must not be booked as today.
 */
export class FieldReader {
  readonly #object: ExactJson;
  readonly #path: string;
  readonly #refusals: Refusal[];
  readonly #readNames = new Set<string>();
  readonly #children: { readonly name: string; readonly reader: FieldReader }[] = [];
  readonly #lists: { readonly name: string; readonly readers: readonly FieldReader[] }[] = [];
  readonly #kept: Record<string, FieldValue> = {};

  /** @param path The path of the object itself, empty at the top. */
  constructor(object: ExactJson, refusals: Refusal[], path = '') {
    this.#object = object;
    this.#refusals = refusals;
    this.#path = path;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object, name) && this.#object[name] !== null && this.#object[name] !== '';
  }

  /** The names of the fields that have a value. */
  names(): string[] {
    return Object.keys(this.#object).filter((name) => name !== '__proto__' && this.has(name));
  }

  /** A number of at most fifteen significant digits. */
  decimal(name: string): Decimal | undefined {
    return this.#read(name, (value) => readDecimal(numberOf(value)) ?? undefined);
  }

  /** A whole number from 0 to {@link countMaximum}. */
  count(name: string): number | undefined {
    return this.#read(name, readCount);
  }

  flag(name: string): boolean | undefined {
    return this.#read(name, readFlag);
  }

  text(name: string, charactersMaximum = textCharactersMaximum): string | undefined {
    return this.#read(name, (value) =>
      typeof value === 'string' && value.length > 0 && hasAtMost(value, charactersMaximum) ? value : undefined,
    );
  }

  /** 32 hexadecimal digits in lower case. */
  encodedKey(name: string): string | undefined {
    return this.#read(name, (value) => (typeof value === 'string' && encodedKeyForm.test(value) ? value : undefined));
  }

  notes(name: string): string | undefined {
    return this.text(name, notesCharactersMaximum);
  }

  choice<Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    return this.#read(name, (value) => values.find((known) => known === value));
  }

  /** A day, `YYYY-MM-DD`; for an instant with an offset, the day as the sender wrote it. */
  date(name: string): LocalDate | undefined {
    return this.#read(name, (value) => {
      const day = typeof value === 'string' ? dateForm.exec(value)?.[1] : undefined;
      return day !== undefined && isLocalDate(day) ? day : undefined;
    });
  }

  /** The reader of an object inside, which reads as empty when it is absent. The same one each time. */
  object(name: string): FieldReader {
    const known = this.#children.find((child) => child.name === name);
    if (known !== undefined) return known.reader;
    const value = this.#read(name, (value) => (isExactObject(value) ? value : undefined));
    const reader = this.#child(value ?? {}, name);
    this.#children.push({ name, reader });
    return reader;
  }

  /** One reader per object of a list; none when the list is absent. */
  objects(name: string): FieldReader[] {
    const items = this.#read(name, (value) =>
      Array.isArray(value) && value.length <= listItemsMaximum && value.every(isExactObject) ? value : undefined,
    );
    const readers = (items ?? []).map((item, index) => this.#child(item, `${name}[${index}]`));
    this.#lists.push({ name, readers });
    return readers;
  }

  /**
   * Keeps a field as it was sent, whatever it contains, to be given back by {@link keptFields}. Only for fields that
   * move no money, date or state.
   */
  keep(...names: string[]): void {
    for (const name of names) {
      const value = this.#read(name, (sent) => fieldValueOf(sent));
      if (value !== undefined) this.#kept[name] = value;
    }
  }

  /** Keeps texts as {@link text} reads them. */
  keepText(...names: string[]): void {
    for (const name of names) {
      const value = this.text(name);
      if (value !== undefined) this.#kept[name] = value;
    }
  }

  /** Keeps a number as {@link decimal} reads it, exactly. */
  keepDecimal(name: string): void {
    const value = this.decimal(name);
    if (value !== undefined) this.#kept[name] = value;
  }

  /**
   * Keeps every custom field set: the fields whose names begin with an underscore. Their values are kept as texts. A
   * value that is empty, or is no text, number or boolean, is refused by its own path, and so is a wrong group index.
   */
  keepFieldSets(): void {
    for (const name of Object.keys(this.#object).filter(isFieldSetName)) {
      this.#readNames.add(name);
      if (!this.has(name)) continue;
      const { fields, faults } = readFieldSet(this.#object[name]);
      for (const { path, reason } of faults) this.refuse(`${name}${path}`, reason);
      if (Object.keys(fields).length > 0) this.#kept[name] = fields;
    }
  }

  /** The text of a text, a number or a boolean, as it was written: to be compared with what holds anyway. */
  written(name: string): string | undefined {
    return this.#read(name, (value) => {
      if (isLosslessNumber(value)) return value.value.length <= textCharactersMaximum ? value.value : undefined;
      if (typeof value === 'boolean') return String(value);
      return typeof value === 'string' && hasAtMost(value, textCharactersMaximum) ? value : undefined;
    });
  }

  /**
   * Keeps a field if it has one of these values: those that mean "off", or that repeat what holds anyway. Any other
   * value would need a rule that does not exist, and is refused.
   */
  keepOnly(name: string, ...values: readonly (string | number | boolean)[]): void {
    const value = this.#read(name, (sent) => {
      const plain = isLosslessNumber(sent) ? sent.value : sent;
      const number = readDecimal(numberOf(sent));
      if (typeof plain !== 'string' && typeof plain !== 'boolean') return undefined;
      return values.find((allowed) =>
        typeof allowed === 'number' ? number?.equals(allowed) === true : String(allowed) === String(plain),
      );
    });
    if (value !== undefined) this.#kept[name] = value;
  }

  /** Keeps a list of texts. */
  keepTexts(name: string): void {
    const texts = this.#read(name, (sent) =>
      Array.isArray(sent) && sent.every((item) => typeof item === 'string') ? fieldValueOf(sent) : undefined,
    );
    if (texts !== undefined) this.#kept[name] = texts;
  }

  /** Keeps a list of known words without repeats. */
  keepChoices(name: string, ...values: readonly string[]): void {
    const found = this.choices(name, values);
    if (found !== undefined) this.#kept[name] = found;
  }

  /** Keeps a field if it is an empty list or an empty object: what it would list is not there. */
  keepEmpty(...names: string[]): void {
    for (const name of names) {
      const value = this.#read(name, (sent) =>
        (Array.isArray(sent) && sent.length === 0) || (isExactObject(sent) && Object.keys(sent).length === 0)
          ? fieldValueOf(sent)
          : undefined,
      );
      if (value !== undefined) this.#kept[name] = value;
    }
  }

  /** Keeps a field that was read if it is an empty list. */
  keepEmptyList(name: string): void {
    const value = this.#object[name];
    if (Array.isArray(value) && value.length === 0) this.#kept[name] = value;
  }

  /** Keeps a field that was read if it is an empty object. */
  keepEmptyObject(name: string): void {
    const value = this.#object[name];
    if (isExactObject(value) && Object.keys(value).length === 0) this.#kept[name] = {};
  }

  /** The fields that were kept, here and in the objects inside, at their places. Call it once all fields were read. */
  keptFields(): AdditionalFields {
    const fields: Record<string, FieldValue> = { ...this.#kept };
    for (const { name, reader } of this.#children) {
      const kept = reader.keptFields();
      if (Object.keys(kept).length > 0) fields[name] = kept;
    }
    for (const { name, readers } of this.#lists) {
      const kept = readers.map((reader) => reader.keptFields());
      if (kept.some((each) => Object.keys(each).length > 0)) fields[name] = kept;
    }
    return fields;
  }

  /** A list of whole numbers from 0 to {@link countMaximum}. */
  counts(name: string): number[] | undefined {
    return this.#read(name, (value) => {
      if (!Array.isArray(value) || value.length > listItemsMaximum) return undefined;
      const counts = value.map(readCount);
      return counts.every((count) => count !== undefined) ? counts : undefined;
    });
  }

  /** A list of known words without repeats. */
  choices<Value extends string>(name: string, values: readonly Value[]): Value[] | undefined {
    return this.#read(name, (value) => {
      if (!Array.isArray(value) || new Set(value).size !== value.length) return undefined;
      const matched = value.map((item) => values.find((word) => word === item));
      return matched.every((word) => word !== undefined) ? matched : undefined;
    });
  }

  /** Refuses the field when it is absent; one of the wrong form has already been refused. */
  require<Value>(name: string, value: Value | undefined): Value | undefined {
    if (value === undefined && !this.has(name)) this.refuse(name);
    return value;
  }

  refuse(name: string, errorReason: RefusalReason = 'INVALID_PARAMETERS'): void {
    if (this.#refusals.length >= refusalsMaximum) return;
    this.#refusals.push(refusal(errorReason, this.#pathOf(name.slice(0, fieldNameCharactersMaximum))));
  }

  /** Accepts fields that clients of the API send and that mean nothing here. */
  ignore(...names: string[]): void {
    for (const name of names) this.#readNames.add(name);
  }

  /** Refuses every field that was never read, here and in the objects inside. Call it once, at the top. */
  refuseUnknown(): void {
    for (const name of Object.keys(this.#object)) if (!this.#readNames.has(name)) this.refuse(name);
    for (const { reader } of this.#children) reader.refuseUnknown();
    for (const { readers } of this.#lists) for (const reader of readers) reader.refuseUnknown();
  }

  #read<Value>(name: string, convert: (value: unknown) => Value | undefined): Value | undefined {
    this.#readNames.add(name);
    if (!this.has(name)) return undefined;
    const value = convert(this.#object[name]);
    if (value === undefined) this.refuse(name);
    return value;
  }

  #child(object: ExactJson, name: string): FieldReader {
    return new FieldReader(object, this.#refusals, this.#pathOf(name));
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }
}

/** A character beyond the basic plane takes two units of a string but counts as one, as in the schemas. */
function hasAtMost(text: string, charactersMaximum: number): boolean {
  if (text.length <= charactersMaximum) return true;
  return text.length <= 2 * charactersMaximum && Array.from(text).length <= charactersMaximum;
}

function readCount(sent: unknown): number | undefined {
  const value = numberOf(sent);
  // Nearly every count is written like this, and a Decimal takes ten times as long.
  if (isLosslessNumber(value) && plainCount.test(value.value)) return Number(value.value);
  const decimal = readDecimal(value);
  return decimal !== null && decimal.isInteger() && !decimal.isNegative() && decimal.lessThanOrEqualTo(countMaximum)
    ? decimal.toNumber()
    : undefined;
}

/** The number that a text is, in the form of JSON; any other value as it is. */
function numberOf(value: unknown): unknown {
  return typeof value === 'string' && numberForm.test(value) ? new LosslessNumber(value) : value;
}

const numberForm = /^-?(?:0|[1-9]\d{0,63})(?:\.\d{1,63})?$/;

function readFlag(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === 'true') return true;
  return value === 'false' ? false : undefined;
}

/** A value as it is kept; undefined when it has a number that is not exact or is nested too deeply. */
function fieldValueOf(value: unknown, depth = 0): FieldValue | undefined {
  if (depth > keptDepthMaximum) return undefined;
  if (typeof value === 'string') return hasAtMost(value, notesCharactersMaximum) ? value : undefined;
  if (typeof value === 'boolean' || value === null) return value;
  if (isLosslessNumber(value)) {
    const decimal = readDecimal(value);
    if (decimal === null) return undefined;
    return decimal.isInteger() ? decimal.toNumber() : decimal;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => fieldValueOf(item, depth + 1));
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  if (!isExactObject(value)) return undefined;
  const fields: Record<string, FieldValue> = {};
  for (const [name, inner] of Object.entries(value)) {
    const kept = name === '__proto__' ? undefined : fieldValueOf(inner, depth + 1);
    if (kept === undefined) return undefined;
    fields[name] = kept;
  }
  return fields;
}

/** How deeply kept values may be nested. */
const keptDepthMaximum = 8;

/** Digits that form a count below {@link countMaximum}. */
const plainCount = /^\d{1,4}$/;

type Present<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & { [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined> };

/** The fields that have a value: the types distinguish an absent field from one that is undefined. */
export function present<Fields extends object>(fields: Fields): Present<Fields> {
  const found: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) found[name] = fields[name];
  return found as Present<Fields>;
}

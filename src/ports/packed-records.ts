import { isAscii } from 'node:buffer';
import { noValue, type LogRecord, type PartitionRecords } from './event-log.ts';

/** Keys as positions in the memory that contains them. */
export interface PackedKeys {
  /** The keys one after another, in UTF-8. A log may store them in this form. */
  readonly keys: Buffer;
  /** Where the key of each record ends in `keys`; {@link noValue} for a record without one. */
  readonly keyEnds: Uint32Array;
}

/** Records as positions in the memory that contains their keys and values: no object per record. */
export interface PackedRecords extends PackedKeys {
  /** The values one after another, separated by commas. A log may store them in this form. */
  readonly values: Buffer;
  /** Where the value of each record ends in `values`; {@link noValue} for a tombstone. */
  readonly valueEnds: Uint32Array;
}

/**
 * Packed records for one partition. A log that accepts the packed form saves an object and a view of memory for each
 * record. Other logs see ordinary records, built on first access. Do not spread this object: the spread drops them.
 */
export class PackedPartitionRecords implements PartitionRecords {
  readonly topic: string;
  readonly partition: number;
  readonly packed: PackedRecords;
  #records: readonly LogRecord[] | undefined;

  constructor(topic: string, partition: number, packed: PackedRecords) {
    this.topic = topic;
    this.partition = partition;
    this.packed = packed;
  }

  get records(): readonly LogRecord[] {
    this.#records ??= unpack(this.packed);
    return this.#records;
  }
}

/** The packed form of any request's records: as given if they are packed already, else with the values copied. */
export function packedForm(request: PartitionRecords): PackedRecords {
  return request instanceof PackedPartitionRecords ? request.packed : packRecords(request.records);
}

/** Packs records by copying their keys and values into two pieces of memory. */
export function packRecords(records: readonly LogRecord[]): PackedRecords {
  const parts: Buffer[] = [];
  const valueEnds = new Uint32Array(records.length);
  let end = -1;
  for (const [index, { value }] of records.entries()) {
    if (value !== null) {
      if (parts.length > 0) parts.push(comma);
      parts.push(value);
      end += 1 + value.length;
    }
    valueEnds[index] = value === null ? noValue : end;
  }
  return { ...packKeys(records.map(({ key }) => key)), values: Buffer.concat(parts), valueEnds };
}

const comma = Buffer.from(',');

/** Packs keys by writing them into one piece of memory. */
export function packKeys(texts: readonly (string | null)[]): PackedKeys {
  const keyEnds = new Uint32Array(texts.length);
  let text = '';
  for (const [index, key] of texts.entries()) {
    if (key !== null) text += key;
    keyEnds[index] = key === null ? noValue : text.length;
  }
  if (Buffer.byteLength(text) === text.length) return { keys: Buffer.from(text, 'latin1'), keyEnds };
  // Each key is written alone: a surrogate at the end of one and one at the start of the next are no pair.
  const parts = texts.map((key) => Buffer.from(key ?? ''));
  let end = 0;
  for (const [index, part] of parts.entries()) {
    end += part.length;
    if (texts[index] !== null) keyEnds[index] = end;
  }
  return { keys: Buffer.concat(parts), keyEnds };
}

/** The text of each key. */
export function keyTexts({ keys, keyEnds }: PackedKeys): (string | null)[] {
  // Cutting one text costs less than making a text of each key.
  const text = isAscii(keys) ? keys.toString('latin1') : undefined;
  const texts: (string | null)[] = [];
  let start = 0;
  for (const end of keyEnds) {
    if (end === noValue) texts.push(null);
    else {
      texts.push(text === undefined ? keys.toString('utf8', start, end) : text.slice(start, end));
      start = end;
    }
  }
  return texts;
}

function unpack(packed: PackedRecords): LogRecord[] {
  const { values, valueEnds } = packed;
  let start = 0;
  return keyTexts(packed).map((key, index): LogRecord => {
    const end = valueEnds[index] as number;
    if (end === noValue) return { key, value: null };
    const value = values.subarray(start, end);
    start = end + 1;
    return { key, value };
  });
}

/** The position in `values` where the value of a record starts, if it has one. */
export function valueStartOf({ valueEnds }: PackedRecords, index: number): number {
  const end = lastEnd(valueEnds, index);
  return end === undefined ? 0 : end + 1;
}

/** The position in `keys` where the key of a record starts, if it has one. */
export function keyStartOf({ keyEnds }: PackedKeys, index: number): number {
  return lastEnd(keyEnds, index) ?? 0;
}

/** The last end before an index; undefined when there is none. */
function lastEnd(ends: Uint32Array, index: number): number | undefined {
  for (let before = index - 1; before >= 0; before -= 1) {
    const end = ends[before] as number;
    if (end !== noValue) return end;
  }
  return undefined;
}

/** The records `from` to `to` (exclusive), sharing the memory of `packed`. All of them are `packed` itself. */
export function sliceRecords(packed: PackedRecords, from: number, to: number): PackedRecords {
  const { keys, keyEnds, values, valueEnds } = packed;
  if (from === 0 && to === valueEnds.length) return packed;
  const start = valueStartOf(packed, from);
  const keyStart = keyStartOf(packed, from);
  return {
    keys: keys.subarray(keyStart, keyStartOf(packed, to)),
    keyEnds: endsFrom(keyEnds.slice(from, to), keyStart),
    // A comma follows the last value of the slice, unless that is the last of all or the slice has no values.
    values: values.subarray(start, Math.max(start, valueStartOf(packed, to) - 1)),
    valueEnds: endsFrom(valueEnds.slice(from, to), start),
  };
}

/** Changes ends so that they count from a position, and returns them. */
export function endsFrom(ends: Uint32Array, start: number): Uint32Array {
  for (let index = 0; index < ends.length; index += 1) {
    const end = ends[index] as number;
    if (end !== noValue) ends[index] = end - start;
  }
  return ends;
}

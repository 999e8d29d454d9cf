import { noValue, type LogRecord, type PartitionRecords } from './event-log.ts';

/** Records as positions in the memory that contains their values: no object per record. */
export interface PackedRecords {
  /** The key of each record. */
  readonly keys: readonly (string | null)[];
  /** The values one after another, separated by commas. A log may store them in this form. */
  readonly values: Buffer;
  /** Where the value of each record ends in `values`; {@link noValue} for a tombstone. */
  readonly valueEnds: readonly number[];
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

/** Packs records by copying their values into one piece of memory. */
export function packRecords(records: readonly LogRecord[]): PackedRecords {
  const parts: Buffer[] = [];
  const valueEnds: number[] = [];
  let end = -1;
  for (const { value } of records) {
    if (value !== null) {
      if (parts.length > 0) parts.push(comma);
      parts.push(value);
      end += 1 + value.length;
    }
    valueEnds.push(value === null ? noValue : end);
  }
  return { keys: records.map(({ key }) => key), values: Buffer.concat(parts), valueEnds };
}

const comma = Buffer.from(',');

function unpack({ keys, values, valueEnds }: PackedRecords): LogRecord[] {
  let start = 0;
  return keys.map((key, index): LogRecord => {
    const end = valueEnds[index] as number;
    if (end === noValue) return { key, value: null };
    const value = values.subarray(start, end);
    start = end + 1;
    return { key, value };
  });
}

/** The position in `values` where the value of a record starts, if it has one. */
export function valueStartOf({ valueEnds }: PackedRecords, index: number): number {
  for (let before = index - 1; before >= 0; before -= 1) {
    const end = valueEnds[before] as number;
    if (end !== noValue) return end + 1;
  }
  return 0;
}

/** The records `from` to `to` (exclusive), sharing the memory of `packed`. All of them are `packed` itself. */
export function sliceRecords(packed: PackedRecords, from: number, to: number): PackedRecords {
  const { keys, values, valueEnds } = packed;
  if (from === 0 && to === keys.length) return packed;
  const start = valueStartOf(packed, from);
  return {
    keys: keys.slice(from, to),
    // A comma follows the last value of the slice, unless that is the last of all or the slice has no values.
    values: values.subarray(start, Math.max(start, valueStartOf(packed, to) - 1)),
    valueEnds: valueEnds.slice(from, to).map((end) => (end === noValue ? noValue : end - start)),
  };
}

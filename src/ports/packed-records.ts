import { noValue, type LogRecord, type PartitionRecords } from './event-log.ts';

/** Records as positions in the memory their values lie in: no object per record. */
export interface PackedRecords {
  /** Of each record. */
  readonly keys: readonly (string | null)[];
  /** The values one behind the other with a comma between two, which is how a log may keep them. */
  readonly values: Buffer;
  /** Where the value of each record ends in `values`; {@link noValue} for a tombstone. */
  readonly valueEnds: readonly number[];
}

/**
 * Packed records for one partition. A log that takes them as they are spares an object and a view of memory for each
 * record; to every other one they are records like those of anybody, made when they are asked for: a spread of this
 * object would leave them out.
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

/** The packed form of anybody's records: as it was given, or with the values copied. */
export function packedForm(request: PartitionRecords): PackedRecords {
  return request instanceof PackedPartitionRecords ? request.packed : packRecords(request.records);
}

/** Copies the values into one piece of memory. */
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

/** Where the value of a record starts, if it has one. */
export function valueStartOf({ valueEnds }: PackedRecords, index: number): number {
  for (let before = index - 1; before >= 0; before -= 1) {
    const end = valueEnds[before] as number;
    if (end !== noValue) return end + 1;
  }
  return 0;
}

/** Some of the records, sharing their memory; all of them as they are. */
export function sliceRecords(packed: PackedRecords, from: number, to: number): PackedRecords {
  const { keys, values, valueEnds } = packed;
  if (from === 0 && to === keys.length) return packed;
  const start = valueStartOf(packed, from);
  return {
    keys: keys.slice(from, to),
    // Behind the last value stands a comma, unless it is the last of all or there is none before it.
    values: values.subarray(start, Math.max(start, valueStartOf(packed, to) - 1)),
    valueEnds: valueEnds.slice(from, to).map((end) => (end === noValue ? noValue : end - start)),
  };
}

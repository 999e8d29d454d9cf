import { noValue, type RecordBatch } from '../../../src/ports/event-log.ts';

export interface BatchEntry {
  readonly offset: number;
  /** Null for a deletion. */
  readonly value: string | null;
}

/** A batch with a comma between its values, as the embedded log stores them, or with other framing. */
export function recordBatch(entries: readonly BatchEntry[], framed = false, appendedAt = 0): RecordBatch {
  const separator = framed ? '<frame>' : ',';
  let text = '>';
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { value } of entries) {
    if (value === null) {
      starts.push(noValue);
      ends.push(noValue);
      continue;
    }
    if (text.length > 1) text += separator;
    starts.push(text.length);
    text += value;
    ends.push(text.length);
  }
  return {
    topic: 'payments',
    partition: 0,
    count: entries.length,
    appendedAt,
    bytes: Buffer.from(text),
    offsets: Float64Array.from(entries.map(({ offset }) => offset)),
    valueStarts: Uint32Array.from(starts),
    valueEnds: Uint32Array.from(ends),
    contiguous: !framed && entries.every(({ value }) => value !== null),
    key: () => null,
  };
}

/** Events whose values are their offsets. */
export function numberedEntries(first: number, last: number): BatchEntry[] {
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    offset: first + index,
    value: String(first + index),
  }));
}

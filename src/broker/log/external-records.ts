import { isUtf8 } from 'node:buffer';
import { noValue, type Offset, type RecordBatch } from '../../ports/event-log.ts';

/** A record of an external producer that cannot be delivered, and why. */
export interface UnreadableRecord {
  readonly offset: Offset;
  readonly reason: string;
  /** In the memory of the batch: copy it to keep it. */
  readonly value: Buffer;
}

export interface CheckedBatch {
  /** Every value in it is one JSON text on one line. Other records have no value, as if they had been deleted. */
  readonly batch: RecordBatch;
  readonly unreadable: readonly UnreadableRecord[];
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/**
 * Checks the values that have not been checked yet: those of external producers. Lines of a stream are spliced from
 * stored values, so a value that is not JSON would break every event after it.
 */
export function checkExternalRecords(batch: RecordBatch): CheckedBatch {
  const { external } = batch;
  if (external === undefined) return { batch, unreadable: [] };
  const unreadable: UnreadableRecord[] = [];
  const valueStarts = batch.valueStarts.slice();
  const valueEnds = batch.valueEnds.slice();
  let bytes = batch.bytes;
  for (let index = 0; index < batch.count; index += 1) {
    const start = valueStarts[index] as number;
    if (external[index] !== 1 || start === noValue) continue;
    const value = bytes.subarray(start, valueEnds[index]);
    const reason = unreadableReason(value);
    if (reason !== undefined) {
      unreadable.push({ offset: batch.offsets[index] as number, reason, value });
      valueStarts[index] = noValue;
      valueEnds[index] = noValue;
    } else if (value.includes(lineFeed) || value.includes(carriageReturn)) {
      // The bytes that were read are shared with others; the copy is made once.
      if (bytes === batch.bytes) bytes = Buffer.from(batch.bytes);
      replaceLineBreaks(bytes.subarray(start, valueEnds[index]));
    }
  }
  const { topic, partition, count, appendedAt, offsets } = batch;
  const key = (index: number): string | null => batch.key(index);
  return {
    batch: { topic, partition, count, appendedAt, bytes, offsets, valueStarts, valueEnds, contiguous: false, key },
    unreadable,
  };
}

function unreadableReason(value: Buffer): string | undefined {
  if (value.length === 0) return 'it is empty';
  if (!isUtf8(value)) return 'it is not UTF-8';
  try {
    JSON.parse(value.toString());
    return undefined;
  } catch {
    return 'it is not JSON';
  }
}

/** In a JSON text a line break can only stand between tokens, where a space means the same. */
function replaceLineBreaks(value: Buffer): void {
  for (let at = 0; at < value.length; at += 1) {
    if (value[at] === lineFeed || value[at] === carriageReturn) value[at] = space;
  }
}

/**
 * Keeps only the records that this product wrote. Nothing else counts in its own topics, where an external value could
 * define anything.
 */
export function withoutExternalRecords(batch: RecordBatch): RecordBatch {
  const { external } = batch;
  if (external === undefined || !external.includes(1)) return batch;
  const ownIndexes = [...external.keys()].filter((index) => external[index] === 0);
  const { topic, partition, appendedAt, bytes } = batch;
  return {
    topic,
    partition,
    appendedAt,
    bytes,
    count: ownIndexes.length,
    offsets: Float64Array.from(ownIndexes, (index) => batch.offsets[index] as number),
    valueStarts: Uint32Array.from(ownIndexes, (index) => batch.valueStarts[index] as number),
    valueEnds: Uint32Array.from(ownIndexes, (index) => batch.valueEnds[index] as number),
    contiguous: false,
    key: (index) => batch.key(ownIndexes[index] as number),
  };
}

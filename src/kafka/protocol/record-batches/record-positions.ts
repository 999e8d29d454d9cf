import { noValue } from '../../../ports/event-log.ts';
import type { Offset } from '../../../ports/event-log.ts';
import type { ResponseMemory } from '../response-memory.ts';
import { markerBytes } from './layout.ts';
import { UnreadableBatch } from './unreadable-batch.ts';
import { VarintReader } from './varint.ts';

/** Where the records of one batch are in its bytes. */
export interface RecordPositions {
  readonly count: number;
  readonly offsets: Float64Array;
  readonly valueStarts: Uint32Array;
  readonly valueEnds: Uint32Array;
  /** Where each key's length is; the key follows it. */
  readonly keyLengthsAt: Uint32Array;
  /** 1 for each external record, which lacks our marker; absent when all records have it. */
  readonly external: Uint8Array | undefined;
}

/** What the batch's header says about the records. */
export interface RecordsHeader {
  readonly baseOffset: Offset;
  readonly lastOffsetDelta: number;
  readonly recordCount: number;
}

/** The attributes of a record, which mean nothing yet. */
const attributesBytes = 1;

/** Attributes, timestamp delta, offset delta, key length, value length and header count: a byte each, at the least. */
const bodyBytesMinimum = 6;

/** A body with its length before it. */
const recordBytesMinimum = 1 + bodyBytesMinimum;

const malformed = 'has records that do not match its header';

/**
 * Finds the records in `bytes` from `start` on; nothing else follows them.
 * @param from Records below this offset are left out.
 * @param memory Where the positions go, if there is room.
 * @throws UnreadableBatch
 */
export function findRecords(
  bytes: Uint8Array,
  start: number,
  { baseOffset, lastOffsetDelta, recordCount }: RecordsHeader,
  from: Offset,
  memory?: ResponseMemory,
): RecordPositions {
  const end = bytes.length;
  // Checked before memory is allocated for them: a count alone could ask for gigabytes.
  if (recordCount < 0 || recordCount * recordBytesMinimum > end - start) throw new UnreadableBatch(malformed);

  const { offsets, valueStarts, valueEnds, keyLengthsAt } = emptyPositions(recordCount, memory);
  let external: Uint8Array | undefined;

  let found = 0;
  let previousDelta = -1;
  const reader = new VarintReader(bytes, start);
  for (let record = 0; record < recordCount; record += 1) {
    const bodyBytes = reader.read();
    const bodyEnd = reader.position + bodyBytes;
    if (bodyBytes < bodyBytesMinimum || bodyEnd > end) throw new UnreadableBatch(malformed);
    reader.position += attributesBytes;
    reader.skipLong(); // timestamp delta
    const delta = reader.read();
    const keyLengthAt = reader.position;
    const keyBytes = reader.read();
    if (keyBytes > 0) reader.position += keyBytes;
    if (delta <= previousDelta || delta > lastOffsetDelta || keyBytes < -1 || reader.position >= bodyEnd) {
      throw new UnreadableBatch(malformed);
    }
    const valueBytes = reader.read();
    const valueStart = reader.position;
    const valueEnd = valueBytes > 0 ? valueStart + valueBytes : valueStart;
    if (valueBytes < -1 || valueEnd >= bodyEnd) throw new UnreadableBatch(malformed);
    previousDelta = delta;
    reader.position = bodyEnd;

    const offset = baseOffset + delta;
    if (offset < from) continue;
    offsets[found] = offset;
    valueStarts[found] = valueBytes < 0 ? noValue : valueStart;
    valueEnds[found] = valueBytes < 0 ? noValue : valueEnd;
    keyLengthsAt[found] = keyLengthAt;
    if (!hasMarker(bytes, valueEnd, bodyEnd)) {
      external ??= new Uint8Array(recordCount);
      external[found] = 1;
    }
    found += 1;
  }
  if (reader.position !== end) throw new UnreadableBatch(malformed);
  if (found === recordCount) return { count: found, offsets, valueStarts, valueEnds, keyLengthsAt, external };
  return {
    count: found,
    offsets: offsets.subarray(0, found),
    valueStarts: valueStarts.subarray(0, found),
    valueEnds: valueEnds.subarray(0, found),
    keyLengthsAt: keyLengthsAt.subarray(0, found),
    external: external?.subarray(0, found),
  };
}

/**
 * Up to this count V8 keeps typed arrays among its own objects, and four of them cost less than one piece of memory for
 * all.
 */
const smallCountMaximum = 8;

/** An offset and three positions. */
const positionBytesPerRecord = 20;

function emptyPositions(count: number, response: ResponseMemory | undefined) {
  if (count <= smallCountMaximum) {
    return {
      offsets: new Float64Array(count),
      valueStarts: new Uint32Array(count),
      valueEnds: new Uint32Array(count),
      keyLengthsAt: new Uint32Array(count),
    };
  }
  // Otherwise each array, in memory of its own, would cost the collector more than its contents.
  const bytes = positionBytesPerRecord * count;
  const start = response?.allocate(bytes);
  const at = start ?? 0;
  const memory = response === undefined || start === undefined ? new ArrayBuffer(bytes) : response.shared.memory;
  return {
    offsets: new Float64Array(memory, at, count),
    valueStarts: new Uint32Array(memory, at + 8 * count, count),
    valueEnds: new Uint32Array(memory, at + 12 * count, count),
    keyLengthsAt: new Uint32Array(memory, at + 16 * count, count),
  };
}

const [marker0, marker1, marker2, marker3, marker4] = markerBytes;

/** Whether our marker, and nothing else, follows the value. */
function hasMarker(bytes: Uint8Array, valueEnd: number, bodyEnd: number): boolean {
  return (
    bodyEnd - valueEnd === markerBytes.length &&
    bytes[valueEnd] === marker0 &&
    bytes[valueEnd + 1] === marker1 &&
    bytes[valueEnd + 2] === marker2 &&
    bytes[valueEnd + 3] === marker3 &&
    bytes[valueEnd + 4] === marker4
  );
}

/** Returns the key whose length is at a position that {@link findRecords} found. */
export function keyAt(bytes: Buffer, keyLengthAt: number): string | null {
  const reader = new VarintReader(bytes, keyLengthAt);
  const keyBytes = reader.read();
  return keyBytes < 0 ? null : bytes.toString('utf8', reader.position, reader.position + keyBytes);
}

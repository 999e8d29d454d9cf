import type { LogRecord } from '../../../ports/event-log.ts';
import { varintBytes, varintBytesMaximum } from './varint.ts';
import { batchHeaderBytes, markerBytes } from './layout.ts';

/** How much a record adds to a batch, at most: its offset delta is assumed to be the longest. Bytes. */
export function encodedRecordBytes({ key, value }: LogRecord): number {
  const body = bodyBytes(key === null ? -1 : textBytes(key), value) + varintBytesMaximum;
  return varintBytes(body) + body;
}

/**
 * The exact size of the batch that {@link encodeRecordBatch} makes of these records, for comparison with a topic's
 * `max.message.bytes`. Bytes.
 */
export function recordBatchBytes(records: readonly LogRecord[]): number {
  return measure(records, new Int32Array(2 * records.length));
}

/** A character of a key has at most three bytes. */
const bytesPerCharacterMaximum = 3;

/** Framing of one record in a batch, at most, and about the memory that a record needs on top of its bytes. Bytes. */
const recordFramingBytes = 32;

/**
 * The size of a record in a batch or in memory, at most. It is quick to compute, because the size of a key may be
 * counted three times too large. Bytes.
 */
export function recordBytesBound({ key, value }: LogRecord): number {
  return bytesPerCharacterMaximum * (key?.length ?? 0) + (value?.length ?? 0) + recordFramingBytes;
}

/**
 * Fills in the body length and the key length of each record.
 * @returns The bytes of the whole batch.
 */
export function measure(records: readonly LogRecord[], lengths: Int32Array): number {
  let total = batchHeaderBytes;
  for (let index = 0; index < records.length; index += 1) {
    const { key, value } = records[index] as LogRecord;
    const keyBytes = key === null ? -1 : textBytes(key);
    const body = bodyBytes(keyBytes, value) + varintBytes(index);
    lengths[2 * index] = body;
    lengths[2 * index + 1] = keyBytes;
    total += varintBytes(body) + body;
  }
  return total;
}

/** The size of a record after its length field, without its offset delta. Bytes. */
export function bodyBytes(keyBytes: number, value: Buffer | null): number {
  return (
    fixedRecordBytes +
    varintBytes(keyBytes) +
    Math.max(0, keyBytes) +
    (value === null ? 1 : varintBytes(value.length) + value.length) +
    markerBytes.length
  );
}

/** The length of the text in UTF-8. Bytes. */
export function textBytes(text: string): number {
  return isShortAscii(text) ? text.length : Buffer.byteLength(text);
}

function isShortAscii(text: string): boolean {
  if (text.length > shortTextCharacters) return false;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** Attributes and timestamp delta of one of our records, both zero. Bytes. */
export const fixedRecordBytes = 2;

/** Up to this length a loop over the characters is faster than a call into Node's native code. */
export const shortTextCharacters = 48;

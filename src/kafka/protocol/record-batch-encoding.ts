import type { LogRecord } from '../../ports/event-log.ts';
import { crc32c } from './crc32c.ts';
import { attribute, batchFormat, batchHeaderBytes, field, markerBytes, uncountedBytes } from './record-batch.ts';
import type { BatchIdentity } from './record-batch.ts';
import { varintBytes, varintBytesMaximum, writeVarint } from './varint.ts';

export interface EncodingOptions extends BatchIdentity {
  /** The timestamp of every record. Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly isTransactional: boolean;
}

/** Attributes and timestamp delta of one of our records, both zero. Bytes. */
const fixedRecordBytes = 2;

/**
 * Encodes records as one uncompressed batch, ready to be produced, each with our marker header.
 * @param records At least one.
 */
export function encodeRecordBatch(records: readonly LogRecord[], options: EncodingOptions): Buffer {
  const count = records.length;
  const lengths = new Int32Array(2 * count);
  const batch = Buffer.allocUnsafe(measure(records, lengths));
  let position = batchHeaderBytes;
  for (let index = 0; index < count; index += 1) {
    const { key, value } = records[index] as LogRecord;
    position = writeVarint(batch, position, lengths[2 * index] as number);
    batch[position] = 0;
    batch[position + 1] = 0;
    position = writeVarint(batch, position + fixedRecordBytes, index);
    const keyBytes = lengths[2 * index + 1] as number;
    position = writeVarint(batch, position, keyBytes);
    if (key !== null) {
      writeText(batch, position, key, keyBytes);
      position += keyBytes;
    }
    if (value === null) {
      position = writeVarint(batch, position, -1);
    } else {
      position = writeVarint(batch, position, value.length);
      batch.set(value, position);
      position += value.length;
    }
    for (let at = 0; at < markerBytes.length; at += 1) batch[position + at] = markerBytes[at] as number;
    position += markerBytes.length;
  }
  writeHeader(batch, count, options);
  return batch;
}

/**
 * Fills in the body length and the key length of each record.
 * @returns The bytes of the whole batch.
 */
function measure(records: readonly LogRecord[], lengths: Int32Array): number {
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
function bodyBytes(keyBytes: number, value: Buffer | null): number {
  return (
    fixedRecordBytes +
    varintBytes(keyBytes) +
    Math.max(0, keyBytes) +
    (value === null ? 1 : varintBytes(value.length) + value.length) +
    markerBytes.length
  );
}

function writeHeader(batch: Buffer, count: number, options: EncodingOptions): void {
  batch.writeInt32BE(0, field.baseOffset);
  batch.writeInt32BE(0, field.baseOffset + 4);
  batch.writeInt32BE(batch.length - uncountedBytes, field.length);
  batch.writeInt32BE(-1, field.partitionLeaderEpoch);
  batch[field.format] = batchFormat;
  batch.writeInt16BE(options.isTransactional ? attribute.transactional : 0, field.attributes);
  batch.writeInt32BE(count - 1, field.lastOffsetDelta);
  writeTimestamp(batch, field.baseTimestamp, options.timestamp);
  writeTimestamp(batch, field.maximumTimestamp, options.timestamp);
  batch.writeInt32BE(count, field.recordCount);
  renumberBatch(batch, options);
}

function writeTimestamp(batch: Buffer, at: number, milliseconds: number): void {
  batch.writeInt32BE(Math.floor(milliseconds / 0x1_0000_0000), at);
  batch.writeUInt32BE(milliseconds % 0x1_0000_0000, at + 4);
}

/**
 * Gives an encoded batch another identity and a new checksum, in place, to send the same records again after the
 * producer got a new id. Costs one pass of {@link crc32c} over the batch.
 */
export function renumberBatch(batch: Buffer, { producerId, producerEpoch, firstSequence }: BatchIdentity): void {
  batch.writeBigInt64BE(producerId, field.producerId);
  batch.writeInt16BE(producerEpoch, field.producerEpoch);
  batch.writeInt32BE(firstSequence, field.baseSequence);
  batch.writeUInt32BE(crc32c(batch, field.attributes), field.checksum);
}

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

/** Up to this length a loop over the characters is faster than a call into Node's native code. */
const shortTextCharacters = 48;

/** The length of the text in UTF-8. Bytes. */
function textBytes(text: string): number {
  return isShortAscii(text) ? text.length : Buffer.byteLength(text);
}

function isShortAscii(text: string): boolean {
  if (text.length > shortTextCharacters) return false;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** @param byteLength The result of {@link textBytes}: as many bytes as characters means that all of them are ASCII. */
function writeText(bytes: Buffer, position: number, text: string, byteLength: number): void {
  if (byteLength > shortTextCharacters || byteLength !== text.length) {
    bytes.write(text, position);
    return;
  }
  for (let at = 0; at < byteLength; at += 1) bytes[position + at] = text.charCodeAt(at);
}

import type { LogRecord } from '../../../ports/event-log.ts';
import { crc32c } from './crc32c.ts';
import {
  attribute,
  batchFormat,
  batchHeaderBytes,
  field,
  markerBytes,
  uncountedBytes,
  type BatchIdentity,
} from './layout.ts';
import { writeVarint } from './varint.ts';
import { measure, fixedRecordBytes, shortTextCharacters } from './record-sizes.ts';

export interface EncodingOptions extends BatchIdentity {
  /** The timestamp of every record. Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly isTransactional: boolean;
}

/**
 * Encodes records as one uncompressed batch, ready to be produced, each with our marker header. `compressBatch` makes
 * one of large records smaller.
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

/** @param byteLength The result of {@link textBytes}: as many bytes as characters means that all of them are ASCII. */
function writeText(bytes: Buffer, position: number, text: string, byteLength: number): void {
  if (byteLength > shortTextCharacters || byteLength !== text.length) {
    bytes.write(text, position);
    return;
  }
  for (let at = 0; at < byteLength; at += 1) bytes[position + at] = text.charCodeAt(at);
}

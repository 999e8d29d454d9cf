/**
 * How records are stored in rows of the file and in memory.
 * In: records to store, rows that were read. Out: rows with checksums, records as positions in shared memory.
 * Start with `encodeInto` and `decodeRow` below. `layout.ts` describes the bytes, `decoded-batch.ts` is what readers
 * get, `checksum.ts` and `compressed-bodies.ts` protect and shorten bodies, and `row-memory.ts` has the memory of rows
 * that are written.
 */

import { LendstreamError } from '../../errors.ts';
import { noValue } from '../../ports/event-log.ts';
import type { LogRecord, Offset, RecordBatch, TopicPartition } from '../../ports/event-log.ts';
import { packRecords } from '../../ports/packed-records.ts';
import type { PackedRecords } from '../../ports/packed-records.ts';
import { checksumOf } from './checksum.ts';
import { inflatedBody } from './compressed-bodies.ts';
import {
  alignedEnd,
  type BatchPosition,
  decodedBytesPerRecord,
  DecodedBatch,
  indexBytesOf,
  type StoredBatch,
} from './decoded-batch.ts';
import { bodyVersion, compressedVersion, field, flag, headerBytes } from './layout.ts';
import { copyBytes, type SharedBuffer } from '../../ports/shared-buffer.ts';

const comma = 0x2c;

/** A batch as stored in the database. */
export interface BatchRow extends BatchPosition {
  readonly count: number;
  /** Over the body as it is stored. */
  readonly checksum: number;
  /** Possibly compressed, see compressed-bodies.ts. */
  readonly body: Buffer;
}

/**
 * Encodes records into one body. The body has memory of its own that can be transferred to another thread.
 * @param offsets The offset of each record, if they are not consecutive from the base offset.
 */
export function encodeBody(
  position: BatchPosition,
  records: readonly LogRecord[],
  offsets?: readonly Offset[],
): ArrayBuffer {
  return encodeRuns(position, [packRecords(records)], offsets);
}

/** Encodes the records of several runs into one body, run after run. Otherwise the same as {@link encodeBody}. */
export function encodeRuns(
  position: BatchPosition,
  runs: readonly PackedRecords[],
  offsets?: readonly Offset[],
): ArrayBuffer {
  // Every byte is written, so there is no need to fill it with zeros first.
  return encodeInto((bytes) => Buffer.allocUnsafeSlow(bytes), position, runs, offsets).buffer as ArrayBuffer;
}

/**
 * Encodes the records of several runs into memory that the caller provides, and returns it.
 * @param provide Returns memory of exactly so many bytes, aligned for whole numbers. It may be shared by threads.
 */
export function encodeInto(
  provide: (bytes: number, count: number) => Buffer,
  position: BatchPosition,
  runs: readonly PackedRecords[],
  offsets?: readonly Offset[],
): Buffer {
  const { count, hasKeys, keysBytes, valuesBytes } = measure(runs);
  const indexLength = count * (1 + (hasKeys ? 1 : 0) + (offsets === undefined ? 0 : 1));
  const valuesAt = headerBytes + 4 * indexLength;
  const keysAt = valuesAt + valuesBytes;
  const body = provide(keysAt + keysBytes, count);
  const { buffer: memory, byteOffset } = body;
  const index = new Uint32Array(memory, byteOffset + headerBytes, indexLength);

  const header = new DataView(memory, byteOffset);
  header.setUint8(field.version, bodyVersion);
  header.setUint8(field.flags, (hasKeys ? flag.keys : 0) | (offsets === undefined ? 0 : flag.offsetDeltas));
  header.setUint16(field.zero, 0, true);
  header.setUint32(field.partitionId, position.partitionId, true);
  header.setFloat64(field.baseOffset, position.baseOffset, true);
  header.setFloat64(field.lastOffset, position.lastOffset, true);
  header.setFloat64(field.appendedAt, position.appendedAt, true);
  header.setUint32(field.count, count, true);
  header.setUint32(field.valuesBytes, valuesBytes, true);
  header.setUint32(field.keysBytes, keysBytes, true);
  header.setUint32(field.inflatedBytes, 0, true);

  copyValues(runs, body, valuesAt, index);
  if (hasKeys) copyKeys(runs, body, keysAt, index.subarray(count));
  if (offsets !== undefined) {
    const deltasAt = hasKeys ? 2 * count : count;
    for (let at = 0; at < count; at += 1) index[deltasAt + at] = (offsets[at] as Offset) - position.baseOffset;
  }
  return body;
}

/** Copies the values of each run at once and puts commas between the runs. */
function copyValues(runs: readonly PackedRecords[], body: Buffer, valuesAt: number, valueEnds: Uint32Array): void {
  let at = 0;
  let runStart = 0;
  for (const run of runs) {
    if (hasValue(run)) {
      if (runStart > 0) body[valuesAt + runStart - 1] = comma;
      copyBytes(run.values, body, valuesAt + runStart);
    }
    for (const end of run.valueEnds) {
      valueEnds[at] = end === noValue ? noValue : runStart + end;
      at += 1;
    }
    if (hasValue(run)) runStart += run.values.length + 1;
  }
}

/** Whether at least one record of the run has a value, that is, is not a tombstone. */
function hasValue({ values, valueEnds }: PackedRecords): boolean {
  return values.length > 0 || valueEnds.some((end) => end !== noValue);
}

/** Copies the keys of each run at once. */
function copyKeys(runs: readonly PackedRecords[], body: Buffer, keysAt: number, keyEnds: Uint32Array): void {
  let at = 0;
  let runStart = 0;
  for (const run of runs) {
    if (run.keys.length > 0) copyBytes(run.keys, body, keysAt + runStart);
    for (const end of run.keyEnds) {
      keyEnds[at] = end === noValue ? noValue : runStart + end;
      at += 1;
    }
    runStart += run.keys.length;
  }
}

interface Measures {
  readonly count: number;
  readonly hasKeys: boolean;
  readonly keysBytes: number;
  readonly valuesBytes: number;
}

function measure(runs: readonly PackedRecords[]): Measures {
  let count = 0;
  let hasKeys = false;
  let keysBytes = 0;
  let valuesBytes = -1;
  for (const run of runs) {
    count += run.valueEnds.length;
    hasKeys ||= hasKey(run);
    keysBytes += run.keys.length;
    if (hasValue(run)) valuesBytes += run.values.length + 1;
  }
  return { count, hasKeys, keysBytes, valuesBytes: Math.max(0, valuesBytes) };
}

/** Whether at least one record of the run has a key, which may be empty. */
function hasKey({ keys, keyEnds }: PackedRecords): boolean {
  return keys.length > 0 || keyEnds.some((end) => end !== noValue);
}

/**
 * Checks a row against its checksum and its own header, and decodes it.
 * @throws CORRUPT_BATCH (details: topic, partition, baseOffset)
 */
export function decodeRow(topicPartition: TopicPartition, row: BatchRow): StoredBatch {
  return decodeBody(topicPartition, bodyOfRow(topicPartition, row));
}

/**
 * Checks a row against its checksum and its own header, and returns its body as it was encoded: decompressed, if the
 * row is compressed.
 * @throws CORRUPT_BATCH (details: topic, partition, baseOffset)
 */
export function bodyOfRow(topicPartition: TopicPartition, row: BatchRow): Buffer {
  checkRow(topicPartition, row);
  const body = inflatedBody(row.body);
  if (body === undefined) throw corruptBatch(topicPartition, row);
  return body;
}

/**
 * Checks a row against its checksum and its own header. The checksum covers what is stored, so that a compressed body
 * need not be decompressed for it.
 * @throws CORRUPT_BATCH (details: topic, partition, baseOffset)
 */
export function checkRow(topicPartition: TopicPartition, row: BatchRow): void {
  if (checksumOf(row.body) !== row.checksum || !headerMatches(row)) throw corruptBatch(topicPartition, row);
}

function corruptBatch({ topic, partition }: TopicPartition, { baseOffset, lastOffset }: BatchRow): LendstreamError {
  return new LendstreamError(
    'CORRUPT_BATCH',
    `The records of topic ${topic}, partition ${partition}, from offset ${baseOffset} to ${lastOffset} ` +
      'do not match their checksum. The data on disk is damaged.',
    { details: { topic, partition, baseOffset } },
  );
}

function headerMatches(row: BatchRow): boolean {
  const { body } = row;
  return (
    body.length >= headerBytes &&
    (body[field.version] === bodyVersion || body[field.version] === compressedVersion) &&
    body.readUInt32LE(field.partitionId) === row.partitionId &&
    body.readDoubleLE(field.baseOffset) === row.baseOffset &&
    body.readDoubleLE(field.lastOffset) === row.lastOffset &&
    body.readDoubleLE(field.appendedAt) === row.appendedAt &&
    body.readUInt32LE(field.count) === row.count
  );
}

/**
 * Decodes a body that is not compressed and is known to be sound: this process encoded it, or its checksum was
 * compared.
 */
export function decodeBody(where: TopicPartition, body: Buffer): StoredBatch {
  const indexEnd = headerBytes + indexBytesOf(body, 0);
  const keysAt = indexEnd + body.readUInt32LE(field.valuesBytes);
  return new DecodedBatch(where, body, { headAt: 0, valuesAt: indexEnd, keysAt }, undefined);
}

/** The memory that a whole body takes in shared memory, with room behind it for the lists. Bytes. */
export function sharedBodyBytes(bodyBytes: number, count: number): number {
  return alignedEnd(0, bodyBytes) + decodedBytesPerRecord * count;
}

/**
 * Decodes a whole body in shared memory, which begins at a multiple of 8 and has its {@link sharedBodyBytes} for
 * itself. Otherwise the same as {@link decodeBody}.
 */
export function decodeSharedBody(where: TopicPartition, run: SharedBuffer, headAt: number): StoredBatch {
  const { bytes } = run;
  const valuesAt = headAt + headerBytes + indexBytesOf(bytes, headAt);
  return new DecodedBatch(
    where,
    bytes,
    { headAt, valuesAt, keysAt: valuesAt + bytes.readUInt32LE(headAt + field.valuesBytes) },
    run,
  );
}

/**
 * Where the parts of a body are in the memory of a run: its values, which those of the next body follow behind a comma,
 * and its head, which is the header, the index and the keys. Behind the head is room for the lists.
 */
export interface BodyInRun {
  readonly valuesAt: number;
  readonly headAt: number;
}

/** Decodes a body of a run. Otherwise the same as {@link decodeBody}. */
export function decodeBodyInRun(
  where: TopicPartition,
  run: SharedBuffer,
  { valuesAt, headAt }: BodyInRun,
): StoredBatch {
  const { bytes } = run;
  return new DecodedBatch(
    where,
    bytes,
    { headAt, valuesAt, keysAt: headAt + headerBytes + indexBytesOf(bytes, headAt) },
    run,
  );
}

/**
 * Puts a body into the memory of a run: its values behind those of the body before, its head before that of the body
 * before.
 * @param valuesAt Where its values begin.
 * @param end Where its head with the room for the lists has to end.
 * @returns undefined when it does not fit
 */
export function putIntoRun(
  memory: Buffer,
  body: Buffer,
  valuesAt: number,
  end: number,
): (BodyInRun & { readonly valuesEnd: number }) | undefined {
  const indexEnd = headerBytes + indexBytesOf(body, 0);
  const valuesBytes = body.readUInt32LE(field.valuesBytes);
  const valuesEnd = valuesAt + valuesBytes;
  const keysAt = indexEnd + valuesBytes;
  const room = alignedEnd(indexEnd, body.length - keysAt) + decodedBytesPerRecord * body.readUInt32LE(field.count);
  const headAt = Math.floor((end - room) / 8) * 8;
  if (headAt < valuesEnd + 1) return undefined;
  copyBytes(body, memory, valuesAt, indexEnd, keysAt);
  memory[valuesEnd] = comma;
  copyBytes(body, memory, headAt, 0, indexEnd);
  copyBytes(body, memory, headAt + indexEnd, keysAt);
  return { valuesAt, headAt, valuesEnd };
}

/**
 * The records of a batch from an offset on, sharing the memory of the batch. Returns the batch itself when that is all
 * of them.
 */
export function batchFrom(batch: StoredBatch, offset: Offset): RecordBatch {
  if (offset <= batch.position.baseOffset) return batch;
  const first = indexOf(batch.offsets, offset);
  if (first === 0) return batch;
  return {
    topic: batch.topic,
    partition: batch.partition,
    count: batch.count - first,
    appendedAt: batch.appendedAt,
    bytes: batch.bytes,
    offsets: batch.offsets.subarray(first),
    valueStarts: batch.valueStarts.subarray(first),
    valueEnds: batch.valueEnds.subarray(first),
    contiguous: batch.contiguous,
    key: (at) => batch.key(first + at),
    release: batch.release,
  };
}

/** The index of the first offset at or above the given one. */
function indexOf(offsets: Float64Array, offset: Offset): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] as Offset) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

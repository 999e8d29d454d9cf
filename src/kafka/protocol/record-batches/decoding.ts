import { LendstreamError } from '../../../errors.ts';
import {
  noValue,
  type Offset,
  type ReadResult,
  type RecordBatch,
  type TopicPartition,
} from '../../../ports/event-log.ts';
import type { SharedBuffer } from '../../../ports/shared-buffer.ts';
import type { ResponseMemory } from '../response-memory.ts';
import { AbortedTransactions } from './aborted-transactions.ts';
import type { AbortedTransaction } from './aborted-transactions.ts';
import { crc32c, crc32cOfLoaded, isWorthLoading } from './crc32c.ts';
import { attribute, batchFormat, batchHeaderBytes, field, uncountedBytes } from './layout.ts';
import { UnreadableBatch } from './unreadable-batch.ts';
import { inflateRecords, inflatedBytesMaximum } from './compression.ts';
import { joinedValuesMaximum, LoadedBytes, type JoinedPlaces } from './machine-code/loaded-bytes.ts';
import { findRecords, keyAt, type RecordPositions } from './record-positions.ts';

/** The fewest records of a batch whose values are joined. */
const joinedRecordsMinimum = 8;

export interface DecodingOptions {
  /**
   * Whether to compare each batch with its CRC-32C. Default true. The broker compares it when it stores a batch, but
   * not when it delivers the batch, so only this check finds bytes that were damaged on the broker's disk or on the
   * way. It costs 0.15 us per KiB of a large batch, where the decoding itself takes 0.03 us per record of any size.
   */
  readonly verifyChecksum?: boolean;
  /**
   * Whether to move the values of a batch together in `bytes`, which no other reader may be using, so that they are
   * `contiguous`, those of the next batch behind them. Costs 0.03 us for a record of 400 B, less than what a first
   * stream saves that copies the values. Batches that are small, compressed, have deletions or external records are
   * left as they are. Default false.
   */
  readonly joinValues?: boolean;
  /** The memory of `bytes`, if it is used again: it is then also that of the batches, which do not retain it. */
  readonly memory?: ResponseMemory | undefined;
}

/** A batch whose memory is used again when every reader has released it. */
export interface FetchedBatch extends RecordBatch {
  /** Absent where memory is never used again. */
  readonly memory?: SharedBuffer | undefined;
}

export interface DecodedBatches extends ReadResult {
  readonly batches: readonly FetchedBatch[];
}

/**
 * Decodes the record batches of one partition of a read_committed fetch response to positions in its bytes.
 *
 * Leaves out records of aborted transactions, control records (the marks at the end of transactions) and records below
 * `from`. `nextOffset` passes over them, and over the holes that compaction leaves. A batch that the response holds
 * only in part ends the decoding, and so does enough decompressed data: the next read begins there. Damage after intact
 * batches ends it too, and the next read, which begins with it, throws.
 *
 * @param start Where the partition's batches begin in `bytes`.
 * @param from The requested offset.
 * @param abortedTransactions The partition's aborted transactions in the response, in any order.
 * @throws CORRUPT_BATCH (details: topic, partition, baseOffset): bytes that do not match their checksum or the format;
 *   an older format; a compression that cannot be read; a batch that its response does not hold completely
 */
export function decodeRecordBatches(
  where: TopicPartition,
  bytes: Buffer,
  start: number,
  end: number,
  from: Offset,
  abortedTransactions: readonly AbortedTransaction[],
  { verifyChecksum = true, joinValues = false, memory }: DecodingOptions = {},
): DecodedBatches {
  const abortedProducers = new AbortedTransactions(abortedTransactions);
  const batches: FetchedBatch[] = [];
  let nextOffset = from;
  let inflatedBytes = 0;
  // Everything before the batch and from here on is needed no longer.
  let freeFrom = start;
  let previousLastOffset = -1;
  for (let position = start; position < end;) {
    try {
      const header = readHeader(bytes, position, end);
      if (header === undefined) {
        if (position === start) throw new UnreadableBatch('is larger than the response that should contain it');
        break;
      }
      const loaded = verifyChecksum ? checkChecksum(bytes, position, header) : undefined;
      const { lastOffset, attributes } = header;
      if (header.baseOffset <= previousLastOffset) throw new UnreadableBatch('does not follow the one before it');
      // Also for a batch below `from`: it may be the mark that ends a transaction.
      const isVisible = abortedProducers.advance(bytes, position, attributes, lastOffset);
      if (isVisible && lastOffset >= from && header.recordCount !== 0) {
        const isCompressed = (attributes & attribute.compression) !== 0;
        if (isCompressed && inflatedBytes >= inflatedBytesMaximum) break;
        const joining = joinValues && loaded !== undefined ? { loaded, freeFrom } : undefined;
        const batch = decodeBatch(where, bytes, position, header, from, joining, memory);
        freeFrom = batch.contiguous ? (batch.valueEnds[batch.count - 1] as number) + 1 : header.end;
        if (isCompressed) inflatedBytes += batch.bytes.length;
        if (batch.count > 0) batches.push(batch);
      }
      nextOffset = Math.max(nextOffset, lastOffset + 1);
      previousLastOffset = lastOffset;
      position = header.end;
    } catch (error) {
      if (!(error instanceof UnreadableBatch)) throw error;
      if (nextOffset > from) break;
      throw corruptBatch(where, bytes, position, end, error);
    }
  }
  return { batches, nextOffset };
}

interface BatchHeader {
  readonly baseOffset: Offset;
  readonly lastOffset: Offset;
  readonly lastOffsetDelta: number;
  readonly attributes: number;
  readonly recordCount: number;
  /** Where the batch ends in the response. */
  readonly end: number;
}

/** Returns the header of the batch at a position; undefined when the batch continues beyond `end`. */
function readHeader(bytes: Buffer, position: number, end: number): BatchHeader | undefined {
  if (position + field.checksum > end) return undefined;
  const format = bytes[position + field.format];
  if (format !== batchFormat) {
    throw new UnreadableBatch(`has format ${format}; only format ${batchFormat} (Kafka 0.11 and later) can be read`);
  }
  const length = bytes.readInt32BE(position + field.length);
  const batchEnd = position + uncountedBytes + length;
  if (length < batchHeaderBytes - uncountedBytes) throw new UnreadableBatch('is shorter than its own header');
  if (batchEnd > end) return undefined;
  const baseOffset = readLong(bytes, position + field.baseOffset);
  const lastOffsetDelta = bytes.readInt32BE(position + field.lastOffsetDelta);
  const lastOffset = baseOffset + lastOffsetDelta;
  if (baseOffset < 0 || lastOffsetDelta < 0 || lastOffset >= Number.MAX_SAFE_INTEGER) {
    throw new UnreadableBatch('has impossible offsets');
  }
  return {
    baseOffset,
    lastOffset,
    lastOffsetDelta,
    attributes: bytes.readInt16BE(position + field.attributes),
    recordCount: bytes.readInt32BE(position + field.recordCount),
    end: batchEnd,
  };
}

/** @returns the memory that everything from the attributes on was loaded into; undefined for a small or huge batch */
function checkChecksum(bytes: Buffer, position: number, { end }: BatchHeader): LoadedBytes | undefined {
  const start = position + field.attributes;
  const loaded = isWorthLoading(end - start) ? LoadedBytes.ofThread() : undefined;
  loaded?.load(bytes, start, end);
  const checksum = loaded === undefined ? crc32c(bytes, start, end) : crc32cOfLoaded(loaded);
  if (checksum !== bytes.readUInt32BE(position + field.checksum)) {
    throw new UnreadableBatch('does not match its checksum: its bytes were damaged on the broker or on the way');
  }
  return loaded;
}

/** What it takes to join values. */
interface Joining {
  /** The batch, as {@link checkChecksum} loaded it. */
  readonly loaded: LoadedBytes;
  /** Where the values may be put. */
  readonly freeFrom: number;
}

/** @param joining If the values of this batch may be joined. */
function decodeBatch(
  { topic, partition }: TopicPartition,
  response: Buffer,
  position: number,
  header: BatchHeader,
  from: Offset,
  joining: Joining | undefined,
  memory: ResponseMemory | undefined,
): FetchedBatch {
  const codec = header.attributes & attribute.compression;
  const stored = response.subarray(position, header.end);
  const appendedAt = readLong(stored, field.maximumTimestamp);
  const records = codec === 0 ? stored : inflateRecords(stored.subarray(batchHeaderBytes), codec);
  const found = findRecords(records, codec === 0 ? batchHeaderBytes : 0, header, from, memory);
  const { count, offsets, valueStarts, valueEnds, keyLengthsAt, external } = found;
  const contiguous = joining !== undefined && codec === 0 && areJoinable(found, header.recordCount);
  const joined = contiguous ? joinValues(joining, response, found, memory) : undefined;
  const bytes = joined?.values ?? records;
  const keyBytes = joined?.keys ?? records;
  const batch: FetchedBatch = {
    topic,
    partition,
    count,
    appendedAt,
    bytes,
    offsets,
    valueStarts,
    valueEnds,
    contiguous,
    key: (index) => {
      const at = keyLengthsAt[index];
      return at === undefined ? null : keyAt(keyBytes, at);
    },
    memory: memory?.shared,
    release: memory?.shared.release,
  };
  return external === undefined ? batch : { ...batch, external };
}

/**
 * Puts the values where the response is free, and the keys behind the response or, without room there, before the
 * values.
 */
function joinValues(
  { loaded, freeFrom }: Joining,
  response: Buffer,
  found: RecordPositions,
  memory: ResponseMemory | undefined,
): JoinedPlaces {
  return loaded.join(-field.attributes, found, (keysLength) => {
    const keysAt = memory?.allocate(keysLength);
    if (memory === undefined || keysAt === undefined) {
      return { keys: response, keysAt: freeFrom, values: response, valuesAt: freeFrom + keysLength };
    }
    return { keys: memory.bytes, keysAt, values: response, valuesAt: freeFrom };
  });
}

/** Only of whole batches, since others are rare, and not of a few records, since each copies them nearly as fast. */
function areJoinable({ count, valueStarts, external }: RecordPositions, recordCount: number): boolean {
  const isSuitable = count === recordCount && count >= joinedRecordsMinimum && count <= joinedValuesMaximum;
  return isSuitable && external === undefined && !valueStarts.includes(noValue);
}

/** Exact below 2^53; a larger integer never yields a result below 2^53. */
function readLong(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 0x1_0000_0000 + bytes.readUInt32BE(at + 4);
}

function corruptBatch(
  { topic, partition }: TopicPartition,
  bytes: Buffer,
  position: number,
  end: number,
  cause: UnreadableBatch,
): LendstreamError {
  const baseOffset = position + field.length <= end ? readLong(bytes, position + field.baseOffset) : null;
  const which = baseOffset === null ? '' : ` from offset ${baseOffset}`;
  return new LendstreamError(
    'CORRUPT_BATCH',
    `The record batch of topic ${topic}, partition ${partition},${which} ${cause.message}.`,
    { details: { topic, partition, baseOffset }, cause },
  );
}

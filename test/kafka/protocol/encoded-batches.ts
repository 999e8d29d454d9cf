import * as fc from 'fast-check';
import type { LogRecord, Offset } from '../../../src/ports/event-log.ts';
import { crc32c } from '../../../src/kafka/protocol/record-batches/crc32c.ts';
import { attribute, field } from '../../../src/kafka/protocol/record-batches/layout.ts';
import { encodeRecordBatch } from '../../../src/kafka/protocol/record-batches/encoding.ts';
import type { EncodingOptions } from '../../../src/kafka/protocol/record-batches/encoding.ts';
import { anyCharacter } from '../../support/values/any-character.ts';

/** Options of a producer without an id. */
export const anonymous: EncodingOptions = {
  timestamp: 1_700_000_000_123,
  producerId: -1n,
  producerEpoch: -1,
  firstSequence: -1,
  isTransactional: false,
};

/** A batch as the broker would return it, at an offset. */
export function encode(
  records: readonly LogRecord[],
  { baseOffset = 0, ...options }: Partial<EncodingOptions> & { readonly baseOffset?: Offset } = {},
): Buffer {
  const batch = encodeRecordBatch(records, { ...anonymous, ...options });
  batch.writeBigInt64BE(BigInt(baseOffset), field.baseOffset);
  return batch;
}

/** Makes the checksum of a changed batch valid. */
export function seal(batch: Buffer): Buffer {
  batch.writeUInt32BE(crc32c(batch, field.attributes), field.checksum);
  return batch;
}

/**
 * The control batch with which the broker ends a producer's transaction, with a key as unlike a decision as possible.
 */
export function endOfTransaction(baseOffset: Offset, producerId: bigint): Buffer {
  const record = { key: '\0\0\0\0', value: Buffer.alloc(6) };
  const batch = encode([record], { baseOffset, producerId, isTransactional: true });
  batch.writeInt16BE(attribute.transactional | attribute.control, field.attributes);
  return seal(batch);
}

/** Keys and values of every kind: null, empty, short, longer than a one-byte length allows, beyond ASCII. */
export const recordLists: fc.Arbitrary<LogRecord[]> = fc.array(
  fc.record({
    key: fc.option(
      fc.oneof(
        fc.string({ maxLength: 80 }),
        fc.string({ maxLength: 20, unit: 'grapheme' }),
        fc.string({ maxLength: 20, unit: anyCharacter }),
      ),
    ),
    value: fc.option(
      fc.uint8Array({ maxLength: 150 }).map((bytes) => Buffer.from(bytes)),
      { freq: 5 },
    ),
  }),
  { minLength: 1, maxLength: 80 },
);

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { gzipSync } from 'node:zlib';
import { noValue } from '../../../src/ports/event-log.ts';
import type { ReadResult, RecordBatch } from '../../../src/ports/event-log.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import { batchHeaderBytes, field, uncountedBytes } from '../../../src/kafka/protocol/record-batches/layout.ts';
import { decodeRecordBatches } from '../../../src/kafka/protocol/record-batches/decoding.ts';
import { recordsOf } from '../../support/log-reading.ts';
import { partOrWhole } from '../../support/values/extent.ts';
import { encode, endOfTransaction, seal } from './encoded-batches.ts';

const where = { topic: 'orders', partition: 3 };
const aborted = [{ producerId: 9n, firstOffset: 8 }];
const seed = 20_260_729;

/** How many damaged logs are tried of each kind. */
const rounds = partOrWhole(5_000, 20_000);

/**
 * Numbers that look random and are the same in every run (a linear congruential generator, constants of Numerical
 * Recipes).
 */
function numbers(): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function compressed(batch: Buffer): Buffer {
  const whole = Buffer.concat([batch.subarray(0, batchHeaderBytes), gzipSync(batch.subarray(batchHeaderBytes))]);
  whole.writeInt32BE(whole.length - uncountedBytes, field.length);
  whole.writeInt16BE(1, field.attributes);
  return seal(whole);
}

/** Plain, transactional, aborted, control and compressed batches: offsets 0..16. */
const log = Buffer.concat([
  encode(texts('a', 'b', 'c', 'd')),
  encode(texts('e', 'f'), { baseOffset: 4, producerId: 8n, isTransactional: true }),
  encode([{ key: 'g', value: null }, ...texts('h'.repeat(200))], { baseOffset: 6 }),
  encode(texts('aborted'), { baseOffset: 8, producerId: 9n, isTransactional: true }),
  endOfTransaction(9, 8n),
  endOfTransaction(10, 9n),
  compressed(encode(texts('i', 'j', 'k'), { baseOffset: 11 })),
  encode(texts('l', 'm', 'n'), { baseOffset: 14 }),
]);

function texts(...values: string[]) {
  return values.map((value) => ({ key: `key of ${value}`, value: Buffer.from(value) }));
}

/** Decodes; undefined when it was refused, which must be with CORRUPT_BATCH. */
function decode(bytes: Buffer, verifyChecksum: boolean): ReadResult | undefined {
  try {
    return decodeRecordBatches(where, bytes, 0, bytes.length, 0, aborted, { verifyChecksum });
  } catch (error) {
    expect(isLendstreamError(error, 'CORRUPT_BATCH'), String(error)).to.equal(true);
    return undefined;
  }
}

function entriesOf(result: ReadResult | undefined): string[] {
  return (result?.batches ?? []).flatMap(recordsOf).map((record) => JSON.stringify(record));
}

/** Every position is within the bytes, in order. */
function expectSoundPositions(batch: RecordBatch): void {
  const { count, offsets, valueStarts, valueEnds, bytes } = batch;
  let previousEnd = 0;
  let previousOffset = -1;
  for (let index = 0; index < count; index += 1) {
    const offset = offsets[index] as number;
    const start = valueStarts[index] as number;
    const end = valueEnds[index] as number;
    if (offset <= previousOffset || !Number.isSafeInteger(offset)) expect.fail(`offset ${offset}`);
    if (start !== noValue && (start < previousEnd || end < start || end > bytes.length)) {
      expect.fail(`value from ${start} to ${end} in ${bytes.length} bytes`);
    }
    batch.key(index);
    previousOffset = offset;
    if (start !== noValue) previousEnd = end;
  }
}

describe('decoding record batches of any bytes', () => {
  const whole = entriesOf(decode(log, true));

  it('reads the intact log', () => {
    expect(whole).to.have.length(14);
    expect(decode(log, true)?.nextOffset).to.equal(17);
  });

  it('returns complete batches and nothing else of a log that is cut anywhere', () => {
    for (let end = 1; end < log.length; end += 1) {
      const result = decode(log.subarray(0, end), true);
      const entries = entriesOf(result);
      expect(entries).to.deep.equal(whole.slice(0, entries.length));
      if (result !== undefined) expect(result.nextOffset).to.be.within(1, 16);
    }
  });

  // The base offset, the length and the leader epoch are not covered by the checksum, because the broker writes them
  // later. A wrong length is detected; a wrong offset only when it breaks the order.
  it('never returns a wrong record when bits are flipped', () => {
    const random = numbers();
    let refused = 0;
    for (let bit = 0; bit < 8 * log.length; bit += 1) {
      const damaged = Buffer.from(log);
      flip(damaged, bit);
      if (bit % 3 === 0) flip(damaged, random(8 * log.length));
      const result = decode(damaged, true);
      if (result === undefined) refused += 1;
      const entries = entriesOf(result).map(withoutOffset);
      const expected = whole.map(withoutOffset);
      expect(isSubsequence(entries, expected), `bit ${bit}: ${entries.join()}`).to.equal(true);
      result?.batches.forEach(expectSoundPositions);
    }
    expect(refused).to.be.above(100);
  });

  it('stays within the bytes when bits are flipped and the checksum is not compared', () => {
    const random = numbers();
    for (let round = 0; round < rounds; round += 1) {
      const damaged = Buffer.from(log);
      for (let flips = 1 + random(4); flips > 0; flips -= 1) flip(damaged, random(8 * log.length));
      decode(damaged, false)?.batches.forEach(expectSoundPositions);
    }
  });

  it('stays within the bytes when the records are garbage after an intact header', () => {
    const random = numbers();
    const values = [0, 1, 2, 4, 0x7e, 0x7f, 0x80, 0xff];
    let accepted = 0;
    for (let round = 0; round < rounds; round += 1) {
      const batch = encode(texts('a', 'b', 'c').slice(random(3)));
      for (let changes = 1 + random(3); changes > 0; changes -= 1) {
        const at = batchHeaderBytes + random(batch.length - batchHeaderBytes);
        batch[at] = random(2) === 0 ? random(256) : (values[random(values.length)] as number);
      }
      const result = decode(seal(batch), true);
      if (result !== undefined) accepted += 1;
      result?.batches.forEach(expectSoundPositions);
    }
    expect(accepted).to.be.within(0.05 * rounds, 0.95 * rounds);
  });

  it('ends with random bytes', () => {
    const random = numbers();
    for (let round = 0; round < 5_000; round += 1) {
      const garbage = Buffer.from(Array.from({ length: random(300) }, () => random(256)));
      if (garbage.length > field.format && round % 2 === 0) {
        garbage[field.format] = 2;
        garbage.writeInt32BE(random(400) - 50, field.length);
      }
      decode(garbage, round % 4 < 2)?.batches.forEach(expectSoundPositions);
    }
  });
});

function flip(bytes: Buffer, bit: number): void {
  const at = bit >>> 3;
  bytes[at] = (bytes[at] as number) ^ (1 << (bit & 7));
}

function withoutOffset(entry: string): string {
  return entry.replace(/"offset":\d+,/, '');
}

/** Whether one list is the other with some items removed. */
function isSubsequence(part: readonly string[], all: readonly string[]): boolean {
  let found = 0;
  for (const item of all) if (item === part[found]) found += 1;
  return found === part.length;
}

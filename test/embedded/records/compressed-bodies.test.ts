import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { LogRecord } from '../../../src/ports/event-log.ts';
import { compressedRecordBytesMinimum } from '../../../src/ports/record-compression.ts';
import { type BatchRow, decodeRow, encodeBody } from '../../../src/embedded/records/batch-format.ts';
import { checksumOf } from '../../../src/embedded/records/checksum.ts';
import {
  inflatedBody,
  inflatedBytesOf,
  isCompressed,
  storedBody,
} from '../../../src/embedded/records/compressed-bodies.ts';
import { field, headerBytes } from '../../../src/embedded/records/layout.ts';
import { recordsOf } from '../../support/log-reading.ts';
import { incompressible } from '../../support/values/incompressible.ts';
import { schedule } from '../../support/values/large-values.ts';

const where = { topic: 'orders', partition: 3 };

function positionOf(count: number) {
  return { partitionId: 7, baseOffset: 1_000, lastOffset: 999 + count, appendedAt: 1_700_000_000_123 };
}

function bodyOf(records: readonly LogRecord[], offsets?: readonly number[]): Buffer {
  return Buffer.from(encodeBody(positionOf(records.length), records, offsets));
}

function rowOf(stored: Buffer, count: number): BatchRow {
  return { ...positionOf(count), count, checksum: checksumOf(stored), body: stored };
}

/** A record whose body takes this many bytes after the header: its value, and where that ends. */
function alone(bytes: number): LogRecord {
  return { key: null, value: schedule(bytes - 4) };
}

const largeRecords = fc.array(
  fc.record({
    key: fc.option(fc.string({ maxLength: 8, unit: 'grapheme' })),
    value: fc.option(
      fc.oneof(
        fc.nat(60_000).map((bytes) => schedule(bytes)),
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
        fc.nat(60_000).map((bytes) => incompressible(bytes)),
      ),
      { freq: 8 },
    ),
  }),
  { minLength: 1, maxLength: 6 },
);

describe('a stored body', () => {
  it('becomes what was encoded, and is never larger', () => {
    let compressedCount = 0;
    fc.assert(
      fc.property(largeRecords, fc.boolean(), (records, hasHoles) => {
        const body = bodyOf(records, hasHoles ? records.map((_, index) => 1_000 + 2 * index) : undefined);
        const encoded = Buffer.from(body);
        const stored = storedBody(body, records.length);
        expect(body.equals(encoded), 'the body is left as it is').to.equal(true);
        expect(inflatedBody(stored)?.equals(encoded)).to.equal(true);
        expect(inflatedBytesOf(stored)).to.equal(encoded.length);
        if (isCompressed(stored)) {
          compressedCount += 1;
          expect(stored.length).to.be.below(encoded.length);
        } else expect(stored).to.equal(body);
      }),
    );
    expect(compressedCount).to.be.above(10);
  });

  it('is compressed from 16 KiB a record on, and not a byte below', () => {
    const limit = compressedRecordBytesMinimum;
    for (const count of [1, 2]) {
      const sizes = (last: number): LogRecord[] => [...Array<LogRecord>(count - 1).fill(alone(limit)), alone(last)];
      // Between two values there is a comma.
      const [at, below] = [limit - (count - 1), limit - count].map((last) => bodyOf(sizes(last)));
      expect([at?.length, below?.length]).to.deep.equal([headerBytes + count * limit, headerBytes + count * limit - 1]);
      expect(isCompressed(storedBody(at ?? expect.fail(), count))).to.equal(true);
      expect(storedBody(below ?? expect.fail(), count)).to.equal(below);
    }
  });

  it('is stored as it is when compression does not make it smaller', () => {
    const noise = bodyOf([{ key: 'noise', value: incompressible(500_000) }]);
    expect(storedBody(noise, 1)).to.equal(noise);
  });

  it('has the header of its body, in the next version and with its size, and then raw deflate', () => {
    const body = bodyOf([{ key: 'k', value: schedule(100_000) }]);
    const stored = storedBody(body, 1);
    expect(stored.length).to.be.below(20_000);
    const expected = Buffer.from(body.subarray(0, headerBytes));
    expected[0] = 2;
    expected.writeUInt32LE(body.length - headerBytes, 44);
    expect(stored.subarray(0, headerBytes)).to.deep.equal(expected);
    expect(inflateRawSync(stored.subarray(headerBytes)).equals(body.subarray(headerBytes))).to.equal(true);
  });

  it('in memory has memory of its own, which can be transferred', () => {
    const body = bodyOf([{ key: 'k', value: schedule(100_000) }]);
    const inflated = inflatedBody(storedBody(body, 1)) ?? expect.fail();
    expect([inflated.byteOffset, inflated.buffer.byteLength]).to.deep.equal([0, body.length]);
  });

  it('is refused when any bit of it or its end is wrong, although it is compressed', () => {
    const records = [{ key: 'k', value: schedule(20_000) }];
    const stored = storedBody(bodyOf(records), 1);
    const row = rowOf(stored, 1);
    expect(recordsOf(decodeRow(where, row))).to.deep.equal([
      { offset: 1_000, key: 'k', value: schedule(20_000).toString() },
    ]);
    fc.assert(
      fc.property(fc.nat(stored.length - 1), fc.nat(7), (at, bit) => {
        const flipped = Buffer.from(stored);
        flipped[at] = (stored[at] ?? 0) ^ (1 << bit);
        expect(refusalOf({ ...row, body: flipped })).to.equal('CORRUPT_BATCH');
        expect(refusalOf({ ...row, body: stored.subarray(0, at) })).to.equal('CORRUPT_BATCH');
      }),
    );
  });

  it('is refused when it is not what its header says, even with the right checksum, and takes no more memory', () => {
    const body = bodyOf([{ key: 'k', value: schedule(20_000) }]);
    const stored = storedBody(body, 1);
    const sized = (bytes: number): Buffer => {
      const changed = Buffer.from(stored);
      changed.writeUInt32LE(bytes, field.inflatedBytes);
      return changed;
    };
    const size = body.length - headerBytes;
    const bomb = Buffer.concat([sized(size).subarray(0, headerBytes), deflateRawSync(Buffer.alloc(50_000_000))]);
    const wrong = [
      sized(size - 1),
      sized(size + 1),
      sized(0),
      stored.subarray(0, headerBytes),
      stored.subarray(0, stored.length - 1),
      bomb,
    ];
    for (const each of wrong) expect(refusalOf(rowOf(each, 1))).to.equal('CORRUPT_BATCH');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (noise) => {
        const garbage = Buffer.concat([stored.subarray(0, headerBytes), noise]);
        expect(refusalOf(rowOf(garbage, 1))).to.equal('CORRUPT_BATCH');
      }),
    );
  });
});

/** The code of the error with which a row is refused; null when it is decoded. */
function refusalOf(row: BatchRow): unknown {
  try {
    decodeRow(where, row);
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

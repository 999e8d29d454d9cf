import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import type { LogRecord, Offset, ReadResult } from '../../../../src/ports/event-log.ts';
import { thrownBy } from '../../../support/thrown-errors.ts';
import type { AbortedTransaction } from '../../../../src/kafka/protocol/record-batches/aborted-transactions.ts';
import { batchHeaderBytes, field, uncountedBytes } from '../../../../src/kafka/protocol/record-batches/layout.ts';
import { decodeRecordBatches } from '../../../../src/kafka/protocol/record-batches/decoding.ts';
import { records, recordsOf } from '../../../support/log-reading.ts';
import type { ReadRecord } from '../../../support/log-reading.ts';
import { encode, recordLists, seal } from '../encoded-batches.ts';
import { bytesOf, isMarked, toReadRecord, vectorNamed, vectors } from '../../vectors/vectors.ts';

const where = { topic: 'orders', partition: 3 };

function decode(bytes: Buffer, from: Offset = 0, aborted: readonly AbortedTransaction[] = []): ReadResult {
  return decodeRecordBatches(where, bytes, 0, bytes.length, from, aborted);
}

function readRecords({ batches }: ReadResult): ReadRecord[] {
  return batches.flatMap(recordsOf);
}

function offsetsOf(result: ReadResult): Offset[] {
  return readRecords(result).map(({ offset }) => offset);
}

function valuesOf(result: ReadResult): (string | null)[] {
  return readRecords(result).map(({ value }) => value);
}

function expectCorrupt(bytes: Buffer, baseOffset: Offset | null, reason: RegExp): void {
  const error = thrownBy(() => decode(bytes));
  expect(error.code).to.equal('CORRUPT_BATCH');
  expect(error.details).to.deep.equal({ ...where, baseOffset });
  expect(error.message)
    .to.match(/^The record batch of topic orders, partition 3,/)
    .and.match(reason);
}

/** Three batches of two records: 10 and 11, 20 and 21, 30 and 31. */
const three = bytesOf(vectorNamed('three batches'));
const oneOfThree = three.length / 3;

describe("decoding what Kafka's own client encoded", () => {
  const readable = vectors.filter(({ batches }) => batches.every(({ compression }) => /none|gzip/.test(compression)));
  for (const vector of readable) {
    it(`finds the same records: ${vector.name}`, () => {
      const seen = vector.batches.filter(({ isControl, records: { length } }) => !isControl && length > 0);
      const result = decode(bytesOf(vector));
      expect(result.nextOffset).to.equal((vector.batches.at(-1)?.lastOffset ?? -1) + 1);
      expect(result.batches.map(recordsOf)).to.deep.equal(seen.map((batch) => batch.records.map(toReadRecord)));
      for (const [at, batch] of result.batches.entries()) {
        expect(batch).to.include({ ...where, appendedAt: seen[at]?.maxTimestamp, contiguous: false });
        const external = seen[at]?.records.map((record) => (isMarked(record) ? 0 : 1)) ?? [];
        expect(batch.external === undefined ? [] : [...batch.external]).to.deep.equal(
          external.includes(1) ? external : [],
        );
      }
    });
  }

  it('leaves out aborted transactions, however they overlap', () => {
    const aborted = [
      { producerId: 3n, firstOffset: 15 },
      { producerId: 2n, firstOffset: 2 },
      { producerId: 1n, firstOffset: 5 },
      { producerId: 1n, firstOffset: 11 },
    ];
    const vector = vectorNamed('overlapping transactions');
    const written = vector.batches.flatMap((batch) => (batch.isControl ? [] : batch.records.map(toReadRecord)));
    const visible = written.filter(({ value }) => value?.startsWith('aborted') === false);
    expect(visible).to.have.length(6);
    for (let from = 0; from <= 19; from += 1) {
      const result = decode(bytesOf(vector), from, aborted);
      expect(readRecords(result)).to.deep.equal(visible.filter(({ offset }) => offset >= from));
      expect(result.nextOffset).to.equal(19);
    }
  });
});

describe('decoding record batches', () => {
  it('returns what was encoded', () => {
    fc.assert(
      fc.property(recordLists, fc.nat(2 ** 52), (written, baseOffset) => {
        const result = decode(encode(written, { baseOffset }), baseOffset);
        expect(result.nextOffset).to.equal(baseOffset + written.length);
        expect(result.batches[0]?.external).to.equal(undefined);
        expect(readRecords(result)).to.deep.equal(
          written.map(({ key, value }, index) => ({
            offset: baseOffset + index,
            key,
            value: value === null ? null : value.toString(),
          })),
        );
      }),
    );
  });

  it('distinguishes an empty key and value from none', () => {
    const written = [
      { key: '', value: Buffer.alloc(0) },
      { key: null, value: null },
    ];
    expect(readRecords(decode(encode(written)))).to.deep.equal([
      { offset: 0, key: '', value: '' },
      { offset: 1, key: null, value: null },
    ]);
  });

  it('accepts the shortest records that there can be', () => {
    // Length 6, attributes, timestamp delta, offset delta, no key, no value, no headers.
    const shortest = (delta: number) => [12, 0, 0, 2 * delta, 1, 1, 0];
    const header = encode(records('1', '2'), { baseOffset: 4 }).subarray(0, batchHeaderBytes);
    const batch = Buffer.concat([header, Buffer.from([...shortest(0), ...shortest(1)])]);
    batch.writeInt32BE(batch.length - uncountedBytes, field.length);
    expect(readRecords(decode(seal(batch)))).to.deep.equal([
      { offset: 4, key: null, value: null },
      { offset: 5, key: null, value: null },
    ]);
  });

  it('does not copy the values', () => {
    const bytes = encode(records('{"number":1}', '{"number":2}'));
    const [batch] = decode(bytes).batches;
    expect(batch?.bytes.buffer).to.equal(bytes.buffer);
    expect(batch?.bytes.byteOffset).to.equal(bytes.byteOffset);
  });

  it('reads only its own part of the response', () => {
    const response = Buffer.concat([Buffer.alloc(33, 0xff), three, Buffer.alloc(17, 0xff)]);
    const result = decodeRecordBatches(where, response, 33, 33 + three.length, 0, []);
    expect(offsetsOf(result)).to.deep.equal([10, 11, 20, 21, 30, 31]);
  });

  const starts: [from: number, offsets: number[]][] = [
    [0, [10, 11, 20, 21, 30, 31]],
    [11, [11, 20, 21, 30, 31]],
    [12, [20, 21, 30, 31]],
    [31, [31]],
    [40, []],
  ];
  for (const [from, offsets] of starts) {
    it(`from ${from} on leaves out earlier records`, () => {
      const result = decode(three, from);
      expect(offsetsOf(result)).to.deep.equal(offsets);
      expect(result.nextOffset).to.equal(Math.max(from, 32));
    });
  }

  it('keeps the marks of external records with them when earlier records are left out', () => {
    const vector = vectorNamed('headers of somebody else, and of ours');
    const [batch] = decode(bytesOf(vector), 503).batches;
    expect(batch && [...(batch.external ?? [])]).to.deep.equal(Array(6).fill(1));
    const [whole] = decode(bytesOf(vector)).batches;
    expect(whole && [...(whole.external ?? [])]).to.deep.equal([1, 0, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('skips a transaction that was aborted before the first visible batch', () => {
    const vector = vectorNamed('overlapping transactions');
    const result = decode(bytesOf(vector), 10, [{ producerId: 2n, firstOffset: 2 }]);
    expect(valuesOf(result)).to.include('committed i');
  });

  it('reads a batch of 130,000 records', () => {
    const count = 130_000;
    const one: LogRecord = { key: null, value: Buffer.from('1') };
    const result = decode(encode(Array.from({ length: count }, () => one)));
    expect(result.nextOffset).to.equal(count);
    expect(result.batches[0]?.offsets.at(-1)).to.equal(count - 1);
  });

  it('stops before a batch that the response contains only in part', () => {
    for (let end = oneOfThree; end < three.length; end += 1) {
      const result = decode(three.subarray(0, end));
      expect(result.nextOffset).to.equal(end < 2 * oneOfThree ? 12 : 22);
      expect(offsetsOf(result)).to.have.length(end < 2 * oneOfThree ? 2 : 4);
    }
  });

  it('returns the intact batches before a damaged one, and the next read throws', () => {
    const damaged = Buffer.from(three);
    damaged[2 * oneOfThree - 1] = 0x55;
    const result = decode(damaged);
    expect(offsetsOf(result)).to.deep.equal([10, 11]);
    expect(result.nextOffset).to.equal(12);
    const error = thrownBy(() => decode(damaged.subarray(oneOfThree), result.nextOffset));
    expect(error.details).to.deep.equal({ ...where, baseOffset: 20 });
  });

  it('returns null for the key of a missing record', () => {
    expect(decode(three).batches[0]?.key(2)).to.equal(null);
  });

  it('accepts damaged bytes where checksums are not verified', () => {
    const damaged = Buffer.from(encode(records('one')));
    damaged[damaged.indexOf('one')] = 0x4f;
    const { batches } = decodeRecordBatches(where, damaged, 0, damaged.length, 0, [], { verifyChecksum: false });
    expect(batches.flatMap(recordsOf).map(({ value }) => value)).to.deep.equal(['One']);
    expectCorrupt(damaged, 0, /does not match its checksum/);
  });
});

describe('a damaged record batch', () => {
  /** A batch of two records with a change and a valid checksum. */
  function changed(change: (batch: Buffer) => void): Buffer {
    const batch = encode([{ key: 'k', value: Buffer.from('one') }, ...records('two')], { baseOffset: 7 });
    change(batch);
    return seal(batch);
  }

  const records0 = batchHeaderBytes;
  const cases: [name: string, bytes: Buffer, reason: RegExp, baseOffset?: number | null][] = [
    ['of an old format', changed((batch) => batch.writeInt8(1, field.format)), /has format 1; only format 2/],
    [
      'shorter than its header',
      changed((batch) => batch.writeInt32BE(48, field.length)),
      /shorter than its own header/,
    ],
    ['of negative length', changed((batch) => batch.writeInt32BE(-13, field.length)), /shorter than its own header/],
    [
      'longer than the response',
      changed((batch) => batch.writeInt32BE(1_000, field.length)),
      /larger than the response/,
    ],
    ['cut in its header', encode(records('one')).subarray(0, 20), /larger than the response/, 0],
    ['cut in its first field', encode(records('one')).subarray(0, 7), /larger than the response/, null],
    ['with a negative offset', changed((batch) => batch.writeBigInt64BE(-5n, 0)), /impossible offsets/, -5],
    ['that ends before it begins', changed((batch) => batch.writeInt32BE(-1, field.lastOffsetDelta)), /impossible/],
    ['with a negative count', changed((batch) => batch.writeInt32BE(-1, field.recordCount)), /do not match its header/],
    ['with too many records', changed((batch) => batch.writeInt32BE(3, field.recordCount)), /do not match its header/],
    [
      'with a huge count',
      changed((batch) => batch.writeInt32BE(2 ** 31 - 1, field.recordCount)),
      /do not match its header/,
    ],
    [
      'with bytes after its records',
      changed((batch) => batch.writeInt32BE(1, field.recordCount)),
      /do not match its header/,
    ],
    [
      'with a last offset below its records',
      changed((batch) => batch.writeInt32BE(0, field.lastOffsetDelta)),
      /do not match its header/,
    ],
    ['with a record that is too long', changed((batch) => batch.writeInt8(0x7e, records0)), /do not match its header/],
    ['with a record that is too short', changed((batch) => batch.writeInt8(0, records0)), /do not match its header/],
    ['with a key that is too long', changed((batch) => batch.writeInt8(0x7e, records0 + 4)), /do not match its header/],
    ['with a key of length -2', changed((batch) => batch.writeInt8(3, records0 + 4)), /do not match its header/],
    [
      'with a value that is too long',
      changed((batch) => batch.writeInt8(0x7e, records0 + 6)),
      /do not match its header/,
    ],
    ['with a value up to its end', changed((batch) => batch.writeInt8(16, records0 + 6)), /do not match its header/],
    ['with a value of length -2', changed((batch) => batch.writeInt8(3, records0 + 6)), /do not match its header/],
    [
      'with a record before its offset',
      changed((batch) => batch.writeInt8(1, records0 + 3)),
      /do not match its header/,
    ],
    ['with an offset twice', changed((batch) => batch.writeInt8(2, records0 + 3)), /do not match its header/],
    ['whose checksum does not match', Buffer.from(encode(records('one'))).fill(1, 17, 21), /its checksum/, 0],
  ];
  for (const [name, bytes, reason, baseOffset = 7] of cases) {
    it(`${name} is an error`, () => {
      expectCorrupt(bytes, baseOffset, reason);
    });
  }

  it('after a gap in the offsets is not decoded', () => {
    const again = Buffer.concat([three.subarray(0, oneOfThree), three.subarray(0, oneOfThree)]);
    expect(offsetsOf(decode(again))).to.deep.equal([10, 11]);
  });
});

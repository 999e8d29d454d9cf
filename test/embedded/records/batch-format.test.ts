import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import type { LogRecord } from '../../../src/ports/event-log.ts';
import { packRecords } from '../../../src/ports/packed-records.ts';
import {
  batchFrom,
  decodeBody,
  decodeBodyInRun,
  decodeRow,
  encodeBody,
  encodeRuns,
  putIntoRun,
} from '../../../src/embedded/records/batch-format.ts';
import { checksumOf } from '../../../src/embedded/records/checksum.ts';
import type { BatchPosition } from '../../../src/embedded/records/decoded-batch.ts';
import { SharedBuffer } from '../../../src/ports/shared-buffer.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import { keyed, recordsOf } from '../../support/log-reading.ts';

const where = { topic: 'orders', partition: 3 };

const record: fc.Arbitrary<LogRecord> = fc.record({
  key: fc.option(fc.string({ maxLength: 8, unit: 'grapheme' })),
  value: fc.option(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    { freq: 5 },
  ),
});
const recordList = fc.array(record, { minLength: 1, maxLength: 12 });

function positionOf(count: number, baseOffset = 1_000): BatchPosition {
  return { partitionId: 7, baseOffset, lastOffset: baseOffset + count - 1, appendedAt: 1_700_000_000_123 };
}

function bodyOf(records: readonly LogRecord[], offsets?: readonly number[]): Buffer {
  return Buffer.from(encodeBody(positionOf(records.length), records, offsets));
}

function asText({ key, value }: LogRecord): { key: string | null; value: string | null } {
  return { key, value: value === null ? null : value.toString() };
}

describe('the body of a batch', () => {
  it('decodes keys, values and offsets as they were encoded', () => {
    fc.assert(
      fc.property(recordList, (records) => {
        const batch = decodeBody(where, bodyOf(records));
        expect(batch).to.include({ ...where, count: records.length, appendedAt: 1_700_000_000_123 });
        expect(recordsOf(batch)).to.deep.equal(
          records.map((each, index) => ({ offset: 1_000 + index, ...asText(each) })),
        );
      }),
    );
  });

  it('decodes the same in the memory of a run, with other bodies before and after it', () => {
    fc.assert(
      fc.property(fc.array(recordList, { minLength: 1, maxLength: 4 }), (bodies) => {
        const run = new SharedBuffer(new ArrayBuffer(16 * 1024), () => undefined);
        let [valuesAt, end] = [0, run.bytes.length];
        const batches = bodies.map((records) => {
          const put = putIntoRun(run.bytes, bodyOf(records), valuesAt, end) ?? expect.fail();
          [valuesAt, end] = [put.valuesEnd + 1, put.headAt];
          return decodeBodyInRun(where, run, put);
        });
        for (const [index, batch] of batches.entries()) {
          const alone = decodeBody(where, bodyOf(bodies[index] ?? []));
          expect(recordsOf(batch)).to.deep.equal(recordsOf(alone));
          expect(batch.contiguous).to.equal(alone.contiguous);
        }
      }),
    );
  });

  it('decodes the same wherever it begins in memory', () => {
    fc.assert(
      fc.property(recordList, fc.nat({ max: 15 }), (records, start) => {
        const body = bodyOf(records);
        const elsewhere = Buffer.from(new ArrayBuffer(body.length + 16), start, body.length);
        elsewhere.set(body);
        const offsets = records.map((_, index) => 1_000 + 3 * index);
        expect(recordsOf(decodeBody(where, elsewhere))).to.deep.equal(recordsOf(decodeBody(where, body)));
        const withGaps = bodyOf(records, offsets);
        const moved = Buffer.from(new ArrayBuffer(withGaps.length + 16), start, withGaps.length);
        moved.set(withGaps);
        expect([...decodeBody(where, moved).offsets]).to.deep.equal(offsets);
      }),
    );
  });

  it('has the bytes that files written before have', () => {
    const position = { partitionId: 7, baseOffset: 1_000, lastOffset: 1_004, appendedAt: 1_700_000_000_123 };
    const header = '01 00 0000 07000000 0000000000408f40 0000000000608f40 00b08756febc7842';
    const hex = (body: ArrayBuffer): string => Buffer.from(body).toString('hex');
    const bytes = (...parts: string[]): string => parts.join('').replaceAll(' ', '');
    const [a, none] = [
      { key: null, value: Buffer.from('one') },
      { key: null, value: null },
    ];
    expect(hex(encodeBody(position, [a, none, a]))).to.equal(
      bytes(header, '03000000 07000000 00000000 00000000', '03000000 ffffffff 07000000', '6f6e652c6f6e65'),
    );
    const withKeys = [
      { key: 'k', value: Buffer.from('1') },
      { key: null, value: Buffer.from('2') },
      { key: 'é', value: Buffer.from('3') },
    ];
    expect(hex(encodeBody(position, withKeys, [1_000, 1_001, 1_004]))).to.equal(
      bytes(
        header.replace('01 00', '01 03'),
        '03000000 05000000 03000000 00000000',
        '01000000 03000000 05000000',
        '01000000 ffffffff 03000000',
        '00000000 01000000 04000000',
        '312c322c33',
        '6bc3a9',
      ),
    );
  });

  it('is the same for the same records in several runs', () => {
    fc.assert(
      fc.property(fc.array(recordList, { maxLength: 4 }), (lists) => {
        const runs = lists.map(packRecords);
        const position = positionOf(lists.flat().length);
        expect(Buffer.from(encodeRuns(position, runs))).to.deep.equal(Buffer.from(encodeBody(position, lists.flat())));
      }),
      { examples: [[[[{ key: 'a', value: Buffer.alloc(0) }, keyed('b', null)], [keyed('c', 'd')]]]] },
    );
  });

  it('keeps offsets with gaps', () => {
    const records = ['a', 'b', 'c'].map((value) => ({ key: value, value: Buffer.from(value) }));
    const batch = decodeBody(where, bodyOf(records, [1_000, 1_004, 1_009]));
    expect(recordsOf(batch).map(({ offset, key }) => [offset, key])).to.deep.equal([
      [1_000, 'a'],
      [1_004, 'b'],
      [1_009, 'c'],
    ]);
  });

  it('joins its values with commas, unless one of them is a tombstone', () => {
    fc.assert(
      fc.property(recordList, (records) => {
        const batch = decodeBody(where, bodyOf(records));
        const values = records.flatMap(({ value }) => (value === null ? [] : [value.toString('latin1')]));
        expect(batch.contiguous).to.equal(values.length === records.length);
        if (!batch.contiguous) return;
        const run = batch.bytes.toString('latin1', batch.valueStarts[0], batch.valueEnds.at(-1));
        expect(run).to.equal(values.join(','));
      }),
    );
  });

  it('encodes values that are adjacent in memory, with or without gaps, like any others', () => {
    fc.assert(
      fc.property(recordList, fc.infiniteStream(fc.nat(2)), (records, gaps) => {
        const memory = Buffer.alloc(2_000, '!');
        let end = 0;
        const neighbours = records.map(({ key, value }): LogRecord => {
          if (value === null) return { key, value };
          const start = end + (gaps.next().value ?? 0);
          end = start + value.length;
          value.copy(memory, start);
          return { key, value: memory.subarray(start, end) };
        });
        expect(bodyOf(neighbours).equals(bodyOf(records))).to.equal(true);
      }),
    );
  });

  it('is decoded from any offset on, without copying', () => {
    fc.assert(
      fc.property(recordList, fc.nat(14), (records, skipped) => {
        const batch = decodeBody(where, bodyOf(records));
        const rest = batchFrom(batch, 1_000 + skipped);
        expect(recordsOf(rest)).to.deep.equal(recordsOf(batch).slice(skipped));
        expect(rest.bytes).to.equal(batch.bytes);
        expect(rest === batch, 'the batch itself where that is all of it').to.equal(skipped === 0);
      }),
    );
  });

  it('is refused when any bit of it, of its checksum or of its row has changed', () => {
    fc.assert(
      fc.property(recordList, fc.nat(), fc.nat(7), (records, at, bit) => {
        const body = bodyOf(records);
        const row = { ...positionOf(records.length), count: records.length, checksum: checksumOf(body), body };
        expect(decodeRow(where, row).count).to.equal(records.length);
        const flipped = Buffer.from(body);
        flipped[at % body.length] = (body[at % body.length] ?? 0) ^ (1 << bit);
        const damaged = [
          { ...row, body: flipped },
          { ...row, checksum: row.checksum ^ (1 << bit) },
          { ...row, partitionId: 8 },
          { ...row, baseOffset: 999 },
          { ...row, lastOffset: row.lastOffset + 1 },
          { ...row, appendedAt: row.appendedAt + 1 },
          { ...row, count: row.count + 1 },
          { ...row, body: body.subarray(0, body.length - 1) },
          { ...row, body: Buffer.alloc(0), checksum: 0 },
        ];
        for (const each of damaged) {
          try {
            decodeRow(where, each);
            expect.fail('the damage was not seen');
          } catch (error) {
            expect(isLendstreamError(error, 'CORRUPT_BATCH')).to.equal(true);
            const details = isLendstreamError(error) ? error.details : {};
            expect(details).to.deep.equal({ ...where, baseOffset: each.baseOffset });
          }
        }
      }),
    );
  });
});

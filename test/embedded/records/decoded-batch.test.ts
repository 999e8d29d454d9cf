import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { decodeBody, decodeBodyInRun, encodeBody, putIntoRun } from '../../../src/embedded/records/batch-format.ts';
import type { StoredBatch } from '../../../src/embedded/records/decoded-batch.ts';
import { noValue, type LogRecord } from '../../../src/ports/event-log.ts';
import { offsetAt, valueEndAt, valueStartAt } from '../../../src/ports/record-positions.ts';
import { SharedBuffer } from '../../../src/ports/shared-buffer.ts';

const where = { topic: 'orders', partition: 3 };

const recordList: fc.Arbitrary<LogRecord[]> = fc.array(
  fc.record({
    key: fc.option(fc.string({ maxLength: 8 })),
    value: fc.option(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))),
  }),
  { minLength: 1, maxLength: 12 },
);

function bodyOf(records: readonly LogRecord[], step: number): Buffer {
  const offsets = records.map((_, index) => 1_000 + step * index);
  const position = { partitionId: 7, baseOffset: 1_000, lastOffset: offsets.at(-1) ?? 1_000, appendedAt: 1 };
  return Buffer.from(encodeBody(position, records, step === 1 ? undefined : offsets));
}

function inRun(body: Buffer, run: SharedBuffer): StoredBatch {
  return decodeBodyInRun(where, run, putIntoRun(run.bytes, body, 5, run.bytes.length) ?? expect.fail());
}

describe('a decoded batch', () => {
  it('has the same positions before its lists are made, in its lists, and after that', () => {
    fc.assert(
      fc.property(recordList, fc.constantFrom(1, 3), fc.boolean(), (records, step, isInRun) => {
        const body = bodyOf(records, step);
        const run = new SharedBuffer(new ArrayBuffer(4 * 1024), () => undefined);
        const batch = isInRun ? inRun(body, run) : decodeBody(where, body);
        const all = (): number[][] =>
          records.map((_, at) => [offsetAt(batch, at), valueStartAt(batch, at), valueEndAt(batch, at)]);
        const before = all();
        const { offsets, valueStarts, valueEnds } = batch;
        expect(before).to.deep.equal(records.map((_, at) => [offsets[at], valueStarts[at], valueEnds[at]]));
        expect(all()).to.deep.equal(before);
        expect(batch.contiguous).to.equal(!valueStarts.includes(noValue));
        for (const [at, { value }] of records.entries()) {
          const [, start, end] = before[at] as [number, number, number];
          expect(value === null ? null : batch.bytes.subarray(start, end)).to.deep.equal(
            start === noValue ? null : value,
          );
        }
      }),
    );
  });

  it('makes its lists once, in the memory of its run', () => {
    const run = new SharedBuffer(new ArrayBuffer(4 * 1024), () => undefined);
    const batch = inRun(bodyOf([{ key: 'a', value: Buffer.from('{}') }], 1), run);
    expect(batch.offsets).to.equal(batch.offsets);
    expect(
      [batch.offsets, batch.valueStarts, batch.valueEnds].map(({ buffer }) => buffer === run.memory),
    ).to.deep.equal([true, true, true]);
  });
});

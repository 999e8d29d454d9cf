import { expect } from 'chai';
import { describe, it } from 'mocha';
import { encodeRuns } from '../../../src/embedded/records/batch-format.ts';
import type { BatchPosition } from '../../../src/embedded/records/decoded-batch.ts';
import { decodeStoredRow, RowMemory, type EncodedRow } from '../../../src/embedded/records/row-memory.ts';
import { packRecords, type PackedRecords } from '../../../src/ports/packed-records.ts';

const where = { topic: 'orders', partition: 0 };
const pieceBytes = 2 * 1024 * 1024;

function recordsOf(count: number, valueBytes: number, fill = 'x'): PackedRecords[] {
  return [
    packRecords(
      Array.from({ length: count }, (_, index) => ({
        key: `key-${index}`,
        value: index === 1 ? null : Buffer.alloc(valueBytes, fill),
      })),
    ),
  ];
}

function positionOf(count: number): BatchPosition {
  return { partitionId: 1, baseOffset: 100, lastOffset: 99 + count, appendedAt: 5 };
}

function encode(memory: RowMemory, runs: readonly PackedRecords[]): EncodedRow {
  return memory.encode(positionOf(runs[0]?.valueEnds.length ?? 0), runs);
}

function bytesOf(row: EncodedRow): Buffer {
  return row.own === undefined ? Buffer.from(row.piece.memory, row.start, row.bytes) : Buffer.from(row.own);
}

function pieceOf(row: EncodedRow): SharedArrayBuffer | undefined {
  return row.own === undefined ? row.piece.memory : undefined;
}

describe('the memory of rows that appends write', () => {
  for (const [name, count, bytes] of [
    ['a small row', 5, 100],
    ['a row of 8 KiB and more', 50, 333],
    ['a row that no piece has room for', 3, pieceBytes],
  ] as const) {
    it(`has the bytes and the records of ${name}`, () => {
      const memory = new RowMemory(pieceBytes);
      const runs = recordsOf(count, bytes);
      for (let turn = 0; turn < 3; turn += 1) {
        const row = encode(memory, runs);
        expect(pieceOf(row) !== undefined).to.equal(count === 50);
        expect(bytesOf(row).equals(Buffer.from(encodeRuns(positionOf(count), runs)))).to.equal(true);
        const batch = decodeStoredRow(where, row, row.own);
        expect(batch.count).to.equal(count);
        expect([...batch.offsets]).to.deep.equal(Array.from({ length: count }, (_, at) => 100 + at));
        const values = Array.from(batch.valueStarts, (start, at) => batch.bytes.subarray(start, batch.valueEnds[at]));
        const isRight = values.every((value, at) => at === 1 || value.equals(Buffer.alloc(bytes, 'x')));
        expect(isRight).to.equal(true);
        expect(batch.key(count - 1)).to.equal(`key-${count - 1}`);
        expect(batch.bodyBytes).to.equal(bytesOf(row).length);
      }
    });
  }

  it('begins to be shared at 8 KiB', () => {
    const memory = new RowMemory(pieceBytes);
    const overhead = bytesOf(encode(memory, [packRecords([{ key: null, value: Buffer.alloc(0) }])])).length;
    const rowOf = (bytes: number): EncodedRow =>
      encode(memory, [packRecords([{ key: null, value: Buffer.alloc(bytes - overhead) }])]);
    expect(pieceOf(rowOf(8 * 1024 - 1))).to.equal(undefined);
    expect(pieceOf(rowOf(8 * 1024))).not.to.equal(undefined);
  });

  it('is used again once a full piece is released by the queue and every reader', () => {
    const memory = new RowMemory(0);
    const runs = recordsOf(10, 100_000);
    const first = encode(memory, runs);
    const held = decodeStoredRow(where, first, undefined);
    held.sharedBuffer?.retain();
    expect(pieceOf(encode(memory, runs))).to.equal(pieceOf(first));
    const second = encode(memory, runs);
    expect(pieceOf(second)).not.to.be.oneOf([undefined, pieceOf(first)]);
    expect(bytesOf(first).equals(Buffer.from(encodeRuns(positionOf(10), runs)))).to.equal(true);
    memory.releaseFull();
    const others = Array.from({ length: 4 }, () => pieceOf(encode(memory, recordsOf(10, 100_000, 'y'))));
    expect(others).not.to.include(pieceOf(first));
    expect(bytesOf(first).equals(Buffer.from(encodeRuns(positionOf(10), runs)))).to.equal(true);
    memory.releaseFull();
    held.release?.();
    const again = Array.from({ length: 4 }, () => pieceOf(encode(memory, runs)));
    expect(again).to.include(pieceOf(first));
  });

  it('ends at 32 MiB more than the cache keeps, and rows have their own memory then', () => {
    const memory = new RowMemory(2 * pieceBytes);
    const rows = Array.from({ length: 20 }, () => encode(memory, recordsOf(10, 200_000)));
    expect(rows.map((row) => row.own === undefined)).to.deep.equal(Array.from({ length: 20 }, (_, at) => at < 18));
    expect(decodeStoredRow(where, rows[19] ?? expect.fail(), rows[19]?.own).count).to.equal(10);
    expect(() => decodeStoredRow(where, { own: new ArrayBuffer(0) }, undefined)).to.throw('A row did not come back');
  });
});

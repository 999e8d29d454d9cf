import { expect } from 'chai';
import { describe, it } from 'mocha';
import { keyTexts, packRecords } from '../../../src/ports/packed-records.ts';
import type { PackedRecords } from '../../../src/ports/packed-records.ts';
import { rowBytesMaximum, splitIntoRows } from '../../../src/embedded/records/row-splitting.ts';

/** Records with values of these sizes; null for a tombstone. The key of each is its number. */
function run(...sizes: (number | null)[]): PackedRecords {
  return packRecords(
    sizes.map((size, index) => ({ key: String(index), value: size === null ? null : Buffer.alloc(size, 'v') })),
  );
}

/** The keys in each row, with a bar between the runs. */
function rowsOf(...runs: PackedRecords[]): string[] {
  return splitIntoRows(runs).map((row) => row.map((each) => keyTexts(each).join(' ')).join(' | '));
}

const half = rowBytesMaximum / 2;

describe('splitIntoRows', () => {
  it('makes one row of a small run, and none of an empty one', () => {
    expect(rowsOf(run(1, 2), run(3))).to.deep.equal(['0 1 | 0']);
    expect(rowsOf()).to.deep.equal([]);
    expect(rowsOf(run())).to.deep.equal([]);
  });

  it('closes a row with the record that fills it', () => {
    expect(rowsOf(run(half, 1, half, 1, 1))).to.deep.equal(['0 1 2', '3 4']);
    expect(rowsOf(run(3 * rowBytesMaximum, 1))).to.deep.equal(['0', '1']);
  });

  it('closes a row within a later run', () => {
    expect(rowsOf(run(half), run(1, half, 1), run(1))).to.deep.equal(['0 | 0 1', '2 | 0']);
  });

  it('counts keys, and counts nothing for a tombstone', () => {
    expect(rowsOf(run(half, null, half - 4, null))).to.deep.equal(['0 1 2 3']);
    expect(rowsOf(run(half, null, half - 3, null))).to.deep.equal(['0 1 2', '3']);
  });
});

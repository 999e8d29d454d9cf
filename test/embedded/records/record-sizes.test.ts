import { expect } from 'chai';
import { describe, it } from 'mocha';
import { contentBytes, oversizedRecordBytes } from '../../../src/embedded/records/record-sizes.ts';
import { recordBytesMaximum } from '../../../src/ports/event-log.ts';
import { packRecords } from '../../../src/ports/packed-records.ts';

const record = (key: string | null, bytes: number | null) => ({
  key,
  value: bytes === null ? null : Buffer.alloc(bytes, 'v'),
});

describe('the size of records', () => {
  it('is that of their values, with what separates them, and of their keys', () => {
    expect(contentBytes(packRecords([record('ab', 10), record(null, 5), record('c', null)]))).to.equal(19);
    expect(contentBytes(packRecords([record('üü', 0)]))).to.equal(4);
  });

  it('is exact where one may be too large: key and value together, whatever stands before and after it', () => {
    for (const [before, after] of [
      [[], []],
      [[record('a', 3), record(null, null), record('b', 0)], [record('c', 7)]],
      [[record(null, recordBytesMaximum)], [record('d', null)]],
    ] as const) {
      const around = (key: string | null, bytes: number | null): number | undefined =>
        oversizedRecordBytes(packRecords([...before, record(key, bytes), ...after]));
      expect(around(null, recordBytesMaximum)).to.equal(undefined);
      expect(around(null, recordBytesMaximum + 1)).to.equal(recordBytesMaximum + 1);
      expect(around('key', recordBytesMaximum - 3)).to.equal(undefined);
      expect(around('key', recordBytesMaximum - 2)).to.equal(recordBytesMaximum + 1);
      expect(around('€', recordBytesMaximum - 3)).to.equal(undefined);
      expect(around('€', recordBytesMaximum - 2)).to.equal(recordBytesMaximum + 1);
      expect(around('k'.repeat(recordBytesMaximum + 1), null)).to.equal(recordBytesMaximum + 1);
    }
  });

  it('is not too large for many small records, nor for a third of the limit in characters of three bytes', () => {
    const third = Math.floor(recordBytesMaximum / 3);
    expect(oversizedRecordBytes(packRecords([record('€'.repeat(third), 0)]))).to.equal(undefined);
    expect(oversizedRecordBytes(packRecords([record('€'.repeat(third + 1), 0)]))).to.equal(3 * third + 3);
    expect(oversizedRecordBytes(packRecords([]))).to.equal(undefined);
  });
});

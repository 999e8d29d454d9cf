import { expect } from 'chai';
import { array, assert, integer, option, property, record, string, tuple, uint8Array } from 'fast-check';
import { describe, it } from 'mocha';
import { noValue, type LogRecord } from '../../src/ports/event-log.ts';
import {
  keyTexts,
  packKeys,
  PackedPartitionRecords,
  packedForm,
  packRecords,
  sliceRecords,
  type PackedRecords,
} from '../../src/ports/packed-records.ts';

const where = { topic: 'orders', partition: 3 };

/** Some empty, some tombstones. */
const records = array(
  record({
    key: option(string({ unit: 'binary', maxLength: 3 })),
    value: option(
      uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      { freq: 2 },
    ),
  }),
  { maxLength: 8 },
);

function plain(list: readonly LogRecord[]): unknown {
  return list.map(({ key, value }) => [key, value?.toString('latin1')]);
}

function unpacked(packed: PackedRecords): unknown {
  return plain(new PackedPartitionRecords(where.topic, where.partition, packed).records);
}

describe('packed records', () => {
  it('are the records that were packed', () => {
    assert(
      property(records, (list) => {
        expect(unpacked(packRecords(list))).to.deep.equal(plain(list));
      }),
    );
  });

  it('have their values next to each other with a comma in between', () => {
    const { values, valueEnds } = packRecords([
      { key: null, value: Buffer.from('ab') },
      { key: 'gone', value: null },
      { key: null, value: Buffer.from('c') },
    ]);
    expect(values.toString()).to.equal('ab,c');
    expect([valueEnds[0], valueEnds[2]]).to.deep.equal([2, 4]);
  });

  it('have their keys next to each other, each written alone', () => {
    const [high, low] = ['\ud83d', '\ude00'];
    for (const texts of [[], [null], [''], ['a', null, '', 'bc'], ['é', null, '', '€a'], [high, low, null, 'x']]) {
      const { keys, keyEnds } = packKeys(texts);
      const bytes = texts.flatMap((text) => (text === null ? [] : [Buffer.from(text)]));
      expect(keys.equals(Buffer.concat(bytes))).to.equal(true);
      let end = 0;
      const ends = texts.map((text) => (text === null ? noValue : (end += Buffer.byteLength(text))));
      expect([...keyEnds]).to.deep.equal(ends);
      const written = texts.map((text) => text && Buffer.from(text).toString());
      expect(keyTexts({ keys, keyEnds })).to.deep.equal(written);
    }
  });

  it('can be sliced anywhere', () => {
    const cut = tuple(records, integer({ min: 0, max: 8 }), integer({ min: 0, max: 8 }));
    assert(
      property(cut, ([list, one, other]) => {
        const from = Math.min(one, other, list.length);
        const to = Math.min(Math.max(one, other), list.length);
        const slice = sliceRecords(packRecords(list), from, to);
        expect(unpacked(slice)).to.deep.equal(plain(list.slice(from, to)));
        const values = list.slice(from, to).flatMap(({ value }) => (value === null ? [] : [value.toString('latin1')]));
        expect(slice.values.toString('latin1')).to.equal(values.join(','));
        expect(keyTexts(slice).join('')).to.equal(slice.keys.toString());
      }),
    );
  });

  it('are used as they are, while other records are packed first', () => {
    const packed = packRecords([{ key: 'a', value: Buffer.from('b') }]);
    expect(packedForm(new PackedPartitionRecords(where.topic, where.partition, packed))).to.equal(packed);
    expect(packedForm({ ...where, records: [{ key: 'a', value: Buffer.from('b') }] })).to.deep.equal(packed);
  });
});

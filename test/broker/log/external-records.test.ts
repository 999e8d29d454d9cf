import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { noValue, type RecordBatch } from '../../../src/ports/event-log.ts';
import { checkExternalRecords, withoutExternalRecords } from '../../../src/broker/log/external-records.ts';

/** A batch of these values, by default all from another producer. */
function batchOf(values: readonly (Buffer | null)[], external: readonly number[] = values.map(() => 1)): RecordBatch {
  const bytes = Buffer.concat(values.map((value) => value ?? Buffer.alloc(0)));
  let end = 0;
  const places = values.map((value) => {
    if (value === null) return [noValue, noValue] as const;
    const start = end;
    end += value.length;
    return [start, end] as const;
  });
  return {
    topic: 'foreign',
    partition: 0,
    count: values.length,
    appendedAt: 0,
    bytes,
    offsets: Float64Array.from(values, (_value, index) => 10 + 2 * index),
    valueStarts: Uint32Array.from(places, ([start]) => start),
    valueEnds: Uint32Array.from(places, ([, stop]) => stop),
    contiguous: false,
    external: Uint8Array.from(external),
    key: (index) => `key ${index}`,
  };
}

function valuesOf({ bytes, valueStarts, valueEnds, count }: RecordBatch): (string | null)[] {
  return Array.from({ length: count }, (_, index) =>
    valueStarts[index] === noValue ? null : bytes.toString('utf8', valueStarts[index], valueEnds[index]),
  );
}

describe('external records', () => {
  it('leave a batch unchanged when it has none', () => {
    const { external: _none, ...batch } = batchOf([Buffer.from('not JSON')]);
    expect(checkExternalRecords(batch)).to.deep.equal({ batch, unreadable: [] });
  });

  it('are delivered when they contain one JSON value of any kind', () => {
    const texts = ['{"a":1}', '[]', '"text"', '0', 'null', ' {"a": "\\n"} '];
    const { batch, unreadable } = checkExternalRecords(batchOf(texts.map((text) => Buffer.from(text))));
    expect(valuesOf(batch)).to.deep.equal(texts);
    expect(unreadable).to.deep.equal([]);
    expect(batch.key(1)).to.equal('key 1');
  });

  const unreadable: [string, Buffer, string][] = [
    ['no JSON', Buffer.from('hello'), 'it is not JSON'],
    ['two values', Buffer.from('{}{}'), 'it is not JSON'],
    ['half a value', Buffer.from('{"a":'), 'it is not JSON'],
    ['a byte order mark', Buffer.from('\uFEFF{}'), 'it is not JSON'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'it is not UTF-8'],
    ['nothing at all', Buffer.alloc(0), 'it is empty'],
  ];
  for (const [title, value, reason] of unreadable) {
    it(`are reported, and their bytes removed, when they contain ${title}`, () => {
      const found = checkExternalRecords(batchOf([Buffer.from('1'), value, Buffer.from('2')]));
      expect(found.unreadable).to.deep.equal([{ offset: 12, reason, value }]);
      expect(valuesOf(found.batch)).to.deep.equal(['1', null, '2']);
    });
  }

  it('are put on one line, in a private copy', () => {
    const source = batchOf([Buffer.from('{\r\n  "a": 1\n}'), Buffer.from('[\n]')]);
    const before = valuesOf(source);
    expect(valuesOf(checkExternalRecords(source).batch)).to.deep.equal(['{    "a": 1 }', '[ ]']);
    expect(valuesOf(source)).to.deep.equal(before);
  });

  it('may be deletions, and may be mixed with our own records, which are not checked', () => {
    const found = checkExternalRecords(batchOf([null, Buffer.from('ours, whatever it is')], [1, 0]));
    expect(valuesOf(found.batch)).to.deep.equal([null, 'ours, whatever it is']);
    expect(found.unreadable).to.deep.equal([]);
  });

  it('are left out where only our own records are wanted', () => {
    const values = ['0', '1', null, '3'].map((value) => (value === null ? null : Buffer.from(value)));
    const own = withoutExternalRecords(batchOf(values, [1, 0, 0, 1]));
    expect(valuesOf(own)).to.deep.equal(['1', null]);
    expect([...own.offsets]).to.deep.equal([12, 14]);
    expect([own.key(0), own.key(1)]).to.deep.equal(['key 1', 'key 2']);
  });

  it('have the same JSON value after the check, or are reported', () => {
    const value = fc.oneof(
      fc.json().map((text) => Buffer.from(text)),
      fc.jsonValue().map((json) => Buffer.from(JSON.stringify(json, undefined, 2))),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(fc.array(value, { maxLength: 8 }), (values) => {
        const { batch, unreadable: named } = checkExternalRecords(batchOf(values));
        const left = valuesOf(batch);
        for (const [index, text] of left.entries()) {
          if (text === null) continue;
          expect(text).to.not.match(/[\r\n]/);
          expect(JSON.parse(text)).to.deep.equal(JSON.parse(values[index]?.toString() ?? ''));
        }
        expect(left.filter((text) => text === null)).to.have.length(named.length);
      }),
    );
  });
});

import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { beforeFirst, formatOffset, parseOffset, parsePartition } from '../../../src/broker/cursors/cursor-text.ts';

describe('the text of an offset', () => {
  const written: [number, string][] = [
    [388, '001-0001-000000000000000388'],
    [0, '001-0001-000000000000000000'],
    [beforeFirst, '001-0001--1'],
    [Number.MAX_SAFE_INTEGER, '001-0001-009007199254740991'],
  ];
  for (const [offset, text] of written) {
    it(`${offset} is written ${text}`, () => {
      expect(formatOffset(offset)).to.equal(text);
    });
  }

  const read: [string, number][] = [
    ['001-0001-000000000000000388', 388],
    ['001-0001--1', -1],
    ['BEGIN', -1],
    ['begin', -1],
    ['Begin', -1],
    ['-1', -1],
    ['0', 0],
    ['7', 7],
    ['000000000000000007', 7],
  ];
  for (const [text, offset] of read) {
    it(`${text} is read as ${offset}`, () => {
      expect(parseOffset(text)).to.equal(offset);
    });
  }

  const refused = [
    '',
    'END',
    'x',
    '-2',
    '1.5',
    '1e3',
    ' 7',
    '7\n',
    '+7',
    '001-0001-388',
    '001-0001-0000000000000000388',
    '001-0002-000000000000000388',
    '002-0001-000000000000000388',
    '001-0001-00000000000000000x',
    '999999999999999999',
  ];
  for (const text of refused) {
    it(`${JSON.stringify(text)} is refused by name`, () => {
      expect(() => parseOffset(text))
        .to.throw(`invalid offset ${text}`)
        .with.property('code', 'UNPROCESSABLE');
    });
  }

  it('is read back unchanged, and sorts in the order of the offsets', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (left, right) => {
        expect(parseOffset(formatOffset(left))).to.equal(left);
        expect(formatOffset(left) < formatOffset(right)).to.equal(left < right);
      }),
    );
  });
});

describe('the text of a partition', () => {
  const rows: [string, number | undefined][] = [
    ['0', 0],
    ['17', 17],
    ['', undefined],
    ['-1', undefined],
    ['01', undefined],
    ['1.0', undefined],
    ['a', undefined],
  ];
  for (const [text, partition] of rows) {
    it(`${JSON.stringify(text)} is ${partition ?? 'none'}`, () => {
      expect(parsePartition(text)).to.equal(partition);
    });
  }
});

import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  VarintReader,
  malformedVarint,
  varintBytes,
  writeVarint,
} from '../../../../src/kafka/protocol/record-batches/varint.ts';

/** The integer at a position, and the position after it. */
function read(bytes: Uint8Array, at = 0): [value: number, end: number] {
  const reader = new VarintReader(bytes, at);
  return [reader.read(), reader.position];
}

/** The position after the integer of up to 64 bits at a position. */
function skip(bytes: Uint8Array, at = 0): number {
  const reader = new VarintReader(bytes, at);
  reader.skipLong();
  return reader.position;
}

describe('a varint', () => {
  const cases: [value: number, bytes: number[]][] = [
    [0, [0]],
    [-1, [1]],
    [1, [2]],
    [63, [0x7e]],
    [-64, [0x7f]],
    [64, [0x80, 0x01]],
    [8_191, [0xfe, 0x7f]],
    [8_192, [0x80, 0x80, 0x01]],
    [1_048_575, [0xfe, 0xff, 0x7f]],
    [1_048_576, [0x80, 0x80, 0x80, 0x01]],
    [134_217_727, [0xfe, 0xff, 0xff, 0x7f]],
    [-134_217_728, [0xff, 0xff, 0xff, 0x7f]],
    [134_217_728, [0x80, 0x80, 0x80, 0x80, 0x01]],
    [2_147_483_647, [0xfe, 0xff, 0xff, 0xff, 0x0f]],
    [-2_147_483_648, [0xff, 0xff, 0xff, 0xff, 0x0f]],
  ];
  for (const [value, encoded] of cases) {
    it(`of ${value} takes ${encoded.length} bytes`, () => {
      const bytes = Buffer.alloc(7, 0xee);
      expect(writeVarint(bytes, 1, value)).to.equal(1 + encoded.length);
      expect([...bytes]).to.deep.equal([0xee, ...encoded, ...Array<number>(6 - encoded.length).fill(0xee)]);
      expect(varintBytes(value)).to.equal(encoded.length);
      expect(read(bytes, 1)).to.deep.equal([value, 1 + encoded.length]);
    });
  }

  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.integer(), (value) => {
        const bytes = Buffer.alloc(5);
        const end = writeVarint(bytes, 0, value);
        expect([end, ...read(bytes)]).to.deep.equal([varintBytes(value), value, end]);
      }),
    );
  });

  it('may be longer than necessary', () => {
    expect(read(Uint8Array.of(0x86, 0x80, 0x00))).to.deep.equal([3, 3]);
  });

  it('is malformed beyond five bytes', () => {
    expect(read(new Uint8Array(8).fill(0x80))[0]).to.equal(malformedVarint);
  });

  it('ends with the bytes, whatever they contain', () => {
    const [value, end] = read(Uint8Array.of(0x80, 0x80));
    expect(value).to.equal(0);
    expect(end).to.be.above(2);
    expect(skip(Uint8Array.of(0x80, 0x80))).to.be.above(2);
  });

  it('is read after the one before it', () => {
    const bytes = Buffer.alloc(12);
    const end = [7, -300, 70_000].reduce((at, value) => writeVarint(bytes, at, value), 0);
    const reader = new VarintReader(bytes, 0);
    expect([reader.read(), reader.read(), reader.read(), reader.position]).to.deep.equal([7, -300, 70_000, end]);
  });

  it('of 64 bits is skipped', () => {
    const bytes = Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x02);
    expect([skip(bytes, 0), skip(bytes, 1), skip(bytes, 11)]).to.deep.equal([1, 11, 12]);
    expect(skip(new Uint8Array(40).fill(0xff))).to.equal(11);
    expect(skip(new Uint8Array(40).fill(0xff), 7)).to.equal(18);
  });
});

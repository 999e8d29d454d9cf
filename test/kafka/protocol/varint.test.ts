import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  varintEnd,
  malformedVarint,
  readVarint,
  skipVarlong,
  varintBytes,
  writeVarint,
} from '../../../src/kafka/protocol/varint.ts';

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
      expect(readVarint(bytes, 1)).to.equal(value);
      expect(varintEnd).to.equal(1 + encoded.length);
    });
  }

  it('comes back as it was written', () => {
    fc.assert(
      fc.property(fc.integer(), (value) => {
        const bytes = Buffer.alloc(5);
        const end = writeVarint(bytes, 0, value);
        expect([end, readVarint(bytes, 0), varintEnd]).to.deep.equal([varintBytes(value), value, end]);
      }),
    );
  });

  it('may be longer than it needs to be', () => {
    expect(readVarint(Uint8Array.of(0x86, 0x80, 0x00), 0)).to.equal(3);
    expect(varintEnd).to.equal(3);
  });

  it('is malformed beyond five bytes', () => {
    expect(readVarint(new Uint8Array(8).fill(0x80), 0)).to.equal(malformedVarint);
  });

  it('ends with the bytes, whatever they say', () => {
    expect(readVarint(Uint8Array.of(0x80, 0x80), 0)).to.equal(0);
    expect(varintEnd).to.be.above(2);
    expect(skipVarlong(Uint8Array.of(0x80, 0x80), 0)).to.be.above(2);
  });

  it('of 64 bits is passed over', () => {
    const bytes = Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x02);
    expect([skipVarlong(bytes, 0), skipVarlong(bytes, 1), skipVarlong(bytes, 11)]).to.deep.equal([1, 11, 12]);
    expect(skipVarlong(new Uint8Array(40).fill(0xff), 0)).to.be.at.most(11);
  });
});

import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { crc32c } from '../../../../src/kafka/protocol/record-batches/crc32c.ts';
import { loadedBytesMaximum } from '../../../../src/kafka/protocol/record-batches/machine-code/loaded-bytes.ts';

/** The definition, one bit at a time. */
function bitwise(bytes: Uint8Array): number {
  let remainder = 0xffff_ffff;
  for (const byte of bytes) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit += 1) {
      remainder = (remainder & 1) === 0 ? remainder >>> 1 : (remainder >>> 1) ^ 0x82f6_3b78;
    }
  }
  return ~remainder >>> 0;
}

describe('CRC-32C', () => {
  const cases: [name: string, bytes: Uint8Array, checksum: number][] = [
    ['nothing', new Uint8Array(), 0],
    ['the digits 1 to 9', Buffer.from('123456789'), 0xe306_9283],
    // RFC 3720, appendix B.4
    ['32 zero bytes', new Uint8Array(32), 0x8a91_36aa],
    ['32 bytes of ones', new Uint8Array(32).fill(0xff), 0x62a8_ab43],
    ['0 to 31', Uint8Array.from({ length: 32 }, (_, at) => at), 0x46dd_794e],
    ['31 to 0', Uint8Array.from({ length: 32 }, (_, at) => 31 - at), 0x113f_db5c],
  ];
  for (const [name, bytes, checksum] of cases) {
    it(`of ${name}`, () => {
      expect(crc32c(bytes)).to.equal(checksum);
    });
  }

  it('equals its definition for every length and alignment', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_500, size: 'max' }), fc.nat(20), fc.nat(20), (bytes, before, after) => {
        const memory = new Uint8Array(before + bytes.length + after).fill(0x5a);
        memory.set(bytes, before);
        expect(crc32c(memory, before, before + bytes.length)).to.equal(bitwise(bytes));
        expect(crc32c(memory.subarray(before, before + bytes.length))).to.equal(bitwise(bytes));
      }),
    );
  });

  it('equals its definition for long texts, whose bytes are folded', () => {
    const long = fc.record({ length: fc.integer({ min: 1_500, max: 9_000 }), seed: fc.integer() });
    fc.assert(
      fc.property(long, fc.nat(20), ({ length, seed }, before) => {
        const memory = pseudoRandom(before + length, seed);
        expect(crc32c(memory, before)).to.equal(bitwise(memory.subarray(before)));
      }),
    );
  });

  for (const length of [loadedBytesMaximum, loadedBytesMaximum + 1, 2 * loadedBytesMaximum + 700]) {
    it(`equals its definition for ${length} bytes, of which a part is folded at a time`, () => {
      const bytes = pseudoRandom(length, length);
      expect(crc32c(bytes)).to.equal(bitwise(bytes));
    });
  }
});

/** Bytes that look random (a linear congruential generator, constants of Numerical Recipes). */
function pseudoRandom(length: number, seed: number): Uint8Array {
  let state = seed;
  return new Uint8Array(length).map(() => (state = Math.imul(state, 1_664_525) + 1_013_904_223) >>> 24);
}

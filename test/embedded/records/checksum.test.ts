import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { crc32 } from 'node:zlib';
import { checksumOf, foldedAtOnceMaximum, foldedAtOnceMinimum } from '../../../src/embedded/records/checksum.ts';

/** Bytes that look random (a linear congruential generator, constants of Numerical Recipes). */
function pseudoRandom(length: number, seed: number): Buffer {
  let state = seed;
  return Buffer.from(
    new Uint8Array(length).map(() => (state = Math.imul(state, 1_664_525) + 1_013_904_223) >>> 24).buffer,
  );
}

describe('the checksum of a row', () => {
  const lengths = [
    0,
    1,
    foldedAtOnceMinimum - 1,
    foldedAtOnceMinimum,
    foldedAtOnceMaximum,
    foldedAtOnceMaximum + 1,
    foldedAtOnceMaximum + foldedAtOnceMinimum - 1,
    foldedAtOnceMaximum + foldedAtOnceMinimum,
    2 * foldedAtOnceMaximum,
    5 * foldedAtOnceMaximum + 777,
  ];
  for (const length of lengths) {
    it(`is that of the library for ${length} bytes`, () => {
      for (const bytes of [pseudoRandom(length, length), Buffer.alloc(length), Buffer.alloc(length, 0xff)]) {
        expect(checksumOf(bytes)).to.equal(crc32(bytes));
      }
    });
  }

  it('is that of the library for every length and alignment, whatever was folded before', () => {
    const maximum = foldedAtOnceMaximum + 2 * foldedAtOnceMinimum;
    fc.assert(
      fc.property(fc.nat(maximum), fc.nat(20), fc.integer(), (length, before, seed) => {
        const bytes = pseudoRandom(before + length, seed).subarray(before);
        expect(checksumOf(bytes)).to.equal(crc32(bytes));
      }),
    );
  });

  it('is that of the library for memory that threads share', () => {
    const shared = Buffer.from(new SharedArrayBuffer(foldedAtOnceMaximum), 3);
    shared.set(pseudoRandom(shared.length, 1));
    expect(checksumOf(shared)).to.equal(crc32(Buffer.from(shared)));
  });

  it('shows every change of one bit, and leaves the bytes as they are', () => {
    const bytes = pseudoRandom(foldedAtOnceMinimum + 5, 7);
    const copy = Buffer.from(bytes);
    const checksum = checksumOf(bytes);
    expect(bytes).to.deep.equal(copy);
    for (let at = 0; at < bytes.length; at += 1) {
      bytes[at] = (bytes[at] as number) ^ (1 << (at % 8));
      expect(checksumOf(bytes), `byte ${at}`).not.to.equal(checksum);
      bytes[at] = copy[at] as number;
    }
  });
});

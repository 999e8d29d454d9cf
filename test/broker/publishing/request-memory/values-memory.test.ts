import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ValuesMemory } from '../../../../src/broker/publishing/request-memory/values-memory.ts';

const [least, most] = [32 * 1024, 128 * 1024];
const filled = (bytes: number, byte = 1): Buffer => Buffer.alloc(bytes, byte);

describe('the memory of the values of a request', () => {
  it('has a copy of them, of any size', () => {
    for (const size of [0, 1, least - 1, least, most, most + 1]) {
      const values = filled(size);
      const memory = new ValuesMemory(values);
      values.fill(2);
      expect(memory.bytes.equals(filled(size)), `${size} bytes`).to.equal(true);
      memory.release();
    }
  });

  for (const [size, isReused] of [
    [least - 1, false],
    [least, true],
    [most, true],
    [most + 1, false],
  ] as const) {
    it(`of ${size} bytes is ${isReused ? 'used again once it is released' : 'its own'}`, () => {
      const first = new ValuesMemory(filled(size));
      first.release();
      const second = new ValuesMemory(filled(size));
      expect(second.bytes.buffer === first.bytes.buffer).to.equal(isReused);
      second.release();
    });
  }

  it('is not used again before it is released, nor twice when it is released twice', () => {
    const held = new ValuesMemory(filled(least));
    const others = Array.from({ length: 40 }, () => new ValuesMemory(filled(least, 2)));
    for (const other of others) expect(other.bytes.buffer).not.to.equal(held.bytes.buffer);
    held.release();
    held.release();
    const [next, one] = [new ValuesMemory(filled(least, 3)), new ValuesMemory(filled(least, 4))];
    expect(next.bytes.buffer).to.equal(held.bytes.buffer);
    expect(one.bytes.buffer).not.to.equal(held.bytes.buffer);
    for (const memory of [...others, next, one]) memory.release();
  });
});

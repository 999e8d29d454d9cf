import { expect } from 'chai';
import { describe, it } from 'mocha';
import { copyBytes, SharedBuffer, SharedBufferPool } from '../../src/ports/shared-buffer.ts';

describe('the memory of a run', () => {
  it('is free when its last holder releases it, and not before', () => {
    const freed: ArrayBuffer[] = [];
    const run = new SharedBuffer(new ArrayBuffer(8), (memory) => freed.push(memory));
    run.retain();
    run.retain();
    run.release();
    run.release();
    expect(freed).to.deep.equal([]);
    run.release();
    expect(freed).to.deep.equal([run.memory]);
  });

  it('is reused when it is free, up to a limited amount', () => {
    const spare = new SharedBufferPool(() => new ArrayBuffer(8));
    const acquired = Array.from({ length: 20 }, () => spare.acquire());
    expect(new Set(acquired).size).to.equal(20);
    for (const memory of acquired) spare.recycle(memory);
    const again = Array.from({ length: 20 }, () => spare.acquire());
    expect(again.filter((memory) => acquired.includes(memory))).to.have.length(16);
    expect(again.every(({ byteLength }) => byteLength === 8)).to.equal(true);
  });
});

describe('a copy of bytes', () => {
  const bufferOf = (memory: ArrayBufferLike): Buffer => Buffer.from(memory);
  const sides = {
    'shared memory': (bytes: number) => bufferOf(new SharedArrayBuffer(bytes)),
    'memory of one thread': (bytes: number) => bufferOf(new ArrayBuffer(bytes)),
  };
  for (const [from, makeSource] of Object.entries(sides)) {
    for (const [to, makeTarget] of Object.entries(sides)) {
      it(`from ${from} to ${to} has the same bytes, and changes none beside them`, () => {
        const source = makeSource(5_000);
        for (let index = 0; index < source.length; index += 1) source[index] = (index * 31) % 251;
        for (const size of [0, 1, 8, 1_023, 1_024, 1_025, 4_000]) {
          const target = makeTarget(4_100).fill(255);
          copyBytes(source, target, 13, 7, 7 + size);
          const expected = Buffer.concat([
            Buffer.alloc(13, 255),
            source.subarray(7, 7 + size),
            Buffer.alloc(4_087 - size, 255),
          ]);
          expect(target.equals(expected), `${size} bytes`).to.equal(true);
        }
        const whole = makeTarget(5_000);
        copyBytes(source, whole, 0);
        expect(whole.equals(source)).to.equal(true);
      });
    }
  }
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { SharedBuffer, SharedBufferPool } from '../../src/ports/shared-buffer.ts';

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

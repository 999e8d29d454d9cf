import { expect } from 'chai';
import { describe, it } from 'mocha';
import { RunMemory, SpareRunMemory } from '../../../src/embedded/records/run-memory.ts';

describe('the memory of a run', () => {
  it('is free when the last of those who hold it lets go, and not before', () => {
    const freed: ArrayBuffer[] = [];
    const run = new RunMemory(new ArrayBuffer(8), (memory) => freed.push(memory));
    run.hold();
    run.hold();
    run.release();
    run.release();
    expect(freed).to.deep.equal([]);
    run.release();
    expect(freed).to.deep.equal([run.memory]);
  });

  it('is used again when it is free, and only so much is kept', () => {
    const spare = new SpareRunMemory(8);
    const taken = Array.from({ length: 20 }, () => spare.take());
    expect(new Set(taken).size).to.equal(20);
    for (const memory of taken) spare.giveBack(memory);
    const again = Array.from({ length: 20 }, () => spare.take());
    expect(again.filter((memory) => taken.includes(memory))).to.have.length(16);
    expect(again.every(({ byteLength }) => byteLength === 8)).to.equal(true);
  });
});

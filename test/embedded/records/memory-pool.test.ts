import { expect } from 'chai';
import { describe, it } from 'mocha';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { giveWay } from '../../../src/clock.ts';
import { MemoryPool } from '../../../src/embedded/records/memory-pool.ts';

describe('a pool of memory', () => {
  it('is reused when it is given back, up to a limited amount', () => {
    const memory = new MemoryPool(8);
    const acquired = Array.from({ length: 20 }, () => memory.acquire());
    expect(new Set(acquired).size).to.equal(20);
    for (const piece of acquired) memory.recycle(piece ?? expect.fail());
    const again = Array.from({ length: 20 }, () => memory.acquire());
    expect(again.filter((piece) => acquired.includes(piece))).to.have.length(16);
    expect(again.every((piece) => piece?.byteLength === 8)).to.equal(true);
  });

  it('ends at its limit until a piece is given back', () => {
    const memory = new MemoryPool(8, 24);
    const acquired = Array.from({ length: 4 }, () => memory.acquire());
    expect(acquired.map((piece) => piece?.byteLength)).to.deep.equal([8, 8, 8, undefined]);
    memory.recycle(acquired[0] ?? expect.fail());
    expect(memory.acquire()).to.equal(acquired[0]);
    expect(memory.acquire()).to.equal(undefined);
  });

  it('is there again when those who never gave it back are collected', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const memory = new MemoryPool(1024 * 1024, 3 * 1024 * 1024);
    expect(holdAndForget(memory)).to.equal(3);
    expect(memory.acquire()).to.equal(undefined);
    let piece: SharedArrayBuffer | undefined;
    while (piece === undefined) {
      collectGarbage();
      await giveWay();
      piece = memory.acquire();
    }
    expect(piece.byteLength).to.equal(1024 * 1024);
  });
});

/** @returns how many pieces there were */
function holdAndForget(memory: MemoryPool): number {
  return Array.from({ length: 3 }, () => memory.acquire()).filter((piece) => piece !== undefined).length;
}

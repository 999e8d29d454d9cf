import { expect } from 'chai';
import { describe, it } from 'mocha';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BatchCache, isWorthCaching } from '../../src/embedded/batch-cache.ts';
import { decodeBody, decodeBodyInRun, encodeBody, putIntoRun } from '../../src/embedded/records/batch-format.ts';
import type { StoredBatch } from '../../src/embedded/records/decoded-batch.ts';
import { SharedBuffer } from '../../src/ports/shared-buffer.ts';
import { newPartitionState } from '../../src/embedded/partition-state.ts';
import type { PartitionState } from '../../src/embedded/partition-state.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

function partitionState(id: number): PartitionState {
  const persisted = { id, topicId: 1, number: 0, earliest: 0, latest: 1_000, compactedTo: 0, compactedRecordCount: 0 };
  return newPartitionState('orders', persisted);
}

/** A batch of ten records. */
function batchAt(baseOffset: number, run?: SharedBuffer): StoredBatch {
  const position = { partitionId: 1, baseOffset, lastOffset: baseOffset + 9, appendedAt: 0 };
  const records = Array.from({ length: 10 }, () => ({ key: null, value: Buffer.alloc(100) }));
  const body = Buffer.from(encodeBody(position, records));
  if (run === undefined) return decodeBody({ topic: 'orders', partition: 0 }, body);
  const start = 200 * baseOffset;
  const put = putIntoRun(run.bytes, body, start, start + 2_000);
  return decodeBodyInRun({ topic: 'orders', partition: 0 }, run, put ?? expect.fail());
}

const batchMemory = batchAt(0).memoryBytes;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Memory in use in the JavaScript heap and outside of it. Bytes. */
function bytesInUse(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('the batch cache', () => {
  for (const [hasLists, what] of [
    [false, 'the smallest batches'],
    [true, 'the smallest batches whose lists were read'],
  ] as const) {
    it(`takes about the memory that it counts, also with ${what}`, () => {
      const count = 5_000;
      const partition = partitionState(1);
      const cache = new BatchCache();
      const add = (from: number, to: number): void => {
        for (let offset = from; offset < to; offset += 1) {
          const position = { partitionId: 1, baseOffset: offset, lastOffset: offset, appendedAt: 0 };
          const body = Buffer.from(encodeBody(position, [{ key: 'k', value: Buffer.alloc(300) }]));
          const batch = decodeBody({ topic: 'orders', partition: 0 }, body);
          if (hasLists) expect(batch.offsets[0]).to.equal(offset);
          cache.add(partition, batch);
        }
      };
      add(0, 500);
      const [countedBefore, usedBefore] = [cache.bytes, bytesInUse()];
      add(500, 500 + count);
      const used = (bytesInUse() - usedBefore) / count;
      const counted = (cache.bytes - countedBefore) / count;
      expect(used / counted, `${used} bytes, counted as ${counted}`).to.be.within(0.75, 1.15);
      expect(partition.cachedBatches).to.have.length(500 + count);
    });
  }

  it('is used for appends to event topics and followed topics, not for a store without readers', async () => {
    const partition = partitionState(1);
    expect(isWorthCaching(partition, 'delete')).to.equal(true);
    expect(isWorthCaching(partition, 'compact_and_delete')).to.equal(true);
    expect(isWorthCaching(partition, 'compact')).to.equal(false);
    const nothing = { batches: [], nextOffset: 0 };
    const options = { bytesMaximum: 1, waitMilliseconds: Infinity };
    const follower = partition.waiting.add(new SimulatedClock(), 0, options, Infinity);
    expect(isWorthCaching(partition, 'compact')).to.equal(true);
    partition.waiting.wake(() => Promise.resolve(nothing));
    await follower;
    expect(isWorthCaching(partition, 'compact')).to.equal(true);
  });

  it('finds the batch that holds an offset', () => {
    const cache = new BatchCache(10 * batchMemory);
    const partition = partitionState(1);
    const [first, second] = [batchAt(0), batchAt(10)];
    cache.add(partition, second);
    cache.add(partition, first);
    for (const offset of [0, 5, 9]) expect(cache.find(partition, offset)).to.equal(first);
    for (const offset of [10, 19]) expect(cache.find(partition, offset)).to.equal(second);
    expect(cache.find(partition, 20)).to.equal(undefined);
    expect(cache.find(partitionState(2), 5)).to.equal(undefined);
  });

  it('does not return a later batch for an unknown offset', () => {
    const cache = new BatchCache(10 * batchMemory);
    const partition = partitionState(1);
    cache.add(partition, batchAt(0));
    cache.add(partition, batchAt(50));
    expect(cache.find(partition, 30)).to.equal(undefined);
  });

  it('never exceeds its size in bytes, and drops the least recently used batch first', () => {
    const cache = new BatchCache(3 * batchMemory);
    const partition = partitionState(1);
    for (const base of [0, 10, 20]) cache.add(partition, batchAt(base));
    cache.find(partition, 0);
    cache.add(partition, batchAt(30));
    expect(cache.bytes).to.equal(3 * batchMemory);
    const held = [0, 10, 20, 30].filter((base) => cache.find(partition, base) !== undefined);
    expect(held).to.deep.equal([0, 20, 30]);
    expect(partition.cachedBatches).to.have.length(3);
  });

  it('keeps a batch once, and no batch larger than the whole cache', () => {
    const cache = new BatchCache(2 * batchMemory);
    const partition = partitionState(1);
    cache.add(partition, batchAt(0));
    cache.add(partition, batchAt(0));
    expect(cache.bytes).to.equal(batchMemory);
    const small = new BatchCache(batchMemory - 1);
    const other = partitionState(2);
    small.add(other, batchAt(0));
    expect(small.find(other, 0)).to.equal(undefined);
    expect(small.bytes).to.equal(0);
  });

  it('holds and counts the memory of a whole run as long as it keeps one of its batches', () => {
    const cache = new BatchCache(10 * batchMemory);
    const partition = partitionState(1);
    const freed: ArrayBuffer[] = [];
    const run = new SharedBuffer(new ArrayBuffer(5_000), (memory) => freed.push(memory));
    const [first, second] = [batchAt(0, run), batchAt(10, run)];
    for (const batch of [first, second]) cache.add(partition, batch);
    run.release();
    expect(cache.bytes).to.equal(5_000 + first.memoryBytes + second.memoryBytes);
    cache.forget(partition, 10);
    expect(cache.bytes).to.equal(5_000 + second.memoryBytes);
    expect(freed).to.deep.equal([]);
    cache.forget(partition);
    expect(cache.bytes).to.equal(0);
    expect(freed).to.deep.equal([run.memory]);
  });

  it('drops all batches of a run at once, even when a batch of another run lies between them', () => {
    const partition = partitionState(1);
    const freed: ArrayBuffer[] = [];
    const [older, newer] = [0, 1].map(() => new SharedBuffer(new ArrayBuffer(25_000), (memory) => freed.push(memory)));
    const cache = new BatchCache(60_000);
    for (const base of [0, 20, 30]) cache.add(partition, batchAt(base, older));
    cache.add(partition, batchAt(10));
    cache.add(partition, batchAt(50, newer));
    older?.release();
    newer?.release();
    for (const base of [30, 50, 10]) expect(cache.find(partition, base)).to.not.equal(undefined);
    const last = new SharedBuffer(new ArrayBuffer(25_000), (memory) => freed.push(memory));
    cache.add(partition, batchAt(70, last));
    const held = [0, 10, 20, 30, 50, 70].filter((base) => cache.find(partition, base) !== undefined);
    expect(held).to.deep.equal([10, 50, 70]);
    expect(partition.cachedBatches.map(({ position }) => position.baseOffset)).to.deep.equal([10, 50, 70]);
    expect(freed).to.deep.equal([older?.memory]);
    cache.forget(partition);
    expect(cache.bytes).to.equal(0);
  });

  it('drops a run of two batches at the start of a partition', () => {
    const cache = new BatchCache(30_000);
    const partition = partitionState(1);
    const [older, newer] = [0, 1].map(() => new SharedBuffer(new ArrayBuffer(25_000), () => undefined));
    for (const base of [0, 10]) cache.add(partition, batchAt(base, older));
    cache.add(partition, batchAt(20, newer));
    expect(partition.cachedBatches.map(({ position }) => position.baseOffset)).to.deep.equal([20]);
  });

  it('keeps no batch of a run whose memory is larger than the whole cache', () => {
    const cache = new BatchCache(4_999);
    const partition = partitionState(1);
    const run = new SharedBuffer(new ArrayBuffer(5_000), () => undefined);
    cache.add(partition, batchAt(0, run));
    expect(cache.find(partition, 0)).to.equal(undefined);
    expect(cache.bytes).to.equal(0);
  });

  it('has 128 MiB unless it is given another size', () => {
    for (const [bytes, isKept] of [
      [0, true],
      [1, false],
    ] as const) {
      const cache = new BatchCache();
      const partition = partitionState(1);
      const objects = batchAt(0, new SharedBuffer(new ArrayBuffer(5_000), () => undefined)).memoryBytes;
      const run = new SharedBuffer(new ArrayBuffer(128 * 1024 * 1024 - objects + bytes), () => undefined);
      cache.add(partition, batchAt(0, run));
      expect(cache.find(partition, 0) !== undefined).to.equal(isKept);
    }
  });

  it('drops everything below an offset, or a whole partition', () => {
    const cache = new BatchCache(10 * batchMemory);
    const partition = partitionState(1);
    for (const base of [0, 10, 20]) cache.add(partition, batchAt(base));
    cache.forget(partition, 20);
    expect(cache.bytes).to.equal(batchMemory);
    expect(cache.find(partition, 15)).to.equal(undefined);
    expect(cache.find(partition, 25)).to.not.equal(undefined);
    cache.forget(partition);
    expect(cache.bytes).to.equal(0);
    expect(cache.find(partition, 25)).to.equal(undefined);
  });

  it('evicts the batches of all partitions that share memory together, and gives it back when the last is forgotten', () => {
    const freed: SharedArrayBuffer[] = [];
    const memories = [0, 1, 2].map(() => new SharedArrayBuffer(16_384));
    const runs = memories.map((memory) => new SharedBuffer(memory, (each) => freed.push(each)));
    const partitions = [partitionState(1), partitionState(2)];
    const cache = new BatchCache(2 * 16_384 + 6 * batchAt(0, runs[0]).memoryBytes);
    runs.forEach((run, index) => {
      for (const partition of partitions) {
        cache.add(partition, batchAt(20 * index, run));
        cache.add(partition, batchAt(20 * index + 10, run));
        if (index === 1) break;
      }
      run.release();
    });
    expect(freed).to.deep.equal([memories[0]]);
    expect(
      partitions.map(({ cachedBatches }) => cachedBatches.map(({ position }) => position.baseOffset)),
    ).to.deep.equal([
      [20, 30, 40, 50],
      [40, 50],
    ]);
    cache.forget(partitions[0] as PartitionState);
    expect(freed).to.deep.equal([memories[0], memories[1]]);
    expect(cache.find(partitions[1] as PartitionState, 45)?.position.baseOffset).to.equal(40);
    cache.forget(partitions[1] as PartitionState, 50);
    expect(freed).to.have.length(2);
    cache.forget(partitions[1] as PartitionState);
    expect(freed).to.deep.equal(memories);
    expect(cache.bytes).to.equal(0);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  ChunkCache,
  PartitionChunks,
  createChunk,
  partOf,
  retained,
  type Chunk,
} from '../../../src/kafka/consume/fetched-records.ts';
import { SharedBuffer } from '../../../src/ports/shared-buffer.ts';
import { recordsOf } from '../../support/log-reading.ts';
import { numberedEntries, recordBatch, type BatchEntry } from '../../support/kafka/record-batch.ts';

/** A chunk with a batch for each list of offsets; values are the offsets. */
function chunkOf(from: number, to: number, batches: readonly (readonly BatchEntry[])[], fetchedAt = 0): Chunk {
  const decoded = { batches: batches.map((entries) => recordBatch(entries)), nextOffset: to };
  return createChunk(from, decoded, Buffer.alloc(1_000), fetchedAt);
}

function offsetsRead(chunks: PartitionChunks, from: number, bytesMaximum = Infinity): [number[], number] | undefined {
  const result = chunks.read(from, bytesMaximum);
  if (result === undefined) return undefined;
  const offsets = result.batches.flatMap(recordsOf).map(({ offset }) => offset);
  expect(result.batches.flatMap(recordsOf).map(({ value }) => value)).to.deep.equal(offsets.map(String));
  return [offsets, result.nextOffset];
}

describe('Chunks of a partition', () => {
  function threeChunks(): PartitionChunks {
    const chunks = new PartitionChunks();
    chunks.add(chunkOf(20, 30, [numberedEntries(20, 24)]));
    chunks.add(chunkOf(10, 20, [numberedEntries(10, 12), numberedEntries(15, 19)]));
    chunks.add(chunkOf(40, 41, [numberedEntries(40, 40)]));
    return chunks;
  }

  const cases: [string, number, number, [number[], number] | undefined][] = [
    [
      'everything from the start of a chunk to the end of its run',
      10,
      Infinity,
      [[10, 11, 12, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24], 30],
    ],
    ['everything from the middle of a batch', 16, Infinity, [[16, 17, 18, 19, 20, 21, 22, 23, 24], 30]],
    ['everything from a gap between batches', 13, Infinity, [[15, 16, 17, 18, 19, 20, 21, 22, 23, 24], 30]],
    ['at least one batch', 10, 1, [[10, 11, 12], 13]],
    ['at least the requested part of one batch', 12, 1, [[12], 13]],
    ['whole batches until there is enough', 10, 10, [[10, 11, 12, 15, 16, 17, 18, 19], 20]],
    ['no more than one batch that is exactly enough', 10, 8, [[10, 11, 12], 13]],
    ['another batch when one byte is missing', 10, 9, [[10, 11, 12, 15, 16, 17, 18, 19], 20]],
    ['only the next offset for a gap at the end of a chunk', 27, Infinity, [[], 30]],
    ['nothing below the first chunk', 9, Infinity, undefined],
    ['nothing where there is no chunk', 30, Infinity, undefined],
    ['a chunk of one record', 40, Infinity, [[40], 41]],
  ];
  for (const [title, from, bytesMaximum, expected] of cases) {
    it(`return ${title}`, () => {
      expect(offsetsRead(threeChunks(), from, bytesMaximum)).to.deep.equal(expected);
    });
  }

  it('may overlap', () => {
    const chunks = new PartitionChunks();
    chunks.add(chunkOf(10, 20, [numberedEntries(10, 19)]));
    chunks.add(chunkOf(14, 16, [numberedEntries(14, 15)]));
    expect(offsetsRead(chunks, 14)).to.deep.equal([[14, 15, 16, 17, 18, 19], 20]);
    expect(offsetsRead(chunks, 12)).to.deep.equal([[12, 13, 14, 15, 16, 17, 18, 19], 20]);
  });

  it('count the bytes from the first value to the last of a batch, whatever is deleted before, between and after', () => {
    const chunks = new PartitionChunks();
    const deleted = (offset: number): BatchEntry => ({ offset, value: null });
    const values = [deleted(0), { offset: 1, value: 'abc' }, deleted(2), { offset: 3, value: 'def' }, deleted(4)];
    const batches = [
      recordBatch(values),
      recordBatch([deleted(5), deleted(6)]),
      recordBatch(numberedEntries(7, 7)),
      recordBatch(numberedEntries(8, 8)),
    ];
    chunks.add(createChunk(0, { batches, nextOffset: 9 }, Buffer.alloc(1_000), 0));
    const reads = [7, 8, 9].map((bytesMaximum) => chunks.read(0, bytesMaximum));
    expect(reads.map((read) => read?.nextOffset)).to.deep.equal([5, 8, 9]);
    expect(reads[2]?.batches).to.deep.equal(batches);
    expect(reads[2]?.batches[0]).to.equal(batches[0]);
  });

  it('keep keys, tombstones and external marks with their records', () => {
    const entries = [...numberedEntries(5, 6), { offset: 7, value: null }, { offset: 8, value: 'theirs' }];
    const batch = {
      ...recordBatch(entries),
      key: (index: number) => `key ${index}`,
      external: Uint8Array.of(0, 1, 0, 1),
    };
    const chunks = new PartitionChunks();
    chunks.add(createChunk(5, { batches: [batch], nextOffset: 9 }, batch.bytes, 0));
    const [part] = chunks.read(6, 1)?.batches ?? [];
    expect(part).to.not.equal(undefined);
    expect(part === undefined ? [] : recordsOf(part)).to.deep.equal([
      { offset: 6, key: 'key 1', value: '6' },
      { offset: 7, key: 'key 2', value: null },
      { offset: 8, key: 'key 3', value: 'theirs' },
    ]);
    expect([...(part?.external ?? [])]).to.deep.equal([1, 0, 1]);
  });
});

describe('The memory of chunks', () => {
  const bytes = chunkOf(0, 1, []).memoryBytes;

  it('counts the response, the positions of each record, and what was decompressed', () => {
    const response = Buffer.allocUnsafeSlow(5_000);
    const within = { ...recordBatch(numberedEntries(0, 2)), bytes: response.subarray(100, 200) };
    const inflated = { ...recordBatch(numberedEntries(3, 4)), bytes: Buffer.allocUnsafeSlow(700) };
    const chunk = createChunk(0, { batches: [within, inflated], nextOffset: 5 }, response, 0);
    const [positionBytesPerRecord, chunkOverheadBytes] = [8 + 3 * 4, 1_024];
    expect(chunk.memoryBytes).to.equal(chunkOverheadBytes + 5_000 + 5 * positionBytesPerRecord + 700);
  });

  it('drops the oldest chunk for the newest, over all partitions', () => {
    const memory = new ChunkCache(2 * bytes, Infinity);
    const [one, other] = [new PartitionChunks(), new PartitionChunks()];
    memory.add(chunkOf(0, 1, []), one);
    memory.add(chunkOf(0, 1, []), other);
    memory.add(chunkOf(1, 2, []), other);
    expect([one.isEmpty, other.read(0, 1)?.nextOffset]).to.deep.equal([true, 2]);
  });

  it('keeps the newest chunk, however large it is', () => {
    const memory = new ChunkCache(bytes / 2, Infinity);
    const [one, other] = [new PartitionChunks(), new PartitionChunks()];
    memory.add(chunkOf(0, 1, []), one);
    memory.add(chunkOf(0, 1, []), other);
    expect([one.isEmpty, other.isEmpty]).to.deep.equal([true, false]);
  });

  it('drops chunks that have reached their maximum age', () => {
    const memory = new ChunkCache(Infinity, 1_000);
    const chunks = new PartitionChunks();
    memory.add(chunkOf(0, 1, [], 5_000), chunks);
    memory.add(chunkOf(1, 2, [], 5_500), chunks);
    memory.removeAged(5_999);
    expect(chunks.read(0, 1)?.nextOffset).to.equal(2);
    memory.removeAged(6_000);
    expect([chunks.read(0, 1), chunks.read(1, 1)?.nextOffset]).to.deep.equal([undefined, 2]);
    memory.removeAged(6_500);
    expect(chunks.isEmpty).to.equal(true);
  });

  it('holds as many as fit, whatever was dropped before', () => {
    const memory = new ChunkCache(2 * bytes, Infinity);
    const chunks = new PartitionChunks();
    for (const from of [7, 8, 0, 1, 2]) memory.add(chunkOf(from, from + 1, []), chunks);
    expect([7, 8, 0, 1, 2].map((offset) => chunks.has(offset))).to.deep.equal([false, false, false, true, true]);
  });

  it('forgets a partition and counts the others correctly', () => {
    const memory = new ChunkCache(2 * bytes, Infinity);
    const [one, other] = [new PartitionChunks(), new PartitionChunks()];
    memory.add(chunkOf(0, 1, []), one);
    memory.add(chunkOf(0, 1, []), other);
    memory.removeAllOf(other);
    expect([one.isEmpty, other.isEmpty]).to.deep.equal([false, true]);
    memory.add(chunkOf(1, 2, []), one);
    expect(one.read(0, 1)?.nextOffset).to.equal(2);
  });
});

describe('A part of a response', () => {
  const response = Buffer.alloc(8_000, 'x');

  it('is copied when it is small, so that it does not keep the whole response in memory', () => {
    const { bytes, start, end } = partOf(response, { start: 100, end: 1_000 });
    expect([bytes.length, start, end]).to.deep.equal([900, 0, 900]);
    expect(bytes.buffer).to.not.equal(response.buffer);
  });

  it('is not copied when it is an eighth or more', () => {
    expect(partOf(response, { start: 100, end: 1_099 }).bytes).to.have.length(999);
    expect(partOf(response, { start: 100, end: 1_100 })).to.deep.equal({ bytes: response, start: 100, end: 1_100 });
  });
});

describe('memory of chunks that is used again', () => {
  it('is free when the chunk has gone and every reader has released every batch', () => {
    let isFree = false;
    const memory = new SharedBuffer(new ArrayBuffer(8), () => (isFree = true));
    const batches = [numberedEntries(0, 4), numberedEntries(5, 9)].map((entries) => ({
      ...recordBatch(entries),
      memory,
      release: memory.release,
    }));
    const [owner, cache] = [new PartitionChunks(), new ChunkCache(10_000, 1_000)];
    cache.add(createChunk(0, { batches, nextOffset: 10 }, Buffer.alloc(100), 0, memory), owner);
    memory.release();
    const reads = [0, 7].map((from) => retained(owner.read(from, Infinity) ?? expect.fail('not in memory')));
    expect(reads.map((read) => read.batches.length)).to.deep.equal([2, 1]);
    cache.removeAged(1_000);
    const releases = reads.flatMap((read) => read.batches.map(({ release }) => release));
    for (const release of releases) {
      expect(isFree).to.equal(false);
      release?.();
    }
    expect(isFree).to.equal(true);
  });
});

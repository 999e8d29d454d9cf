import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { LogRecord } from '../../../src/ports/event-log.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { PartitionQueue } from '../../../src/kafka/produce/partition-queue.ts';
import { PendingAppend } from '../../../src/kafka/produce/pending-append.ts';
import { outcomeMilliseconds, unsentMilliseconds } from '../../../src/kafka/produce/produce-outcome.ts';
import { field } from '../../../src/kafka/protocol/record-batches/layout.ts';

const identity = { producerId: 7n, producerEpoch: 0 };
const nextIdentity = { producerId: 8n, producerEpoch: 0 };
const failure = new LendstreamError('LOG_UNAVAILABLE', 'Trouble.');
const tooLarge = new LendstreamError('RECORD_TOO_LARGE', 'Too large.');

function newQueue(): PartitionQueue {
  const queue = new PartitionQueue({ topic: 'topic', partition: 0 });
  queue.adopt(identity);
  return queue;
}

/** Appends records of these sizes; the result is added to `results` under the name. */
function append(queue: PartitionQueue, results: Map<string, unknown>, name: string, ...sizes: readonly number[]): void {
  appendAt(queue, results, 0, name, ...sizes);
}

function appendAt(
  queue: PartitionQueue,
  results: Map<string, unknown>,
  acceptedAt: number,
  name: string,
  ...sizes: readonly number[]
): void {
  const records: LogRecord[] = sizes.map((size) => ({ key: null, value: Buffer.alloc(size) }));
  queue.add(
    new PendingAppend(records, acceptedAt, (result) => {
      expect(results.has(name)).to.equal(false);
      results.set(name, result instanceof LendstreamError ? result.code : result);
    }),
  );
}

/** First sequence number, count and producer id of the batch that is sent next. */
function sent(queue: PartitionQueue): { sequence: number; count: number; producer: bigint } | undefined {
  const batch = queue.nextBatch(0);
  if (batch === undefined) return undefined;
  batch.isSent = true;
  return {
    sequence: batch.content.bytes.readInt32BE(field.baseSequence),
    count: batch.content.bytes.readInt32BE(field.recordCount),
    producer: batch.content.bytes.readBigInt64BE(field.producerId),
  };
}

describe('the queue of a partition', () => {
  it('merges appends into one batch and returns each its own offset', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    append(queue, results, 'a', 1, 1);
    append(queue, results, 'b', 1);
    append(queue, results, 'c', 1, 1, 1);
    expect(sent(queue)).to.deep.equal({ sequence: 0, count: 6, producer: 7n });
    queue.stored(100);
    expect([...results]).to.deep.equal([
      ['a', 100],
      ['b', 102],
      ['c', 103],
    ]);
    append(queue, results, 'd', 1);
    expect(sent(queue)).to.deep.equal({ sequence: 6, count: 1, producer: 7n });
  });

  it('sends the same batch again until it is stored, and nothing else before', () => {
    const queue = newQueue();
    append(queue, new Map(), 'a', 1);
    const first = queue.nextBatch(0);
    append(queue, new Map(), 'b', 1);
    queue.failed(failure, true);
    expect(queue.nextBatch(1)).to.equal(first);
  });

  it('merges up to a mebibyte, and keeps one append together up to the limit of the topic', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    for (const name of ['a', 'b', 'c']) append(queue, results, name, 400_000);
    append(queue, results, 'large', 3_000_000, 4_000_000);
    const counts = [];
    for (let offset = 0; !queue.isEmpty; offset += 10) {
      counts.push(sent(queue)?.count);
      queue.stored(offset);
    }
    expect(counts).to.deep.equal([2, 1, 2]);
    expect([...results.values()]).to.deep.equal([0, 1, 10, 20]);
  });

  it('never splits an append: a refused one is not stored at all, while the rest of its batch is', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    append(queue, results, 'a', 1_000);
    append(queue, results, 'large', 1_000, 1_000, 1_000);
    append(queue, results, 'b', 1_000);
    const stored: number[] = [];
    while (!queue.isEmpty) {
      if (queue.needsIdentity) queue.adopt(nextIdentity);
      const batch = queue.nextBatch(0);
      if (batch === undefined) break;
      batch.isSent = true;
      if (batch.content.bytes.length > 2_500) queue.refusedSize(tooLarge);
      else {
        stored.push(batch.content.count);
        queue.stored(10 * stored.length);
      }
    }
    expect([...results]).to.have.deep.members([
      ['a', 10],
      ['large', 'RECORD_TOO_LARGE'],
      ['b', 20],
    ]);
    expect(stored).to.deep.equal([1, 1]);
  });

  it('halves a batch that the topic refuses until a single append is refused', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    for (const name of ['a', 'b', 'c']) append(queue, results, name, 1_000);
    append(queue, results, 'large', 3_000);
    for (let offset = 0; !queue.isEmpty;) {
      if (queue.needsIdentity) queue.adopt(nextIdentity);
      const batch = queue.nextBatch(0);
      if (batch === undefined) break;
      batch.isSent = true;
      if (batch.content.bytes.length > 2_500) queue.refusedSize(tooLarge);
      else {
        queue.stored(offset);
        offset += batch.content.count;
      }
    }
    expect([...results]).to.have.deep.members([
      ['a', 0],
      ['b', 1],
      ['c', 2],
      ['large', 'RECORD_TOO_LARGE'],
    ]);
  });

  it('halves a refused batch by what it was before it was compressed, so that its appends stay together', async () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    for (const name of ['a', 'b', 'c', 'd']) append(queue, results, name, 200_000);
    const counts: number[] = [];
    for (let offset = 0; !queue.isEmpty;) {
      if (queue.needsIdentity) queue.adopt(nextIdentity);
      const batch = queue.nextBatch(0) ?? expect.fail();
      await batch.content.finish();
      batch.isSent = true;
      expect(batch.content.bytes.length).to.be.below(5_000);
      counts.push(batch.content.count);
      if (counts.length === 1) queue.refusedSize(tooLarge);
      else queue.stored((offset += batch.content.count));
    }
    expect(counts).to.deep.equal([4, 1, 1, 1, 1]);
  });

  it('finds the append that caused the refusal of a common batch', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    append(queue, results, 'good', 1);
    append(queue, results, 'bad', 1, 1);
    append(queue, results, 'also good', 1);
    for (let offset = 0; !queue.isEmpty; offset += 1) {
      if (queue.needsIdentity) queue.adopt(offset === 1 ? nextIdentity : { ...nextIdentity });
      const isBad = sent(queue)?.count !== 1;
      if (isBad) queue.refused(new LendstreamError('UNPROCESSABLE', 'Bad.'));
      else queue.stored(offset);
    }
    expect(results.get('bad')).to.equal('UNPROCESSABLE');
    expect(results.get('good')).to.be.a('number');
    expect(results.get('also good')).to.be.a('number');
  });

  it('starts again with another producer id and the same records when the broker refuses the sequence number', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    append(queue, results, 'a', 1);
    sent(queue);
    queue.stored(0);
    append(queue, results, 'b', 1, 1);
    expect(sent(queue)).to.deep.equal({ sequence: 1, count: 2, producer: 7n });
    queue.refusedIdentity(failure);
    expect(queue.needsIdentity).to.equal(true);
    expect(queue.nextBatch(0)).to.equal(undefined);
    queue.adopt(nextIdentity);
    expect(sent(queue)).to.deep.equal({ sequence: 0, count: 2, producer: 8n });
    queue.stored(5);
    expect(results.get('b')).to.equal(5);
  });

  it('does not send a batch under another number when an earlier attempt may have stored it', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    append(queue, results, 'a', 1);
    sent(queue);
    queue.failed(failure, true);
    append(queue, results, 'b', 1);
    queue.refusedIdentity(failure);
    expect([...results]).to.deep.equal([['a', 'OUTCOME_UNKNOWN']]);
    queue.adopt(nextIdentity);
    expect(sent(queue)).to.deep.equal({ sequence: 0, count: 1, producer: 8n });
  });

  it('reports unsent appends as not stored, and keeps its producer id', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    append(queue, results, 'a', 1);
    queue.nextBatch(0);
    queue.failed(failure, false);
    append(queue, results, 'b', 1);
    queue.expire(unsentMilliseconds - 1);
    expect(results.size).to.equal(0);
    queue.expire(unsentMilliseconds);
    expect([...results.values()]).to.deep.equal(['LOG_UNAVAILABLE', 'LOG_UNAVAILABLE']);
    expect([queue.isEmpty, queue.needsIdentity]).to.deep.equal([true, false]);
  });

  it('does not reuse the number of a dropped batch, even when nothing was stored', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    append(queue, results, 'a', 1);
    sent(queue);
    queue.failed(failure, false);
    queue.expire(outcomeMilliseconds);
    expect([...results.values()]).to.deep.equal(['LOG_UNAVAILABLE']);
    expect([queue.isEmpty, queue.needsIdentity]).to.deep.equal([true, true]);
  });

  for (const [what, isSent] of [
    ['was refused for the moment', true],
    ['did not reach the broker', false],
  ] as const) {
    it(`does not send an append that was reported as not stored with the rest of its batch, which ${what}`, () => {
      const queue = newQueue();
      const results = new Map<string, unknown>();
      append(queue, results, 'early', 1);
      appendAt(queue, results, 100, 'late', 1, 1);
      const batch = queue.nextBatch(0);
      expect(batch?.content.count).to.equal(3);
      Object.assign(batch ?? {}, { isSent });
      queue.failed(failure, false);
      queue.expire(isSent ? outcomeMilliseconds : unsentMilliseconds);
      expect([...results]).to.deep.equal([['early', 'LOG_UNAVAILABLE']]);
      if (queue.needsIdentity) queue.adopt(nextIdentity);
      expect(sent(queue)).to.deep.equal({ sequence: 0, count: 2, producer: isSent ? 8n : 7n });
      queue.stored(5);
      expect(results.get('late')).to.equal(5);
    });
  }

  it('does not split a batch that may be stored, although one of its callers has its result', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    append(queue, results, 'early', 1);
    appendAt(queue, results, 100, 'late', 1);
    sent(queue);
    queue.failed(failure, true);
    queue.expire(outcomeMilliseconds);
    expect([...results]).to.deep.equal([['early', 'OUTCOME_UNKNOWN']]);
    expect(sent(queue)).to.deep.equal({ sequence: 0, count: 2, producer: 7n });
    queue.stored(5);
    expect(results.get('late')).to.equal(6);
  });

  it('returns to a caller at its timeout although its batch is in progress, and keeps the batch until its response', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    append(queue, results, 'a', 1);
    sent(queue);
    queue.state = 'sending';
    queue.expire(outcomeMilliseconds);
    expect([...results.values()]).to.deep.equal(['OUTCOME_UNKNOWN']);
    queue.state = 'ready';
    queue.stored(3);
    append(queue, results, 'b', 1);
    expect(sent(queue)).to.deep.equal({ sequence: 1, count: 1, producer: 7n });
  });

  it('pauses longer after each failure, up to 200 ms, and as briefly as at first after something was stored', () => {
    const queue = newQueue();
    const pauses = (count: number) => Array.from({ length: count }, () => queue.nextPauseMilliseconds());
    expect(pauses(8)).to.deep.equal([5, 10, 20, 40, 80, 160, 200, 200]);
    append(queue, new Map(), 'a', 1);
    sent(queue);
    queue.stored(0);
    expect(pauses(2)).to.deep.equal([5, 10]);
  });

  it('names the failure as the cause when an append was not stored or may have been', () => {
    for (const mayBeStored of [false, true]) {
      const queue = newQueue();
      let result: unknown;
      queue.add(new PendingAppend([{ key: null, value: null }], 0, (given) => (result = given)));
      sent(queue);
      queue.failed(failure, mayBeStored);
      queue.expire(outcomeMilliseconds);
      expect(result).to.include({ code: mayBeStored ? 'OUTCOME_UNKNOWN' : 'LOG_UNAVAILABLE', cause: failure });
      expect(result).to.have.property('message').that.includes(failure.message);
    }
  });

  it('continues with zero after the largest number', () => {
    const queue = newQueue();
    const results = new Map<string, unknown>();
    append(queue, results, 'a', 1);
    const batch = queue.nextBatch(0);
    // As if two billion records had been stored in one batch.
    Object.assign(batch?.content ?? {}, { count: 0x7fff_ffff });
    queue.stored(0);
    append(queue, results, 'b', 1);
    expect(sent(queue)).to.include({ sequence: 0x7fff_ffff });
    queue.stored(1);
    append(queue, results, 'c', 1);
    expect(sent(queue)).to.include({ sequence: 0 });
  });
});

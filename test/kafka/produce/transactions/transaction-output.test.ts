import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LendstreamError } from '../../../../src/errors.ts';
import { ClusterMetadata } from '../../../../src/kafka/connection/cluster-metadata.ts';
import {
  TransactionOutput,
  type WrittenPartition,
} from '../../../../src/kafka/produce/transactions/transaction-output.ts';
import { codeOf } from '../../../support/log-reading.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';
import { pass } from '../../simulated-broker.ts';
import { StoringBroker } from '../../storing-broker.ts';

const mebibyte = 1024 * 1024;
const noLeader = -1;
const [unknownPartition, notLeader, notEnoughReplicas, notEnoughReplicasAfterAppend, producerFenced] = [
  3, 6, 19, 20, 90,
];

function newOutput() {
  const clock = new SimulatedClock();
  const broker = new StoringBroker(clock);
  const metadata = new ClusterMetadata(broker, broker.simulated.seeds, clock);
  const identity = { producerId: 7n, producerEpoch: 0 };
  const output = new TransactionOutput({ connections: broker, metadata, clock }, 'writer', identity);
  const write = (partitions: readonly number[], count: number, bytes: number): Promise<readonly WrittenPartition[]> =>
    output.write(
      partitions.map((partition) => ({
        topic: broker.simulated.topic,
        partition,
        records: Array.from({ length: count }, () => ({ key: null, value: Buffer.alloc(bytes) })),
      })),
    );
  return { clock, broker, write };
}

describe('The records of a transaction', () => {
  it('are numbered from one batch to the next, and from one append to the next', async () => {
    const { broker, write } = newOutput();
    await write([0], 20, mebibyte);
    await write([0, 1], 2, 10);
    expect(broker.requests).to.deep.equal([
      [{ partition: 0, sequence: 0, count: 8 }],
      [{ partition: 0, sequence: 8, count: 8 }],
      [{ partition: 0, sequence: 16, count: 4 }],
      [
        { partition: 0, sequence: 20, count: 2 },
        { partition: 1, sequence: 0, count: 2 },
      ],
    ]);
  });

  it('end where the last of their batches does, as far as the broker says it', async () => {
    const { broker, write } = newOutput();
    broker.baseOffset = 100;
    const ends = async (...append: Parameters<typeof write>): Promise<unknown[]> =>
      (await write(...append)).map(({ partition, nextOffset }) => [partition, nextOffset]);
    expect(await ends([0, 1], 2, 10)).to.deep.equal([
      [0, 102],
      [1, 102],
    ]);
    expect(await ends([0], 20, mebibyte)).to.deep.equal([[0, 104]]);
    broker.baseOffset = -1;
    expect(await ends([0], 2, 10)).to.deep.equal([[0, undefined]]);
  });

  it('share requests until one of them has eight mebibytes', async () => {
    const { broker, write } = newOutput();
    await write([0, 1, 2], 1, 4 * mebibyte - 100);
    expect(broker.requests.map((batches) => batches.map(({ partition }) => partition))).to.deep.equal([[0, 1, 2]]);
    broker.requests.length = 0;
    await write([0, 1, 2], 1, 4 * mebibyte);
    expect(broker.requests.map((batches) => batches.map(({ partition }) => partition))).to.deep.equal([[0, 1], [2]]);
  });

  it('are sent in batches of half the size when the topic refuses one, also later', async () => {
    const { broker, write } = newOutput();
    broker.batchBytesMaximum = 5_000;
    await write([0], 8, 1_000);
    await write([0], 4, 1_000);
    const counts = broker.requests.map((batches) => batches.map(({ count }) => count));
    expect(counts).to.deep.equal([[], [3], [3], [2], [3], [1]]);
  });

  it('are sent compressed when they are large, and the topic counts what is sent', async () => {
    const { broker, write } = newOutput();
    broker.batchBytesMaximum = 50_000;
    await write([0], 8, mebibyte - 100);
    expect(broker.requests).to.deep.equal([[{ partition: 0, sequence: 0, count: 8 }]]);
    broker.requests.length = 0;
    broker.batchBytesMaximum = 20_000;
    await write([0], 8, mebibyte - 100);
    const counts = broker.requests.map((batches) => batches.map(({ count }) => count));
    expect(counts, 'halved by what they are before they are compressed').to.deep.equal([[], [3], [3], [2]]);
  });

  it('fail when the topic refuses one of them alone', async () => {
    const { broker, write } = newOutput();
    broker.batchBytesMaximum = 3_000;
    expect(await codeOf(write([0], 1, 4_000))).to.equal('RECORD_TOO_LARGE');
    expect(broker.requests).to.have.length(1);
  });

  it('are sent again after pauses that grow from two milliseconds to 200, for ten seconds', async () => {
    const { clock, broker, write } = newOutput();
    broker.failures.push(...Array<number>(1_000).fill(notEnoughReplicas));
    const outcome = codeOf(write([0], 1, 10));
    await pass(clock);
    for (let passed = 0; passed < 10_000; passed += 100) await pass(clock, 100);
    expect(await outcome).to.equal('LOG_UNAVAILABLE');
    const pauses = broker.times.slice(1).map((time, index) => time - (broker.times[index] ?? 0));
    expect(pauses.slice(0, 4)).to.deep.equal([2, 3, 4.5, 6.75]);
    expect(pauses.at(-1)).to.be.closeTo(200, 1e-6);
    expect(broker.times.at(-1)).to.be.within(9_800, 10_000);
    expect(broker.lookupCount).to.equal(1);
  });

  for (const [what, failure, lookups] of [
    ['has too few replicas', notEnoughReplicas, 1],
    ['may have stored them without its replicas', notEnoughReplicasAfterAppend, 1],
    ['does not lead the partition', notLeader, 2],
    ['does not know the partition', unknownPartition, 2],
    ['does not respond', new LendstreamError('OUTCOME_UNKNOWN', 'No response.'), 2],
  ] as const) {
    it(`are sent again when the broker ${what}, ${lookups === 1 ? 'to the same one' : 'to the leader of now'}`, async () => {
      const { clock, broker, write } = newOutput();
      broker.failures.push(failure);
      const written = write([0], 3, 10);
      await pass(clock, 100);
      expect(await written).to.have.length(1);
      expect([broker.requests, broker.lookupCount]).to.deep.equal([
        [[], [{ partition: 0, sequence: 0, count: 3 }]].slice(typeof failure === 'number' ? 0 : 1),
        lookups,
      ]);
    });
  }

  it('are sent when their partition has a leader, which is asked for during ten seconds', async () => {
    const { clock, broker, write } = newOutput();
    broker.simulated.leader = noLeader;
    const outcome = codeOf(write([0], 1, 10));
    await pass(clock);
    for (let passed = 0; passed < 10_100; passed += 20) await pass(clock, 20);
    expect([await outcome, broker.times]).to.deep.equal(['LOG_UNAVAILABLE', []]);
    const written = write([0], 1, 10);
    await pass(clock, 100);
    broker.simulated.leader = 0;
    for (let passed = 0; passed < 500; passed += 20) await pass(clock, 20);
    await written;
    expect(broker.requests).to.deep.equal([[{ partition: 0, sequence: 0, count: 1 }]]);
  });

  it('are not sent again when the broker refuses them', async () => {
    const { broker, write } = newOutput();
    broker.failures.push(producerFenced);
    expect(await codeOf(write([0], 1, 10))).to.equal('WRITER_FENCED');
    expect(broker.times).to.have.length(1);
  });
});

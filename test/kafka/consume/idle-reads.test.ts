import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ClusterMetadata } from '../../../src/kafka/connection/cluster-metadata.ts';
import { KafkaReader } from '../../../src/kafka/consume/reader.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { ReadResult } from '../../../src/ports/event-log.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { SimulatedBroker } from '../simulated-broker.ts';

const empty: ReadResult = { batches: [], nextOffset: 0 };

/**
 * By how much the clock is turned at once: the shortest poll. Requests that follow a response are sent within one step.
 */
const stepMilliseconds = 5;

function readerOf(partitionCount: number) {
  const clock = new SimulatedClock();
  const broker = new SimulatedBroker(clock, partitionCount);
  const metadata = new ClusterMetadata(broker, broker.seeds, clock);
  const bounds = () => Promise.reject(new Error('No read is out of range here'));
  const reader = new KafkaReader({ connections: broker, metadata, bounds, clock, logger: silentLogger });
  const pass = async (milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += stepMilliseconds) await clock.turn(stepMilliseconds);
  };
  return {
    broker,
    reader,
    pass,
    read: (partition: number, waitMilliseconds: number, signal?: AbortSignal) =>
      reader.read(
        { topic: broker.topic, partition, offset: 0 },
        { bytesMaximum: 1_000, waitMilliseconds, ...(signal === undefined ? {} : { signal }) },
      ),
    fetchesDuring: async (milliseconds: number): Promise<number> => {
      const before = broker.fetchCount;
      await pass(milliseconds);
      return broker.fetchCount - before;
    },
  };
}

describe('Reads from Kafka while nothing is appended', () => {
  it('cost two requests per second, however many wait, and none when the last one has ended', async () => {
    const { read, pass, fetchesDuring } = readerOf(8);
    const stopping = new AbortController();
    const reads = Array.from({ length: 800 }, (_, index) => read(index % 8, Infinity, stopping.signal));
    await pass(2_000);
    expect(await fetchesDuring(60_000)).to.be.within(118, 120);
    stopping.abort();
    for (const result of await Promise.all(reads)) expect(result).to.deep.equal(empty);
    expect(await fetchesDuring(60_000)).to.equal(0);
  });

  it('cost one request each when they do not wait, and nothing afterwards', async () => {
    const { read, pass, broker, fetchesDuring } = readerOf(1);
    const result = read(0, 0);
    await pass(stepMilliseconds);
    expect(await result).to.deep.equal(empty);
    expect(broker.fetchCount).to.equal(1);
    expect(await fetchesDuring(60_000)).to.equal(0);
  });

  it('end at their timeout, although the poll for them takes longer', async () => {
    const { read, pass } = readerOf(1);
    let isEnded = false;
    const result = read(0, 1_000).finally(() => (isEnded = true));
    await pass(995);
    expect(isEnded).to.equal(false);
    await pass(stepMilliseconds);
    expect([isEnded, await result]).to.deep.equal([true, empty]);
  });

  it('do not overload a broker that responds early without records', async () => {
    const { read, pass, broker, reader, fetchesDuring } = readerOf(1);
    broker.isHasty = true;
    const result = read(0, Infinity).catch((error: unknown) => error);
    await pass(1_000);
    expect(await fetchesDuring(10_000)).to.be.within(100, 400);
    reader.close();
    expect(await result).to.have.property('code', 'LOG_CLOSED');
    expect(await fetchesDuring(10_000)).to.equal(0);
  });

  it('do not overload a broker that does not lead the partition any more, and continue when it does', async () => {
    const { read, pass, broker, fetchesDuring } = readerOf(1);
    const notLeader = 6;
    broker.errorCode = notLeader;
    broker.isHasty = true;
    const stopping = new AbortController();
    const reads = [read(0, Infinity, stopping.signal), read(0, Infinity, stopping.signal)];
    await pass(5_000);
    // A lasting failure is retried after a tenth of its duration, and every 250 ms at least.
    expect(await fetchesDuring(10_000)).to.be.within(30, 50);
    broker.errorCode = 0;
    broker.isHasty = false;
    await pass(2_000);
    expect(await fetchesDuring(60_000)).to.be.within(118, 120);
    stopping.abort();
    for (const result of await Promise.all(reads)) expect(result).to.deep.equal(empty);
  });

  it('do not overload a broker that leaves the partition out of its responses', async () => {
    const { read, pass, broker, fetchesDuring } = readerOf(1);
    broker.errorCode = undefined;
    broker.isHasty = true;
    const stopping = new AbortController();
    const result = read(0, Infinity, stopping.signal);
    const atOnce = read(0, 0);
    await pass(1_000);
    expect(await fetchesDuring(10_000)).to.be.within(50, 1_000);
    broker.errorCode = 0;
    await pass(1_000);
    expect(await atOnce).to.deep.equal(empty);
    stopping.abort();
    expect(await result).to.deep.equal(empty);
  });
});

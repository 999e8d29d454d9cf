import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LendstreamError } from '../../../src/errors.ts';
import { ClusterMetadata } from '../../../src/kafka/connection/cluster-metadata.ts';
import { KafkaProducer } from '../../../src/kafka/produce/producer.ts';
import { silentLogger } from '../../../src/logger.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { pass } from '../simulated-broker.ts';
import { StoringBroker } from '../storing-broker.ts';

const [unknownPartition, notLeader, notEnoughReplicas, notEnoughReplicasAfterAppend] = [3, 6, 19, 20];
const [outOfOrderSequence, policyViolation, unknownToUs] = [45, 44, 999];
const mebibyte = 1024 * 1024;

function noResponse(code: 'OUTCOME_UNKNOWN' | 'LOG_UNAVAILABLE'): LendstreamError {
  return new LendstreamError(code, 'No response.');
}

function newProducer(queuedBytesMaximum?: number) {
  const clock = new SimulatedClock();
  const broker = new StoringBroker(clock);
  const metadata = new ClusterMetadata(broker, broker.simulated.seeds, clock);
  const producer = new KafkaProducer({
    connections: broker,
    metadata,
    clock,
    logger: silentLogger,
    cleanupPolicyOf: () => Promise.resolve('delete'),
    queuedBytesMaximum,
  });
  const { topic } = broker.simulated;
  /** The offset of a record, or the code of the error. */
  const append = async (partition: number, bytes = 10): Promise<number | string | undefined> => {
    const records = [{ key: null, value: Buffer.alloc(bytes) }];
    const [result] = await producer.append([{ topic, partition, records }]);
    return result?.outcome === 'appended' ? result.baseOffset : result?.error.code;
  };
  /** Holds all responses from now on. @returns what lets them go */
  const hold = (): (() => void) => {
    let release = (): void => undefined;
    broker.held = new Promise((resolve) => (release = resolve));
    return release;
  };
  return { clock, broker, producer, append, hold };
}

/** Lets so much time pass in small steps: what waits for the event loop in between takes none of it. */
async function passSlowly(clock: SimulatedClock, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 20) await pass(clock, 20);
}

/** How a promise stands: undefined while it is pending. */
function watch<Result>(promise: Promise<Result>): { result?: Result | 'done' } {
  const watched: { result?: Result | 'done' } = {};
  void promise.then((result) => (watched.result = result ?? 'done'));
  return watched;
}

describe('The requests of a producer of Kafka', () => {
  it('have eight mebibytes, and the partitions that were left out come first in the next one', async () => {
    const { clock, broker, append, hold } = newProducer();
    await Promise.all([0, 1, 2].map((partition) => append(partition)));
    broker.requests.length = 0;
    const release = hold();
    const appends = [0, 1, 2, 0, 1, 2].map((partition) => append(partition, 4 * mebibyte));
    await pass(clock);
    release();
    await Promise.all(appends);
    expect(broker.requests.map((batches) => batches.map(({ partition }) => partition))).to.deep.equal([
      [0, 1],
      [2, 0],
      [1, 2],
    ]);
  });

  it('have the records that came during the one before, numbered one after the other', async () => {
    const { clock, broker, append, hold } = newProducer();
    const release = hold();
    const appends = [append(0)];
    await pass(clock);
    appends.push(append(0), append(0));
    await pass(clock);
    expect(broker.times).to.have.length(1);
    release();
    expect(await Promise.all(appends)).to.deep.equal([0, 0, 1]);
    expect(broker.requests).to.deep.equal([
      [{ partition: 0, sequence: 0, count: 1 }],
      [{ partition: 0, sequence: 1, count: 2 }],
    ]);
  });

  for (const [what, failure, lookups] of [
    ['has too few replicas', notEnoughReplicas, 1],
    ['may have stored them without its replicas', notEnoughReplicasAfterAppend, 1],
    ['does not lead the partition', notLeader, 2],
    ['does not know the partition', unknownPartition, 2],
    ['was not reached', noResponse('LOG_UNAVAILABLE'), 2],
    ['does not respond', noResponse('OUTCOME_UNKNOWN'), 2],
  ] as const) {
    it(`are sent again when the broker ${what}, ${lookups === 1 ? 'to the same one' : 'to the leader of now'}`, async () => {
      const { clock, broker, append } = newProducer();
      broker.failures.push(failure);
      const stored = append(0);
      await passSlowly(clock, 60);
      expect(await stored).to.equal(0);
      expect(broker.requests.at(-1)).to.deep.equal([{ partition: 0, sequence: 0, count: 1 }]);
      expect([broker.times.length, broker.lookupCount]).to.deep.equal([2, lookups]);
    });
  }

  it('are sent again after pauses that grow from five milliseconds to 200', async () => {
    const { clock, broker, append } = newProducer();
    broker.failures.push(...Array<number>(9).fill(notEnoughReplicas));
    const stored = append(0);
    await pass(clock);
    for (let passed = 0; passed < 1_200; passed += 5) await pass(clock, 5);
    expect(await stored).to.equal(0);
    const pauses = broker.times.slice(1).map((time, index) => time - (broker.times[index] ?? 0));
    expect(pauses).to.deep.equal([5, 10, 20, 40, 80, 160, 200, 200, 200]);
  });

  it('number the records from zero again when the broker does not expect their number', async () => {
    const { clock, broker, append } = newProducer();
    await append(0);
    broker.failures.push(outOfOrderSequence);
    const stored = append(0);
    await passSlowly(clock, 20);
    expect(await stored).to.equal(0);
    expect(broker.identityCount).to.equal(2);
    expect(broker.requests.flat().map(({ sequence }) => sequence)).to.deep.equal([0, 0]);
  });

  it('are not sent again when the broker refuses them, or says nothing that is known', async () => {
    for (const [failure, code] of [
      [policyViolation, 'UNPROCESSABLE'],
      [unknownToUs, 'OUTCOME_UNKNOWN'],
    ] as const) {
      const { clock, broker, append } = newProducer();
      broker.failures.push(failure);
      expect(await append(0)).to.equal(code);
      await passSlowly(clock, 300);
      expect(broker.times).to.have.length(1);
    }
  });

  it('are tried for five seconds when nothing could be sent, and for fifteen when there is no response', async () => {
    for (const [code, milliseconds] of [
      ['LOG_UNAVAILABLE', 5_000],
      ['OUTCOME_UNKNOWN', 15_000],
    ] as const) {
      const { clock, broker, append } = newProducer();
      broker.failures.push(...Array.from({ length: 1_000 }, () => noResponse(code)));
      const outcome = watch(append(0));
      await passSlowly(clock, milliseconds - 20);
      expect(outcome.result).to.equal(undefined);
      await passSlowly(clock, 120);
      expect(outcome.result).to.equal(code);
      const sent = broker.times.length;
      await passSlowly(clock, 1_000);
      expect(broker.times, 'a record without a caller is not sent').to.have.length(sent);
      expect(clock.nextDeadline(), 'nothing is left to be done').to.equal(Infinity);
    }
  });

  it('are not made for a partition that does not exist', async () => {
    const { clock, broker, append } = newProducer();
    const outcome = watch(append(4));
    await passSlowly(clock, 60);
    expect(outcome.result).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
    await passSlowly(clock, 300);
    expect([broker.times.length, clock.nextDeadline()]).to.deep.equal([0, Infinity]);
  });

  it('take no more than the limit of the queue, to the byte, until there is room again', async () => {
    const { clock, append, hold } = newProducer(200);
    const release = hold();
    // A record is counted with 32 bytes more.
    const accepted = [append(0, 68), append(1, 68)];
    await pass(clock);
    expect(await append(2, 0)).to.equal('OVERLOADED');
    release();
    expect(await Promise.all(accepted)).to.deep.equal([0, 0]);
    const [within, beyond] = [append(0, 68), append(1, 69)];
    expect(await Promise.all([within, beyond])).to.deep.equal([0, 'OVERLOADED']);
  });
});

describe('Closing a producer of Kafka', () => {
  it('waits for nothing when all of its records have an outcome', async () => {
    const { clock, producer, append } = newProducer();
    await append(0);
    const refused = watch(append(4));
    await passSlowly(clock, 300);
    expect(refused.result).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
    const closed = watch(producer.close());
    await pass(clock);
    expect([closed.result, clock.nextDeadline()]).to.deep.equal(['done', Infinity]);
  });

  it('waits for the last outcome of the records under way', async () => {
    const { clock, producer, append, hold } = newProducer();
    const release = hold();
    const appends = [append(0), append(1), append(1)];
    await pass(clock);
    const closed = watch(producer.close());
    await passSlowly(clock, 4_000);
    expect(closed.result).to.equal(undefined);
    release();
    expect(await Promise.all(appends)).to.deep.equal([0, 0, 1]);
    await pass(clock);
    expect([closed.result, clock.nextDeadline()]).to.deep.equal(['done', Infinity]);
  });

  it('waits for four and a half seconds at the most', async () => {
    const { clock, producer, append, hold } = newProducer();
    hold();
    const sent = watch(append(0));
    await pass(clock);
    const queued = watch(append(1));
    const closed = watch(producer.close());
    await passSlowly(clock, 4_480);
    expect([sent.result, queued.result, closed.result]).to.deep.equal([undefined, undefined, undefined]);
    await passSlowly(clock, 20);
    expect([sent.result, queued.result, closed.result]).to.deep.equal(['OUTCOME_UNKNOWN', 'LOG_CLOSED', 'done']);
  });
});

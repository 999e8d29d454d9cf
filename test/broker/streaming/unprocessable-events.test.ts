import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'mocha';
import type { FailureRecord } from '../../../src/ports/failed-deliveries.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { noValue, type EventLog, type RecordBatch } from '../../../src/ports/event-log.ts';
import { NodeLease } from '../../../src/broker/streaming/node-lease.ts';
import { readStreamParameters } from '../../../src/broker/streaming/stream-parameters.ts';
import { SubscriptionStream, type StreamServices } from '../../../src/broker/streaming/subscription-stream.ts';
import {
  failedDeliveriesOf,
  policyOf,
  type DeadLetter,
  type DeadLetters,
} from '../../../src/broker/streaming/unprocessable-events.ts';
import { partitionCounts } from '../../../src/broker/subscriptions/subscription-partitions.ts';
import { knownSubscription } from '../../../src/broker/definitions/subscription-lookup.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { policyAnnotation, sendCountAnnotation } from '../../../src/broker/definitions/unprocessable-events.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { Batch } from '../../support/http/client.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';
import { eventually } from '../../support/eventually.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';

const annotated = (policy: 'SKIP_EVENT' | 'DEAD_LETTER_QUEUE', sends = 2) => ({
  [policyAnnotation]: policy,
  [sendCountAnnotation]: String(sends),
});

/** A queue in memory that may be told to fail. */
class Letters implements DeadLetters {
  readonly written: DeadLetter[] = [];
  failing = false;
  attempts = 0;

  async write(letter: DeadLetter): Promise<void> {
    this.attempts += 1;
    if (this.failing) throw new LendstreamError('LOG_UNAVAILABLE', 'The queue is full.');
    this.written.push(letter);
  }
}

describe('events that a consumer cannot process', () => {
  let server: StreamServer;
  const closers: (() => void)[] = [];

  before(async () => {
    server = await startStreamServer();
  });

  afterEach(() => {
    for (const close of closers.splice(0).toReversed()) close();
  });

  after(() => server.stop());

  async function prepare(annotations: Record<string, string>, count = 4) {
    const type = await server.defineEventType(1);
    const numbers = Array.from({ length: count }, (_, number) => number);
    if (count > 0) await server.publish(type, 0, numbers);
    return { type, id: await server.subscribe([type], { annotations }) };
  }

  /** Opens a stream on a clock that is turned by hand. */
  async function open(id: string, changes: Partial<StreamServices> = {}, source: Record<string, unknown> = {}) {
    const { registry, log, coordination, metrics, deadLetters } = server;
    const clock = new SimulatedClock();
    const own = { coordination, nodeId: randomUUID(), clock, logger: silentLogger };
    const lease = new NodeLease({ ...own, leaseMilliseconds: 3_600_000 });
    closers.push(() => lease.stop());
    await lease.start();
    const failingStreams = new Set<string>();
    const services = {
      registry,
      log,
      coordination,
      metrics,
      deadLetters,
      clock,
      logger: silentLogger,
      lease,
      failingStreams,
    };
    const subscription = knownSubscription(registry, id);
    const counts = partitionCounts(registry, subscription);
    const parameters = readStreamParameters({ batch_limit: 3, commit_timeout: 5, ...source }, counts, 0.5);
    const stream = await SubscriptionStream.open({ ...services, ...changes }, subscription, counts, parameters);
    closers.push(() => stream.clientClosed());
    stream.start();
    return { clock, stream };
  }

  async function nextLines(stream: SubscriptionStream): Promise<Batch[]> {
    const text = (await stream.next())?.toString() ?? '';
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Batch);
  }

  /** The numbers of the next line with events. */
  async function nextNumbers(stream: SubscriptionStream): Promise<number[]> {
    for (;;) {
      const numbers = numbersIn(await nextLines(stream));
      if (numbers.length > 0) return numbers;
    }
  }

  const numbersIn = (lines: readonly Batch[]): number[] =>
    lines.flatMap(({ events = [] }) => events.map(({ number }) => Number(number)));

  async function recordOf(id: string): Promise<FailureRecord | undefined> {
    return (await server.coordination.topology(id)).partitions[0]?.failureRecord;
  }

  async function committed(id: string): Promise<number | undefined> {
    return (await server.coordination.committedOffsets(id))[0]?.offset;
  }

  const isClosed = async (id: string): Promise<boolean> =>
    (await server.coordination.topology(id)).sessions.length === 0;

  /** Streams that the client closes after their first line, without a commit. Returns the numbers of each. */
  async function fail(id: string, times: number, changes: Partial<StreamServices> = {}): Promise<number[][]> {
    const received: number[][] = [];
    for (let time = 0; time < times; time += 1) {
      const { stream } = await open(id, changes, { max_uncommitted_events: 3 });
      received.push(numbersIn(await nextLines(stream)));
      stream.clientClosed();
      await eventually(() => isClosed(id));
    }
    return received;
  }

  const setAnnotations = (id: string, annotations: Record<string, string>): Promise<unknown> =>
    server.registry.put('subscription', id, { ...knownSubscription(server.registry, id), annotations });

  it('are skipped after as many failures alone as were allowed of their batch', async () => {
    const { id } = await prepare(annotated('SKIP_EVENT'));
    const letters = new Letters();
    expect(await fail(id, 5, { deadLetters: letters })).to.deep.equal([[0, 1, 2], [0, 1, 2], [0], [0], [1]]);
    expect(await committed(id)).to.equal(0);
    expect(letters.attempts).to.equal(0);
    const skipped = (await server.metrics.skippedEvents.get()).values;
    expect(skipped.find(({ labels }) => labels.subscription_id === id)?.value).to.equal(1);
  });

  it('say in the first line how often they failed, and that one was skipped', async () => {
    const { type, id } = await prepare(annotated('SKIP_EVENT'));
    const texts: (string | undefined)[] = [];
    for (let time = 0; time < 4; time += 1) {
      const { stream } = await open(id, {}, { max_uncommitted_events: 3 });
      texts.push((await nextLines(stream))[0]?.info?.debug);
      stream.clientClosed();
      await eventually(() => isClosed(id));
    }
    const tracking = (count: number, last: string, skipped = ''): string =>
      `Stream started; ${skipped}Auto DLQ failed commits tracking: {${type}:0 failedCommitsCount=${count} lastDeadLetterOffset=${last}}`;
    const through = '001-0001-000000000000000002';
    expect(texts).to.deep.equal(['Stream started', tracking(1, 'null'), tracking(0, through), tracking(1, through)]);
    const skipped = 'skipped events that could not be processed, count: 1; ';
    const { stream } = await open(id, {}, { max_uncommitted_events: 3 });
    const [first] = await nextLines(stream);
    expect(first?.info?.debug).to.equal(tracking(2, through, skipped));
    expect(numbersIn(first === undefined ? [] : [first])).to.deep.equal([1]);
    await server.coordination.commit(id, stream.streamId, [{ eventType: type, partition: 0, offset: 1 }]);
    expect((await nextLines(stream))[0]?.info).to.equal(undefined);
  });

  it('never leave a trace where a subscription has no policy', async () => {
    const { id } = await prepare({});
    expect(await fail(id, 4)).to.deep.equal(Array.from({ length: 4 }, () => [0, 1, 2]));
    expect(await recordOf(id)).to.equal(undefined);
  });

  it('are not counted when the service ends the stream, but when the time to commit is over', async () => {
    const { id } = await prepare(annotated('SKIP_EVENT'));
    const stopped = await open(id);
    await nextLines(stopped.stream);
    stopped.stream.close('server_shutdown');
    await eventually(() => isClosed(id));
    expect(await recordOf(id)).to.equal(undefined);
    const silent = await open(id);
    await nextLines(silent.stream);
    await silent.clock.turn(5_000);
    await eventually(() => isClosed(id));
    expect(await recordOf(id)).to.deep.equal({ failures: 1, firstOffset: 0, throughOffset: 2, isOneByOne: false });
  });

  it('are not counted while they wait for the store to learn that they are sent', async () => {
    const { id } = await prepare(annotated('SKIP_EVENT'));
    let isReachable = false;
    const coordination = overriding<Coordination>(server.coordination, {
      recordSent: (...sent) => {
        if (isReachable) return server.coordination.recordSent(...sent);
        return Promise.reject(new LendstreamError('COORDINATION_UNAVAILABLE', 'The store is away.'));
      },
    });
    const parameters = { max_uncommitted_events: 3, strict_commits: true };
    const waiting = await open(id, { coordination }, parameters);
    const last = waiting.stream.next();
    waiting.stream.clientClosed();
    await eventually(() => isClosed(id));
    await waiting.clock.turn(1_000);
    expect(await last).to.equal(null);
    expect(await recordOf(id)).to.equal(undefined);
    isReachable = true;
    const sent = await open(id, { coordination }, parameters);
    await nextLines(sent.stream);
    sent.stream.clientClosed();
    await eventually(() => isClosed(id));
    expect(await recordOf(id)).to.deep.include({ failures: 1, firstOffset: 0, throughOffset: 2 });
  });

  it('are not counted while the last line of their stream waits for its reader', async () => {
    for (const isRead of [false, true]) {
      const { id, type } = await prepare(annotated('SKIP_EVENT'));
      const source = { batch_flush_timeout: 60, stream_timeout: 30 };
      const { clock, stream } = await open(id, {}, { ...source, max_uncommitted_events: 10 });
      expect(await nextNumbers(stream)).to.deep.equal([0, 1, 2]);
      await server.coordination.commit(id, stream.streamId, [{ eventType: type, partition: 0, offset: 2 }]);
      await clock.turn(30_000);
      if (isRead) expect(numbersIn(await nextLines(stream))).to.deep.equal([3]);
      await clock.turn(5_000);
      await eventually(() => isClosed(id));
      const counted = isRead ? { failures: 1, firstOffset: 3, throughOffset: 3, isOneByOne: false } : undefined;
      expect(await recordOf(id), `read: ${isRead}`).to.deep.equal(counted);
    }
  });

  it('count no more once they are committed late', async () => {
    const { id, type } = await prepare(annotated('SKIP_EVENT'));
    const { stream } = await open(id, {}, { max_uncommitted_events: 3 });
    await nextLines(stream);
    stream.clientClosed();
    await eventually(() => isClosed(id));
    await server.coordination.commit(id, stream.streamId, [{ eventType: type, partition: 0, offset: 0 }]);
    await fail(id, 1);
    expect(await recordOf(id)).to.deep.include({ failures: 1, firstOffset: 1 });
  });

  it('are written to the queue before they are skipped, byte for byte', async () => {
    const { id, type } = await prepare(annotated('DEAD_LETTER_QUEUE'), 0);
    const text = '{"number":1.50,"id":9007199254740993}';
    await server.append(type, 0, [{ key: null, value: Buffer.from(text) }]);
    await server.publish(type, 0, [1, 2]);
    const letters = new Letters();
    const offsets: (number | undefined)[] = [];
    const deadLetters: DeadLetters = {
      write: async (letter) => {
        offsets.push(await committed(id));
        await letters.write(letter);
      },
    };
    await fail(id, 4, { deadLetters });
    await open(id, { deadLetters });
    await eventually(async () => (await committed(id)) === 0);
    expect(offsets).to.deep.equal([-1]);
    const [letter] = letters.written;
    expect(letter).to.include({ subscriptionId: id, eventType: type, partition: 0, offset: 0, isJson: true });
    expect([letter?.value.toString(), letter?.reason]).to.deep.equal([
      text,
      'The consumer failed with it 2 times: no stream that sent it alone got a commit.',
    ]);
  });

  it('wait, with the events behind them, while the queue cannot be written, and lose nothing', async () => {
    const { id } = await prepare(annotated('DEAD_LETTER_QUEUE'));
    const letters = new Letters();
    letters.failing = true;
    await fail(id, 4, { deadLetters: letters });
    const { clock, stream } = await open(id, { deadLetters: letters }, { batch_flush_timeout: 1 });
    const lines = nextLines(stream);
    await eventually(() => letters.attempts === 1);
    await clock.turn(1_000);
    expect(numbersIn(await lines), 'a keep-alive').to.deep.equal([]);
    await eventually(() => letters.attempts === 2);
    expect(await committed(id)).to.equal(-1);
    letters.failing = false;
    const next = nextNumbers(stream);
    await clock.turn(1_000);
    expect(await next).to.deep.equal([1]);
    expect(letters.written.map(({ offset }) => offset)).to.deep.equal([0]);
    const failures = (await server.metrics.deadLetterFailures.get()).values;
    expect(failures.find(({ labels }) => labels.subscription_id === id)?.value).to.equal(2);
  });

  it('are written to the queue once, however often the store refuses the skip or is out of reach', async () => {
    const { id } = await prepare(annotated('DEAD_LETTER_QUEUE'));
    const letters = new Letters();
    await fail(id, 4, { deadLetters: letters });
    let commits = 0;
    const coordination = overriding(server.coordination, {
      commit: async (...commit: Parameters<Coordination['commit']>) => {
        commits += 1;
        if (commits === 1) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Out of reach.');
        if (commits > 3) return server.coordination.commit(...commit);
        return { outcome: 'session_not_found' };
      },
    });
    const { clock } = await open(id, { deadLetters: letters, coordination });
    for (let attempts = 1; attempts < 4; attempts += 1) {
      await eventually(() => commits === attempts);
      await clock.turn(999);
      expect(commits, 'a second has not passed').to.equal(attempts);
      await clock.turn(1);
    }
    await eventually(async () => (await committed(id)) === 0);
    expect([commits, letters.attempts]).to.deep.equal([4, 1]);
  });

  it('are written again with the same place when the process ended before the skip was committed', async () => {
    const { id } = await prepare(annotated('DEAD_LETTER_QUEUE'));
    const letters = new Letters();
    await fail(id, 4, { deadLetters: letters });
    const coordination = overriding(server.coordination, {
      commit: async () => {
        throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Out of reach.');
      },
    });
    const first = await open(id, { deadLetters: letters, coordination });
    await eventually(() => letters.written.length === 1);
    first.stream.close('server_shutdown');
    await eventually(() => isClosed(id));
    await open(id, { deadLetters: letters });
    await eventually(async () => (await committed(id)) === 0);
    const places = letters.written.map(({ subscriptionId, offset }) => [subscriptionId, offset]);
    expect(places).to.deep.equal([
      [id, 0],
      [id, 0],
    ]);
  });

  it('are treated by the policy as it is when it matters', async () => {
    const { id } = await prepare(annotated('SKIP_EVENT', 10));
    expect(await fail(id, 2)).to.deep.equal([
      [0, 1, 2],
      [0, 1, 2],
    ]);
    await setAnnotations(id, annotated('SKIP_EVENT', 3));
    expect(await fail(id, 3)).to.deep.equal([[0, 1, 2], [0], [0]]);
    await setAnnotations(id, {});
    expect(await fail(id, 2), 'without a policy').to.deep.equal([
      [0, 1, 2],
      [0, 1, 2],
    ]);
    await setAnnotations(id, annotated('SKIP_EVENT', 2));
    expect(await fail(id, 1), 'it has failed twice alone').to.deep.equal([[1]]);
  });

  it('are searched for by the next owner of the partition as well', async () => {
    const { id } = await prepare(annotated('SKIP_EVENT'));
    await fail(id, 2);
    const first = await open(id);
    expect(numbersIn(await nextLines(first.stream))).to.deep.equal([0]);
    first.stream.close('server_shutdown');
    await eventually(() => isClosed(id));
    expect(await fail(id, 2)).to.deep.equal([[0], [0]]);
  });

  describe('because they are records of another producer that are not JSON', () => {
    /** The log with the record at offset 1 changed into one of another producer, with this value. */
    function withExternal(value: Buffer): EventLog {
      return overriding<EventLog>(server.log, {
        read: async (from, options) => {
          const result = await server.log.read(from, options);
          return { ...result, batches: result.batches.map((batch) => replaceFirst(batch, value)) };
        },
      });
    }

    function replaceFirst(batch: RecordBatch, value: Buffer): RecordBatch {
      const at = batch.offsets.indexOf(1);
      if (at === -1) return batch;
      const bytes = Buffer.concat([batch.bytes, value]);
      const valueStarts = batch.valueStarts.slice();
      const valueEnds = batch.valueEnds.slice();
      valueStarts[at] = batch.bytes.length;
      valueEnds[at] = bytes.length;
      const external = new Uint8Array(batch.count);
      external[at] = 1;
      expect(valueStarts[at]).not.to.equal(noValue);
      const { topic, partition, count, appendedAt, offsets } = batch;
      return {
        topic,
        partition,
        count,
        appendedAt,
        offsets,
        bytes,
        valueStarts,
        valueEnds,
        external,
        contiguous: false,
        key: () => null,
      };
    }

    it('are passed over with a notice, as without a policy, when the policy is to skip', async () => {
      const { id } = await prepare(annotated('SKIP_EVENT'), 3);
      const letters = new Letters();
      const { stream } = await open(
        id,
        { log: withExternal(Buffer.from('{half')), deadLetters: letters },
        { batch_limit: 2 },
      );
      const [line] = await nextLines(stream);
      expect(numbersIn(line === undefined ? [] : [line])).to.deep.equal([0, 2]);
      expect(line?.info?.debug).to.include('skipped records that are not JSON, count: 1');
      expect(letters.attempts).to.equal(0);
      const skipped = (await server.metrics.skippedEvents.get()).values;
      expect(skipped.find(({ labels }) => labels.subscription_id === id)?.value).to.equal(1);
    });

    it('are written to the queue before anything behind them is sent', async () => {
      const { id } = await prepare(annotated('DEAD_LETTER_QUEUE'), 3);
      const letters = new Letters();
      letters.failing = true;
      const value = Buffer.from([0x7b, 0xff]);
      const services = { log: withExternal(value), deadLetters: letters };
      const { clock, stream } = await open(id, services, { batch_limit: 2, batch_flush_timeout: 1 });
      const lines = nextLines(stream);
      await eventually(() => letters.attempts === 1);
      await clock.turn(1_000);
      expect(numbersIn(await lines), 'a keep-alive').to.deep.equal([]);
      await eventually(() => letters.attempts === 2);
      letters.failing = false;
      const next = nextNumbers(stream);
      await clock.turn(1_000);
      expect(await next).to.deep.equal([0, 2]);
      const [letter] = letters.written;
      expect(letter).to.deep.include({ offset: 1, isJson: false, value });
      expect(letter?.reason).to.equal('No stream can send the record: it is not UTF-8.');
    });
  });
});

describe('the failed deliveries of a stream', () => {
  const policy = { sendsMaximum: 3, keepsDeadLetters: false };
  const failed = { eventType: 'loans', partition: 0, firstOffset: 5, throughOffset: 6 };
  const partitions = [{ failedDelivery: () => failed }, { failedDelivery: () => undefined }];

  it('are those of the partitions with events that were not committed', () => {
    expect(failedDeliveriesOf(policy, partitions, 2, 'client_closed', false)).to.deep.equal({
      failuresMaximum: 3,
      partitions: [failed],
    });
  });

  it('are none without a policy, without events, and when the service ended the stream in time', () => {
    expect(failedDeliveriesOf(undefined, partitions, 2, 'client_closed', false)).to.equal(undefined);
    expect(failedDeliveriesOf(policy, partitions.slice(1), 2, 'client_closed', false)).to.equal(undefined);
    expect(failedDeliveriesOf(policy, partitions, 2, 'server_shutdown', false)).to.equal(undefined);
    expect(failedDeliveriesOf(policy, partitions, 2, 'server_shutdown', true)).not.to.equal(undefined);
  });

  it('depend on the policy of a subscription that exists', () => {
    const subscription = { annotations: annotated('SKIP_EVENT', 3) } as unknown as Subscription;
    const registry = { get: <Value>() => subscription as unknown as Value };
    expect(policyOf(registry, 'a')).to.deep.equal(policy);
    expect(policyOf({ get: () => undefined }, 'a')).to.equal(undefined);
  });
});

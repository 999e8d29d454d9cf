import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'mocha';
import { partitionCounts } from '../../../src/broker/subscriptions/subscription-partitions.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import type { EventLog, LogRecord } from '../../../src/ports/event-log.ts';
import { parseOffset } from '../../../src/broker/cursors/cursor-text.ts';
import { NodeLease } from '../../../src/broker/streaming/node-lease.ts';
import { readStreamParameters } from '../../../src/broker/streaming/stream-parameters.ts';
import { SubscriptionStream, type StreamServices } from '../../../src/broker/streaming/subscription-stream.ts';
import { knownSubscription } from '../../../src/broker/definitions/subscription-lookup.ts';
import { giveWay, systemClock, type Clock } from '../../../src/clock.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { silentLogger, type Logger } from '../../../src/logger.ts';
import { expireTopic } from '../../support/backend-under-test.ts';
import type { Batch } from '../../support/http/client.ts';
import { failingReads } from '../../support/failing-reads.ts';
import { overriding } from '../../support/stepping-log.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { eventually } from '../../support/eventually.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';
import { checkedLogger } from '../../support/logs/secrets-in-logs.ts';

describe('a subscription stream', () => {
  let server: StreamServer;
  const leases: NodeLease[] = [];
  /** All streams belong to one process. */
  const failingStreams = new Set<string>();

  before(async () => {
    server = await startStreamServer();
  });

  after(async () => {
    for (const lease of leases) lease.stop();
    await server.stop();
  });

  async function prepare(partitionCount: number): Promise<{ type: string; id: string }> {
    const type = await server.defineEventType(partitionCount);
    return { type, id: await server.subscribe([type]) };
  }

  async function open(
    id: string,
    source: Record<string, unknown> = {},
    changes: Partial<StreamServices> = {},
  ): Promise<SubscriptionStream> {
    const { registry, log, coordination, metrics, deadLetters } = server;
    const subscription = knownSubscription(registry, id);
    const own = { coordination, nodeId: randomUUID(), clock: systemClock, logger: silentLogger };
    const lease = new NodeLease({ ...own, leaseMilliseconds: 60_000 });
    leases.push(lease);
    await lease.start();
    const services = {
      registry,
      log,
      coordination,
      metrics,
      deadLetters,
      clock: systemClock,
      logger: silentLogger,
      lease,
      failingStreams,
      ...changes,
    };
    const eventTypes = partitionCounts(registry, subscription);
    const parameters = readStreamParameters(source, eventTypes, 0.5, undefined, 3_600);
    const stream = await SubscriptionStream.open(services, subscription, eventTypes, parameters);
    stream.start();
    return stream;
  }

  /** A stream with a clock that is turned by hand. */
  async function openOnOwnClock(id: string, source: Record<string, unknown>, changes: Partial<StreamServices> = {}) {
    const clock = new SimulatedClock();
    const { coordination = server.coordination } = changes;
    const named = { coordination, nodeId: randomUUID(), clock, logger: silentLogger };
    const lease = new NodeLease({ ...named, leaseMilliseconds: 3_600_000 });
    leases.push(lease);
    await lease.start();
    return { clock, stream: await open(id, source, { ...changes, clock, lease }) };
  }

  async function nextBatches(stream: SubscriptionStream): Promise<Batch[]> {
    const bytes = await stream.next();
    const lines = bytes?.toString().split('\n').slice(0, -1) ?? [];
    return lines.map((line) => JSON.parse(line) as Batch);
  }

  /** A store that knows partitions at once, and whose starting offsets are stored or lost later. */
  function storingLater() {
    const { coordination } = server;
    let store = (): void => {};
    let lose = (_error: Error): void => {};
    const stored = new Promise<void>((resolve, reject) => {
      store = resolve;
      lose = reject;
    });
    let registered: Promise<void> | undefined;
    const later = overriding<Coordination>(coordination, {
      initialise: async (...start) => {
        registered = coordination.initialise(...start);
        await registered;
        await stored;
      },
      openSession: async (...opening) => {
        await registered;
        return coordination.openSession(...opening);
      },
    });
    return { coordination: later, store: () => store(), lose: (error: Error) => lose(error) };
  }

  /** Everything up to the end. */
  async function rest(stream: SubscriptionStream): Promise<Batch[]> {
    const batches: Batch[] = [];
    for (let more = await nextBatches(stream); more.length > 0; more = await nextBatches(stream)) batches.push(...more);
    return batches;
  }

  async function sessions(id: string): Promise<number> {
    return (await server.coordination.topology(id)).sessions.length;
  }

  it('requests its partitions while the starting offsets are being stored, and waits until they are', async () => {
    const { type, id } = await prepare(2);
    await server.publish(type, 0, [1]);
    const { coordination, store } = storingLater();
    const stream = await open(id, { batch_limit: 1 }, { coordination });
    let isStored = false;
    const waiting = stream.untilStored().then(() => (isStored = true));
    await eventually(async () => {
      const { partitions } = await server.coordination.topology(id);
      return partitions.length === 2 && partitions.every(({ state }) => state === 'assigned');
    });
    expect(isStored).to.equal(false);
    store();
    await waiting;
    expect((await nextBatches(stream)).flatMap(({ events = [] }) => events)).to.have.length(1);
    await stream.untilStored();
    stream.clientClosed();
  });

  it('ends when its starting offsets cannot be stored, without an event', async () => {
    const { type, id } = await prepare(2);
    await server.publish(type, 0, [1]);
    const { coordination, lose } = storingLater();
    const stream = await open(id, { batch_limit: 1 }, { coordination });
    lose(new LendstreamError('LOG_UNAVAILABLE', 'Nothing is stored now.'));
    await stream.untilStored();
    const batches = await rest(stream);
    expect(batches.map(({ events, info }) => ({ events, info }))).to.deep.equal([
      {
        events: undefined,
        info: {
          debug: 'The coordination of the subscription failed: Nothing is stored now.',
          code: 'coordination_error',
        },
      },
    ]);
    await eventually(async () => (await sessions(id)) === 0);
  });

  it('searches no further than one read for events of its filter while it can send nothing', async () => {
    const { type, id } = await prepare(1);
    const text = 'x'.repeat(200_000);
    const event = (kind: string): LogRecord => ({ key: null, value: Buffer.from(JSON.stringify({ kind, text })) });
    await server.append(type, 0, [event('first')]);
    for (let count = 0; count < 8; count += 1) {
      await server.append(
        type,
        0,
        Array.from({ length: 5 }, () => event('other')),
      );
    }
    await server.append(type, 0, [event('first')]);
    let readTo = 0;
    const log = overriding<EventLog>(server.log, {
      read: async (from, options) => {
        const result = await server.log.read(from, options);
        readTo = Math.max(readTo, result.nextOffset);
        return result;
      },
    });
    const source = { filter: '/kind=first', batch_limit: 1, max_uncommitted_events: 1 };
    const { stream } = await openOnOwnClock(id, source, { log });
    await eventually(() => readTo > 0);
    // Usually everything is read meanwhile, if nothing prevents it.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(readTo, 'while it is not read').to.be.lessThan(40);
    expect(await nextBatches(stream)).to.have.length(1);
    const next = nextBatches(stream);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(readTo, 'while its first event waits for a commit').to.be.lessThan(40);
    await server.coordination.commit(id, stream.streamId, [{ eventType: type, partition: 0, offset: 0 }]);
    const [last] = await next;
    expect(parseOffset(last?.cursor.offset ?? '')).to.equal(41);
    stream.clientClosed();
  });

  it('that ends for a reset waits a minute for commits, however long its commit timeout is', async () => {
    const { type, id } = await prepare(1);
    await server.publish(type, 0, [1, 2]);
    const { clock, stream } = await openOnOwnClock(id, { commit_timeout: 3_600, batch_limit: 2 });
    expect(await nextBatches(stream)).to.have.length(1);
    stream.close('cursors_reset');
    await nextBatches(stream);
    await clock.turn(59_900);
    expect(await sessions(id)).to.equal(1);
    await clock.turn(200);
    await eventually(async () => (await sessions(id)) === 0);
  });

  describe('with heart-beats', () => {
    /** A stream with a commit timeout of 5 s that was sent two events of each partition, at 0 s of its clock. */
    async function openWithBeats(partitionCount: number, source: Record<string, unknown> = {}) {
      const { type, id } = await prepare(partitionCount);
      const partitions = [...Array(partitionCount).keys()];
      for (const partition of partitions) await server.publish(type, partition, [1, 2]);
      let noticed = 0;
      let isHandingOver = false;
      let isHandOverNoticed = false;
      // Read last of what the stream looks at together.
      const coordination = overriding<Coordination>(server.coordination, {
        heartbeats: async (...counted) => {
          noticed = await server.coordination.heartbeats(...counted);
          isHandOverNoticed = isHandingOver;
          return noticed;
        },
        topology: async (...read) => {
          const topology = await server.coordination.topology(...read);
          isHandingOver ||= topology.partitions.some(({ state }) => state === 'reassigning');
          return topology;
        },
      });
      const parameters = { commit_heartbeat: true, commit_timeout: 5, batch_limit: 2, ...source };
      const { clock, stream } = await openOnOwnClock(id, parameters, { coordination });
      const sent: Batch[] = [];
      while (sent.length < partitionCount) sent.push(...(await nextBatches(stream)));
      expect(sent.flatMap(({ events = [] }) => events)).to.have.length(2 * partitionCount);
      const commit = (offset: number) =>
        server.coordination.commit(id, stream.streamId, [{ eventType: type, partition: 0, offset }]);
      /** Lets seconds pass, and sends a heart-beat after each that the stream notices. */
      const beat = async (seconds: number): Promise<void> => {
        for (let second = 0; second < seconds; second += 1) {
          await clock.turn(1_000);
          const before = noticed;
          expect(await commit(-1)).to.deep.equal({ outcome: 'committed', advanced: [false] });
          await eventually(() => noticed > before);
          await giveWay();
        }
      };
      const noticesHandOver = () => eventually(() => isHandOverNoticed).then(giveWay);
      return { id, clock, stream, commit, beat, noticesHandOver };
    }

    /** Expects that the session ends after this time, and not a millisecond sooner. */
    async function endsAfter(milliseconds: number, { id, clock, stream }: Awaited<ReturnType<typeof openWithBeats>>) {
      const isOpen = async () => (await server.coordination.topology(id)).sessions.some(isOfStream);
      const isOfStream = ({ streamId }: { readonly streamId: string }): boolean => streamId === stream.streamId;
      await clock.turn(milliseconds - 1);
      expect(await isOpen()).to.equal(true);
      await clock.turn(1);
      await eventually(async () => !(await isOpen()));
    }

    for (const code of ['stream_timeout', 'repartitioned', 'cursors_reset', 'no_free_slots'] as const) {
      it(`waits after ${code} until the commit timeout after the last beat before it, and no longer`, async () => {
        const opened = await openWithBeats(1);
        const { stream, beat } = opened;
        await beat(2);
        stream.close(code);
        expect((await nextBatches(stream))[0]?.info?.code).to.equal(code);
        await beat(4);
        await endsAfter(1_000, opened);
      });
    }

    it('waits again after a commit that moves forward, also while it closes', async () => {
      const opened = await openWithBeats(1);
      const { clock, stream, commit, beat } = opened;
      await beat(2);
      stream.close('stream_timeout');
      await clock.turn(1_000);
      await commit(0);
      await giveWay();
      await clock.turn(1_000);
      await endsAfter(4_000, opened);
    });

    it('lets a partition go to another stream one commit timeout after that has asked for it', async () => {
      const opened = await openWithBeats(2);
      const { id, stream, beat, noticesHandOver } = opened;
      await beat(2);
      const other = await open(id);
      await noticesHandOver();
      await beat(4);
      expect(stream.closeReason).to.equal(undefined);
      await endsAfter(1_000, opened);
      expect((await nextBatches(stream)).map(({ info }) => info?.code)).to.deep.equal(['handover_timeout']);
      await eventually(() => other.partitionCount === 2);
      other.clientClosed();
    });

    it('lets it go no later when it closes meanwhile', async () => {
      const opened = await openWithBeats(2, { stream_timeout: 6 });
      const { id, stream, beat, noticesHandOver } = opened;
      await beat(2);
      const other = await open(id);
      await noticesHandOver();
      await beat(4);
      expect((await nextBatches(stream)).at(-1)?.info?.code).to.equal('stream_timeout');
      await endsAfter(1_000, opened);
      await eventually(() => other.partitionCount === 2);
      other.clientClosed();
    });
  });

  for (const [milliseconds, lookUps] of [
    [1_000, 0],
    [1_001, 1],
  ] as const) {
    it(`looks up the bounds of partitions that it gets ${milliseconds} ms after it was opened ${lookUps === 0 ? 'no second time' : 'again'}`, async () => {
      const { id } = await prepare(1);
      let count = 0;
      const log = overriding<EventLog>(server.log, {
        bounds: (partitions) => {
          count += 1;
          return server.log.bounds(partitions);
        },
      });
      let assign = (): void => {};
      const mayAssign = new Promise<void>((resolve) => (assign = resolve));
      const coordination = overriding<Coordination>(server.coordination, {
        applyOwnership: async (...changes) => {
          await mayAssign;
          return server.coordination.applyOwnership(...changes);
        },
      });
      const { clock, stream } = await openOnOwnClock(id, {}, { coordination, log });
      const before = count;
      clock.jump(milliseconds);
      assign();
      await eventually(() => stream.partitionCount === 1);
      expect(count - before).to.equal(lookUps);
      stream.clientClosed();
    });
  }

  it('lets its keep-alives be a little late, so that streams send them together, and nothing else', async () => {
    const { type, id } = await prepare(2);
    const clock = new SimulatedClock();
    const named = {
      coordination: server.coordination,
      nodeId: randomUUID(),
      clock,
      logger: silentLogger,
    };
    const lease = new NodeLease({ ...named, leaseMilliseconds: 3_600_000 });
    leases.push(lease);
    await lease.start();
    const asked: { readonly deadline: number; readonly late: number }[] = [];
    const observed = overriding(clock, {
      at: (deadline, callback, late = 0) => {
        asked.push({ deadline, late });
        return clock.at(deadline, callback);
      },
    });
    const stream = await open(
      id,
      { batch_flush_timeout: 32, batch_limit: 10, stream_timeout: 3_600 },
      { clock: observed, lease },
    );
    const keepAlives = nextBatches(stream);
    // At first it waits for its partitions and for its lease.
    await eventually(async () => {
      await clock.turn(250);
      return asked.some(({ late }) => late > 0);
    });
    const { deadline, late } = asked.at(-1) ?? { deadline: 0, late: 0 };
    expect(late).to.equal(500);
    await clock.turn(deadline - clock.monotonic());
    expect(await keepAlives).to.have.length(2);
    const batch = nextBatches(stream);
    await server.publish(type, 0, [1]);
    // The event waits for the flush timeout, and is sent in time.
    await eventually(() => asked.some((each) => each.deadline === deadline + 32_000 && each.late === 0));
    await clock.turn(32_000);
    expect((await batch).flatMap(({ events = [] }) => events)).to.have.length(1);
    stream.clientClosed();
  });

  it('looks for commits a second after an event, and lets that be a little late', async () => {
    const { type, id } = await prepare(1);
    await server.publish(type, 0, [1]);
    const clock = new SimulatedClock();
    const asked: { readonly deadline: number; readonly late: number }[] = [];
    const observed = overriding(clock, {
      at: (deadline, callback, late = 0) => {
        asked.push({ deadline, late });
        return clock.at(deadline, callback);
      },
    });
    const lease = new NodeLease({
      coordination: server.coordination,
      nodeId: randomUUID(),
      clock,
      logger: silentLogger,
      leaseMilliseconds: 3_600_000,
    });
    leases.push(lease);
    await lease.start();
    const stream = await open(id, { commit_timeout: 60 }, { clock: observed, lease });
    await nextBatches(stream);
    await eventually(() => asked.some(({ deadline, late }) => deadline === 1_000 && late === 250));
    stream.clientClosed();
  });

  /** A stream with keep-alives every 32 seconds, that has sent the first ones and was not read since. */
  async function openBehindKeepAlives(source: Record<string, unknown>) {
    const { type, id } = await prepare(2);
    const { clock, stream } = await openOnOwnClock(id, { batch_flush_timeout: 32, stream_timeout: 3_600, ...source });
    let keepAlives: Batch[] | undefined;
    void nextBatches(stream).then((batches) => (keepAlives = batches));
    await eventually(async () => {
      await clock.turn(1_000);
      return keepAlives !== undefined;
    });
    expect(keepAlives).to.have.length(2);
    return { type, id, clock, stream };
  }

  for (const milliseconds of [0, 9, 10, 60_000]) {
    it(`sends its next keep-alives in time when it is read ${milliseconds} ms behind the first`, async () => {
      const { clock, stream } = await openBehindKeepAlives({});
      await clock.turn(milliseconds);
      const read = nextBatches(stream);
      await clock.turn(32_000);
      expect(await read).to.have.length(2);
      stream.clientClosed();
    });
  }

  it('sends at once what came behind its keep-alives before it was read again', async () => {
    const { type, stream } = await openBehindKeepAlives({ batch_limit: 1 });
    await server.publish(type, 0, [1]);
    // Usually the read of the log ends meanwhile, without a reader.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await nextBatches(stream)).flatMap(({ events = [] }) => events)).to.have.length(1);
    stream.clientClosed();
  });

  it('ends right behind the last of a limited number of keep-alives', async () => {
    const { stream } = await openBehindKeepAlives({ stream_keep_alive_limit: 1 });
    const [last] = await rest(stream);
    expect(last?.info?.code).to.equal('keep_alive_limit');
  });

  describe('of a process that was suspended', () => {
    /**
     * A stream with a clock that is turned by hand, under a lease that is renewed by hand. Change notifications do not
     * reach it, and it reaches the store only as long as that is reachable.
     */
    async function openStoppable(id: string, source: Record<string, unknown> = { commit_timeout: 60 }) {
      const own = { isOutOfReach: false };
      const clock = new SimulatedClock();
      const ownReads = countingReads(server.log);
      const reach = (): void => {
        if (own.isOutOfReach) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Out of reach.');
      };
      const coordination = overriding<Coordination>(server.coordination, {
        watch: () => () => {},
        renewLease: async (nodeId, milliseconds) => {
          reach();
          await server.coordination.renewLease(nodeId, milliseconds);
        },
        topology: async (subscription) => {
          reach();
          return server.coordination.topology(subscription);
        },
        committedOffsets: async (subscription) => {
          reach();
          return server.coordination.committedOffsets(subscription);
        },
      });
      const withoutTimers = overriding<Clock>(clock, { at: () => ({ cancel: () => {} }) });
      const named = { coordination, nodeId: randomUUID(), clock: withoutTimers, logger: silentLogger };
      const lease = new NodeLease({ ...named, leaseMilliseconds: 20_000 });
      await lease.start();
      const { log } = ownReads;
      const stream = await open(id, source, { lease, clock, coordination, log });
      return { own, clock, lease, stream, reads: ownReads.reads };
    }

    function countingReads(read: EventLog) {
      let reads = 0;
      const log = overriding<EventLog>(read, {
        read: async (from, options) => {
          const result = await read.read(from, options);
          reads += 1;
          return result;
        },
      });
      return { log, reads: () => reads };
    }

    async function nextEvents(stream: SubscriptionStream): Promise<unknown[]> {
      for (;;) {
        const batches = await nextBatches(stream);
        if (batches.length === 0) throw new Error(`The stream has ended: ${stream.closeReason}`);
        const events = batches.flatMap(({ events: sent }) => sent ?? []);
        if (events.length > 0) return events.map(({ number }) => number);
      }
    }

    it('sends nothing that another stream also sends, and ends when it detects that stream', async () => {
      const { type, id } = await prepare(1);
      await server.publish(type, 0, [1]);
      const { clock, lease, stream } = await openStoppable(id);
      expect(await nextEvents(stream)).to.deep.equal([1]);
      clock.jump(17_000);
      await server.coordination.renewLease(lease.nodeId, 0);
      const successor = await open(id);
      const remaining = rest(stream);
      expect(await nextEvents(successor)).to.deep.equal([1]);
      await server.publish(type, 0, [2]);
      expect(await nextEvents(successor)).to.deep.equal([2]);
      await lease.renew();
      await clock.turn(0);
      const lines = await remaining;
      expect(lines.map(({ info }) => info?.code)).to.deep.equal(['session_lost']);
      expect(lines.flatMap(({ events }) => events ?? [])).to.deep.equal([]);
      successor.clientClosed();
    });

    /** A stream with the events 1 and 2 in a last line that its client has not read. */
    async function openWithUnreadLastLine(parameters: Record<string, unknown> = {}) {
      const { type, id } = await prepare(1);
      await server.publish(type, 0, [1, 2]);
      const source = { batch_limit: 10, batch_flush_timeout: 60, stream_timeout: 5, commit_timeout: 60, ...parameters };
      const { clock, lease, stream, reads } = await openStoppable(id, source);
      await eventually(() => reads() > 0);
      await clock.turn(5_000);
      expect(stream.closeReason).to.equal('Stream timeout reached');
      return { id, clock, lease, stream };
    }

    it('does not send the events of its unread last line', async () => {
      const { id, clock, lease, stream } = await openWithUnreadLastLine();
      clock.jump(17_000);
      await server.coordination.renewLease(lease.nodeId, 0);
      const successor = await open(id);
      expect(await nextEvents(successor)).to.deep.equal([1, 2]);
      const remaining = rest(stream);
      await lease.renew();
      await clock.turn(250);
      expect((await remaining).flatMap(({ events }) => events ?? [])).to.deep.equal([]);
      successor.clientClosed();
    });

    for (const [title, isRenewed, expected] of [
      ['sends the events of its unread last line when its lease is renewed in time', true, [1, 2]],
      ['has ended without the events of its unread last line when its time for commits is over', false, []],
    ] as const) {
      it(title, async () => {
        const { clock, lease, stream } = await openWithUnreadLastLine();
        clock.jump(17_000);
        const next = nextBatches(stream);
        if (isRenewed) await lease.renew();
        await clock.turn(isRenewed ? 1_000 : 60_000);
        expect((await next).flatMap(({ events }) => events ?? [])).to.deep.equal(
          expected.map((number) => ({ number })),
        );
        stream.clientClosed();
      });
    }

    for (const [title, parameters, expected] of [
      ['sends the events of its last line to a client that reads after its time for commits', {}, [1, 2]],
      ['does not send them with strict commits: the store would refuse them', { strict_commits: true }, []],
    ] as const) {
      it(title, async () => {
        const { id, clock, stream } = await openWithUnreadLastLine({ ...parameters, commit_timeout: 1 });
        await clock.turn(1_000);
        await eventually(async () => (await sessions(id)) === 0);
        const events = (await rest(stream)).flatMap((batch) => batch.events ?? []);
        expect(events).to.deep.equal(expected.map((number) => ({ number })));
      });
    }

    it('resumes at its position when its lease is renewed and no other process took over', async () => {
      const { type, id } = await prepare(1);
      const { clock, lease, stream, reads } = await openStoppable(id);
      await server.publish(type, 0, [1]);
      expect(await nextEvents(stream)).to.deep.equal([1]);
      clock.jump(17_000);
      const readsBefore = reads();
      await server.publish(type, 0, [2, 3]);
      let isSent = false;
      const sending = nextEvents(stream).then((events) => {
        isSent = true;
        return events;
      });
      await eventually(() => reads() > readsBefore);
      await clock.turn(10_000);
      expect(isSent).to.equal(false);
      await lease.renew();
      await clock.turn(250);
      const received = await sending;
      while (received.length < 2) received.push(...(await nextEvents(stream)));
      expect(received).to.deep.equal([2, 3]);
      stream.clientClosed();
    });

    it('sends its last line without events while its lease is not valid', async () => {
      const { type, id } = await prepare(1);
      const { clock, stream, reads } = await openStoppable(id);
      await server.publish(type, 0, [1]);
      expect(await nextEvents(stream)).to.deep.equal([1]);
      clock.jump(17_000);
      const readsBefore = reads();
      await server.publish(type, 0, [2]);
      await eventually(() => reads() > readsBefore);
      await clock.turn(0);
      stream.close('stream_timeout');
      const [last] = await nextBatches(stream);
      expect(last).to.have.nested.property('info.code', 'stream_timeout');
      expect(last).not.to.have.property('events');
      stream.clientClosed();
    });

    it('continues when only the store is unreachable', async () => {
      const { type, id } = await prepare(1);
      const { own, clock, lease, stream } = await openStoppable(id);
      await server.publish(type, 0, [0]);
      expect(await nextEvents(stream)).to.deep.equal([0]);
      own.isOutOfReach = true;
      for (let number = 1; number <= 3; number += 1) {
        clock.jump(9_000);
        await lease.renew().catch(() => {});
        await server.publish(type, 0, [number]);
        expect(await nextEvents(stream)).to.deep.equal([number]);
        await server.coordination.commit(id, stream.streamId, [{ eventType: type, partition: 0, offset: number }]);
      }
      own.isOutOfReach = false;
      await lease.renew();
      await server.publish(type, 0, [4]);
      expect(await nextEvents(stream)).to.deep.equal([4]);
      stream.clientClosed();
    });
  });

  it('sends nothing before its first read, and then everything that has arrived', async () => {
    const { type, id } = await prepare(1);
    const stream = await open(id);
    for (let number = 0; number < 4; number += 1) await server.publish(type, 0, [number]);
    await eventually(async () => (await server.coordination.topology(id)).partitions[0]?.state === 'assigned');
    const received: Batch[] = [];
    while (received.length < 4) received.push(...(await nextBatches(stream)));
    expect(received.map(({ events }) => events?.[0]?.['number'])).to.deep.equal([0, 1, 2, 3]);
    stream.clientClosed();
  });

  it('frees its session immediately when the client is gone, and later reads return its end', async () => {
    const { id } = await prepare(1);
    const stream = await open(id);
    const asked = stream.next();
    stream.clientClosed();
    expect(await asked).to.equal(null);
    expect(await sessions(id)).to.equal(0);
    expect(await stream.next()).to.equal(null);
  });

  it('sends its close reason once, keeps the session for uncommitted events, and ends with the commit', async () => {
    const { type, id } = await prepare(1);
    await server.publish(type, 0, [1]);
    const stream = await open(id);
    const [batch] = await nextBatches(stream);
    stream.close('cursors_reset');
    stream.close('stream_timeout');
    expect((await nextBatches(stream)).map(({ info }) => info?.code)).to.deep.equal(['cursors_reset']);
    const end = stream.next();
    expect(await sessions(id)).to.equal(1);
    await server.commit(id, stream.streamId, batch === undefined ? [] : [batch.cursor]);
    expect(await end).to.equal(null);
    expect(await sessions(id)).to.equal(0);
  });

  it('ends its session in time although its last line is not read', async () => {
    const { id } = await prepare(1);
    const stream = await open(id);
    let ended = 0;
    stream.onEnded = () => (ended += 1);
    stream.close('stream_timeout');
    await eventually(async () => (await sessions(id)) === 0);
    expect(ended).to.equal(1);
    expect((await rest(stream)).map(({ info }) => info?.code)).to.deep.equal(['stream_timeout']);
  });

  it('is counted in the metrics while it is open, and by its reason when it is closed', async () => {
    const { id } = await prepare(1);
    const stream = await open(id);
    const text = async () => server.metrics.registry.metrics();
    expect(await text()).to.contain(`lendstream_open_streams{subscription_id="${id}"} 1`);
    stream.close('server_shutdown');
    await rest(stream);
    expect(await text()).to.contain(`lendstream_open_streams{subscription_id="${id}"} 0`);
    expect(await text()).to.match(/lendstream_closed_streams_total\{reason="server_shutdown"\} [1-9]/);
  });

  it('closes with the reason when stored events cannot be read, and skips none', async () => {
    const { type, id } = await prepare(1);
    await server.publish(type, 0, [1]);
    const log = failingReads(server.log, new LendstreamError('CORRUPT_BATCH', 'Damaged.'));
    const batches = await rest(await open(id, {}, { log }));
    expect(batches).to.have.length(1);
    expect(batches[0]?.info).to.deep.equal({
      debug: `Reading events failed: partition 0 of ${type}: Damaged.`,
      code: 'log_error',
    });
    expect((await server.coordination.committedOffsets(id))[0]?.offset).to.equal(-1);
  });

  it('hands over what it gets while it waits for its last commits, and does not send it', async () => {
    const { type, id } = await prepare(2);
    await server.publish(type, 0, [1]);
    await server.publish(type, 1, [2]);
    const closing = await open(id, { commit_timeout: 60, batch_limit: 1 });
    const leaving = await open(id, { commit_timeout: 60 });
    await eventually(() => leaving.partitionCount === 1 && closing.partitionCount === 1);
    const [sent] = await nextBatches(closing);
    expect(sent?.events).to.have.length(1);
    closing.close('repartitioned');
    leaving.clientClosed();
    await eventually(async () => {
      const { partitions } = await server.coordination.topology(id);
      return partitions.every(({ streamId }) => streamId === closing.streamId);
    });
    const next = await open(id, { commit_timeout: 60 });
    const [taken] = await nextBatches(next);
    expect([sent, taken].flatMap((batch) => batch?.events ?? []).map(({ number }) => number)).to.have.members([1, 2]);
    expect(await sessions(id)).to.equal(2);
    closing.clientClosed();
    next.clientClosed();
  });

  it('sends nothing again of a partition that it gets back right after it has handed it over', async () => {
    const { type, id } = await prepare(2);
    let streamId = '';
    let place = { eventType: type, partition: -1 };
    let isReassigned = false;
    /** What the first read and the later ones wait for after that. */
    const openGates: (() => void)[] = [];
    const gates = [0, 1].map(() => new Promise<void>((resolve) => openGates.push(resolve)));
    let heldReads = 0;
    const coordination = overriding<Coordination>(server.coordination, {
      topology: async (subscription) => {
        const topology = await server.coordination.topology(subscription);
        const leaving = topology.partitions.find(({ state }) => state === 'reassigning');
        if (leaving !== undefined) {
          place = { eventType: type, partition: leaving.partition };
          isReassigned = true;
        } else if (isReassigned) {
          heldReads += 1;
          await gates[Math.min(heldReads, 2) - 1];
        }
        return topology;
      },
    });
    const stream = await open(id, { commit_timeout: 60, batch_limit: 1 }, { coordination });
    ({ streamId } = stream);
    await server.publish(type, 0, [1]);
    await server.publish(type, 1, [1]);
    for (let events = 0; events < 2;)
      for (const batch of await nextBatches(stream)) events += batch.events?.length ?? 0;
    const other = await open(id, { commit_timeout: 60 });
    await eventually(() => isReassigned);
    other.clientClosed();
    await eventually(() => heldReads === 1);
    await server.coordination.commit(id, streamId, [{ ...place, offset: 0 }]);
    await eventually(async () => {
      const { partitions } = await server.coordination.topology(id);
      return partitions[place.partition]?.streamId === null;
    });
    const received: unknown[] = [];
    const next = (async () => {
      while (received.length === 0) {
        for (const { events = [] } of await nextBatches(stream)) received.push(...events.map(({ number }) => number));
      }
    })();
    // What was read before the commit arrives after the partition was handed over.
    openGates[0]?.();
    await eventually(() => heldReads > 1);
    // Usually it is read and sent meanwhile, if nothing prevents it.
    await new Promise((resolve) => setTimeout(resolve, 100));
    openGates[1]?.();
    await eventually(async () => {
      const { partitions } = await server.coordination.topology(id);
      return partitions[place.partition]?.streamId === streamId;
    });
    await server.publish(type, place.partition, [2]);
    await next;
    expect(received).to.deep.equal([2]);
    stream.clientClosed();
  });

  it('stays open beside another stream, with a share of the partitions', async () => {
    const { type, id } = await prepare(2);
    const source = { commit_timeout: 60 };
    const streams = [await open(id, source), await open(id, source)];
    await eventually(async () => {
      const { partitions } = await server.coordination.topology(id);
      const isShared = new Set(partitions.map(({ streamId }) => streamId)).size === 2;
      return isShared && partitions.every(({ state }) => state === 'assigned');
    });
    await server.publish(type, 0, [1]);
    await server.publish(type, 1, [2]);
    const received: unknown[] = [];
    for (const stream of streams) received.push(...((await nextBatches(stream))[0]?.events ?? []));
    expect(received).to.have.deep.members([{ number: 1 }, { number: 2 }]);
    expect(streams.map(({ closeReason }) => closeReason)).to.deep.equal([undefined, undefined]);
    for (const stream of streams) stream.clientClosed();
  });

  it('does not wait for commits to a partition that it has lost', async () => {
    const { type, id } = await prepare(2);
    await server.publish(type, 0, [1]);
    let hasSeenLoss = false;
    let streamId = '';
    const coordination = overriding<Coordination>(server.coordination, {
      topology: async (subscription) => {
        const topology = await server.coordination.topology(subscription);
        hasSeenLoss = streamId !== '' && topology.partitions[0]?.streamId !== streamId;
        return topology;
      },
    });
    const { clock, stream } = await openOnOwnClock(id, { commit_timeout: 60 }, { coordination });
    await nextBatches(stream);
    ({ streamId } = stream);
    const next = await open(id, { commit_timeout: 60, partitions: [{ event_type: type, partition: '0' }] });
    const place = { eventType: type, partition: 0 };
    await eventually(async () => {
      const [partition] = (await server.coordination.topology(id)).partitions;
      if (partition?.nextStreamId !== next.streamId) return false;
      // As if its time to hand over were over.
      await server.coordination.release(id, streamId, place, partition.fence);
      return true;
    });
    await eventually(() => hasSeenLoss);
    await clock.turn(60_000);
    expect(stream.closeReason).to.equal(undefined);
    stream.clientClosed();
    next.clientClosed();
  });

  it('waits for another partition from when it has handed over its last one', async () => {
    const { type, id } = await prepare(2);
    const { clock, stream } = await openOnOwnClock(id, { commit_timeout: 60, stream_timeout: 3_600 });
    const newer = await open(id, { commit_timeout: 60 });
    const partitionsOf = async ({ streamId }: SubscriptionStream): Promise<number[]> => {
      const { partitions } = await server.coordination.topology(id);
      const owned = partitions.filter((each) => each.state === 'assigned' && each.streamId === streamId);
      return owned.map(({ partition }) => partition);
    };
    await eventually(async () => (await partitionsOf(stream)).length + (await partitionsOf(newer)).length === 2);
    const [own] = await partitionsOf(stream);
    const [others] = await partitionsOf(newer);
    // The newer one has to leave, but waits for a commit.
    await server.publish(type, others ?? 0, [1]);
    await nextBatches(newer);
    await clock.turn(121_000);
    await server.publish(type, own ?? 0, [2]);
    // Behind keep-alives that were due.
    for (let events = 0; events === 0;)
      events = (await nextBatches(stream)).flatMap((batch) => batch.events ?? []).length;
    const partitions = [{ event_type: type, partition: String(own) }];
    const taker = await open(id, { commit_timeout: 60, partitions });
    await eventually(
      async () => (await server.coordination.topology(id)).partitions[own ?? 0]?.state === 'reassigning',
    );
    // It has to hand over, too, and waits for a commit before that.
    await clock.turn(30_000);
    await server.coordination.commit(id, stream.streamId, [{ eventType: type, partition: own ?? 0, offset: 0 }]);
    await eventually(async () => (await partitionsOf(taker)).length === 1);
    await clock.turn(119_000);
    expect(stream.closeReason).to.equal(undefined);
    newer.clientClosed();
    await eventually(async () => (await partitionsOf(stream))[0] === others);
    for (const each of [stream, taker]) each.clientClosed();
  });

  describe('without a partition for twice its commit timeout of a minute', () => {
    /** A stream that waits for a partition of another one, with a clock that is turned by hand. */
    async function openWaiting() {
      const { type, id } = await prepare(1);
      const owner = await open(id, { commit_timeout: 60 });
      await server.publish(type, 0, [1]);
      await nextBatches(owner);
      const partitions = [{ event_type: type, partition: '0' }];
      return { type, owner, ...(await openOnOwnClock(id, { commit_timeout: 60, partitions })) };
    }

    it('waits until the last millisecond, and then ends with the reason', async () => {
      const { type, owner, stream, clock } = await openWaiting();
      await clock.turn(119_999);
      expect(stream.closeReason).to.equal(undefined);
      await clock.turn(1);
      const batches = await rest(stream);
      expect(batches.map(({ info }) => info)).to.deep.equal([
        { code: 'no_partitions', debug: 'No partition was assigned to this stream for twice the commit timeout' },
      ]);
      expect(batches[0]?.cursor).to.include({ event_type: type, partition: '0', offset: '001-0001--1' });
      owner.clientClosed();
    });

    it('continues when it gets one in the last millisecond', async () => {
      const { type, owner, stream, clock } = await openWaiting();
      await clock.turn(119_999);
      owner.clientClosed();
      const batches = await nextBatches(stream);
      await clock.turn(1);
      expect(stream.closeReason).to.equal(undefined);
      expect(batches.map(({ events }) => events)).to.deep.equal([[{ number: 1 }]]);
      expect(batches[0]?.cursor.event_type).to.equal(type);
      stream.clientClosed();
    });
  });

  describe('without its coordination store', () => {
    const commitTimeoutMilliseconds = 2_000;

    /**
     * A stream that waits for a commit, with a clock that is turned by hand and a store that can become unreachable.
     */
    async function openWaiting() {
      const { type, id } = await prepare(1);
      const own = { isAway: false };
      let readsInFlight = 0;
      const warnings: string[] = [];
      const logger: Logger = checkedLogger({ warn: (_facts, message) => void warnings.push(message) });
      const unlessAway = <Result>(read: () => Promise<Result>): Promise<Result> => {
        if (own.isAway) return Promise.reject(new LendstreamError('COORDINATION_UNAVAILABLE', 'It is away.'));
        readsInFlight += 1;
        return read().finally(() => (readsInFlight -= 1));
      };
      const coordination = overriding<Coordination>(server.coordination, {
        watch: () => () => {},
        committedOffsets: (subscription) => unlessAway(() => server.coordination.committedOffsets(subscription)),
        topology: (subscription) => unlessAway(() => server.coordination.topology(subscription)),
      });
      await server.publish(type, 0, [1]);
      const { clock, stream } = await openOnOwnClock(id, { commit_timeout: 2 }, { coordination, logger });
      await stream.next();
      // A read takes real time, during which the clock must not be turned.
      await eventually(() => readsInFlight === 0);
      return { own, clock, stream, warnings };
    }

    it('waits for commits only while they are possible', async () => {
      const { own, clock, stream } = await openWaiting();
      own.isAway = true;
      await clock.turn(30_000);
      expect(stream.closeReason).to.equal(undefined);
      own.isAway = false;
      // The stream found the store unreachable now, for the last time.
      await clock.turn(commitTimeoutMilliseconds - 1);
      expect(stream.closeReason).to.equal(undefined);
      await clock.turn(1);
      expect(stream.closeReason).to.equal('Commit timeout reached');
      stream.clientClosed();
    });

    it('warns of an outage once', async () => {
      const { own, clock, stream, warnings } = await openWaiting();
      const expected = 'Reading the state of a subscription failed; retrying';
      own.isAway = true;
      await clock.turn(10_000);
      expect(warnings).to.deep.equal([expected]);
      stream.clientClosed();
    });

    it('warns for all streams of its process once, and again in the next outage', async () => {
      const clock = new SimulatedClock();
      const warnings: string[] = [];
      const logger: Logger = checkedLogger({ warn: (_facts, message) => void warnings.push(message) });
      let isAway = false;
      let [reads, readsInFlight] = [0, 0];
      const coordination = overriding<Coordination>(server.coordination, {
        watch: () => () => {},
        topology: async (subscription) => {
          reads += 1;
          if (isAway) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'It is away.');
          readsInFlight += 1;
          return server.coordination.topology(subscription).finally(() => (readsInFlight -= 1));
        },
      });
      const lease = new NodeLease({ coordination, nodeId: randomUUID(), clock, logger, leaseMilliseconds: 86_400_000 });
      leases.push(lease);
      await lease.start();
      const streams = [];
      for (let count = 0; count < 3; count += 1) {
        const { id } = await prepare(1);
        streams.push(await open(id, { stream_timeout: 86_400 }, { coordination, logger, clock, lease }));
      }
      // A read takes real time, during which the clock must not be turned.
      await eventually(() => reads >= 3 && readsInFlight === 0);
      await giveWay();
      for (const outages of [1, 2]) {
        isAway = true;
        reads = 0;
        // Each stream reads its topology every five minutes, and after a failure every second.
        await eventually(async () => {
          await clock.turn(30_000);
          return reads >= 2 * streams.length;
        });
        expect(warnings).to.have.length(outages);
        isAway = false;
        reads = 0;
        await clock.turn(2_000);
        await eventually(() => reads >= streams.length && readsInFlight === 0);
        await giveWay();
      }
      for (const stream of streams) stream.clientClosed();
    });

    it('waits at most a minute for an unreachable store', async () => {
      const { own, clock, stream } = await openWaiting();
      own.isAway = true;
      // The store is found unreachable after a second, then every second for a minute.
      await clock.turn(61_000 + commitTimeoutMilliseconds - 1);
      expect(stream.closeReason).to.equal(undefined);
      await clock.turn(1);
      expect(stream.closeReason).to.equal('Commit timeout reached');
      stream.clientClosed();
    });
  });

  it('allows late commits after the client has gone, unless the time for them is over', async () => {
    const { type, id } = await prepare(1);
    await server.publish(type, 0, [1]);
    const ends: unknown[] = [];
    let watchers = 0;
    const coordination = overriding<Coordination>(server.coordination, {
      closeSession: (subscription, stream, lateCommits) => {
        ends.push(lateCommits);
        return server.coordination.closeSession(subscription, stream, lateCommits);
      },
      watch: (...parameters) => {
        const unwatch = server.coordination.watch(...parameters);
        watchers += 1;
        return () => {
          watchers -= 1;
          unwatch();
        };
      },
    });
    for (const milliseconds of [1_999, 2_000]) {
      const { clock, stream } = await openOnOwnClock(id, { commit_timeout: 2 }, { coordination });
      await nextBatches(stream);
      expect(watchers).to.equal(1);
      clock.jump(milliseconds);
      stream.clientClosed();
      await eventually(async () => (await sessions(id)) === 0);
      expect(watchers).to.equal(0);
    }
    expect(ends).to.deep.equal(['accepted', 'refused']);
  });

  it('with strict commits ends without an error when its client goes while the store learns what is sent', async () => {
    const { type, id } = await prepare(1);
    await server.publish(type, 0, [1]);
    let isRecording = false;
    let record = (): void => {};
    const mayRecord = new Promise<void>((resolve) => (record = resolve));
    const coordination = overriding<Coordination>(server.coordination, {
      recordSent: async (...sent) => {
        isRecording = true;
        await mayRecord;
        return server.coordination.recordSent(...sent);
      },
    });
    const stream = await open(id, { strict_commits: true }, { coordination });
    const reading = nextBatches(stream);
    await eventually(() => isRecording);
    stream.clientClosed();
    record();
    expect(await reading).to.deep.equal([]);
  });

  it('commits what no consumer can commit again after five seconds', async () => {
    const type = await server.defineEventType(1, true);
    const id = await server.subscribe([type]);
    const deletion = { key: 'a', value: null };
    const committed = async () => (await server.coordination.committedOffsets(id))[0]?.offset;
    await server.append(type, 0, [deletion]);
    const { clock, stream } = await openOnOwnClock(id, {});
    await eventually(async () => (await committed()) === 0);
    await server.append(type, 0, [deletion]);
    await eventually(() => clock.hasDeadline(5_000));
    await clock.turn(4_999);
    expect(await committed()).to.equal(0);
    await clock.turn(1);
    await eventually(async () => (await committed()) === 1);
    stream.clientClosed();
  });

  it('detects a commit whose notification was lost', async () => {
    const { type, id } = await prepare(1);
    await server.publish(type, 0, [1, 2]);
    const withoutNotifications = new Proxy(server.coordination, {
      get: (target, name) => {
        if (name === 'watch') return () => () => {};
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
    const changes = { coordination: withoutNotifications };
    const { clock, stream } = await openOnOwnClock(id, { max_uncommitted_events: 1 }, changes);
    const [batch] = await nextBatches(stream);
    await server.commit(id, stream.streamId, batch === undefined ? [] : [batch.cursor]);
    const next = nextBatches(stream);
    await clock.turn(1_000);
    const [second] = await next;
    expect(second?.events).to.deep.equal([{ number: 2 }]);
    stream.clientClosed();
  });

  it('closes with the reason when the state of its subscription cannot be read', async () => {
    const { type, id } = await prepare(2);
    await server.publish(type, 0, [1]);
    let isBroken = false;
    const coordination = overriding<Coordination>(server.coordination, {
      topology: async (subscription) => {
        if (isBroken) throw new Error('Not to be read.');
        return server.coordination.topology(subscription);
      },
    });
    const stream = await open(id, {}, { coordination });
    expect((await nextBatches(stream)).flatMap(({ events }) => events ?? [])).to.have.length(1);
    isBroken = true;
    const remaining = rest(stream);
    const other = await open(id);
    await eventually(() => stream.closeReason !== undefined);
    stream.clientClosed();
    other.clientClosed();
    expect(stream.closeReason).to.equal('The coordination of the subscription failed');
    expect((await remaining).at(-1)?.info).to.deep.equal({
      debug: 'The coordination of the subscription failed: Not to be read.',
      code: 'coordination_error',
    });
  });

  it('is aborted when a line cannot be built, and the next stream gets all events of that line', async () => {
    const { type, id } = await prepare(1);
    const log = overriding<EventLog>(server.log, {
      read: async (partition, options) => {
        const result = await server.log.read(partition, options);
        const batches = result.batches.map((batch) => {
          const bytes = Buffer.from(batch.bytes);
          const copy = (): never => {
            throw new Error('No memory.');
          };
          return overriding(batch, { bytes: Object.assign(bytes, { copy }) });
        });
        return { ...result, batches };
      },
    });
    await server.publish(type, 0, [1, 2]);
    const broken = await open(id, {}, { log });
    const failure = await broken.next().catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'No memory.');
    await server.publish(type, 0, [3]);
    expect(await broken.next().catch((error: unknown) => error)).to.equal(failure);
    broken.clientClosed();
    await eventually(async () => (await sessions(id)) === 0);
    const next = await open(id, { batch_limit: 3 });
    const [batch] = await nextBatches(next);
    expect(batch?.events).to.deep.equal([{ number: 1 }, { number: 2 }, { number: 3 }]);
    next.clientClosed();
  });

  for (const [title, parameters, codes] of [
    ['says after its end why it ended, with a cursor behind expired events', {}, ['cursors_reset']],
    ['does not say so with strict commits: the store would refuse that cursor', { strict_commits: true }, []],
  ] as const) {
    it(title, async () => {
      const { type, id } = await prepare(1);
      (await open(id)).clientClosed();
      await server.publish(type, 0, [1, 2]);
      await expireTopic(server.log, type);
      const stream = await open(id, parameters);
      await eventually(() => stream.partitionCount === 1);
      stream.close('cursors_reset');
      await eventually(async () => (await sessions(id)) === 0);
      expect((await rest(stream)).map(({ info }) => info?.code)).to.deep.equal(codes);
    });
  }

  it('reports how many events expired before they were committed', async () => {
    const { type, id } = await prepare(1);
    const first = await open(id);
    await server.publish(type, 0, [0]);
    await nextBatches(first);
    first.clientClosed();
    await server.publish(type, 0, [1, 2]);
    await expireTopic(server.log, type);
    await server.publish(type, 0, [3]);
    const stream = await open(id);
    const [batch] = await nextBatches(stream);
    const earliest = (await server.log.bounds([{ topic: type, partition: 0 }]))[0]?.earliest ?? 0;
    expect(earliest).to.be.above(0);
    expect(batch?.info?.debug).to.equal(
      `Stream started; skipped events due to retention time passed, count: ${earliest} at most`,
    );
    stream.clientClosed();
  });
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import { missedChangesMillisecondsMaximum, type Session } from '../../src/ports/coordination.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { EmbeddedCoordination } from '../../src/embedded/coordination.ts';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { describeCoordination } from '../contracts/coordination.contract.ts';
import { codeOf } from '../support/log-reading.ts';
import { SimulatedClock, settled } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import { openTemporaryLog, type TemporaryLog } from '../support/temporary-log.ts';

describeCoordination('memory and the log', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'lendstream-coordination-'));
  const log = await EmbeddedLog.open({ dataFolder, logger: silentLogger });
  const clock = new SimulatedClock(Date.now());
  const coordination = await EmbeddedCoordination.open({ log, clock, logger: silentLogger });
  return {
    coordination,
    unheard: coordination,
    elapse: (milliseconds) => clock.turn(milliseconds),
    eventually: async (condition, milliseconds) => {
      const end = clock.monotonic() + milliseconds;
      while (!(await condition())) {
        if (clock.monotonic() >= end) throw new Error(`Not true within ${milliseconds} simulated milliseconds.`);
        await clock.turn(100);
      }
    },
    close: async () => {
      await coordination.close();
      await log.close();
      await rm(dataFolder, { recursive: true });
    },
  };
});

describe('embedded coordination and its mirror', () => {
  const eventType = 'mirror.loans';
  let dataFolder: string;
  let log: EmbeddedLog;
  let coordination: EmbeddedCoordination;

  const open = async (queuedBytesMaximum = 1024 * 1024): Promise<void> => {
    log = await EmbeddedLog.open({ dataFolder, logger: silentLogger, queuedBytesMaximum });
    coordination = await EmbeddedCoordination.open({ log, clock: systemClock, logger: silentLogger });
    await coordination.renewLease('node', 60_000);
  };

  const restart = async (queuedBytesMaximum?: number): Promise<void> => {
    await coordination.close();
    await log.close();
    await open(queuedBytesMaximum);
  };

  beforeEach(async () => {
    dataFolder = await mkdtemp(join(tmpdir(), 'lendstream-mirror-'));
    await open();
  });

  afterEach(async () => {
    await coordination.close();
    await log.close();
    await rm(dataFolder, { recursive: true });
  });

  const at = (partition: number, offset: number) => ({ eventType, partition, offset });

  const session = (streamId: string): Session => ({
    streamId,
    nodeId: 'node',
    requestedPartitions: [],
    openedAt: 0,
    commitTimeoutMilliseconds: 60_000,
  });

  /** Waits, without a response of the disk, until an operation has taken every partition from its owner. */
  const disowned = async (): Promise<void> => {
    for (let turn = 0; turn < 100; turn += 1) {
      const { partitions } = await coordination.topology('s');
      if (partitions.every(({ streamId }) => streamId === null)) return;
    }
    throw new Error('The owner kept its partition');
  };

  const own = async (subscription: string, streamId: string): Promise<void> => {
    await coordination.openSession(subscription, session(streamId));
    const { generation, partitions } = await coordination.topology(subscription);
    const changes = partitions.map(({ partition }) => ({
      eventType,
      partition,
      state: 'assigned' as const,
      streamId,
      nextStreamId: null,
    }));
    expect(await coordination.applyOwnership(subscription, generation, changes)).to.equal('applied');
  };

  it('restores committed offsets after a restart, and neither sessions nor owners', async () => {
    await coordination.initialise('s', [at(0, -1), at(1, 4)]);
    await own('s', 'stream');
    await coordination.commit('s', 'stream', [at(0, 7)]);
    await coordination.closeSession('s', 'stream');
    await restart();
    expect(await coordination.committedOffsets('s')).to.deep.equal([at(0, 7), at(1, 4)]);
    const { sessions, partitions } = await coordination.topology('s');
    expect(sessions).to.deep.equal([]);
    expect(partitions.map(({ state, streamId }) => [state, streamId])).to.deep.equal([
      ['unassigned', null],
      ['unassigned', null],
    ]);
    expect(await coordination.commit('s', 'stream', [at(0, 8)])).to.deep.equal({ outcome: 'session_not_found' });
  });

  it('restores a reset after a restart, backwards too', async () => {
    await coordination.initialise('s', [at(0, 50), at(1, 50)]);
    await coordination.beginReset('s');
    await coordination.finishReset('s', [at(0, 3)]);
    await restart();
    expect(await coordination.committedOffsets('s')).to.deep.equal([at(0, 3), at(1, 50)]);
    expect((await coordination.topology('s')).resetting).to.equal(false);
  });

  it('keeps a removal after a restart', async () => {
    await coordination.initialise('gone', [at(0, 50)]);
    await coordination.initialise('kept', [at(0, 60)]);
    await coordination.remove('gone');
    await restart();
    expect(await coordination.committedOffsets('gone')).to.deep.equal([]);
    expect(await coordination.committedOffsets('kept')).to.deep.equal([at(0, 60)]);
  });

  it('removes a subscription that is being initialised when that is done', async () => {
    await Promise.all([coordination.initialise('s', [at(0, 50)]), coordination.remove('s')]);
    expect(await coordination.committedOffsets('s')).to.deep.equal([]);
    await restart();
    expect(await coordination.committedOffsets('s')).to.deep.equal([]);
  });

  it('mirrors concurrent commits in the order of their offsets', async () => {
    await coordination.initialise('s', [at(0, -1)]);
    await own('s', 'stream');
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, offset) => coordination.commit('s', 'stream', [at(0, offset)])),
    );
    expect(results.every((result) => result.outcome === 'committed' && result.advanced[0] === true)).to.equal(true);
    await restart();
    expect(await coordination.committedOffsets('s')).to.deep.equal([at(0, 199)]);
  });

  it('restores everything acknowledged by commits with a reset in between', async () => {
    await coordination.initialise('s', [at(0, -1)]);
    await own('s', 'stream');
    const commits = Array.from({ length: 50 }, (_, offset) => coordination.commit('s', 'stream', [at(0, offset)]));
    await coordination.beginReset('s');
    const reset = coordination.finishReset('s', [at(0, 5)]);
    await Promise.all([...commits, reset]);
    expect(await coordination.committedOffsets('s')).to.deep.equal([at(0, 5)]);
    await restart();
    expect(await coordination.committedOffsets('s')).to.deep.equal([at(0, 5)]);
  });

  it('lets no stream own and commit a partition while its offset is being reset', async () => {
    await coordination.initialise('s', [at(0, 50)]);
    await own('s', 'stream');
    await coordination.beginReset('s');
    const reset = coordination.finishReset('s', [at(0, 5)]);
    await disowned();
    const { generation } = await coordination.topology('s');
    const change = { eventType, partition: 0, state: 'assigned', streamId: 'stream', nextStreamId: null } as const;
    expect(await coordination.applyOwnership('s', generation, [change])).to.equal('conflict');
    await reset;
    await own('s', 'stream');
    expect(await coordination.commit('s', 'stream', [at(0, 6)])).to.deep.equal({
      outcome: 'committed',
      advanced: [true],
    });
  });

  it('lets no stream own and commit a partition while its subscription is being removed', async () => {
    await coordination.initialise('s', [at(0, 50)]);
    await own('s', 'stream');
    const removal = coordination.remove('s');
    await disowned();
    await coordination.openSession('s', session('late'));
    const { generation } = await coordination.topology('s');
    const change = { eventType, partition: 0, state: 'assigned', streamId: 'late', nextStreamId: null } as const;
    expect(await coordination.applyOwnership('s', generation, [change])).to.equal('conflict');
    await removal;
    await restart();
    expect(await coordination.committedOffsets('s')).to.deep.equal([]);
  });

  it('accepts a commit again that failed because too many were waiting', async () => {
    await coordination.initialise('s', [at(0, -1)]);
    await restart(1);
    await own('s', 'stream');
    const results = await Promise.allSettled(
      [0, 1, 2].map((offset) => coordination.commit('s', 'stream', [at(0, offset)])),
    );
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'rejected']);
    expect(await coordination.committedOffsets('s')).to.deep.equal([at(0, 0)]);
    expect(await coordination.commit('s', 'stream', [at(0, 1), at(0, 2)])).to.deep.equal({
      outcome: 'committed',
      advanced: [true, true],
    });
  });

  it('refuses a commit that could not be mirrored and keeps the offset', async () => {
    await coordination.initialise('s', [at(0, 4)]);
    await own('s', 'stream');
    const told: string[] = [];
    coordination.watch('s', (change) => told.push(change));
    await log.close();
    for (const result of await Promise.allSettled([
      coordination.commit('s', 'stream', [at(0, 5)]),
      coordination.commit('s', 'stream', [at(0, 5)]),
      coordination.commit('s', 'stream', [at(0, 6)]),
    ])) {
      expect(result.status).to.equal('rejected');
      expect((result as PromiseRejectedResult).reason).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    }
    expect(await coordination.committedOffsets('s')).to.deep.equal([at(0, 4)]);
    expect(told).to.deep.equal([]);
    const outdated = await coordination.commit('s', 'stream', [at(0, 4)]);
    expect(outdated).to.deep.equal({ outcome: 'committed', advanced: [false] });
  });

  it('fails to initialise, reset or remove when the mirror cannot be written', async () => {
    await coordination.initialise('s', [at(0, 4)]);
    await log.close();
    await coordination.beginReset('s');
    for (const attempt of [
      coordination.initialise('s', [at(1, 4)]),
      coordination.finishReset('s', [at(0, 1)]),
      coordination.remove('s'),
    ]) {
      const failure: unknown = await attempt.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    }
    expect(await coordination.committedOffsets('s')).to.deep.equal([at(0, 4)]);
    expect((await coordination.topology('s')).resetting, 'a failed reset is over').to.equal(false);
    await own('s', 'after a failed removal');
  });

  it('still counts failed deliveries after a reset that could not be stored', async () => {
    await coordination.initialise('s', [at(0, 4)]);
    await own('s', 'stream');
    const failed = { failuresMaximum: 3, partitions: [{ eventType, partition: 0, firstOffset: 5, throughOffset: 6 }] };
    await coordination.closeSession('s', 'stream', 'accepted', failed);
    await log.close();
    await coordination.beginReset('s');
    expect(await codeOf(coordination.finishReset('s', [at(0, 1)]))).to.equal('COORDINATION_UNAVAILABLE');
    expect((await coordination.topology('s')).partitions[0]?.failureRecord?.failures).to.equal(1);
  });

  it('rejects all calls once it is closed', async () => {
    await coordination.initialise('s', [at(0, 4)]);
    await coordination.close();
    const calls: Promise<unknown>[] = [
      coordination.claim('name', 1_000),
      coordination.releaseClaim('name'),
      coordination.renewLease('node', 1_000),
      coordination.reapSessions('s'),
      coordination.initialise('s', [at(1, 4)]),
      coordination.topology('s'),
      coordination.committedOffsets('s'),
      coordination.openSession('s', session('stream')),
      coordination.closeSession('s', 'stream'),
      coordination.applyOwnership('s', 1, []),
      coordination.release('s', 'stream', { eventType, partition: 0 }, 0),
      coordination.commit('s', 'stream', []),
      coordination.beginReset('s'),
      coordination.finishReset('s', []),
      coordination.recordHistory('s', { lastCommits: [], endedStreams: [] }),
      coordination.history('s'),
      coordination.remove('s'),
    ];
    for (const [index, call] of calls.entries()) {
      expect(await codeOf(call), `call ${index}`).to.equal('COORDINATION_UNAVAILABLE');
    }
  });

  it('keeps the start of a subscription that found the log full while it was being closed', async () => {
    let isFull = true;
    const appending = new EventEmitter();
    const filling = overriding<EventLog>(log, {
      append: async (appends) => {
        if (!isFull) return log.append(appends);
        appending.emit('attempt');
        await settled();
        isFull = false;
        throw new LendstreamError('LOG_FULL', 'Nothing was stored: the disk is full.');
      },
    });
    const closing = await EmbeddedCoordination.open({ log: filling, clock: systemClock, logger: silentLogger });
    const attempt = once(appending, 'attempt');
    const initialising = closing.initialise('late', [at(0, 8)]);
    await attempt;
    await closing.close();
    await initialising;
    await restart();
    expect(await coordination.committedOffsets('late')).to.deep.equal([at(0, 8)]);
  });
});

describe('embedded coordination and the time', () => {
  let temporary: TemporaryLog;
  let clock: SimulatedClock;
  let coordination: EmbeddedCoordination;

  beforeEach(async () => {
    temporary = await openTemporaryLog();
    clock = new SimulatedClock();
    coordination = await EmbeddedCoordination.open({ log: temporary.log, clock, logger: silentLogger });
    await coordination.initialise(
      's',
      [0, 1, 2].map((partition) => ({ eventType: 'timed', partition, offset: -1 })),
    );
  });
  afterEach(async () => {
    await coordination.close();
    await temporary.cleanup();
  });

  const join = async (nodeId: string): Promise<unknown> =>
    coordination.openSession('s', {
      streamId: `of ${nodeId}`,
      nodeId,
      requestedPartitions: [],
      openedAt: 0,
      commitTimeoutMilliseconds: 60_000,
    });
  const streams = async (): Promise<string[]> =>
    (await coordination.topology('s')).sessions.map(({ streamId }) => streamId);

  it('gives a claim to the next one when its time is over, and not before', async () => {
    expect(await coordination.claim('name', 400)).to.equal(true);
    await clock.turn(399);
    expect(await coordination.claim('name', 400)).to.equal(false);
    await clock.turn(1);
    expect(await coordination.claim('name', 400)).to.equal(true);
  });

  it('closes the session of a node when its lease is over, or if it never had one, and not before', async () => {
    await clock.turn(10);
    expect(await coordination.reapSessions('unknown')).to.equal(0);
    await coordination.renewLease('leased', 100);
    for (const node of ['leased', 'without a lease']) await join(node);
    await clock.turn(99);
    expect(await coordination.reapSessions('s')).to.equal(1);
    expect(await streams()).to.deep.equal(['of leased']);
    await clock.turn(1);
    expect(await coordination.reapSessions('s')).to.equal(1);
    expect(await streams()).to.deep.equal([]);
  });

  it('looks for dead nodes of watched subscriptions twice in the time within which a change must be seen', async () => {
    const milliseconds = missedChangesMillisecondsMaximum / 2;
    const changes: string[] = [];
    const stop = coordination.watch('s', (change) => changes.push(change));
    const stopOther = coordination.watch('s', () => undefined);
    await join('dead');
    changes.length = 0;
    await clock.turn(milliseconds - 1);
    expect(await streams()).to.deep.equal(['of dead']);
    await clock.turn(1);
    expect(await streams()).to.deep.equal([]);
    expect(changes).to.deep.equal(['topology']);
    stopOther();
    await join('next');
    expect(changes, 'the end of one watch leaves the others').to.deep.equal(['topology', 'topology']);
    await clock.turn(milliseconds);
    expect(await streams()).to.deep.equal([]);
    stop();
    await join('unwatched');
    await clock.turn(10 * milliseconds);
    expect(await streams()).to.deep.equal(['of unwatched']);
  });

  it('gives the nodes time to renew their leases after the machine slept, but not after a short delay', async () => {
    coordination.watch('s', () => undefined);
    await join('dead');
    // The sweep is due after half of the time.
    clock.jump(missedChangesMillisecondsMaximum + 1);
    await clock.turn(0);
    expect(await streams(), 'after a sleep').to.deep.equal(['of dead']);
    clock.jump(missedChangesMillisecondsMaximum);
    await clock.turn(0);
    expect(await streams(), 'after a delay').to.deep.equal([]);
  });

  it('knows no generation in which an unknown subscription could change its owners', async () => {
    expect(await coordination.applyOwnership('unknown', 0, [])).to.equal('conflict');
  });
});

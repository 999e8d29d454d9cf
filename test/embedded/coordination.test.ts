import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Session } from '../../src/ports/coordination.ts';
import { EmbeddedCoordination } from '../../src/embedded/coordination.ts';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { describeCoordination } from '../contracts/coordination.contract.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

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
  });

  it('rejects all calls once it is closed', async () => {
    await coordination.close();
    const failure: unknown = await coordination.topology('s').then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
  });
});

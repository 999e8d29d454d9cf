import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { Coordination, PartitionOwnership } from '../../src/ports/coordination.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { LendstreamError } from '../../src/errors.ts';
import { type Logger, silentLogger } from '../../src/logger.ts';
import { type LoopEnd, PartitionSharing, loanPartitionsId, planLoops } from '../../src/worker/partition-ownership.ts';
import { openCoordinationUnderTest, openLogUnderTest } from '../support/backend-under-test.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { overriding } from '../support/stepping-log.ts';
import { eventually } from '../support/eventually.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

describe('the plan of the loops', () => {
  const ownership = (state: PartitionOwnership['state'], streamId: string | null): PartitionOwnership => ({
    eventType: 'commands',
    partition: 0,
    state,
    streamId,
    nextStreamId: state === 'reassigning' ? 'next' : null,
    fence: 1,
  });
  const table: [string, PartitionOwnership, boolean, string][] = [
    ['assigned to this process', ownership('assigned', 'own'), true, 'nothing'],
    ['assigned to this process', ownership('assigned', 'own'), false, 'begin'],
    ['that is reassigned to another process', ownership('reassigning', 'own'), true, 'end'],
    ['that is reassigned to another process', ownership('reassigning', 'own'), false, 'release'],
    ['of another process', ownership('assigned', 'other'), true, 'end'],
    ['of another process', ownership('assigned', 'other'), false, 'nothing'],
    ['that is reassigned from another process', ownership('reassigning', 'other'), false, 'nothing'],
    ['without an owner', ownership('unassigned', null), true, 'end'],
    ['without an owner', ownership('unassigned', null), false, 'nothing'],
  ];
  for (const [what, partition, isRunning, expected] of table) {
    it(`is "${expected}" for a partition ${what} ${isRunning ? 'with' : 'without'} a loop`, () => {
      const plan = planLoops({ partitions: [partition] }, 'own', new Set(isRunning ? [0] : []));
      expect(plan).to.deep.equal({
        begin: expected === 'begin' ? [0] : [],
        end: expected === 'end' ? [0] : [],
        release: expected === 'release' ? [partition] : [],
      });
    });
  }

  it('ends every loop of a process without a session', () => {
    const partitions = [ownership('unassigned', null), { ...ownership('assigned', 'other'), partition: 1 }];
    const plan = planLoops({ partitions }, undefined, new Set([0, 1]));
    expect(plan).to.deep.equal({ begin: [], end: [0, 1], release: [] });
  });
});

describe('processes that share the loan partitions', () => {
  const partitionCount = 4;
  let folder: string;
  let log: EventLog;
  let coordination: Coordination;
  let running: WorkProcess[];
  /** How many processes work on each partition now, and the maximum so far. */
  let working: number[];
  let most: number;

  /** A process whose only work is to hold a partition. */
  interface WorkProcess {
    readonly sharing: PartitionSharing;
    readonly begun: number[];
    /** Ends the loop of a partition as another process's writer or the log does. */
    end(partition: number, reason: LoopEnd): void;
    /** Cuts off the access of the process to the coordination, as when it is suspended or the store is unreachable. */
    isCutOff: boolean;
    /** The number of its requests in that time. */
    refusals: number;
    /** How often it reached the coordination. */
    reached: number;
    /** How long its work takes to end. Milliseconds. */
    endingMilliseconds: number;
    /** The sessions that it closed. */
    readonly closed: string[];
    /** How many watches of the coordination it has. */
    watches: number;
  }

  async function startProcess(
    nodeId: string,
    {
      leaseMilliseconds = 3_600_000,
      isCutOff = false,
      clock = systemClock,
      logger = silentLogger,
      owned = Promise.resolve(),
    }: {
      leaseMilliseconds?: number;
      isCutOff?: boolean;
      clock?: Clock;
      logger?: Logger;
      /** Its work begins then. */
      owned?: Promise<void>;
    } = {},
  ): Promise<WorkProcess> {
    await coordination.renewLease(nodeId, leaseMilliseconds);
    const ends = new Map<number, (reason: LoopEnd) => void>();
    const process: WorkProcess = {
      sharing: new PartitionSharing({
        coordination: coordinationOf(() => process),
        nodeId,
        partitionCount,
        clock,
        logger,
        runPartition: async (partition, signal, onOwned) => {
          process.begun.push(partition);
          working[partition] = (working[partition] ?? 0) + 1;
          most = Math.max(most, working[partition] ?? 0);
          void owned.then(onOwned);
          const reason = await new Promise<LoopEnd>((resolve) => {
            ends.set(partition, resolve);
            signal.addEventListener('abort', () => setTimeout(() => resolve('stopped'), process.endingMilliseconds));
          });
          working[partition] = (working[partition] ?? 0) - 1;
          return reason;
        },
      }),
      begun: [],
      end: (partition, reason) => ends.get(partition)?.(reason),
      isCutOff,
      refusals: 0,
      reached: 0,
      endingMilliseconds: 0,
      closed: [],
      watches: 0,
    };
    running.push(process);
    await process.sharing.start();
    return process;
  }

  /** The coordination as a process reaches it. */
  function coordinationOf(process: () => WorkProcess): Coordination {
    const reach = (): void => {
      if (process().isCutOff) process().refusals += 1;
      else process().reached += 1;
      if (process().isCutOff) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Out of reach.');
    };
    return overriding<Coordination>(coordination, {
      reapSessions: async (id) => {
        reach();
        return coordination.reapSessions(id);
      },
      closeSession: async (id, streamId) => {
        reach();
        process().closed.push(streamId);
        return coordination.closeSession(id, streamId);
      },
      watch: (id, listener) => {
        process().watches += 1;
        const unwatch = coordination.watch(id, listener);
        return () => {
          process().watches -= 1;
          unwatch();
        };
      },
    });
  }

  const count = (process: WorkProcess): number => process.sharing.partitions.length;
  const isShared = (...counts: [WorkProcess, number][]): boolean =>
    counts.every(([process, expected]) => count(process) === expected) && working.every((number) => number === 1);

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
    coordination = await openCoordinationUnderTest(folder, log);
    running = [];
    working = Array.from({ length: partitionCount }, () => 0);
    most = 0;
  });

  afterEach(async () => {
    for (const process of running) process.isCutOff = false;
    await Promise.all(running.map(({ sharing }) => sharing.stop()));
    await coordination.close();
    await log.close();
    await removeFolder(folder);
  });

  it('give all partitions to the first process before its start returns', async () => {
    const only = await startProcess('only');
    expect(only.sharing.partitions).to.deep.equal([0, 1, 2, 3]);
    // The changelog has the position of a partition. The offset here never moves.
    const offsets = (await coordination.committedOffsets(loanPartitionsId)).map(({ offset }) => offset);
    expect(offsets).to.deep.equal([-1, -1, -1, -1]);
  });

  it('have started when the work on each partition has begun, or has ended before that', async () => {
    let begin = (): void => {};
    const owned = new Promise<void>((resolve) => (begin = resolve));
    let hasStarted = false;
    const starting = startProcess('only', { owned }).then(() => (hasStarted = true));
    await eventually(() => running[0]?.begun.length === partitionCount);
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasStarted).to.equal(false);
    begin();
    await starting;
    await running[0]?.sharing.stop();

    const failing = startProcess('other', { owned: new Promise(() => {}) });
    await eventually(() => running[1]?.begun.length === partitionCount);
    for (let partition = 0; partition < partitionCount; partition += 1) running[1]?.end(partition, 'log_closed');
    expect(count(await failing)).to.equal(0);
  });

  it('look for changes every two seconds, and again a second after they failed to', async () => {
    const clock = new SimulatedClock();
    const waits = (milliseconds: number): Promise<void> =>
      eventually(() => clock.nextDeadline() - clock.monotonic() === milliseconds);
    const only = await startProcess('only', { clock });
    await waits(2_000);
    only.isCutOff = true;
    for (const refusals of [1, 2]) {
      await clock.turn(clock.nextDeadline() - clock.monotonic());
      await waits(1_000);
      expect(only.refusals).to.equal(refusals);
    }
    only.isCutOff = false;
    await clock.turn(1_000);
    await waits(2_000);
    await only.sharing.stop();
    expect([clock.nextDeadline(), only.watches]).to.deep.equal([Infinity, 0]);
  });

  it('have equal shares, and none begins with a partition before the other has ended it', async () => {
    const first = await startProcess('first');
    first.endingMilliseconds = 30;
    const second = await startProcess('second');
    await eventually(() => isShared([first, 2], [second, 2]));
    const third = await startProcess('third');
    await eventually(() => count(third) === 1 && isShared());
    expect(most).to.equal(1);
  });

  it('hand all partitions over immediately when one stops', async () => {
    // The clock stands still: the others learn of it by the notification, not by checking every few seconds.
    const clock = new SimulatedClock();
    const first = await startProcess('first', { clock });
    const second = await startProcess('second', { clock });
    await eventually(() => isShared([first, 2], [second, 2]));
    await first.sharing.stop();
    await eventually(() => isShared([first, 0], [second, 4]));
    expect(most).to.equal(1);
  });

  it('hand a partition over only when its work has ended', async () => {
    const first = await startProcess('first');
    const second = await startProcess('second');
    await eventually(() => isShared([first, 2], [second, 2]));
    first.endingMilliseconds = 30;
    await first.sharing.stop();
    await eventually(() => isShared([first, 0], [second, 4]));
    expect(most).to.equal(1);
  });

  it('leave a process without a partition waiting, which takes over when another one stops', async () => {
    const owners: WorkProcess[] = [];
    for (const name of ['a', 'b', 'c', 'd']) owners.push(await startProcess(name));
    await eventually(() => owners.every((owner) => count(owner) === 1));
    const messages: string[] = [];
    const logger: Logger = checkedLogger({ info: (_, message) => void messages.push(message) });
    const clock = new SimulatedClock();
    const surplus = await startProcess('surplus', { clock, logger });
    expect(count(surplus)).to.equal(0);
    const onStandby = ['Every loan partition has a process; this one is on standby'];
    expect(messages).to.deep.equal(onStandby);
    const reached = surplus.reached;
    await eventually(() => clock.nextDeadline() === 2_000);
    await clock.turn(2_000);
    await eventually(() => surplus.reached > reached && clock.nextDeadline() === 4_000);
    expect(messages, 'once').to.deep.equal(onStandby);
    const spareClock = new SimulatedClock();
    const spare = await startProcess('spare', { clock: spareClock });
    await eventually(() => spareClock.nextDeadline() < Infinity);
    await spare.sharing.stop();
    await owners[1]?.sharing.stop();
    await eventually(() => count(surplus) === 1 && isShared());
    expect(most).to.equal(1);
  });

  it('take over the partitions of a dead process as soon as its lease has expired', async () => {
    const dead = await startProcess('dead');
    const heir = await startProcess('heir');
    await eventually(() => isShared([dead, 2], [heir, 2]));
    dead.isCutOff = true;
    // Shortened only now: a lease of this length from the start may expire before the partitions are shared.
    await coordination.renewLease('dead', 300);
    await eventually(() => count(heir) === 4);
    // The dead process is a suspended one here: it finds out when it resumes.
    dead.isCutOff = false;
    await coordination.renewLease('dead', 3_600_000);
    await eventually(() => isShared([dead, 2], [heir, 2]));
  });

  it('keep their partitions while the coordination is unreachable, and afterwards', async () => {
    const first = await startProcess('first');
    const second = await startProcess('second');
    await eventually(() => isShared([first, 2], [second, 2]));
    first.isCutOff = second.isCutOff = true;
    await eventually(() => first.refusals > 0 && second.refusals > 0);
    expect(isShared([first, 2], [second, 2])).to.equal(true);
    first.isCutOff = second.isCutOff = false;
    const third = await startProcess('third');
    await eventually(() => count(third) === 1 && isShared());
  });

  it('request their partitions again, without releasing them, when the coordination has lost everything', async () => {
    const only = await startProcess('only');
    await coordination.remove(loanPartitionsId);
    await eventually(async () => {
      const { partitions } = await coordination.topology(loanPartitionsId);
      return partitions.length === 4 && partitions.every(({ state }) => state === 'assigned');
    });
    expect(only.begun).to.have.length(4);
    expect(isShared([only, 4])).to.equal(true);
  });

  it('open another session a second after the last one was opened, and at once when that is over', async () => {
    const clock = new SimulatedClock();
    const only = await startProcess('only', { clock });
    const openSessions = async (): Promise<string[]> =>
      (await coordination.topology(loanPartitionsId)).sessions.map(({ streamId }) => streamId);
    const [first = ''] = await openSessions();
    await coordination.closeSession(loanPartitionsId, first);
    await eventually(() => clock.nextDeadline() === 1_000);
    await clock.turn(999);
    expect(await openSessions()).to.deep.equal([]);
    await clock.turn(1);
    await eventually(() => isShared([only, 4]));
    const [second = ''] = await openSessions();
    expect(second).not.to.equal(first);
    // A store that recovers lost data does not bring it back.
    expect(only.closed).to.deep.equal([first]);
    await clock.turn(1_000);
    await coordination.closeSession(loanPartitionsId, second);
    await eventually(async () => {
      const now = await openSessions();
      return now.length === 1 && now[0] !== second;
    });
    await eventually(() => isShared([only, 4]));
  });

  it('log an outage of the coordination once, however often they try', async () => {
    const warnings: string[] = [];
    const logger: Logger = checkedLogger({ warn: (_, message) => void warnings.push(message) });
    const clock = new SimulatedClock();
    const only = await startProcess('only', { logger, clock });
    for (let outage = 1; outage <= 2; outage += 1) {
      only.isCutOff = true;
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        await eventually(() => clock.nextDeadline() < Infinity);
        await clock.turn(60_000);
        await eventually(() => only.refusals >= 3 * (outage - 1) + attempt);
      }
      only.isCutOff = false;
      const reached = only.reached;
      await eventually(() => clock.nextDeadline() < Infinity);
      await clock.turn(60_000);
      await eventually(() => only.reached > reached && clock.nextDeadline() < Infinity);
      expect(warnings.filter((message) => message.includes('Sharing the loan partitions failed'))).to.have.length(
        outage,
      );
    }
  });

  it('begin again, after a pause, with an own partition although a newer owner fenced it off', async () => {
    const clock = new SimulatedClock();
    const only = await startProcess('only', { clock });
    only.end(2, 'taken_over');
    await eventually(() => count(only) === 3 && clock.nextDeadline() === 1_000);
    await clock.turn(999);
    expect(only.begun).to.deep.equal([0, 1, 2, 3]);
    await clock.turn(1);
    await eventually(() => isShared([only, 4]));
    expect(only.begun).to.deep.equal([0, 1, 2, 3, 2]);
    expect(only.sharing.partitions).to.deep.equal([0, 1, 2, 3]);
    await eventually(() => clock.nextDeadline() === 3_000);
  });

  it('do not begin again when the log was closed', async () => {
    const clock = new SimulatedClock();
    const only = await startProcess('only', { clock });
    only.end(2, 'log_closed');
    await eventually(() => count(only) === 3);
    await clock.turn(60_000);
    expect(only.begun).to.have.length(4);
  });

  it('do not retry without a pause when their lease is not renewed', async () => {
    const only = await startProcess('only', { leaseMilliseconds: 20 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    let asked = 0;
    const stop = coordination.watch(loanPartitionsId, () => (asked += 1));
    await coordination.reapSessions(loanPartitionsId);
    await new Promise((resolve) => setTimeout(resolve, 300));
    stop();
    expect(asked).to.be.lessThan(10);
    expect(count(only)).to.equal(4);
  });

  it('do not start when the coordination is unreachable', async () => {
    const failure = await startProcess('late', { isCutOff: true }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    expect(running[0]?.watches).to.equal(0);
    expect(working.every((number) => number === 0)).to.equal(true);
  });
});

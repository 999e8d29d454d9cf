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
  }

  async function startProcess(
    nodeId: string,
    {
      leaseMilliseconds = 3_600_000,
      isCutOff = false,
      clock = systemClock,
      logger = silentLogger,
    }: { leaseMilliseconds?: number; isCutOff?: boolean; clock?: Clock; logger?: Logger } = {},
  ): Promise<WorkProcess> {
    await coordination.renewLease(nodeId, leaseMilliseconds);
    const ends = new Map<number, (reason: LoopEnd) => void>();
    const process: WorkProcess = {
      sharing: new PartitionSharing({
        coordination: cuttable(() => {
          if (process.isCutOff) process.refusals += 1;
          else process.reached += 1;
          return process.isCutOff;
        }),
        nodeId,
        partitionCount,
        clock,
        logger,
        runPartition: async (partition, signal, onOwned) => {
          process.begun.push(partition);
          working[partition] = (working[partition] ?? 0) + 1;
          most = Math.max(most, working[partition] ?? 0);
          onOwned();
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
    };
    running.push(process);
    await process.sharing.start();
    return process;
  }

  function cuttable(isCutOff: () => boolean): Coordination {
    const refuse = (): void => {
      if (isCutOff()) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Out of reach.');
    };
    return overriding<Coordination>(coordination, {
      reapSessions: async (id) => {
        refuse();
        return coordination.reapSessions(id);
      },
      closeSession: async (id, streamId) => {
        refuse();
        return coordination.closeSession(id, streamId);
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

  it('leave a process without a partition waiting, which takes over when another one stops', async () => {
    const owners: WorkProcess[] = [];
    for (const name of ['a', 'b', 'c', 'd']) owners.push(await startProcess(name));
    await eventually(() => owners.every((owner) => count(owner) === 1));
    const surplus = await startProcess('surplus');
    expect(count(surplus)).to.equal(0);
    await owners[1]?.sharing.stop();
    await eventually(() => count(surplus) === 1 && isShared());
    expect(most).to.equal(1);
  });

  it('take over the partitions of a dead process as soon as its lease has expired', async () => {
    const dead = await startProcess('dead', { leaseMilliseconds: 300 });
    const heir = await startProcess('heir');
    await eventually(() => isShared([dead, 2], [heir, 2]));
    dead.isCutOff = true;
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
    const logger: Logger = { ...silentLogger, warn: (_, message) => void warnings.push(message) };
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
    expect(working.every((number) => number === 0)).to.equal(true);
  });
});

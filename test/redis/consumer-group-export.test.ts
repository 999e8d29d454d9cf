import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { createCursorsTopic, mirrorRecord, writeMirror } from '../../src/broker/log/cursors-topic.ts';
import { systemClock } from '../../src/clock.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import {
  GroupExport,
  renewalCheckIntervalMilliseconds,
  renewalClaimMilliseconds,
} from '../../src/redis/consumer-group-export.ts';
import { loanPartitionsId } from '../../src/worker/partition-ownership.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import { openPartOfEmbeddedLog } from '../support/shared-embedded-log.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

describe('the positions exported for lag tools', () => {
  it('are those of subscriptions, not of the partitions that the service divides among its own processes', async () => {
    const log = await openPartOfEmbeddedLog();
    await log.createTopic({
      name: 'orders',
      partitionCount: 1,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 3_600_000,
    });
    const groups = new GroupExport({
      log,
      clock: new SimulatedClock(),
      logger: silentLogger,
      claimRenewal: async () => false,
      releaseRenewal: async () => undefined,
    });
    const committed = { eventType: 'orders', partition: 0, offset: 4 };
    groups.add('subscription', 'orders:0', committed);
    groups.add(loanPartitionsId, 'orders:0', committed);
    await groups.close();
    expect(await log.groupOffsets('subscription')).to.deep.equal([{ topic: 'orders', partition: 0, offset: 5 }]);
    expect(await log.groupOffsets(loanPartitionsId)).to.deep.equal([]);
    await log.close();
  });

  describe('when the log refuses them', () => {
    let log: EventLog;
    let failure: LendstreamError | undefined;
    let exported: string[];
    let warnings: string[];
    let groups: GroupExport;
    let clock: SimulatedClock;
    let claim: Promise<boolean>;
    let released: number;

    beforeEach(async () => {
      clock = new SimulatedClock();
      [claim, released] = [Promise.resolve(false), 0];
      log = await openPartOfEmbeddedLog();
      failure = new LendstreamError('LOG_UNAVAILABLE', 'Later.');
      [exported, warnings] = [[], []];
      const onLog = overriding<EventLog>(log, {
        exportGroupOffsets: (group, positions) => {
          // A commit that arrives while the export is under way.
          if (group === 'busy' && exported.length === 0) groups.add('busy', 'orders:0', at(9));
          exported.push(`${group} ${positions.map(({ partition, offset }) => `${partition}:${offset}`).join(' ')}`);
          return failure === undefined ? Promise.resolve() : Promise.reject(failure);
        },
      });
      groups = new GroupExport({
        log: onLog,
        clock,
        logger: checkedLogger({ warn: (_, message) => void warnings.push(message) }),
        claimRenewal: () => claim,
        releaseRenewal: async () => void (released += 1),
      });
    });

    afterEach(() => log.close());

    const at = (offset: number, partition = 0) => ({ eventType: 'orders', partition, offset });

    it('are exported again with the next ones, the newest of each partition, and one line is logged', async () => {
      groups.add('busy', 'orders:0', at(4));
      groups.add('busy', 'orders:1', at(7, 1));
      await groups.export();
      await groups.export();
      failure = undefined;
      await groups.export();
      await groups.export();
      expect(exported).to.deep.equal(['busy 0:5 1:8', 'busy 0:10 1:8', 'busy 0:10 1:8']);
      expect(warnings).to.have.length(1);
      failure = new LendstreamError('LOG_UNAVAILABLE', 'Again.');
      groups.add('other', 'orders:0', at(1));
      await groups.export();
      expect(warnings).to.have.length(2);
    });

    it('are exported for eight groups at once, and for the next one when one of them is done', async () => {
      const begun: string[] = [];
      const ends: (() => void)[] = [];
      const held = overriding<EventLog>(log, {
        exportGroupOffsets: (group) => {
          begun.push(group);
          return new Promise((resolve) => ends.push(resolve));
        },
      });
      const many = new GroupExport({
        log: held,
        clock,
        logger: silentLogger,
        claimRenewal: () => claim,
        releaseRenewal: () => Promise.resolve(),
      });
      const names = Array.from({ length: 10 }, (_, index) => `group-${index}`);
      for (const name of names) many.add(name, 'orders:0', at(4));
      const exporting = many.export();
      await clock.turn(0);
      expect(begun).to.deep.equal(names.slice(0, 8));
      ends[3]?.();
      await clock.turn(0);
      expect(begun).to.deep.equal(names.slice(0, 9));
      for (let index = 0; index < names.length; index += 1) {
        ends[index]?.();
        await clock.turn(0);
      }
      await exporting;
      expect(begun).to.deep.equal(names);
    });

    it('are exported every five seconds', async () => {
      failure = undefined;
      groups.start();
      groups.add('subscription', 'orders:0', at(4));
      await clock.turn(4_999);
      expect(exported).to.deep.equal([]);
      await clock.turn(1);
      expect(exported).to.deep.equal(['subscription 0:5']);
      groups.add('subscription', 'orders:0', at(5));
      await clock.turn(5_000);
      expect(exported.slice(1)).to.deep.equal(['subscription 0:6']);
      await groups.close();
      expect(clock.nextDeadline()).to.equal(Infinity);
    });

    it('are renewed from the mirror, unless a newer one waits to be exported', async () => {
      await createCursorsTopic(log, systemClock);
      const records = [at(2), at(3, 1)].map(({ offset, ...partition }) => mirrorRecord('s', partition, offset, 1));
      await writeMirror(log, [...records, mirrorRecord('other', at(0), 7, 1)]);
      failure = undefined;
      claim = Promise.resolve(true);
      groups.add('s', 'orders:0', at(4));
      groups.start();
      await groups.close();
      expect(exported).to.have.members(['s 0:5 1:4', 'other 0:8']);
      expect([released, warnings]).to.deep.equal([0, []]);
    });

    it('are not renewed when the claim fails, which is logged unless the process is about to end', async () => {
      failure = undefined;
      claim = Promise.reject(new Error('Out of reach'));
      groups.start();
      await clock.turn(0);
      expect(warnings).to.have.length(1);
      let fail: (error: Error) => void = () => {};
      claim = new Promise((_, reject) => (fail = reject));
      await clock.turn(renewalCheckIntervalMilliseconds);
      const closing = groups.close();
      fail(new Error('Still out of reach'));
      await closing;
      expect(warnings).to.have.length(1);
      expect(released, 'it never had the claim').to.equal(0);
    });

    it('are not exported again where that would fail for ever, nor for a subscription that was removed', async () => {
      failure = new LendstreamError('UNPROCESSABLE', 'No group of this name.');
      groups.add('subscription', 'orders:0', at(4));
      await groups.export();
      failure = undefined;
      groups.add('removed', 'orders:0', at(4));
      groups.forget('removed');
      await groups.close();
      expect(exported).to.deep.equal(['subscription 0:5']);
    });
  });
});

const minute = 60_000;
const hour = 60 * minute;

describe('the renewal of consumer groups without commits', function () {
  this.timeout(30_000);
  let server: RedisServer;
  let harness: RedisHarness;
  let exports: number;
  let asked: number;
  let isUnreadable: boolean;
  let processes: GroupExport[];
  let start: () => Promise<void>;
  let pass: (milliseconds: number) => Promise<void>;

  beforeEach(async () => {
    server = await startRedisServer();
    harness = await openRedisHarness(server.url);
    const coordination = await harness.open();
    await coordination.initialise('subscription', [{ eventType: 'orders', partition: 0, offset: 6 }]);
    [exports, asked, isUnreadable, processes] = [0, 0, false, []];
    const log = overriding<EventLog>(harness.log, {
      bounds: (partitions) => {
        if (isUnreadable) throw new LendstreamError('LOG_UNAVAILABLE', 'Nobody answers.');
        return harness.log.bounds(partitions);
      },
      exportGroupOffsets: (group, positions) => {
        expect([group, positions]).to.deep.equal(['subscription', [{ topic: 'orders', partition: 0, offset: 7 }]]);
        exports += 1;
        return Promise.resolve();
      },
    });
    const clock = new SimulatedClock();
    let [answered, granted, failed, released] = [0, 0, 0, 0];
    start = async () => {
      const groups = new GroupExport({
        log,
        clock,
        logger: checkedLogger({ warn: () => (failed += 1) }),
        claimRenewal: async () => {
          asked += 1;
          const isGranted = await coordination.claim('renewal-under-test', renewalClaimMilliseconds);
          answered += 1;
          if (isGranted) granted += 1;
          return isGranted;
        },
        releaseRenewal: async () => {
          await coordination.releaseClaim('renewal-under-test');
          released += 1;
        },
      });
      processes.push(groups);
      groups.start();
      await waitUntilIdle();
    };
    /** Lets every request get its response, and the granted work finish. */
    const waitUntilIdle = async (): Promise<void> => {
      await eventually(async () => {
        for (const groups of processes) await groups.export();
        return answered === asked && exports + failed === granted && released === failed;
      });
    };
    pass = async (milliseconds) => {
      await harness.elapse(milliseconds);
      await clock.turn(milliseconds);
      await waitUntilIdle();
    };
  });

  afterEach(async () => {
    for (const groups of processes) await groups.close();
    await harness.close();
    await server.stop();
  });

  it('is done at the start of the first process, by one of all, and again twelve hours later at the latest', async () => {
    expect(renewalClaimMilliseconds + renewalCheckIntervalMilliseconds).to.equal(12 * hour);
    await start();
    await start();
    expect(exports).to.equal(1);
    // The last check but one comes a minute before the claim expires: no period is longer.
    await pass(hour - minute);
    for (let hours = 1; hours <= 10; hours += 1) {
      await pass(hour);
      expect(exports, `${hours} hours and 59 minutes after it`).to.equal(1);
    }
    await pass(hour);
    expect(exports).to.equal(2);
    expect(asked).to.equal(2 * (1 + 11));
  });

  it('is done by a process that restarts repeatedly, though it never runs for an hour', async () => {
    for (let starts = 0; starts < 25; starts += 1) {
      await start();
      await pass(hour / 2);
      await processes.pop()?.close();
    }
    // At the start, and after eleven hours.
    expect(exports).to.equal(2);
  });

  it('is retried an hour later when the log could not be read', async () => {
    isUnreadable = true;
    await start();
    expect(exports).to.equal(0);
    isUnreadable = false;
    await pass(hour);
    expect(exports).to.equal(1);
  });
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Health } from '../../src/health.ts';
import { eventually } from '../support/eventually.ts';
import { appendTo, records } from '../support/log-reading.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { watchThreads, type StartedThreads } from '../support/started-threads.ts';
import { openTemporaryLog, type TemporaryLog } from '../support/temporary-log.ts';

const where = { topic: 'orders', partition: 0 };

const maintenance = 'thread/removable-records.js';

describe('the thread that maintains the log', () => {
  let clock: SimulatedClock;
  let health: Health;
  let threads: StartedThreads;
  let temporary: TemporaryLog;

  beforeEach(async () => {
    threads = watchThreads();
    clock = new SimulatedClock();
    health = new Health(clock);
    temporary = await openTemporaryLog({ clock, health, maintenanceMilliseconds: 3_600_000 });
    await temporary.log.createTopic({
      name: where.topic,
      partitionCount: 1,
      cleanupPolicy: 'delete',
      retentionMilliseconds: Infinity,
    });
  });

  afterEach(async () => {
    await temporary.cleanup();
    threads.stop();
  });

  const countOf = (script: string, request: string): number =>
    threads.requests(script).filter((name) => name === request).length;

  const checkpoints = (): number => countOf(maintenance, 'checkpoint');

  /** Lets a second pass. A request to each thread then waits for the requests before it. */
  async function second(): Promise<void> {
    await clock.turn(1_000);
    await temporary.log.runRetention();
  }

  it('starts its thread again when it ended, for one checkpoint at a time', async () => {
    await appendTo(temporary.log, where, records('one'));
    await second();
    await threads.end(maintenance);
    expect(health.notReadyReasons().join()).to.include('restarting it');
    await clock.turn(2_000);
    await eventually(() => health.notReadyReasons().length === 0);
    await temporary.log.runRetention();
    expect(threads.count(maintenance)).to.equal(2);
    expect(checkpoints()).to.equal(2);
  });

  it('leaves one file and no timer when the log is closed', async () => {
    await appendTo(temporary.log, where, records('one'));
    await temporary.log.exportGroupOffsets('group', [{ ...where, offset: 1 }]);
    await second();
    await temporary.log.close();
    expect(clock.nextDeadline()).to.equal(Infinity);
    expect(existsSync(join(temporary.dataFolder, 'log.db-wal'))).to.equal(false);
    expect(threads.requests(maintenance).at(-1)).to.equal('close');
  });
});

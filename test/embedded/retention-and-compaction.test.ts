import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { Health } from '../../src/health.ts';
import { appendTo, records } from '../support/log-reading.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { watchThreads, type StartedThreads } from '../support/started-threads.ts';
import { openTemporaryLog, type TemporaryLog } from '../support/temporary-log.ts';

const where = { topic: 'orders', partition: 0 };

const writer = 'thread/writer.js';

describe('retention of records', () => {
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

  it('writes nothing when retention finds nothing to remove', async () => {
    await appendTo(temporary.log, where, records('one'));
    const before = threads.requests(writer);
    await temporary.log.runRetention();
    expect(threads.requests(writer)).to.deep.equal([...before, 'beginMaintenance', 'shrinkFile']);
  });
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { appendTo, keyed, records } from '../support/log-reading.ts';
import { maintenanceMilliseconds, openWatchedLog, orders, scripts, type WatchedLog } from './watched-log.ts';

describe('the removal of records', () => {
  let watched: WatchedLog;

  beforeEach(async () => {
    watched = await openWatchedLog();
  });

  afterEach(() => watched.cleanup());

  it('writes nothing when retention finds nothing to remove', async () => {
    await appendTo(watched.log, orders, records('one'));
    const before = watched.threads.requests(scripts.writer);
    await watched.log.runRetention();
    expect(watched.threads.requests(scripts.writer)).to.deep.equal([...before, 'beginMaintenance', 'shrinkFile']);
  });

  it('compacts a partition when 10,000 records were added, and at least as many as the last time were kept', async () => {
    const states = { topic: 'states', partition: 0 };
    await watched.log.createTopic({
      name: states.topic,
      partitionCount: 1,
      cleanupPolicy: 'compact',
      retentionMilliseconds: 0,
    });
    let added = 0;
    const add = (count: number): Promise<number> =>
      appendTo(
        watched.log,
        states,
        Array.from({ length: count }, () => keyed(`${(added += 1)}`, 'x')),
      );
    const compactions = async (): Promise<number> => {
      await watched.clock.turn(maintenanceMilliseconds);
      // One task runs at a time, so this waits for the one before.
      await watched.log.runRetention();
      return watched.requestCount(scripts.maintenance, 'beginCompaction');
    };
    await add(9_999);
    expect(await compactions()).to.equal(0);
    await add(1);
    expect(await compactions()).to.equal(1);
    await add(10_001);
    expect(await compactions()).to.equal(2);
    await add(20_000);
    expect(await compactions(), 'fewer than the 20,001 that were kept').to.equal(2);
    await add(1);
    expect(await compactions()).to.equal(3);
  });
});

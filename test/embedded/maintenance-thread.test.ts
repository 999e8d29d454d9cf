import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { appendTo, records } from '../support/log-reading.ts';
import { openWatchedLog, orders, scripts, type WatchedLog } from './watched-log.ts';

describe('the thread that maintains the log', () => {
  let watched: WatchedLog;

  beforeEach(async () => {
    watched = await openWatchedLog();
  });

  afterEach(() => watched.cleanup());

  it('starts its thread again when it ended, for one checkpoint at a time', async () => {
    await appendTo(watched.log, orders, records('one'));
    await watched.second();
    await watched.threads.end(scripts.maintenance);
    expect(watched.health.notReadyReasons().join()).to.include('restarting it');
    await watched.clock.turn(2_000);
    await eventually(() => watched.health.notReadyReasons().length === 0);
    await watched.log.runRetention();
    expect(watched.threads.count(scripts.maintenance)).to.equal(2);
    expect(watched.requestCount(scripts.maintenance, 'checkpoint')).to.equal(2);
  });

  it('leaves one file and no timer when the log is closed', async () => {
    await appendTo(watched.log, orders, records('one'));
    await watched.log.exportGroupOffsets('group', [{ ...orders, offset: 1 }]);
    await watched.second();
    await watched.log.close();
    expect(watched.clock.nextDeadline()).to.equal(Infinity);
    expect(existsSync(join(watched.dataFolder, 'log.db-wal'))).to.equal(false);
    expect(watched.threads.requests(scripts.maintenance).at(-1)).to.equal('close');
  });
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { appendTo, records } from '../support/log-reading.ts';
import { openWatchedLog, orders, scripts, type WatchedLog } from './watched-log.ts';

describe('retention of records', () => {
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
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { join } from 'node:path';
import { openDatabase } from '../../src/sqlite.ts';
import { appendTo, records } from '../support/log-reading.ts';
import { openWatchedLog, orders, scripts, type WatchedLog } from './watched-log.ts';
import { incompressible } from '../support/values/incompressible.ts';

const mebibyte = 1024 * 1024;

describe('the write-ahead log', () => {
  let watched: WatchedLog;

  beforeEach(async () => {
    watched = await openWatchedLog();
  });

  afterEach(() => watched.cleanup());

  const checkpoints = (): number => watched.requestCount(scripts.maintenance, 'checkpoint');
  const restarts = (): number => watched.requestCount(scripts.writer, 'restartWal');

  it('copies the write-ahead log a second after something was written, and not again without a write', async () => {
    await watched.second();
    expect(checkpoints()).to.equal(0);
    await appendTo(watched.log, orders, records('one'));
    await watched.clock.turn(999);
    expect(checkpoints()).to.equal(0);
    await watched.clock.turn(1);
    await watched.log.runRetention();
    expect(checkpoints()).to.equal(1);
    await watched.second();
    expect(checkpoints()).to.equal(1);
    expect(restarts(), 'of a small one').to.equal(0);
  });

  it('restarts a large write-ahead log, and tries again ten seconds later when a backup reads it', async () => {
    const backup = openDatabase(join(watched.dataFolder, 'log.db'), { readOnly: true });
    const read = (): unknown => backup.prepare('SELECT count(*) FROM batch').get();
    backup.exec('BEGIN');
    read();
    const value = incompressible(8 * mebibyte);
    for (let count = 0; count < 9; count += 1) await appendTo(watched.log, orders, [{ key: null, value }]);
    for (let passed = 1; passed <= 10; passed += 1) {
      await watched.second();
      expect([checkpoints(), restarts()]).to.deep.equal([passed, 1]);
    }
    // Closing alone leaves the snapshot open until the statements of the connection are collected.
    backup.exec('ROLLBACK');
    backup.close();
    await watched.second();
    expect([checkpoints(), restarts()]).to.deep.equal([11, 2]);
    await watched.second();
    expect(checkpoints(), 'after a restart').to.equal(11);
  });
});

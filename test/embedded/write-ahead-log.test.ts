import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { join } from 'node:path';
import { Health } from '../../src/health.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { appendTo, records } from '../support/log-reading.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { watchThreads, type StartedThreads } from '../support/started-threads.ts';
import { openTemporaryLog, type TemporaryLog } from '../support/temporary-log.ts';

const where = { topic: 'orders', partition: 0 };

const mebibyte = 1024 * 1024;

const [maintenance, writer] = ['thread/removable-records.js', 'thread/writer.js'];

describe('the write-ahead log', () => {
  let clock: SimulatedClock;
  let health: Health;
  let threads: StartedThreads;
  let temporary: TemporaryLog;

  beforeEach(async () => {
    threads = watchThreads();
    clock = new SimulatedClock();
    health = new Health(clock);
    temporary = await openTemporaryLog({
      clock,
      health,
      maintenanceMilliseconds: 3_600_000,
      firstCheckMilliseconds: 3_600_000,
    });
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
  const restarts = (): number => countOf(writer, 'restartWal');

  /** Lets a second pass. A request to each thread then waits for the requests before it. */
  async function second(): Promise<void> {
    await clock.turn(1_000);
    await temporary.log.runRetention();
  }

  it('copies the write-ahead log a second after something was written, and not again without a write', async () => {
    await second();
    expect(checkpoints()).to.equal(0);
    await appendTo(temporary.log, where, records('one'));
    await clock.turn(999);
    expect(checkpoints()).to.equal(0);
    await clock.turn(1);
    await temporary.log.runRetention();
    expect(checkpoints()).to.equal(1);
    await second();
    expect(checkpoints()).to.equal(1);
    expect(restarts(), 'of a small one').to.equal(0);
  });

  it('restarts a large write-ahead log, and tries again ten seconds later when a backup reads it', async () => {
    const backup = openDatabase(join(temporary.dataFolder, 'log.db'), { readOnly: true });
    const read = (): unknown => backup.prepare('SELECT count(*) FROM batch').get();
    backup.exec('BEGIN');
    read();
    const value = Buffer.alloc(8 * mebibyte, 'x');
    for (let count = 0; count < 9; count += 1) await appendTo(temporary.log, where, [{ key: null, value }]);
    for (let passed = 1; passed <= 10; passed += 1) {
      await second();
      expect([checkpoints(), restarts()]).to.deep.equal([passed, 1]);
    }
    backup.close();
    await second();
    expect([checkpoints(), restarts()]).to.deep.equal([11, 2]);
    await second();
    expect(checkpoints(), 'after a restart').to.equal(11);
  });
});

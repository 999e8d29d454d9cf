import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { EmbeddedCoordination } from '../../src/embedded/coordination.ts';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { Health } from '../../src/health.ts';
import { silentLogger } from '../../src/logger.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { appendTo, codeOf, readAll, records } from '../support/log-reading.ts';
import { eventually } from '../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts';
import { incompressible } from '../support/values/incompressible.ts';

const where = { topic: 'orders', partition: 0 };
const mebibyte = 1024 * 1024;

describe('the storage of the embedded log', () => {
  let folder: string;
  let health: Health;
  let log: EmbeddedLog;

  const valuesIn = async (): Promise<unknown[]> => (await readAll(log, where)).map(({ value }) => value);
  const notReady = (): string => health.notReadyReasons().join(' ');
  /** Removes the folder of the running log, whose threads may create a file between listing and removal. */
  const loseFolder = (): Promise<void> => rm(folder, { recursive: true, maxRetries: 10, retryDelay: 10 });

  async function open(dataFolder: string, diskReserveBytes?: number): Promise<EmbeddedLog> {
    health = new Health(systemClock);
    const options = { dataFolder, logger: silentLogger, health };
    log = await EmbeddedLog.open(diskReserveBytes === undefined ? options : { ...options, diskReserveBytes });
    return log;
  }

  async function createOrders(): Promise<void> {
    await log.createTopic({
      name: where.topic,
      partitionCount: 1,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 3_600_000,
    });
  }

  describe('when its files were moved or deleted', () => {
    beforeEach(async () => {
      folder = join(await temporaryFolder(), 'data');
      await open(folder);
      await createOrders();
      await appendTo(log, where, records('before'));
    });
    afterEach(async () => {
      await log.close();
      await removeFolder(join(folder, '..'));
    });

    const losses: readonly [name: string, lose: () => Promise<void>, reason: RegExp][] = [
      ['the folder was removed', loseFolder, /log\.db in the data folder was removed/],
      [
        'the folder was removed and created again',
        async () => {
          await loseFolder();
          await mkdir(folder);
        },
        /log\.db in the data folder was removed/,
      ],
      [
        'the database was replaced by a copy of itself',
        async () => {
          await copyFile(join(folder, 'log.db'), join(folder, 'copy.db'));
          await rename(join(folder, 'copy.db'), join(folder, 'log.db'));
        },
        /log\.db in the data folder was replaced/,
      ],
      [
        'only the write-ahead log was removed',
        () => rm(join(folder, 'log.db-wal')),
        /log\.db-wal in the data folder was removed/,
      ],
    ];
    for (const [name, lose, reason] of losses) {
      it(`refuses every append from then on with the reason, and continues to read: ${name}`, async () => {
        await lose();
        const error: unknown = await appendTo(log, where, records('lost')).catch((thrown: unknown) => thrown);
        expect(isLendstreamError(error, 'LOG_UNAVAILABLE')).to.equal(true);
        expect(isLendstreamError(error) && error.message).to.match(reason);
        expect(await codeOf(log.openWriter('writer'))).to.equal('LOG_UNAVAILABLE');
        expect(await codeOf(log.deleteTopic(where.topic))).to.equal('LOG_UNAVAILABLE');
        expect(await valuesIn()).to.deep.equal(['before']);
        await eventually(() => reason.test(notReady()));
      });
    }

    it('acknowledges nothing that began after the loss, under load', async () => {
      let isGone = false;
      let acknowledgedAfterwards = 0;
      const producers = Array.from({ length: 8 }, async () => {
        for (;;) {
          const beganAfterwards = isGone;
          const code = await codeOf(appendTo(log, where, records('under load')));
          if (code !== null) return;
          if (beganAfterwards) acknowledgedAfterwards += 1;
        }
      });
      await eventually(async () => ((await log.bounds([where]))[0]?.latest ?? 0) > 200);
      await loseFolder();
      isGone = true;
      await Promise.all(producers);
      expect(acknowledgedAfterwards).to.equal(0);
    });

    it('resumes automatically when the moved folder is back, with everything that was acknowledged', async () => {
      await rename(folder, `${folder}-moved`);
      expect(await codeOf(appendTo(log, where, records('refused')))).to.equal('LOG_UNAVAILABLE');
      await eventually(() => /was removed or moved/.test(notReady()));
      await rename(`${folder}-moved`, folder);
      await appendTo(log, where, records('after'));
      await eventually(() => notReady() === '');
      await log.close();
      await open(folder);
      expect(await valuesIn()).to.deep.equal(['before', 'after']);
    });
  });

  describe('when its disk is full', () => {
    let disk: SmallDisk;

    /** Runs the test on a separate disk, or reports why it cannot. */
    async function onSmallDisk(test: Mocha.Context, diskReserveBytes: number): Promise<void> {
      const mounted = await mountSmallDisk(32);
      if (typeof mounted === 'string') {
        process.stdout.write(`      skipped: ${mounted}\n`);
        test.skip();
      } else {
        disk = mounted;
        await open(disk.folder, diskReserveBytes);
        await createOrders();
      }
    }

    const limits: readonly [name: string, reserve: number, freeBytes: number][] = [
      ['no byte is left', 0, 0],
      ['one page less than the reserve is left', 16 * mebibyte, 16 * mebibyte - 4096],
    ];
    for (const [name, reserve, freeBytes] of limits) {
      it(`refuses appends, continues to read and open subscriptions, and resumes when there is space: ${name}`, async function () {
        await onSmallDisk(this, reserve);
        try {
          const coordination = await EmbeddedCoordination.open({ log, clock: systemClock, logger: silentLogger });
          const value = incompressible(100 * 1024);
          await appendTo(log, where, [{ key: null, value }]);
          disk.fill(freeBytes);
          let stored = 1;
          while ((await codeOf(appendTo(log, where, [{ key: null, value }]))) === null) stored += 1;
          expect(await codeOf(appendTo(log, where, [{ key: null, value }]))).to.equal('LOG_FULL');
          await eventually(() => /full/.test(notReady()));
          expect(await valuesIn()).to.have.length(stored);
          await coordination.initialise('subscription', [{ eventType: 'orders', partition: 0, offset: stored - 1 }]);
          expect((await coordination.topology('subscription')).partitions).to.have.length(1);

          disk.empty();
          await appendTo(log, where, [{ key: null, value }]);
          await eventually(() => notReady() === '');
          await coordination.close();
          await log.close();
          await open(disk.folder, reserve);
          expect(await valuesIn()).to.have.length(stored + 1);
          const later = await EmbeddedCoordination.open({ log, clock: systemClock, logger: silentLogger });
          expect((await later.committedOffsets('subscription')).map(({ offset }) => offset)).to.deep.equal([
            stored - 1,
          ]);
          await later.close();
        } finally {
          await log.close();
          await disk.remove();
        }
      });
    }
  });

  it('is not ready while the file may not grow, and is ready again when there is space', async () => {
    folder = await temporaryFolder();
    health = new Health(systemClock);
    log = await EmbeddedLog.open({
      dataFolder: folder,
      logger: silentLogger,
      health,
      databaseBytesMaximum: 4 * mebibyte,
      maintenanceMilliseconds: 100,
    });
    await createOrders();
    const value = incompressible(300 * 1024);
    while ((await codeOf(appendTo(log, where, [{ key: null, value }]))) === null);
    await eventually(() => /full/.test(notReady()));
    await log.deleteTopic(where.topic);
    await eventually(() => notReady() === '');
    await log.close();
    await removeFolder(folder);
  });
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { overwrittenTopics } from '../../../src/app.ts';
import { openBackend } from '../../../src/backend.ts';
import { deadLetterQueue } from '../../../src/broker/definitions/unprocessable-events.ts';
import { readConfig } from '../../../src/config.ts';
import { Health } from '../../../src/health.ts';
import { deadLetterRetentionMilliseconds, deadLettersTopic } from '../../../src/lending-format/lending-topics.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { eventually } from '../../support/eventually.ts';
import { appendTo } from '../../support/log-reading.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const marker = 'Zebedee-Quux-4714';
const maintenanceMilliseconds = 60_000;

describe('the files of one machine when dead letters have expired', function () {
  this.timeout(60_000);
  let folder: string;
  let clock: SimulatedClock;
  let log: EventLog;
  let cleanups: (() => Promise<void> | void)[];

  beforeEach(async () => {
    folder = await temporaryFolder();
    clock = new SimulatedClock();
    cleanups = [];
    const config = readConfig({ DATA_DIR: folder });
    const registerCleanup = (close: () => Promise<void> | void): void => void cleanups.push(close);
    const health = new Health(clock);
    ({ log } = await openBackend({ config, logger: silentLogger, clock, health, overwrittenTopics, registerCleanup }));
  });

  afterEach(async () => {
    for (const close of cleanups.toReversed()) await close();
    await removeFolder(folder);
  });

  async function isInFiles(): Promise<boolean> {
    for (const name of await readdir(folder)) {
      if ((await readFile(join(folder, name)).catch(() => Buffer.alloc(0))).includes(marker)) return true;
    }
    return false;
  }

  for (const [what, name] of [
    ['commands', deadLettersTopic],
    ['subscriptions', deadLetterQueue],
  ] as const) {
    it(`have nothing of those of ${what} a few minutes after 90 days`, async () => {
      const retentionMilliseconds = deadLetterRetentionMilliseconds;
      await log.createTopic({ name, partitionCount: 1, cleanupPolicy: 'delete', retentionMilliseconds });
      // Of several pages, and of a part of one.
      const long = Array.from({ length: 3_000 }, (_, at) => marker + at).join();
      for (const text of [marker, long, marker]) {
        await appendTo(log, { topic: name, partition: 0 }, [{ key: null, value: Buffer.from(text) }]);
      }
      clock.jump(deadLetterRetentionMilliseconds);
      expect(await isInFiles()).to.equal(true);
      await eventually(async () => {
        await clock.turn(maintenanceMilliseconds);
        return !(await isInFiles());
      });
    });
  }
});

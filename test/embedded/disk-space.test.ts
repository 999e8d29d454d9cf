import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LogRecord } from '../../src/ports/event-log.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { eventually } from '../support/eventually.ts';
import { appendTo, keyed } from '../support/log-reading.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { openTemporaryLog, type TemporaryLog } from '../support/temporary-log.ts';

const minute = 60_000;
const kibibyte = 1_024;
const batches = 1_200;
const recordsPerBatch = 10;
const record = Buffer.alloc(10 * kibibyte, 'x');
const written = batches * recordsPerBatch * record.length;
/** One batch in so many stays. */
const keptShare = 10;

/** An append may wait for one step of maintenance, and here for the other processes of the machine. */
const pauseMillisecondsMaximum = 2_000;

describe('the disk space of the log', () => {
  let clock: SimulatedClock;
  let temporary: TemporaryLog;

  beforeEach(async () => {
    clock = new SimulatedClock();
    const never = Number.MAX_SAFE_INTEGER;
    temporary = await openTemporaryLog({ clock, cacheBytesMaximum: 0, firstCheckMilliseconds: never });
    const { log } = temporary;
    await log.createTopic({ ...one, name: 'short', cleanupPolicy: 'delete', retentionMilliseconds: 2 * minute });
    await log.createTopic({ ...one, name: 'long', cleanupPolicy: 'delete', retentionMilliseconds: Infinity });
    await log.createTopic({ ...one, name: 'states', cleanupPolicy: 'compact', retentionMilliseconds: 0 });
  });
  afterEach(() => temporary.cleanup());

  const one = { partitionCount: 1 };
  const path = (suffix: string): string => join(temporary.dataFolder, `log.db${suffix}`);
  const sizeOf = (suffix: string): number => statSync(path(suffix)).size;

  /** What a fresh copy of all that is stored takes. */
  function liveBytes(): number {
    const database = openDatabase(path(''));
    database.exec(`VACUUM INTO '${path('.copy')}'`);
    database.close();
    const bytes = sizeOf('.copy');
    rmSync(path('.copy'));
    return bytes;
  }

  async function append(topic: string, key: string): Promise<void> {
    const records = Array.from({ length: recordsPerBatch }, (_, at): LogRecord => ({
      key: `${key}.${at}`,
      value: record,
    }));
    await appendTo(temporary.log, { topic, partition: 0 }, records);
  }

  const isKept = (batch: number): boolean => batch % keptShare === 0;

  for (const [name, write] of [
    ['retention', (batch: number) => append(isKept(batch) ? 'long' : 'short', `${batch}`)],
    ['compaction', (batch: number) => append('states', isKept(batch) ? `${batch}` : 'same')],
  ] as const) {
    it(`is given back within five minutes when ${name} has removed 90 %, while others write and read`, async () => {
      for (let batch = 0; batch < batches; batch += 1) await write(batch);
      const done = new AbortController();
      let pause = 0;
      const others = (async () => {
        while (!done.signal.aborted) {
          const startedAt = performance.now();
          const offset = await appendTo(temporary.log, { topic: 'long', partition: 0 }, [keyed('a', 'meanwhile')]);
          const from = { topic: 'long', partition: 0, offset };
          const { batches: read } = await temporary.log.read(from, { bytesMaximum: kibibyte, waitMilliseconds: 0 });
          expect(read).to.have.length(1);
          pause = Math.max(pause, performance.now() - startedAt);
        }
      })();
      for (let passed = 0; passed < 5; passed += 1) {
        await clock.turn(minute);
        await temporary.log.runRetention();
      }
      done.abort();
      await others;

      const live = liveBytes();
      expect(live).to.be.below((1.2 * written) / keptShare);
      // A checkpoint cuts the file off, once a second after something was written.
      await eventually(async () => {
        await appendTo(temporary.log, { topic: 'long', partition: 0 }, [keyed('a', 'last')]);
        await clock.turn(1_000);
        return sizeOf('') < 1.5 * live;
      });
      expect(sizeOf('-wal')).to.be.at.most(256 * kibibyte * kibibyte);
      expect(pause).to.be.below(pauseMillisecondsMaximum);
    }).timeout(120_000);
  }
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../src/clock.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { Health } from '../../src/health.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { eventually } from '../support/eventually.ts';
import { appendTo, codeOf, keyed, readAll, records, recordsOf } from '../support/log-reading.ts';
import { openTemporaryLog } from '../support/temporary-log.ts';
import type { TemporaryLog } from '../support/temporary-log.ts';

const where = { topic: 'orders', partition: 1 };
const atOnce = { bytesMaximum: 64 * 1024, waitMilliseconds: 0 };

describe('damage to the stored data', () => {
  let temporary: TemporaryLog;
  beforeEach(async () => {
    temporary = await openTemporaryLog();
    await temporary.log.createTopic({
      name: where.topic,
      partitionCount: 2,
      cleanupPolicy: 'delete',
      retentionMilliseconds: Infinity,
    });
  });
  afterEach(() => temporary.cleanup());

  /** Closes the log and flips one bit of a text in its file. */
  async function flipBitIn(text: string): Promise<void> {
    await temporary.log.close();
    const path = join(temporary.dataFolder, 'log.db');
    const bytes = readFileSync(path);
    const at = bytes.indexOf(text);
    expect(at, 'the text lies in the file').to.be.above(0);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  }

  it('of one bit fails the read of its batch with the name of the batch, and never skips it', async () => {
    const { log } = temporary;
    await appendTo(log, where, records('"sound before"'));
    const damaged = await appendTo(log, where, records('"first of the batch"', '"the damaged one"'));
    const after = await appendTo(log, where, records('"sound after"'));
    await flipBitIn('the damaged one');
    const reopened = await temporary.reopen();

    const { batches, nextOffset } = await reopened.read({ ...where, offset: 0 }, atOnce);
    expect(batches.flatMap(recordsOf).map(({ value }) => value)).to.deep.equal(['"sound before"']);
    expect(nextOffset).to.equal(damaged);
    for (const offset of [damaged, damaged + 1]) {
      const error: unknown = await reopened.read({ ...where, offset }, atOnce).catch((thrown: unknown) => thrown);
      expect(isLendstreamError(error, 'CORRUPT_BATCH')).to.equal(true);
      expect(isLendstreamError(error) && error.details).to.deep.equal({ ...where, baseOffset: damaged });
    }
    const beyond = await readAll(reopened, where, after);
    expect(beyond.map(({ value }) => value)).to.deep.equal(['"sound after"']);
    await appendTo(reopened, where, records('"the log goes on"'));
  });

  it('of one bit stops compaction instead of being copied', async () => {
    const { log } = temporary;
    const compacted = { topic: 'states', partition: 0 };
    await log.createTopic({
      name: compacted.topic,
      partitionCount: 1,
      cleanupPolicy: 'compact',
      retentionMilliseconds: 0,
    });
    for (const value of ['state one', 'state two', 'state three']) await appendTo(log, compacted, [keyed('a', value)]);
    await flipBitIn('state two');
    const reopened = await temporary.reopen();
    expect(await codeOf(reopened.runCompaction())).to.equal('CORRUPT_BATCH');
    const { batches } = await reopened.read({ ...compacted, offset: 0 }, atOnce);
    expect(batches.flatMap(recordsOf).map(({ value }) => value)).to.deep.equal(['state one']);
  });

  it('of the database itself is found when the log opens, and is reported by the log', async () => {
    for (let batch = 0; batch < 50; batch += 1) await appendTo(temporary.log, where, records('x'.repeat(3_000)));
    await temporary.log.close();
    const path = join(temporary.dataFolder, 'log.db');
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4096 * 12, 4096 * 40);
    writeFileSync(path, bytes);
    const error: unknown = await temporary.reopen().catch((thrown: unknown) => thrown);
    expect(isLendstreamError(error, 'DATA_FOLDER_UNUSABLE')).to.equal(true);
    expect(isLendstreamError(error) && error.message).to.match(/log\.db (is damaged|cannot be opened)/);
  });

  it('is found when the log opens if the file was cut off, however little is missing', async () => {
    for (let batch = 0; batch < 50; batch += 1) await appendTo(temporary.log, where, records('x'.repeat(3_000)));
    await temporary.log.close();
    const path = join(temporary.dataFolder, 'log.db');
    const { size } = statSync(path);
    truncateSync(path, size - 1);
    const error: unknown = await temporary.reopen().catch((thrown: unknown) => thrown);
    expect(isLendstreamError(error, 'DATA_FOLDER_UNUSABLE')).to.equal(true);
    expect(isLendstreamError(error) && error.message).to.include(`it has ${size - 1} bytes instead of ${size}`);
  });

  it('of a batch is found without a reader, and makes the process not ready', async () => {
    await appendTo(temporary.log, where, records('"sound"', '"the damaged one"'));
    await flipBitIn('the damaged one');
    const health = new Health(systemClock);
    // A second passes in a millisecond: the check in the background begins at once.
    const sleep: Clock['sleep'] = (milliseconds, signal) => systemClock.sleep(milliseconds / 1_000, signal);
    const reopened = await temporary.reopen({ health, clock: { ...systemClock, sleep } });
    await eventually(() => reopened.integrity.finishedAt !== null);
    expect(reopened.integrity).to.deep.include({ file: 'log.db', checkedShare: 1, damageCount: 1 });
    expect(health.notReadyReasons()).to.deep.equal([
      'The log is damaged and must be restored from a copy. The records of topic orders, partition 1, from offset 0 to 1 ' +
        'do not match their checksum. The data on disk is damaged.',
    ]);
    await appendTo(reopened, where, records('"the log goes on"'));
  });

  it('is not reported for a newer schema', async () => {
    await temporary.log.close();
    const database = openDatabase(join(temporary.dataFolder, 'log.db'));
    database.exec('PRAGMA user_version = 99');
    database.close();
    const error: unknown = await temporary.reopen().catch((thrown: unknown) => thrown);
    expect(isLendstreamError(error, 'DATA_FOLDER_UNUSABLE')).to.equal(true);
    expect(isLendstreamError(error) && error.message).to.match(/schema version 99/);
  });
});

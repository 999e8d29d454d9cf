import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { checksumOf } from '../../src/embedded/records/checksum.ts';
import { inflatedBody } from '../../src/embedded/records/compressed-bodies.ts';
import type { CleanupPolicy, LogRecord } from '../../src/ports/event-log.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { incompressible } from '../support/values/incompressible.ts';
import { digested, readDigests, schedule } from '../support/values/large-values.ts';
import { appendTo, codeOf, keyed, records } from '../support/log-reading.ts';
import { openTemporaryLog, type TemporaryLog } from '../support/temporary-log.ts';

const where = { topic: 'orders', partition: 0 };
const mebibyte = 1024 * 1024;

describe('large records in the embedded log', () => {
  let temporary: TemporaryLog;

  beforeEach(async () => {
    temporary = await openTemporaryLog({ cacheBytesMaximum: 0 });
  });
  afterEach(() => temporary.cleanup());

  function createOrders(cleanupPolicy: CleanupPolicy = 'delete', retentionBytes?: number): Promise<void> {
    const configuration = { name: where.topic, partitionCount: 1, cleanupPolicy, retentionMilliseconds: 3_600_000 };
    return temporary.log.createTopic({ ...configuration, ...(retentionBytes === undefined ? {} : { retentionBytes }) });
  }

  const path = (): string => join(temporary.dataFolder, 'log.db');

  /** What one statement returns, read past the log while it is closed. */
  async function whileClosed<Result>(use: (database: ReturnType<typeof openDatabase>) => Result): Promise<Result> {
    await temporary.log.close();
    const database = openDatabase(path(), { returnArrays: true });
    try {
      return use(database);
    } finally {
      database.close();
      await temporary.reopen();
    }
  }

  const version = (): Promise<unknown> =>
    whileClosed((database) => (database.prepare('PRAGMA user_version').get() as unknown as [number])[0]);

  for (const [content, valueOf, mebibytes] of [
    ['schedules take less than an eighth of their size', schedule, [0.1, 0.625]],
    ['noise takes its size, for it is stored as it is', incompressible, [5, 5.5]],
  ] as const) {
    it(`on disk: ${content}`, async () => {
      await createOrders();
      const value = valueOf(128 * 1024);
      for (let count = 0; count < 40; count += 1) await appendTo(temporary.log, where, [{ key: null, value }]);
      await temporary.log.close();
      expect(statSync(path()).size / mebibyte).to.be.within(mebibytes[0], mebibytes[1]);
      await temporary.reopen();
      expect(await readDigests(temporary.log, where, mebibyte)).to.deep.equal(
        Array.from({ length: 40 }, () => digested({ key: null, value })),
      );
    });
  }

  it('count for the size limit of their topic as they are stored', async () => {
    await createOrders('delete', mebibyte);
    const value = schedule(128 * 1024);
    for (let count = 0; count < 30; count += 1) await appendTo(temporary.log, where, [{ key: null, value }]);
    await temporary.log.runRetention();
    expect(await readDigests(temporary.log, where, mebibyte)).to.have.length(30);
  });

  it('are compacted like others, and those that stay are stored compressed again', async () => {
    await createOrders('compact');
    const value = (size: number): Buffer => schedule(size);
    const appended: LogRecord[][] = [
      [{ key: 'a', value: value(100_000) }, keyed('b', '1'), { key: 'c', value: value(200_000) }],
      [{ key: 'd', value: incompressible(150_000) }, keyed('e', '1')],
      [keyed('b', '2'), { key: 'a', value: value(120_000) }, keyed('e', null)],
    ];
    for (const some of appended) await appendTo(temporary.log, where, some);
    await temporary.log.runCompaction();
    const kept = [appended[0]?.[2], appended[1]?.[0], ...(appended[2] ?? [])].map((each) => each ?? expect.fail());
    expect(await readDigests(temporary.log, where, mebibyte)).to.deep.equal(kept.map(digested));
    await temporary.reopen();
    expect(await readDigests(temporary.log, where, 1)).to.deep.equal(kept.map(digested));
    const bytes = await whileClosed((database) => database.prepare('SELECT body_bytes FROM batch ORDER BY id').all());
    const [first = 0, second = 0, third = 0] = bytes.flat() as unknown as number[];
    expect(first).to.be.below(30_000);
    expect(second).to.be.above(150_000);
    expect(third).to.be.below(20_000);
  });

  it('raise the version of the file, which it keeps as long as it has none', async () => {
    await createOrders();
    await appendTo(temporary.log, where, records('small'));
    await appendTo(temporary.log, where, [{ key: null, value: incompressible(100_000) }]);
    expect(await version()).to.equal(1);
    await appendTo(temporary.log, where, [{ key: null, value: schedule(100_000) }]);
    expect(await version()).to.equal(2);
    await appendTo(temporary.log, where, records('small'));
    expect(await version()).to.equal(2);
    expect(await readDigests(temporary.log, where, mebibyte)).to.have.length(4);
  });

  it('are not announced by a version when they were not committed', async () => {
    await createOrders();
    const writer = await temporary.log.openWriter('writer');
    await writer.append([{ ...where, records: [{ key: null, value: schedule(100_000) }] }]);
    await temporary.log.openWriter('writer');
    expect(await codeOf(writer.commit())).to.equal('WRITER_FENCED');
    expect(await version()).to.equal(1);
  });

  it('are read from an older file, in which no record is compressed', async () => {
    await createOrders();
    const older = [keyed('small', '1'), { key: 'large', value: schedule(300_000) }];
    await appendTo(temporary.log, where, older);
    await whileClosed((database) => {
      const [stored] = database.prepare('SELECT body FROM batch').get() as unknown as [Uint8Array];
      const body = inflatedBody(Buffer.from(stored)) ?? expect.fail();
      database
        .prepare('UPDATE batch SET body = ?, body_bytes = ?, checksum = ?')
        .run(body, body.length, checksumOf(body));
      database.exec('PRAGMA user_version = 1');
    });
    expect(await version()).to.equal(1);
    expect(await readDigests(temporary.log, where, mebibyte)).to.deep.equal(older.map(digested));
    const newer = { key: 'large', value: schedule(200_000) };
    await appendTo(temporary.log, where, [newer]);
    expect(await readDigests(temporary.log, where, mebibyte)).to.deep.equal([...older, newer].map(digested));
  });

  it('of a newer file are refused in one line', async () => {
    await temporary.log.close();
    const database = openDatabase(path());
    database.exec('PRAGMA user_version = 3');
    database.close();
    const error: unknown = await temporary.reopen().catch((thrown: unknown) => thrown);
    expect(error).to.have.property(
      'message',
      `${path()} has schema version 3, and this program knows versions 1 and 2 only.`,
    );
  });
});

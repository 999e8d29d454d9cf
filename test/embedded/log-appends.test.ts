import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { join } from 'node:path';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import type { EmbeddedLogOptions } from '../../src/embedded/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { PackedPartitionRecords, packRecords } from '../../src/ports/packed-records.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { appendTo, codeOf, readAll, records, recordsOf } from '../support/log-reading.ts';
import { openTemporaryLog } from '../support/temporary-log.ts';
import type { TemporaryLog } from '../support/temporary-log.ts';
import { incompressible } from '../support/values/incompressible.ts';

const where = { topic: 'orders', partition: 0 };
const mebibyte = 1024 * 1024;
/** What a record counts for in the queue, apart from its key and value. */
const bytesPerRecord = 32;

describe('appending to the embedded log', () => {
  let temporary: TemporaryLog | undefined;
  afterEach(() => temporary?.cleanup());

  async function open(options: Partial<EmbeddedLogOptions> = {}): Promise<TemporaryLog> {
    temporary = await openTemporaryLog(options);
    await temporary.log.createTopic({
      name: where.topic,
      partitionCount: 4,
      cleanupPolicy: 'delete',
      retentionMilliseconds: Infinity,
    });
    return temporary;
  }

  /** How many records each batch from an offset on has. */
  async function countsFrom(log: EmbeddedLog, from: number): Promise<number[]> {
    const counts: number[] = [];
    for (let offset = from; ;) {
      const { batches, nextOffset } = await log.read(
        { ...where, offset },
        { bytesMaximum: mebibyte, waitMilliseconds: 0 },
      );
      if (nextOffset === offset) return counts;
      counts.push(...batches.map(({ count }) => count));
      offset = nextOffset;
    }
  }

  it('stores the records that arrive during a commit in one batch', async () => {
    const { log } = await open();
    const first = appendTo(log, where, records('first'));
    await new Promise((resolve) => setImmediate(resolve));
    const rest = Array.from({ length: 50 }, (_, index) => appendTo(log, where, records(`${index}`, `${index}`)));
    await Promise.all([first, ...rest]);
    const { batches } = await log.read({ ...where, offset: 0 }, { bytesMaximum: mebibyte, waitMilliseconds: 0 });
    expect(batches.map(({ count }) => count)).to.deep.equal([1, 100]);
    expect(batches.flatMap(recordsOf)).to.have.length(101);
  });

  it('splits large appends into batches of about a mebibyte', async () => {
    const { log } = await open();
    const value = 'v'.repeat(1_024);
    const base = await appendTo(log, where, records(...Array.from({ length: 4_000 }, (_, n) => `${n}${value}`)));
    const { batches } = await log.read(
      { ...where, offset: base },
      { bytesMaximum: 64 * mebibyte, waitMilliseconds: 0 },
    );
    expect(batches).to.have.length.above(3);
    for (const { valueStarts, valueEnds } of batches) {
      expect((valueEnds.at(-1) ?? Infinity) - (valueStarts[0] ?? 0)).to.be.below(1.1 * mebibyte);
    }
    const read = await readAll(log, where, base, 64 * mebibyte);
    expect(read.map((record) => Number.parseInt(record.value ?? '', 10))).to.deep.equal([...Array(4_000).keys()]);
  });

  it('fails with OVERLOADED immediately when too much is waiting, and accepts appends again once that is written', async () => {
    const { log } = await open({ queuedBytesMaximum: mebibyte });
    const value = Buffer.alloc(300 * 1024, 'x');
    const codes = await Promise.all(
      Array.from({ length: 6 }, () => codeOf(appendTo(log, where, [{ key: null, value }]))),
    );
    expect(codes).to.deep.equal([null, null, null, 'OVERLOADED', 'OVERLOADED', 'OVERLOADED']);
    expect(await codeOf(appendTo(log, where, [{ key: null, value }]))).to.equal(null);
    expect(await codeOf(appendTo(log, where, [{ key: null, value: Buffer.alloc(2 * mebibyte) }]))).to.equal(null);
    expect(await readAll(log, where)).to.have.length(5);
  });

  it('lets 64 MiB wait, and no byte more, unless it is given another size', async () => {
    const { log } = await open({ databaseBytesMaximum: mebibyte });
    const packed = (bytes: number) => packRecords([{ key: null, value: incompressible(bytes) }]);
    const [large, rest] = [packed(8 * mebibyte), packed(8 * mebibyte - 8 * bytesPerRecord)];
    const appends = [large, large, large, large, large, large, large, rest, packed(0)].map((each) =>
      log.append([new PackedPartitionRecords(where.topic, where.partition, each)]),
    );
    const codes = (await Promise.all(appends)).map(([result]) => result?.outcome === 'failed' && result.error.code);
    expect(codes).to.deep.equal([...Array<string>(8).fill('LOG_FULL'), 'OVERLOADED']);
  });

  it('writes 8 MiB in one commit, and no byte more, unless one append has more', async () => {
    const { log } = await open();
    for (const [surplus, counts] of [
      [0, [1, 1, 1, 1]],
      [1, [1, 1, 2]],
    ] as const) {
      const first = appendTo(log, where, records('first'));
      await new Promise((resolve) => setImmediate(resolve));
      const values = [8 * mebibyte - 1_000, 1_000 - 2 * bytesPerRecord + surplus, 1];
      const rest = values.map((bytes) => appendTo(log, where, [{ key: null, value: Buffer.alloc(bytes, 'x') }]));
      const offset = await first;
      await Promise.all(rest);
      expect(await countsFrom(log, offset)).to.deep.equal(counts);
    }
    const value = Buffer.alloc(5 * mebibyte, 'x');
    const larger = [value, value].map((each) => ({ key: null, value: each }));
    await Promise.all([appendTo(log, where, larger), appendTo(log, where, records('after'))]);
    expect((await log.bounds([where]))[0]?.latest).to.equal(11);
  });

  it('fails with LOG_FULL when the file may not grow, keeps its records, and resumes when there is space', async () => {
    const { log } = await open({ databaseBytesMaximum: 4 * mebibyte });
    const value = incompressible(300 * 1024);
    let stored = 0;
    let code: unknown = null;
    while (code === null && stored < 100) {
      code = await codeOf(appendTo(log, where, [{ key: null, value }]));
      if (code === null) stored += 1;
    }
    expect(code).to.equal('LOG_FULL');
    expect(stored).to.be.within(5, 14);
    const latest = (await log.bounds([where]))[0]?.latest;
    expect(latest).to.equal(stored);
    const writer = await log.openWriter('writer');
    await writer.append([{ ...where, records: [{ key: null, value }] }]);
    expect(await codeOf(writer.commit())).to.equal('LOG_FULL');
    expect(await readAll(log, where)).to.have.length(stored);
    await log.deleteTopic(where.topic);
    await log.createTopic({ name: 'next', partitionCount: 1, cleanupPolicy: 'delete', retentionMilliseconds: 1 });
    await log.runRetention();
    await appendTo(log, { topic: 'next', partition: 0 }, [{ key: null, value }]);
  });

  it('opens a file with another page size and limits its growth to the same number of bytes', async () => {
    const { dataFolder, log } = await open();
    await appendTo(log, where, records('before'));
    await log.close();
    const database = openDatabase(join(dataFolder, 'log.db'));
    database.exec('PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM;');
    database.close();
    const reopened = await EmbeddedLog.open({
      dataFolder,
      logger: silentLogger,
      databaseBytesMaximum: 4 * mebibyte,
    });
    try {
      const value = incompressible(300 * 1024);
      let stored = 0;
      while (stored < 100 && (await codeOf(appendTo(reopened, where, [{ key: null, value }]))) === null) stored += 1;
      expect(stored).to.be.within(10, 13);
      const [before] = await readAll(reopened, where);
      expect(before?.value).to.equal('before');
    } finally {
      await reopened.close();
    }
  });

  it('refuses a commit whose writer was fenced off while it waited, and stores what waited with it', async () => {
    const { log } = await open();
    const writer = await log.openWriter('writer');
    await writer.append([{ ...where, records: records('of the fenced writer') }]);
    const inFlight = appendTo(log, where, records('in flight'));
    await new Promise((resolve) => setImmediate(resolve));
    const [commit, beside, opening] = [
      codeOf(writer.commit()),
      appendTo(log, where, records('waited with it')),
      log.openWriter('writer'),
    ];
    expect(await commit).to.equal('WRITER_FENCED');
    await Promise.all([inFlight, beside, opening]);
    expect((await readAll(log, where)).map(({ value }) => value)).to.deep.equal(['in flight', 'waited with it']);
  });

  it('refuses topic names and partition counts that no backend accepts', async () => {
    const { log } = await open();
    const settings = { cleanupPolicy: 'delete', retentionMilliseconds: 1 } as const;
    for (const name of ['', '.', '..', 'a/b', 'a b', 'ä', 'a'.repeat(250)]) {
      expect(await codeOf(log.createTopic({ ...settings, name, partitionCount: 1 }))).to.equal('UNPROCESSABLE');
    }
    for (const partitionCount of [0, -1, 1.5, 1_001]) {
      expect(await codeOf(log.createTopic({ ...settings, name: 'a', partitionCount }))).to.equal('UNPROCESSABLE');
    }
    await log.createTopic({ ...settings, name: 'a', partitionCount: 1_000 });
    await appendTo(log, { topic: 'a', partition: 999 }, records('last'));
    expect(await codeOf(log.alterTopic('a', { partitionCount: 1_001 }))).to.equal('UNPROCESSABLE');
    expect((await log.listTopics(['a']))[0]?.partitionCount).to.equal(1_000);
  });

  it('serves readers at the end from memory, and all readers from disk when memory is short', async () => {
    for (const cacheBytesMaximum of [0, 700, mebibyte]) {
      const opened = await open({ cacheBytesMaximum });
      const expected: string[] = [];
      for (let index = 0; index < 40; index += 1) {
        expected.push(`${index}`);
        await appendTo(opened.log, where, records(`${index}`));
        if (index % 10 === 0) expect((await readAll(opened.log, where, index))[0]?.value).to.equal(`${index}`);
      }
      expect((await readAll(opened.log, where)).map(({ value }) => value)).to.deep.equal(expected);
      await opened.cleanup();
    }
  });
});

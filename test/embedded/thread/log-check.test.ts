import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckStep, startCheckThread } from '../../../src/integrity/check-thread.ts';
import { openDatabase } from '../../../src/sqlite.ts';
import { appendTo, keyed, records } from '../../support/log-reading.ts';
import { openTemporaryLog, type TemporaryLog } from '../../support/temporary-log.ts';
import { schedule } from '../../support/values/large-values.ts';
import { incompressible } from '../../support/values/incompressible.ts';

const script = new URL('../../../src/embedded/thread/log-check.js', import.meta.url);
const pageBytes = 8_192;
const orders = { topic: 'orders', partition: 0 };
const rowsOfOrders = 200;

describe('the check of the log', () => {
  let temporary: TemporaryLog;
  let path: string;

  beforeEach(async () => {
    temporary = await openTemporaryLog({ cacheBytesMaximum: 0 });
    path = join(temporary.dataFolder, 'log.db');
    const { log } = temporary;
    const topic = { partitionCount: 2, retentionMilliseconds: 1 };
    await log.createTopic({ ...topic, name: orders.topic, cleanupPolicy: 'delete' });
    await log.createTopic({ ...topic, name: 'states', cleanupPolicy: 'compact' });
    for (let row = 0; row < rowsOfOrders; row += 1) {
      await appendTo(log, orders, records(`order ${row}`.padEnd(1_000, '.'), 'second'));
    }
    for (const partition of [0, 1]) {
      for (const state of ['one', 'two']) await appendTo(log, { topic: 'states', partition }, [keyed('a', state)]);
    }
    await appendTo(log, { ...orders, partition: 1 }, [{ key: null, value: incompressible(100_000) }]);
    await appendTo(log, { ...orders, partition: 1 }, [{ key: null, value: schedule(100_000) }]);
  });
  afterEach(() => temporary.cleanup());

  async function steps(meanwhile: (step: number) => Promise<void> = () => Promise.resolve()): Promise<CheckStep[]> {
    const thread = startCheckThread(script, path);
    const found: CheckStep[] = [];
    while (found.at(-1)?.isDone !== true) {
      found.push(await thread.step());
      await meanwhile(found.length);
    }
    await thread.close();
    return found;
  }

  async function damages(): Promise<string[]> {
    return (await steps()).flatMap((step) => step.damages);
  }

  /** Changes the file by SQL, past the log, and leaves everything in the main file. */
  function change(sql: string): void {
    const database = openDatabase(path);
    database.exec(`${sql}; PRAGMA wal_checkpoint(TRUNCATE)`);
    database.close();
  }

  function pagesOf(name: string, pageType: 'leaf' | 'internal' | 'overflow'): number[] {
    const database = openDatabase(path, { returnArrays: true });
    const rows = database.prepare('SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ?').all(name, pageType);
    database.close();
    return (rows as unknown as [number][]).map(([page]) => page);
  }

  function overwrite(page: number | undefined, content: Uint8Array = Buffer.alloc(pageBytes, 0xff)): void {
    const file = openSync(path, 'r+');
    writeSync(file, content, 0, pageBytes, (Number(page) - 1) * pageBytes);
    closeSync(file);
  }

  it('reads every row, shows how much of the file it has read, and finds nothing in a sound one', async () => {
    const found = await steps();
    expect(found.flatMap((step) => step.damages)).to.deep.equal([]);
    const shares = found.map(({ checkedShare }) => checkedShare);
    expect(shares).to.deep.equal(shares.toSorted((a, b) => a - b));
    expect(shares.at(-2)).to.be.within(0.5, 0.99);
    expect(shares.at(-1)).to.equal(1);
  });

  it('finds nothing where retention, compaction, appends and the removal of a topic go on meanwhile', async () => {
    const { log } = temporary;
    const meanwhile = [
      () => log.runRetention(Date.now() + 10_000),
      () => log.runCompaction(Date.now() + 10 * 86_400_000),
      () => appendTo(log, orders, [{ key: null, value: incompressible(500_000) }]),
      () => log.deleteTopic(orders.topic),
    ];
    for (let at = 0; at < meanwhile.length; at += 1) {
      const found = await steps(async (step) => {
        if (step === 2) await meanwhile[at]?.();
      });
      expect(found.flatMap((step) => step.damages)).to.deep.equal([]);
    }
    expect(await damages()).to.deep.equal([]);
  });

  it('finds one wrong bit, and goes on to find the next', async () => {
    await temporary.log.close();
    const bytes = readFileSync(path);
    for (const text of ['order 7.', 'order 150.']) {
      const at = bytes.indexOf(text);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      const page = Math.floor(at / pageBytes);
      overwrite(page + 1, bytes.subarray(page * pageBytes, (page + 1) * pageBytes));
    }
    expect(await damages()).to.deep.equal(
      [7, 150].map(
        (row) =>
          `The records of topic orders, partition 0, from offset ${2 * row} to ${2 * row + 1} ` +
          'do not match their checksum. The data on disk is damaged.',
      ),
    );
  });

  it('names the rows of a page that was overwritten, and those behind an inner page', async () => {
    await temporary.log.close();
    const sound = readFileSync(path);
    for (const pageType of ['leaf', 'internal', 'overflow'] as const) {
      const page = pagesOf('batch', pageType).at(-1) ?? 0;
      overwrite(page);
      const found = await damages();
      expect(found.length, pageType).to.be.within(1, rowsOfOrders + 6);
      for (const damage of found)
        expect(damage).to.match(/^(Topic|The records of topic) (orders|states), partition [01]/);
      overwrite(page, sound.subarray((page - 1) * pageBytes, page * pageBytes));
    }
    expect(await damages()).to.deep.equal([]);
  });

  it('says from which offset on the index of a partition cannot be read', async () => {
    await temporary.log.close();
    const pages = pagesOf('batch_by_position', 'leaf');
    expect(pages, 'the index has several pages').to.have.length.above(0);
    overwrite(pages[0]);
    const found = await damages();
    expect(found[0]).to.match(/^Topic orders, partition 0: the index cannot be read from offset \d+ on \(/);
  });

  it('finds rows that are gone, though their index has them: the disk lost the write of a page', async () => {
    const last = { topic: 'states', partition: 1 };
    await appendTo(temporary.log, last, [keyed('b', '1')]);
    await temporary.log.close();
    const before = readFileSync(path);
    await temporary.reopen();
    const offset = await appendTo(temporary.log, last, [keyed('b', '2')]);
    await temporary.log.close();
    for (const page of pagesOf('batch', 'leaf')) {
      if (page * pageBytes <= before.length) overwrite(page, before.subarray((page - 1) * pageBytes, page * pageBytes));
    }
    expect(await damages()).to.deep.equal([
      `Topic states, partition 1: the row that ends at offset ${offset} is missing.`,
    ]);
  });

  it('finds a hole that neither retention nor compaction has made', async () => {
    const [{ earliest } = { earliest: 0 }] = await temporary.log.bounds([orders]);
    expect(earliest).to.equal(0);
    await temporary.log.close();
    change('DELETE FROM batch WHERE partition_id = 1 AND last_offset IN (1, 21, 23)');
    expect(await damages()).to.deep.equal([
      'Topic orders, partition 0: the offsets 0 to 1 are missing.',
      'Topic orders, partition 0: the offsets 20 to 23 are missing.',
    ]);
    change('UPDATE partition SET earliest_offset = 22 WHERE id = 1');
    expect(await damages()).to.deep.equal(['Topic orders, partition 0: the offsets 22 to 23 are missing.']);
  });
});

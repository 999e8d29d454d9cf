import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openForReading, openForWriting } from '../../src/embedded/thread/database.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { appendTo, keyed, readAll } from '../support/log-reading.ts';
import { maintenanceMilliseconds, openWatchedLog, scripts, type WatchedLog } from './watched-log.ts';

const lag = 3_600_000;
const states = { topic: 'states', partition: 0 };
const secret = 'Ada Lovelace, 12 St James Square';

describe('the removal of deleted keys from a topic that limits how long compaction may wait', () => {
  let watched: WatchedLog;

  beforeEach(async () => {
    watched = await openWatchedLog();
    await watched.log.createTopic({
      name: states.topic,
      partitionCount: 1,
      cleanupPolicy: 'compact',
      retentionMilliseconds: 0,
      compactionLagMilliseconds: lag,
    });
  });

  afterEach(() => watched.cleanup());

  /** Whether any file of the store contains a text. */
  async function isInFiles(text: string): Promise<boolean> {
    for (const name of await readdir(watched.dataFolder)) {
      if ((await readFile(join(watched.dataFolder, name))).includes(text)) return true;
    }
    return false;
  }

  /** Lets a run of the maintenance pass. One task runs at a time, so retention waits for it. */
  async function maintain(): Promise<void> {
    await watched.clock.turn(maintenanceMilliseconds);
    await watched.log.runRetention();
  }

  it('begins when the oldest record that is not compacted has that age, and not a run earlier', async () => {
    await appendTo(watched.log, states, [keyed('c-1', secret)]);
    await watched.clock.turn(lag - 2 * maintenanceMilliseconds);
    await maintain();
    expect(watched.requestCount(scripts.maintenance, 'beginCompaction')).to.equal(0);
    await maintain();
    expect(watched.requestCount(scripts.maintenance, 'beginCompaction')).to.equal(1);
    await watched.clock.turn(lag);
    await maintain();
    expect(watched.requestCount(scripts.maintenance, 'beginCompaction'), 'without new records').to.equal(1);
  });

  it('leaves their bytes neither in the database file nor in the write-ahead log', async () => {
    // A row with others, a row of its own, and one so long that it lies in pages of its own.
    await appendTo(watched.log, states, [keyed('c-0', 'kept-0'), keyed('c-1', secret), keyed('c-2', 'kept-2')]);
    await appendTo(watched.log, states, [keyed('c-1', `${secret} again`)]);
    await appendTo(watched.log, states, [keyed('c-1', Array.from({ length: 2_000 }, (_, at) => secret + at).join())]);
    for (let key = 0; key < 50; key += 1) await appendTo(watched.log, states, [keyed(`more-${key}`, `kept-${key}`)]);
    await appendTo(watched.log, states, [keyed('c-1', null)]);
    expect(await isInFiles(secret)).to.equal(true);
    await watched.clock.turn(lag);
    await maintain();
    expect(await isInFiles(secret)).to.equal(false);
    expect(await isInFiles('kept-0')).to.equal(true);
    expect((await readAll(watched.log, states)).map(({ key }) => key))
      .to.have.length(53)
      .and.to.include('c-2');
  });

  it('leaves none of them however the rows lie in pages', async () => {
    const random = randomNumbers(20_261_125);
    for (let number = 0; number < 300; number += 1) {
      const isSecret = random() < 0.5;
      // Short rows share pages, which split when more come; long ones fill pages of their own.
      const text = (isSecret ? secret : 'kept').repeat(1 + Math.floor(random() ** 4 * 300));
      await appendTo(watched.log, states, [keyed(isSecret ? `c-${Math.floor(random() * 20)}` : `k-${number}`, text)]);
      if (random() < 0.02) await watched.second();
    }
    for (let key = 0; key < 20; key += 1) await appendTo(watched.log, states, [keyed(`c-${key}`, null)]);
    expect(await isInFiles(secret)).to.equal(true);
    await watched.clock.turn(lag);
    await maintain();
    expect(await isInFiles(secret)).to.equal(false);
  });

  it('empties the write-ahead log later when a reader, such as a backup, is in the way', async () => {
    await appendTo(watched.log, states, [keyed('c-1', secret), keyed('c-2', 'x')]);
    const reader = openForReading(join(watched.dataFolder, 'log.db'));
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM batch').get();
    await appendTo(watched.log, states, [keyed('c-1', null)]);
    await watched.clock.turn(lag);
    await maintain();
    expect(await isInFiles(secret)).to.equal(true);
    reader.exec('COMMIT');
    reader.close();
    await maintain();
    expect(await isInFiles(secret)).to.equal(false);
  });
});

describe('the retention of a topic whose records must leave no bytes', () => {
  const letters = { topic: 'letters', partition: 0 };
  const hour = 3_600_000;
  let watched: WatchedLog;

  beforeEach(async () => {
    watched = await openWatchedLog({ overwrittenTopics: [letters.topic] });
    const topic = { partitionCount: 1, cleanupPolicy: 'delete', retentionMilliseconds: hour } as const;
    await watched.log.createTopic({ name: letters.topic, ...topic });
    await watched.log.createTopic({ name: 'others', ...topic });
  });

  afterEach(() => watched.cleanup());

  async function filesWith(text: string): Promise<string[]> {
    const names = await readdir(watched.dataFolder);
    const read = names.map(async (name) => [name, await readFile(join(watched.dataFolder, name))] as const);
    return (await Promise.all(read)).flatMap(([name, bytes]) => (bytes.includes(text) ? [name] : []));
  }

  /** Rows that share pages, and rows of several pages. */
  async function append(to: typeof letters, text: string): Promise<void> {
    for (let number = 0; number < 100; number += 1) {
      const padding = Array.from({ length: number % 10 === 0 ? 2_000 : 1 }, (_, at) => text + at).join();
      await appendTo(watched.log, to, [{ key: null, value: Buffer.from(padding) }]);
    }
  }

  async function maintain(): Promise<void> {
    await watched.clock.turn(maintenanceMilliseconds);
    await watched.log.runRetention();
    await watched.log.runCompaction();
  }

  it('leaves them neither in the database file nor in the write-ahead log, with the run that removes them', async () => {
    await append(letters, secret);
    await append({ topic: 'others', partition: 0 }, 'freed-text');
    await watched.clock.turn(hour - maintenanceMilliseconds);
    await append({ topic: 'others', partition: 0 }, 'kept-text');
    expect(await filesWith(secret)).to.not.deep.equal([]);
    expect(await readAll(watched.log, letters)).to.have.length(100);
    await watched.clock.turn(1);
    await maintain();
    expect(await readAll(watched.log, letters)).to.have.length(0);
    expect(await filesWith(secret)).to.deep.equal([]);
    expect(await filesWith('kept-text')).to.not.deep.equal([]);
  });

  it('leaves none of what a process that ended in between had not removed yet', async () => {
    await append(letters, secret);
    await watched.log.close();
    // The first step of a removal says from where on records are held, the others delete rows.
    const database = openForWriting(join(watched.dataFolder, 'log.db'), undefined, false);
    database.exec(`UPDATE partition SET earliest_offset = 100, latest_offset_at_least = 100
      WHERE topic_id = (SELECT id FROM topic WHERE name = '${letters.topic}')`);
    database.close();
    await watched.reopen();
    expect(await filesWith(secret)).to.not.deep.equal([]);
    await watched.log.runRetention();
    await watched.log.runCompaction();
    expect(await filesWith(secret)).to.deep.equal([]);
  });

  it('empties the write-ahead log that a killed process left, without anything new to remove', async () => {
    await append(letters, secret);
    await watched.clock.turn(hour + maintenanceMilliseconds);
    const reader = openForReading(join(watched.dataFolder, 'log.db'));
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM batch').get();
    await watched.log.runRetention();
    expect(await filesWith(secret)).to.not.deep.equal([]);
    reader.exec('COMMIT');
    reader.close();
    await watched.log.runCompaction();
    expect(await filesWith(secret)).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openForReading, openForWriting, pragmaNumber, restartWal } from '../../../src/embedded/thread/database.ts';
import type { Connection } from '../../../src/sqlite.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const mebibyte = 1024 * 1024;
const [off, full] = [0, 2];

describe('a connection to the database', () => {
  let folder: string;
  let path: string;
  let opened: Connection[];

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder, 'log.db');
    opened = [];
  });
  afterEach(async () => {
    for (const connection of opened) connection.close();
    await removeFolder(folder);
  });

  function open(connection: Connection): (pragma: string) => number {
    opened.push(connection);
    return (pragma) => pragmaNumber(connection, pragma);
  }

  it('that writes waits for the disk with each commit, unless a test does without', () => {
    expect(open(openForWriting(path))('synchronous')).to.equal(full);
    expect(open(openForWriting(path, undefined, true))('synchronous')).to.equal(full);
    expect(open(openForWriting(path, undefined, false))('synchronous')).to.equal(off);
  });

  it('that writes lets the file grow to the size that it is given, and without one as far as SQLite can', () => {
    expect(open(openForWriting(path, 3 * mebibyte))('max_page_count')).to.equal((3 * mebibyte) / 8_192);
    expect(open(openForWriting(path, 3 * mebibyte - 1))('max_page_count')).to.equal((3 * mebibyte) / 8_192 - 1);
    expect(open(openForWriting(path))('max_page_count')).to.equal(2 ** 32 - 2);
  });

  it('waits five seconds for a lock, and the one that writes keeps 256 MiB of its write-ahead log', () => {
    const writing = open(openForWriting(path));
    expect(writing('busy_timeout')).to.equal(5_000);
    expect(writing('journal_size_limit')).to.equal(256 * mebibyte);
    expect(open(openForReading(path))('busy_timeout')).to.equal(5_000);
  });

  it('leaves the write-ahead log alone until a checkpoint is asked for', () => {
    expect(open(openForWriting(path))('wal_autocheckpoint')).to.equal(0);
    expect(open(openForReading(path))('wal_autocheckpoint')).to.equal(0);
  });

  it('that reads changes nothing, and creates no file', () => {
    expect(() => openForReading(path)).to.throw();
    expect(existsSync(path)).to.equal(false);
    open(openForWriting(path));
    const reading = openForReading(path);
    open(reading);
    expect(() => reading.exec('DELETE FROM topic')).to.throw(/readonly/);
  });

  it('restarts the write-ahead log unless a reader still uses it, for which it waits a tenth of a second', () => {
    const writing = openForWriting(path);
    const reading = openForReading(path);
    for (const connection of [reading, writing]) open(connection);
    reading.exec('BEGIN');
    reading.prepare('SELECT count(*) FROM topic').get();
    writing.exec(`INSERT INTO writer (id, epoch) VALUES ('a', 1)`);
    const startedAt = performance.now();
    expect(restartWal(writing)).to.equal(false);
    expect(performance.now() - startedAt).to.be.within(95, 4_500);
    expect(pragmaNumber(writing, 'busy_timeout')).to.equal(5_000);
    reading.exec('COMMIT');
    expect(restartWal(writing)).to.equal(true);
    expect(pragmaNumber(writing, 'busy_timeout')).to.equal(5_000);
  });
});

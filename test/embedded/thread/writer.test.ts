import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLogThread } from '../../../src/embedded/thread/log-thread.ts';
import type { LogThread } from '../../../src/embedded/thread/log-thread.ts';
import type { WriterRequests } from '../../../src/embedded/thread/messages.ts';
import { openDatabase } from '../../../src/sqlite.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const script = new URL('../../../src/embedded/thread/writer.js', import.meta.url);
const filler = fileURLToPath(new URL('../../support/processes/log-filler.js', import.meta.url));
const mebibyte = 1024 * 1024;
const partitionId = 1;

describe('the thread that writes the log', () => {
  let folder: string;
  let path: string;
  let thread: LogThread<WriterRequests>;

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder, 'log.db');
    thread = startLogThread<WriterRequests>(script, () => undefined);
  });
  afterEach(async () => {
    await thread.call('close', null).catch(() => undefined);
    await thread.end();
    await removeFolder(folder);
  });

  const open = (diskReserveBytes = 0): Promise<unknown> =>
    thread.call('open', { path, databaseBytesMaximum: undefined, diskReserveBytes, syncsToDisk: false });

  /** Adds rows with bodies of this size, of records so small that they are stored as they are. */
  async function fill(rows: number, bytes: number): Promise<void> {
    const added = Array.from({ length: rows }, (_, offset) => ({
      partitionId,
      baseOffset: offset,
      lastOffset: offset,
      count: bytes,
      appendedAt: 0,
      body: new ArrayBuffer(bytes),
    }));
    await thread.call('commit', { rows: added, writers: [] });
  }

  const remove = async (below: number): Promise<void> => {
    while (!(await thread.call('deleteSome', { partitionId, below, overwrites: false })).isDone);
  };

  /** The first column of the first row of a statement. */
  function valueOf(statement: string): number {
    const connection = openDatabase(path, { returnArrays: true });
    const [value] = connection.prepare(statement).get() as unknown as [number];
    connection.close();
    return value;
  }
  const rowCount = (): number => valueOf('SELECT count(*) FROM batch');
  const freeMebibytes = (): number => valueOf('PRAGMA freelist_count') / (mebibyte / 8_192);

  it('deletes 64 rows at a time, or 2 MiB, so that an append waits for no more', async () => {
    await open();
    await fill(130, 10);
    const left: number[] = [];
    for (let isDone = false; !isDone;) {
      ({ isDone } = await thread.call('deleteSome', { partitionId, below: 129, overwrites: false }));
      left.push(rowCount());
    }
    expect(left).to.deep.equal([66, 2, 1, 1]);
    await remove(Infinity);
    await fill(5, mebibyte);
    await thread.call('deleteSome', { partitionId, below: 5, overwrites: false });
    expect(rowCount()).to.equal(3);
    await thread.call('deleteSome', { partitionId: 2, below: 5, overwrites: false });
    expect(rowCount()).to.equal(3);
  });

  it('returns what is free beyond 4 MiB of a small file, as fast as rows are removed', async () => {
    await open();
    await fill(20, mebibyte);
    await remove(3);
    expect(freeMebibytes()).to.be.within(3, 4);
    for (const below of [5, 9, 15, 20]) {
      await remove(below);
      expect(freeMebibytes()).to.be.within(3.9, 4);
    }
    expect((await thread.call('shrinkFile', null)).freedPages).to.equal(0);
  });

  it('keeps 15 % of a larger file', async () => {
    await open();
    await fill(74, mebibyte);
    await remove(17);
    // A slow disk frees less at a time.
    while ((await thread.call('shrinkFile', null)).freedPages > 0);
    expect(freeMebibytes() / (valueOf('PRAGMA page_count') / 128)).to.be.within(0.149, 0.151);
  });

  it('keeps 64 MiB of a large file, or as much as was appended since the run of retention before the last', async () => {
    await open();
    const [rows, rowBytes] = [33, 16 * mebibyte];
    await fill(rows, rowBytes);
    const shrink = async (): Promise<void> => {
      for (let freedPages = 1; freedPages > 0;) {
        ({ freedPages } = await thread.call('shrinkFile', null));
        expect(freedPages).to.be.at.most(256);
      }
    };
    const { hasSurplus } = await thread.call('deleteSome', { partitionId, below: 10, overwrites: false });
    expect(hasSurplus).to.equal(false);
    await remove(10);
    await shrink();
    expect(freeMebibytes() / (valueOf('PRAGMA page_count') / 128)).to.be.within(0.149, 0.151);
    const kept = freeMebibytes();
    await thread.call('beginMaintenance', null);
    await shrink();
    expect(freeMebibytes()).to.equal(kept);
    await thread.call('beginMaintenance', null);
    await shrink();
    expect(freeMebibytes()).to.be.within(63.9, 64);
  });

  it('writes nothing to see whether there is space, unless a change found none before', async () => {
    await open();
    await fill(1, 10);
    const bytesOfWal = (): number => statSync(`${path}-wal`).size;
    const before = bytesOfWal();
    expect(await thread.call('inspectStorage', null)).to.deep.equal({ missing: null, full: null });
    expect(bytesOfWal()).to.equal(before);
  });

  it('reports the disk as full while it has less space than is kept in reserve', async () => {
    await open(2 ** 50);
    const { missing, full } = await thread.call('inspectStorage', null);
    expect(missing).to.equal(null);
    expect(full).to.match(/^The disk of the data folder is full: /);
  });

  it('copies everything into the database file when it is closed, also while another connection has it open', async () => {
    await open();
    await fill(1, 10);
    const other = openDatabase(path);
    other.exec('SELECT count(*) FROM batch');
    await thread.call('close', null);
    expect(statSync(`${path}-wal`).size).to.equal(0);
    other.close();
  });

  it('does not know the outcome of a commit that the disk did not take', () => {
    // A file of this process may have no more than some mebibytes: the next write fails.
    const limited = 'ulimit -f 4096; exec "$0" "$@"';
    // How the process ends is not checked: it leaves its threads behind, in which SQLite may be at work.
    const { stdout } = spawnSync('sh', ['-c', limited, process.execPath, filler, folder], { encoding: 'utf8' });
    expect(stdout).to.equal('OUTCOME_UNKNOWN');
  });
});

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

  /** Adds rows with bodies of this size. */
  async function fill(rows: number, bytes: number): Promise<void> {
    const added = Array.from({ length: rows }, (_, offset) => ({
      partitionId,
      baseOffset: offset,
      lastOffset: offset,
      count: 1,
      appendedAt: 0,
      body: new ArrayBuffer(bytes),
    }));
    await thread.call('commit', { rows: added, writers: [] });
  }

  const remove = async (below: number): Promise<void> => {
    while (!(await thread.call('deleteSome', { partitionId, below })).isDone);
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
      ({ isDone } = await thread.call('deleteSome', { partitionId, below: 129 }));
      left.push(rowCount());
    }
    expect(left).to.deep.equal([66, 2, 1, 1]);
    await remove(Infinity);
    await fill(5, mebibyte);
    await thread.call('deleteSome', { partitionId, below: 5 });
    expect(rowCount()).to.equal(3);
    await thread.call('deleteSome', { partitionId: 2, below: 5 });
    expect(rowCount()).to.equal(3);
  });

  it('returns a mebibyte at a time of what is free beyond 16 MiB, if that is a quarter of the file', async () => {
    await open();
    await fill(20, mebibyte);
    const shrink = async (): Promise<number> => {
      const before = freeMebibytes();
      const { freedPages } = await thread.call('shrinkFile', null);
      expect(freeMebibytes()).to.equal(before - freedPages / 128);
      return freedPages / 128;
    };
    await remove(15);
    expect(freeMebibytes()).to.be.within(15, 16);
    expect(await shrink()).to.equal(0);
    await remove(17);
    expect(await shrink()).to.equal(1);
    while ((await shrink()) > 0);
    expect(freeMebibytes()).to.be.within(15, 16);
  });

  it('keeps what is free while it is less than a quarter of the file', async () => {
    await open();
    await fill(74, mebibyte);
    await remove(17);
    expect(freeMebibytes()).to.be.within(17, 18);
    expect((await thread.call('shrinkFile', null)).freedPages).to.equal(0);
    await remove(19);
    expect((await thread.call('shrinkFile', null)).freedPages).to.equal(128);
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

import { expect } from 'chai';
import { cpSync, mkdirSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { systemClock } from '../../src/clock.ts';
import { makeBackup } from '../../src/embedded/backup/make-backup.ts';
import { restoreBackup } from '../../src/embedded/backup/restore-backup.ts';
import { lockDataFolder } from '../../src/embedded/data-folder.ts';
import { describeError } from '../../src/errors.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { removeFolder, startService, temporaryFolder } from '../support/processes/service.ts';

async function failureOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(() => 'none', describeError);
}

describe('a backup of the log', () => {
  let folder: string;
  let dataFolder: string;
  let target: string;
  let restored: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    dataFolder = join(folder, 'data');
    target = join(folder, 'backup');
    restored = join(folder, 'restored');
    await (await startService(dataFolder)).stop();
  });
  afterEach(() => removeFolder(folder));

  const make = () => makeBackup({ dataFolder, target, version: '0.0.0', clock: systemClock });
  const restore = () => restoreBackup({ backup: target, dataFolder: restored });

  /** Overwrites eight bytes in the middle of the last batch. */
  function damageLastBatch(): void {
    const log = join(dataFolder, 'log.db');
    const connection = openDatabase(log);
    connection.exec(`
      UPDATE batch SET body = CAST(substr(body, 1, length(body) / 2) || x'0102030405060708'
        || substr(body, length(body) / 2 + 9) AS BLOB) WHERE id = (SELECT max(id) FROM batch)`);
    connection.close();
  }

  it('has a log and a manifest that only the owner may read, and restores to the same bytes', async () => {
    const manifest = await make();
    expect(readdirSync(target).sort()).to.deep.equal(['log.db', 'manifest.json']);
    expect(JSON.parse(readFileSync(join(target, 'manifest.json'), 'utf8'))).to.deep.equal({
      format: 1,
      file: 'log.db',
      ...manifest,
    });
    expect(manifest.bytes).to.equal(statSync(join(target, 'log.db')).size);
    expect(manifest.sha256).to.match(/^[0-9a-f]{64}$/);
    expect(statSync(target).mode & 0o077).to.equal(0);
    await restore();
    expect(readdirSync(restored)).to.deep.equal(['log.db']);
    expect(readFileSync(join(restored, 'log.db')).equals(readFileSync(join(target, 'log.db')))).to.equal(true);
    expect(statSync(join(restored, 'log.db')).mode & 0o077).to.equal(0);
  });

  it('is refused when a batch of the log is damaged, and leaves nothing', async () => {
    damageLastBatch();
    expect(await failureOf(make())).to.match(/^the copy is damaged, and so is the log: .*partition/);
    expect(readdirSync(folder)).to.deep.equal(['data']);
  });

  it('is refused where there is no log, no folder for it, or a backup that was interrupted', async () => {
    const other = (changed: object) =>
      failureOf(makeBackup({ dataFolder, target, version: '0.0.0', clock: systemClock, ...changed }));
    expect(await other({ dataFolder: folder })).to.contain('there is no log.db in');
    expect(await other({ target: join(folder, 'missing/backup') })).to.contain('there is no folder');
    mkdirSync(`${target}.partial`);
    expect(await failureOf(make())).to.contain('another backup runs, or one was interrupted');
    expect(readdirSync(folder).sort()).to.deep.equal(['backup.partial', 'data']);
  });

  it('is not restored when a byte differs or is missing, and the data folder stays empty', async () => {
    await make();
    const log = join(target, 'log.db');
    const bytes = readFileSync(log);
    const changed = Buffer.from(bytes);
    changed[bytes.length - 1] = (changed[bytes.length - 1] ?? 0) ^ 1;
    writeFileSync(log, changed);
    expect(await failureOf(restore())).to.contain('log.db has another checksum');
    expect(readdirSync(restored)).to.deep.equal([]);
    truncateSync(log, bytes.length - 1);
    expect(await failureOf(restore())).to.contain(`has ${bytes.length - 1} bytes instead of ${bytes.length}`);
    writeFileSync(log, bytes);
    await restore();
    expect(readdirSync(restored)).to.deep.equal(['log.db']);
  });

  it('is not restored into a folder that has something, or that a process has taken', async () => {
    await make();
    cpSync(dataFolder, restored, { recursive: true });
    expect(await failureOf(restore())).to.contain('is not empty');
    await removeFolder(restored);
    const lock = lockDataFolder(restored);
    expect(await failureOf(restore())).to.contain('is not empty (lock.db');
    lock.release();
  });

  it('is not restored without a manifest of this format', async () => {
    await make();
    const path = join(target, 'manifest.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"format": 1', '"format": 2'));
    expect(await failureOf(restore())).to.contain('has another form');
    writeFileSync(path, '{');
    expect(await failureOf(restore())).to.contain('is not a backup');
  });
});

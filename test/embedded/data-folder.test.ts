import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { lockDataFolder, isReadableByOthers } from '../../src/embedded/data-folder.ts';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { silentLogger, type Logger } from '../../src/logger.ts';
import { codeOf } from '../support/log-reading.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

const holder = fileURLToPath(new URL('../support/processes/data-folder-holder.js', import.meta.url));

describe('the data folder', () => {
  let folder = '';
  before(async () => {
    folder = await temporaryFolder();
  });
  after(() => removeFolder(folder));

  function openLog(dataFolder: string): Promise<EmbeddedLog> {
    return EmbeddedLog.open({ dataFolder, logger: silentLogger });
  }

  it('is created together with its parent folders', async () => {
    const dataFolder = join(folder, 'new', 'deeper');
    const log = await openLog(dataFolder);
    expect(existsSync(join(dataFolder, 'log.db'))).to.equal(true);
    for (const created of [dataFolder, join(dataFolder, '..')]) expect(statSync(created).mode & 0o777).to.equal(0o700);
    await log.close();
  });

  it('is refused where no folder can be created', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, 'not a folder');
    for (const dataFolder of [file, join(file, 'below'), '/proc/lendstream']) {
      expect(await codeOf(openLog(dataFolder))).to.equal('DATA_FOLDER_UNUSABLE');
    }
  });

  it('is refused where it cannot be written', async () => {
    let dataFolder = join(folder, 'read-only');
    mkdirSync(dataFolder);
    chmodSync(dataFolder, 0o500);
    // Permissions do not restrict root; the kernel's own folder accepts no files from any user.
    if (process.getuid?.() === 0 && existsSync('/sys/kernel')) dataFolder = '/sys/kernel';
    expect(await codeOf(openLog(dataFolder))).to.equal('DATA_FOLDER_UNUSABLE');
  });

  it('is recognised as open to other users by each right that gives access', () => {
    const dataFolder = join(folder, 'of-some-mode');
    mkdirSync(dataFolder);
    for (const [mode, isOpen] of [
      [0o700, false],
      [0o722, false],
      [0o710, true],
      [0o740, true],
      [0o701, true],
      [0o704, true],
    ] as const) {
      chmodSync(dataFolder, mode);
      expect(isReadableByOthers(dataFolder), mode.toString(8)).to.equal(isOpen);
    }
  });

  it('has files of the store that only their owner may read and write, also those that an older version made', async () => {
    const dataFolder = join(folder, 'of-an-older-version');
    mkdirSync(dataFolder, { mode: 0o700 });
    const before = {
      'old.db': 0o644,
      'old.db-wal': 0o666,
      'old.db-shm': 0o777,
      'old.db-journal': 0o640,
      'notes.db.txt': 0o644,
    };
    for (const [name, mode] of Object.entries(before)) {
      writeFileSync(join(dataFolder, name), '');
      chmodSync(join(dataFolder, name), mode);
    }
    const log = await openLog(dataFolder);
    const modes = Object.keys(before).map((name) => [
      name,
      (statSync(join(dataFolder, name)).mode & 0o777).toString(8),
    ]);
    await log.close();
    expect(Object.fromEntries(modes)).to.deep.equal({
      'old.db': '600',
      'old.db-wal': '600',
      'old.db-shm': '600',
      'old.db-journal': '600',
      'notes.db.txt': '644',
    });
  });

  it('gets new files that only their owner may read and write, whatever the umask and the mode of the folder', async () => {
    const dataFolder = join(folder, 'open-to-all');
    mkdirSync(dataFolder);
    chmodSync(dataFolder, 0o777);
    const umask = process.umask(0);
    const app = await createApp(readConfig({ DATA_DIR: dataFolder, PORT: '0' }), silentLogger);
    try {
      const names = readdirSync(dataFolder);
      expect(names).to.include.members([
        'log.db',
        'log.db-wal',
        'log.db-shm',
        'accounts.db',
        'accounts.db-wal',
        'lock.db',
      ]);
      const modes = names.map((name) => `${name} ${(statSync(join(dataFolder, name)).mode & 0o777).toString(8)}`);
      expect(modes).to.deep.equal(names.map((name) => `${name} 600`));
    } finally {
      process.umask(umask);
      await app.stop();
    }
  });

  it('is logged when it is open to other users', async () => {
    for (const [mode, count] of [
      [0o700, 0],
      [0o755, 1],
    ] as const) {
      const dataFolder = join(folder, `logged-${mode}`);
      mkdirSync(dataFolder);
      chmodSync(dataFolder, mode);
      const warnings: string[] = [];
      const logger: Logger = checkedLogger({ warn: (_, message) => void warnings.push(message) });
      const app = await createApp(readConfig({ DATA_DIR: dataFolder, PORT: '0' }), logger);
      await app.stop();
      expect(warnings).to.deep.equal(count === 0 ? [] : ['Other users of this machine can access the data folder']);
    }
  });

  it('is used by one log of a process at a time', () => {
    const dataFolder = join(folder, 'same-process');
    const lock = lockDataFolder(dataFolder);
    expect(() => lockDataFolder(dataFolder))
      .to.throw()
      .with.property('code', 'DATA_FOLDER_IN_USE');
    lock.release();
    lockDataFolder(dataFolder).release();
  });

  it('is refused immediately while another process holds it, and is free again once that process was killed', async () => {
    const dataFolder = join(folder, 'other-process');
    const child = spawn(process.execPath, [holder, dataFolder], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const started = performance.now();
    expect(await codeOf(openLog(dataFolder))).to.equal('DATA_FOLDER_IN_USE');
    expect(performance.now() - started).to.be.below(4_000);
    child.kill('SIGKILL');
    await once(child, 'close');
    const log = await openLog(dataFolder);
    await log.close();
  });

  it('is free again when opening it failed', async () => {
    const dataFolder = join(folder, 'not-a-database');
    mkdirSync(dataFolder);
    writeFileSync(join(dataFolder, 'log.db'), 'this is no database '.repeat(1_000));
    expect(await codeOf(openLog(dataFolder))).to.equal('DATA_FOLDER_UNUSABLE');
    rmSync(join(dataFolder, 'log.db'));
    const log = await openLog(dataFolder);
    await log.close();
  });
});

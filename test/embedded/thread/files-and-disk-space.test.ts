import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FilesAndDiskSpace, diskReserveBytes } from '../../../src/embedded/thread/files-and-disk-space.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

describe('the files of the database', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder, 'log.sqlite');
    writeFileSync(path, 'database');
  });

  afterEach(() => removeFolder(folder));

  it('are where they were opened, and their log may come later', () => {
    const check = new FilesAndDiskSpace(path, 0);
    expect(check.missing()).to.equal(null);
    writeFileSync(`${path}-wal`, 'changes');
    expect(check.missing()).to.equal(null);
    rmSync(`${path}-wal`);
    expect(check.missing()).to.equal('log.sqlite-wal in the data folder was removed or moved while the service ran.');
  });

  it('are missed when they were moved, or replaced by others of the same name', () => {
    const check = new FilesAndDiskSpace(path, 0);
    renameSync(path, `${path}.old`);
    expect(check.missing()).to.equal('log.sqlite in the data folder was removed or moved while the service ran.');
    writeFileSync(path, 'database');
    expect(check.missing()).to.equal(
      'log.sqlite in the data folder was replaced by another file while the service ran.',
    );
  });

  it('have room while the disk has as much free space as is kept in reserve', () => {
    expect(diskReserveBytes).to.equal(67_108_864);
    expect(new FilesAndDiskSpace(path, 0).full()).to.equal(null);
    const reserve = 2 ** 50;
    const { bavail, bsize } = statfsSync(folder);
    const text = new FilesAndDiskSpace(path, reserve).full() ?? '';
    const [free = 0, kept = 0] = [...text.matchAll(/\d+/g)].map(Number);
    expect(text).to.equal(`The disk of the data folder is full: ${free} MiB are free, ${kept} are kept in reserve.`);
    expect(kept).to.equal(2 ** 30);
    // Others use the same disk.
    expect(free).to.be.closeTo((bavail * bsize) / 2 ** 20, 1_024);
    expect(new FilesAndDiskSpace(join(folder, 'gone', 'log.sqlite'), reserve).full()).to.equal(null);
  });
});

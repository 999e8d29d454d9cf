import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeScratchFolder, removeScratchFolder } from '../../../scripts/suite/scratch-folder.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';

const memoryPlace = '/dev/shm';
const isInMemory = existsSync(memoryPlace) && statfsSync(memoryPlace).type === 0x01021994;

describe('the scratch folder of a test run', () => {
  const folders: string[] = [];

  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  /** A place in memory that no other run of tests uses; skips the test where there is none. */
  function place(context: Mocha.Context): string {
    if (!isInMemory) {
      process.stdout.write(`      skipped: ${memoryPlace} is no file system in memory\n`);
      context.skip();
    }
    const made = mkdtempSync(join(memoryPlace, 'lendstream-test-'));
    folders.push(made);
    return made;
  }

  it('is empty, and lies in the place', function () {
    const own = place(this);
    const folder = makeScratchFolder(own, 0) ?? expect.fail('none was made');
    expect(dirname(folder)).to.equal(own);
    expect(makeScratchFolder(own, 0), 'each run has its own').not.to.equal(folder);
  });

  it('is not made where there is less room than is asked for, on a disk, or nowhere', function () {
    const own = place(this);
    expect(makeScratchFolder(own, Infinity)).to.equal(undefined);
    expect(makeScratchFolder('/proc', 0)).to.equal(undefined);
    expect(makeScratchFolder(join(own, 'missing'), 0)).to.equal(undefined);
  });

  it('takes the place of those whose runs were killed, and leaves those of runs that go on', function () {
    const own = place(this);
    const { pid } = spawnSync(process.execPath, ['-e', '0']);
    const [dead, alive, other] = [`lendstream-tests-${pid}-a`, `lendstream-tests-${process.ppid}-b`, 'other'].map(
      (name) => join(own, name),
    ) as [string, string, string];
    for (const folder of [dead, alive, other]) {
      mkdirSync(folder);
      writeFileSync(join(folder, 'file'), 'text');
    }
    makeScratchFolder(own, 0);
    expect([dead, alive, other].map((folder) => existsSync(folder))).to.deep.equal([false, true, true]);
  });

  it('is removed with the disk that a killed test has left mounted in it', async function () {
    const folder = place(this);
    const disk = await mountSmallDisk(1, mkdtempSync(join(folder, 'disk-')));
    if (typeof disk === 'string') {
      process.stdout.write(`      skipped: ${disk}\n`);
      this.skip();
    }
    writeFileSync(join(disk.folder, 'file'), 'text');
    removeScratchFolder(folder);
    expect(existsSync(folder)).to.equal(false);
  });

  it('stays where it cannot be removed, and the run that comes next begins', function () {
    const file = join(place(this), 'file');
    writeFileSync(file, 'text');
    removeScratchFolder(join(file, 'folder'));
    expect(existsSync(file)).to.equal(true);
  });
});

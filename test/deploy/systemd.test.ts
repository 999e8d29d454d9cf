import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { findProgram } from '../../scripts/deployment/cached-program.ts';
import { packageRoot } from '../../src/package-root.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

/** The highest exposure that systemd-analyze may see, of 100. A service without restrictions has 96. */
const exposureMaximum = 20;

describe('deploy/systemd/lendstream.service', () => {
  const text = readFileSync(join(packageRoot, 'deploy/systemd/lendstream.service'), 'utf8');
  let folder: string;
  let unit: string;

  before(async function () {
    folder = await temporaryFolder();
    if (findProgram('systemd-analyze') === undefined) {
      process.stdout.write('    skipped: there is no systemd-analyze\n');
      this.skip();
    }
    unit = join(folder, 'lendstream.service');
    // The program may lie elsewhere on this machine.
    writeFileSync(unit, text.replace('ExecStart=/usr/bin/node', `ExecStart=${process.execPath}`));
  });
  after(() => removeFolder(folder));

  it('is accepted by systemd', () => {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });

  it('leaves the process few rights', () => {
    const words = ['security', '--offline=true', `--threshold=${exposureMaximum}`, unit];
    const { status, stdout, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
    expect(status, `${stdout}${stderr}`).to.equal(0);
  });
});

describe('the command of deploy/systemd/lendstream.service', () => {
  it('is that of the image', () => {
    const unit = readFileSync(join(packageRoot, 'deploy/systemd/lendstream.service'), 'utf8');
    const dockerfile = readFileSync(join(packageRoot, 'Dockerfile'), 'utf8');
    const words = JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]') as string[];
    const command = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.replace('/usr/bin/', '').replace('/opt/lendstream/', '');
    expect(command).to.equal(words.join(' '));
  });
});

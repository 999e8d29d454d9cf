import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { serviceMemory } from '../../scripts/bench/measured-service.ts';
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

describe('the command of the image', () => {
  const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
  const words = JSON.parse(/^CMD (\[.*\])$/m.exec(read('Dockerfile'))?.[1] ?? '[]') as string[];
  const command = words.join(' ');

  it('is that of deploy/systemd/lendstream.service', () => {
    const unit = /^ExecStart=(.*)$/m.exec(read('deploy/systemd/lendstream.service'))?.[1];
    expect(unit?.replace('/usr/bin/', '').replace('/opt/lendstream/', '')).to.equal(command);
  });

  it('is that of scripts/start', () => {
    const start = /^exec (node .*)$/m.exec(read('scripts/start'))?.[1];
    expect(start?.replace('"$project/dist/src/main.js"', 'dist/src/main.js')).to.equal(command);
  });

  it('is the one that docs/operating.md names', () => {
    expect(read('docs/operating.md')).to.contain(`\`${command}\``);
  });

  it('is that of the service that benchmarks measure', () => {
    expect(words.slice(2, -1)).to.deep.equal(serviceMemory);
  });
});

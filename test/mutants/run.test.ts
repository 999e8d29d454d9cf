import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'mocha';

const program = fileURLToPath(new URL('run.js', import.meta.url));

function run(...options: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...options], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('npm run mutants', () => {
  it('--help says what it does', () => {
    const { status, output } = run('--help', '--folder', 'lending');
    expect(status).to.equal(0);
    expect(output).to.match(/^Usage: npm run mutants -- --folder FOLDER/);
    expect(output).not.to.contain('Seed');
  });

  it('refuses a folder that is not there in one line', () => {
    expect(run('--folder', 'landing')).to.deep.equal({
      status: 2,
      output: 'lendstream: there is no folder src/landing\n',
    });
  });

  it('refuses a share that is no number before it runs anything', () => {
    const { status, output } = run('--folder', 'lending', '--at-least', 'most');
    expect(status).to.equal(2);
    expect(output).to.equal('lendstream: --at-least needs a number from 0 to 100, not "most"\n');
  });
});

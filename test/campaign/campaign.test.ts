import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'mocha';
import { packageRoot } from '../../src/package-root.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { reportOf } from './report.ts';
import { steps, type Step } from './steps.ts';

const program = fileURLToPath(new URL('./run.js', import.meta.url));

describe('npm run campaign', () => {
  let folder: string;
  let report: string;

  before(async () => {
    folder = await temporaryFolder();
    report = join(folder, 'reports', 'campaign.md');
  });
  after(() => removeFolder(folder));

  function run(...words: string[]): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  }

  it('runs the requested parts in their order, and reports counts, durations, seed and version', function () {
    this.timeout(120_000);
    const words = ['--only', 'simulation,keys', '--requests', '30', '--seeds', '3', '--seed', '7', '--report', report];
    const { status, output } = run(...words);
    expect(status, output).to.equal(0);
    expect(output).to.contain(`2 of 2 parts ran, 0 failed. The report is in ${report}\n`);
    const written = readFileSync(report, 'utf8');
    expect(written).to.contain(`seed 7, Node.js ${process.version}`);
    const rows = written.matchAll(/\| `node (.*?)` \| \d+ min \d+ s \| nothing found \|/g);
    expect(Array.from(rows, ([, command]) => command)).to.deep.equal([
      'dist/test/security/keys/run.js --requests 30 --seed 7',
      'dist/test/simulation/run.js --seeds 3 --from 7',
    ]);
    expect(written).to.contain('Seed 7: 30 requests');
  });

  it('runs whole every file of which scripts/test runs a part', () => {
    const whole = steps.find(({ name }) => name === 'whole');
    const root = join(packageRoot, 'test');
    const inParts = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts') && readFileSync(join(root, path), 'utf8').includes('partOrWhole('))
      .map((path) => `test/${path}`)
      .filter((path) => path !== 'test/campaign/campaign.test.ts');
    expect(whole?.arguments({ requests: 1, minutes: 1, seeds: 1, seed: 1 })).to.have.members(inParts);
  });

  it('has a part that plants faults in the code, each of which the simulation must find', function () {
    this.timeout(120_000);
    const step = steps.find(({ name }) => name === 'planted-faults') as Step;
    const planted = join(packageRoot, 'dist', step.program);
    const words = step.arguments({ requests: 1, minutes: 1, seeds: 1, seed: 1 }).map(String);
    const fault = 'A stream that comes later gets a free slot first';
    const { status, stdout } = spawnSync(process.execPath, [planted, ...words, '--named', fault], { encoding: 'utf8' });
    expect(status, stdout).to.equal(0);
    expect(stdout).to.contain(`: ${fault}\n1 of 1 faults found, each within 1000 seeds\n`);
  });

  it('reports which part failed, in the table and with its last output lines', () => {
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`);
    const settings = { requests: 1, minutes: 1, seeds: 1, seed: 1 };
    const [step] = steps as [Step, ...Step[]];
    const outcome = { step, command: 'node x', isGood: false, milliseconds: 61_000, output: lines };
    const text = reportOf(settings, new Date(0), [outcome]);
    expect(text).to.contain(`| ${step.title} | \`node x\` | 1 min 1 s | **FAILED** |`);
    expect(text).to.contain('line 199\n').and.not.to.contain('line 9\n');
  });

  for (const words of [['--only', 'fuzz,nothing'], ['--minutes', 'long'], ['--requests', ''], ['--bogus']]) {
    it(`refuses ${words.join(' ')} in one line, and runs nothing`, () => {
      const { status, output } = run(...words, '--report', join(folder, 'none.md'));
      expect(status).to.equal(2);
      expect(output).to.match(/^lendstream: .*\n$/);
      expect(existsSync(join(folder, 'none.md'))).to.equal(false);
    });
  }
});

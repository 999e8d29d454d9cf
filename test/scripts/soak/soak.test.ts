import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'mocha';
import { headLine } from '../../../scripts/soak/report.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const program = fileURLToPath(new URL('../../../scripts/soak/soak.js', import.meta.url));

/** Six seconds, five of them judged, with a load that any machine carries. */
const short = [
  ['--minutes', '0.1'],
  ['--warm-up', '0.01'],
  ['--every', '1'],
  ['--events', '200'],
  ['--loans', '60'],
  ['--transactions', '2'],
  ['--commands', '420'],
  // On a machine that runs other tests at the same time.
  ['--carried-share', '0.3'],
  ['--latency-growth', '1000'],
].flat();

describe('npm run soak', () => {
  let folder: string;

  before(async () => {
    folder = await temporaryFolder();
  });
  after(() => removeFolder(folder));

  /** Runs the soak with its data in the folder of this test. */
  async function run(...words: string[]): Promise<{ status: number; lines: string[]; report: string }> {
    const report = join(folder, 'reports', 'soak.md');
    const child = spawn(process.execPath, [program, ...words, '--report', report], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
    const [status] = (await once(child, 'close')) as [number];
    return { status, lines: output.split('\n'), report: existsSync(report) ? readFileSync(report, 'utf8') : '' };
  }

  it('prints a line for each interval and its verdict, writes both to the report, and leaves no data', async function () {
    this.timeout(120_000);
    // Six seconds show nothing about memory or latency.
    const { status, lines, report } = await run(...short, '--memory-growth', '100');
    expect(status, lines.join('\n')).to.equal(0);
    const head = lines.indexOf(headLine);
    const intervals = lines.slice(head + 1).filter((line) => / MiB +\d+ MiB /.test(line));
    expect(intervals).to.have.lengthOf(6);
    expect(lines.filter((line) => line.startsWith('  ok '))).to.have.lengthOf(8);
    expect(lines.at(-2)).to.match(/^Everything stayed as it was\. The report is in /);
    expect(report).to.contain(`Node.js ${process.version}`).and.to.contain('200 events/s to 3 streams');
    expect(report.match(/^\|.* MiB \|.*\/.*\|$/gm)).to.have.lengthOf(6);
    expect(report.match(/\| ok \|$/gm)).to.have.lengthOf(8);
    expect(readdirSync(folder).filter((name) => name.startsWith('lendstream-soak-'))).to.deep.equal([]);
  });

  it('ends with exit code 1 when a rule is broken, and says which', async function () {
    this.timeout(120_000);
    const { status, lines, report } = await run(...short, '--memory-growth', '0.001');
    expect(status).to.equal(1);
    const broken = lines.flatMap((line) => /^ {2}BROKEN {2}([^:]+):/.exec(line)?.[1] ?? []);
    expect(broken).to.include('resident memory').and.not.to.include.members(['load', 'failures']);
    expect(lines.at(-2)).to.match(/^Broken: .*resident memory/);
    expect(report).to.match(/^\| resident memory \|.*\| \*\*BROKEN\*\* \|$/m);
  });

  for (const [words, message] of [
    [['--minutes', 'long'], '--minutes needs a number above 0, not "long"'],
    [['--bogus'], 'there is no option --bogus'],
    [['--commands', '3959'], '--commands must be enough for --loans'],
    [['--minutes', '14', '--warm-up', '10'], '4 lines would follow the warm-up'],
  ] as const) {
    it(`refuses ${words.join(' ')} in one line, and starts nothing`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' });
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr)
        .to.match(/^lendstream: .*\n$/)
        .and.to.contain(message);
    });
  }
});

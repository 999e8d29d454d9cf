import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, cpSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'mocha';
import { clusterParts, embeddedParts } from '../../scripts/bench/bench-options.ts';
import { kafkaVersions } from '../../scripts/local-cluster/kafka-broker.ts';
import { readUsage } from '../../scripts/read-usage.ts';
import { packageRoot } from '../../src/package-root.ts';
import { steps } from '../campaign/steps.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const scriptsFolder = join(packageRoot, 'scripts');

/** The scripts that are called by their name. They read prepare.sh. */
const scripts = readdirSync(scriptsFolder).filter((name) => {
  const path = join(scriptsFolder, name);
  try {
    accessSync(path, constants.X_OK);
  } catch {
    return false;
  }
  return statSync(path).isFile();
});

/** npm scripts that call other programs, which have their own --help. */
const programsOfOthers = ['build', 'prepack', 'lint', 'format', 'coverage'];

/** The compiled programs that people start without a script, with the name of their usage. */
const programs = [
  ['scripts/bench/bench.js', 'bench'],
  ['scripts/demo.js', 'demo'],
  ['scripts/generate-alerts.js', 'generate'],
  ['scripts/generate-openapi.js', 'generate'],
  ['scripts/generate-types.js', 'generate'],
  ['scripts/local-cluster/cluster.js', 'cluster'],
  ['scripts/record-docs.js', 'record-docs'],
  ['scripts/screenshots.js', 'screenshots'],
  ['scripts/size/size.js', 'size'],
  ['scripts/soak/soak.js', 'soak'],
  ['test/campaign/run.js', 'campaign'],
  ['test/faults/run.js', 'faults'],
  ['test/fuzz/run.js', 'fuzz'],
  ['test/mutants/run.js', 'mutants'],
] as const;

describe('--help', () => {
  let folder: string;

  /** A clone without installed packages or a build, on a machine without Node.js. */
  before(async () => {
    folder = await temporaryFolder();
    cpSync(scriptsFolder, join(folder, 'scripts'), { recursive: true });
    mkdirSync(join(folder, 'bin'));
    for (const program of ['bash', 'cat', 'dirname', 'env']) {
      const path = execFileSync('which', [program], { encoding: 'utf8' }).trim();
      symlinkSync(path, join(folder, 'bin', program));
    }
  });
  after(() => removeFolder(folder));

  function helpOf(script: string, ...words: string[]) {
    const { status, stdout, stderr } = spawnSync(join(folder, 'scripts', script), words, {
      encoding: 'utf8',
      env: { PATH: join(folder, 'bin') },
    });
    return { status, stdout, stderr };
  }

  function expectHelp(script: string, usage: string, ...words: string[]): void {
    expect(helpOf(script, ...words)).to.deep.equal({ status: 0, stdout: `${readUsage(usage)}\n`, stderr: '' });
    expect(readUsage(usage)).to.match(/^Usage: (scripts\/|npm run )/);
    expect(readdirSync(folder).toSorted()).to.deep.equal(['bin', 'scripts']);
  }

  for (const script of scripts) {
    it(`of scripts/${script} prints the usage, and does nothing else`, () => {
      expectHelp(script, script, '--help');
      expectHelp(script, script, '-h');
    });
  }

  const { scripts: npmScripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const [name, command] of Object.entries(npmScripts)) {
    if (programsOfOthers.includes(name)) continue;
    it(`of npm run ${name} prints the usage, and does nothing else`, () => {
      const [script = '', ...words] = command.replace(/^scripts\//, '').split(' ');
      expect(scripts, command).to.include(script);
      expectHelp(script, name, ...words, '--help');
    });
  }

  for (const [program, usage] of programs) {
    it(`of dist/${program} prints the same`, () => {
      const path = fileURLToPath(new URL(`../../${program}`, import.meta.url));
      const printed = execFileSync(process.execPath, [path, '--help'], { encoding: 'utf8' });
      expect(printed).to.equal(`${readUsage(usage)}\n`);
    });
  }

  it('works after other words too', () => {
    expectHelp('test', 'test', 'test/broker', '--help');
    expectHelp('cluster', 'cluster', 'up', '--help');
  });

  it('is not needed to learn of a mistyped word, before anything is installed or built', () => {
    for (const [words, reason] of [
      [['test/brokr'], 'there is no test file or folder test/brokr'],
      [['--once', 'test/health.tset.ts'], 'there is no test file or folder test/health.tset.ts'],
      [['--nod', '24'], 'there is no option --nod'],
      [['--node'], '--node needs a version such as 24'],
    ] as const) {
      expect(helpOf('test', ...words)).to.deep.equal({ status: 2, stdout: '', stderr: `lendstream: ${reason}\n` });
    }
    expect(readdirSync(folder).toSorted()).to.deep.equal(['bin', 'scripts']);
  });

  it('names the available choices', () => {
    // A long list continues on the next line.
    const benchUsage = readUsage('bench').replaceAll(/\s+/g, ' ');
    expect(benchUsage).to.contain(`of embedded: ${embeddedParts.join(', ')} of cluster`);
    expect(benchUsage).to.contain(`of cluster: ${clusterParts.join(', ')} --scale`);
    expect(readUsage('cluster')).to.contain(`[--kafka ${kafkaVersions.join('|')}]`);
    const campaignUsage = readUsage('campaign').replaceAll(/\s+/g, ' ');
    expect(campaignUsage).to.contain(`some of the parts: ${steps.map(({ name }) => name).join(', ')} --requests`);
  });
});

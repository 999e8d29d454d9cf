import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { runCampaign, type CampaignOptions, type CampaignResult } from './campaign.ts';
import { nameOf } from './mutant.ts';
import { isFound, percentFound, survivorLines } from './report.ts';

/** A build of one file and its tests, which need only the test runner. */
describe('A campaign of mutants', function () {
  this.timeout(60_000);
  let project: string;
  let said: string[];

  beforeEach(async () => {
    project = await temporaryFolder();
    mkdirSync(join(project, 'dist/test'), { recursive: true });
    said = [];
  });

  afterEach(() => removeFolder(project));

  function write(files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(project, 'dist', path)), { recursive: true });
      writeFileSync(join(project, 'dist', path), text);
    }
    writeFileSync(join(project, 'dist/package.json'), '{ "type": "module" }');
  }

  function run(options: Partial<CampaignOptions> = {}): Promise<CampaignResult> {
    return runCampaign({
      build: join(project, 'dist'),
      memory: join(project, 'memory'),
      folder: 'room',
      count: 100,
      seed: 1,
      equivalents: [],
      processes: 1,
      graceMilliseconds: 1_500,
      say: (line) => said.push(line),
      millisecondsPerMutant: 60_000,
      startCluster: () => Promise.reject(new Error('No suite needs a cluster')),
      ...options,
    });
  }

  const changesOf = (result: CampaignResult, found: boolean): readonly string[] =>
    result.trials
      .filter((trial) => isFound(trial) === found)
      .map(({ mutant }) => mutant.change)
      .sort();

  /** The names of changes of one line, for campaigns in which the other mutants would show nothing more. */
  const onlyOf = (file: string, text: string, ...changes: readonly string[]): ReadonlySet<string> =>
    new Set(changes.map((change) => nameOf({ file, text, change, occurrence: 1 })));

  const isFull = 'export function isFull(count) {\n  return count >= 3;\n}\n';

  it('finds a fault that a test is about, and shows the line of one that none is about', async () => {
    write({
      'src/room/full.js': isFull,
      'test/room/full.test.js': `
        import { equal } from 'node:assert';
        import { isFull } from '../../src/room/full.js';
        it('is full with four', () => equal(isFull(4), true));
        it('is not full with two', () => equal(isFull(2), false));`,
    });
    const result = await run();
    expect(changesOf(result, true)).to.deep.equal(['count >= 3 → count < 3', 'count >= 3 → count >= 2']);
    expect(changesOf(result, false)).to.deep.equal(['count >= 3 → count > 3', 'count >= 3 → count >= 4']);
    expect(percentFound(result.trials)).to.equal(50);
    const [survivor] = result.trials.filter((trial) => !isFound(trial) && trial.mutant.mutation.operator === 'bound');
    if (survivor === undefined) throw new Error('None survived');
    const lines = ['src/room/full.js:2  bound', '  - return count >= 3;', '  + return count > 3;'];
    expect(survivorLines(survivor)).to.deep.equal(lines);
    expect(said.join('\n')).to.contain(lines.join('\n'));
  });

  it('runs the tests that execute the first half of a condition, also where none executes the second', async () => {
    write({
      'src/room/open.js': 'export const isOpen = (a, b) => a || b;\n',
      'test/room/open.test.js': `
        import { equal } from 'node:assert';
        import { isOpen } from '../../src/room/open.js';
        it('is open', () => equal(isOpen(true, false), true));`,
    });
    expect(changesOf(await run(), true)).to.deep.equal(['a || b → a && b']);
  });

  it('finds a fault with which a test never ends, also one that does not give way', async () => {
    write({
      'src/room/count.js': `
        export function countTo(limit) {
          let count = 0;
          while (count < limit) count += 1;
          return count;
        }`,
      'test/room/count.test.js': `
        import { equal } from 'node:assert';
        import { countTo } from '../../src/room/count.js';
        it('counts', () => equal(countTo(3), 3));`,
    });
    const only = onlyOf(
      'src/room/count.js',
      'while (count < limit) count += 1;',
      'count += 1 → count += 0',
      'count < limit → count >= limit',
    );
    // A loop that never ends uses all of a processor until then.
    const { trials } = await run({ only, graceMilliseconds: 300 });
    const kinds = Object.fromEntries(trials.map(({ mutant, outcome }) => [mutant.change, outcome.kind]));
    expect(kinds).to.deep.equal({ 'count += 1 → count += 0': 'hung', 'count < limit → count >= limit': 'failed' });
  });

  it('finds a fault that leaves something open when all tests have passed', async () => {
    write({
      'src/room/timer.js': `
        export function watch() {
          const timer = setInterval(() => undefined, 50);
          return () => {
            clearInterval(timer);
          };
        }`,
      'test/room/timer.test.js': `
        import { watch } from '../../src/room/timer.js';
        it('stops', () => watch()());`,
    });
    const only = onlyOf('src/room/timer.js', 'clearInterval(timer);', 'clearInterval(timer); → ;');
    const { trials } = await run({ only, graceMilliseconds: 500 });
    expect(trials.map(({ outcome }) => outcome.kind)).to.deep.equal(['hung']);
  });

  it('counts a fault that no test executes as not found, without running any', async () => {
    write({
      'src/room/two.js': 'export const used = () => true;\nexport const unused = () => false;\n',
      'test/room/two.test.js': `
        import { equal } from 'node:assert';
        import { used } from '../../src/room/two.js';
        it('is used', () => equal(used(), true));`,
    });
    expect(changesOf(await run(), false)).to.deep.equal(['false → true']);
  });

  it('leaves out what is listed as equivalent', async () => {
    write({ 'src/room/full.js': isFull });
    const listed = {
      file: 'src/room/full.js',
      text: 'return count >= 3;',
      change: 'count >= 3 → count > 3',
      reason: 'x',
    };
    const { trials, total } = await run({ equivalents: [listed] });
    expect(total).to.equal(3);
    expect(trials.map(({ mutant }) => mutant.change)).not.to.contain(listed.change);
    const elsewhere = { ...listed, text: 'return count >= 2;' };
    expect(await run({ equivalents: [elsewhere] })).to.have.property('total', 4);
  });

  it('tries the same mutants with the same seed, and one less moves no other', async () => {
    write({
      'src/room/full.js': Array.from({ length: 20 }, (_, n) => `export const f${n} = (a) => a > b${n};\n`).join(''),
    });
    const first = await run({ count: 10 });
    const changes = first.trials.map(({ mutant }) => mutant.change);
    const again = await run({ count: 10 });
    expect(again.trials.map(({ mutant }) => mutant.change)).to.deep.equal(changes);
    const other = await run({ count: 10, seed: 2 });
    expect(other.trials.map(({ mutant }) => mutant.change)).not.to.deep.equal(changes);
    const { file, text, change } = first.trials[3]?.mutant ?? { file: '', text: '', change: '' };
    const oneLess = await run({ count: 9, equivalents: [{ file, text, change, reason: 'x' }] });
    expect(oneLess.trials.map(({ mutant }) => mutant.change)).to.deep.equal(changes.filter((each) => each !== change));
  });

  it('plants its faults in a copy that is gone afterwards', async () => {
    const test = `
      import { equal } from 'node:assert';
      import { isFull } from '../../src/room/full.js';
      it('is full with three', () => equal(isFull(3), true));`;
    write({ 'src/room/full.js': isFull, 'test/room/full.test.js': test });
    await run({ count: 2, processes: 2 });
    expect(readFileSync(join(project, 'dist/src/room/full.js'), 'utf8')).to.equal(isFull);
    expect(readdirSync(project).filter((name) => name.startsWith('dist-'))).to.deep.equal([]);
  });

  it('runs a test file for what it executes once, and again when something that it loads was changed', async () => {
    write({
      'src/room/full.js': isFull,
      'test/room/full.test.js': `import '../../src/room/full.js';\nit('passes', () => undefined);`,
      'test/room/other.test.js': "it('passes', () => undefined);",
    });
    const learnt = async (): Promise<string | undefined> => {
      said = [];
      await run({ count: 0 });
      return said.find((line) => line.includes('suites'));
    };
    expect(await learnt()).to.equal('2 suites, 2 of them run for what they execute');
    expect(await learnt()).to.equal('2 suites, 0 of them run for what they execute');
    write({ 'src/room/full.js': `${isFull}\n` });
    expect(await learnt()).to.equal('2 suites, 1 of them run for what they execute');
    write({ 'test/room/other.test.js': "it('passes again', () => undefined);" });
    expect(await learnt()).to.equal('2 suites, 1 of them run for what they execute');
  });

  it('leaves out a test file that fails by itself, and says so', async () => {
    write({
      'src/room/full.js': isFull,
      'test/room/full.test.js': `
        import '../../src/room/full.js';
        it('fails', () => { throw new Error('as always'); });`,
    });
    const { trials } = await run();
    expect(trials.filter(isFound)).to.deep.equal([]);
    expect(said[0]).to.match(
      /^Left out, because it fails by itself: test\/room\/full.test.js: fails: Error: as always/,
    );
    expect(existsSync(join(project, 'memory'))).to.equal(false);
  });
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { conditionOf, identify } from '../../../../scripts/local-cluster/process-identity.ts';
import { Runner, type FileOutcome } from '../../../../scripts/suite/runner/runner.ts';
import { findTests, type Backend } from '../../../../scripts/suite/test-files.ts';
import { eventually } from '../../../support/eventually.ts';

describe('a runner of test files', () => {
  let runner: Runner;

  beforeEach(() => {
    runner = new Runner(new Map());
  });
  afterEach(() => runner.kill());

  function run(name: string, backend: Backend = 'embedded'): Promise<FileOutcome> {
    const file = findTests(`test/support/suites/${name}.ts`)?.files[0];
    if (file === undefined) throw new Error(`There is no suite ${name}`);
    return runner.run({ ...file, backend });
  }

  it('reports the output of a file, and how many tests passed and were skipped', async () => {
    const { counts, output, failures } = await run('passing');
    expect(counts).to.deep.equal({ passed: 1, failed: 0, skipped: 1 });
    expect(output).to.contain('A suite that passes').and.to.contain('says one thing').and.to.contain('no moon');
    expect(failures).to.equal('');
  });

  it('names the tests and hooks that failed, and why', async () => {
    const { counts, failures } = await run('failing');
    expect(counts).to.deep.equal({ passed: 0, failed: 2, skipped: 0 });
    expect(failures).to.contain('expects two').and.to.contain('expected 1 to equal 2').and.to.contain('no hook');
    expect(failures).to.match(/test\/support\/suites\/failing\.ts:8:\d+/);
  });

  it('runs one file after another, each with its own output and counts, and exits cleanly', async () => {
    await run('failing');
    const { counts, output } = await run('passing');
    expect(counts).to.deep.equal({ passed: 1, failed: 0, skipped: 1 });
    expect(output).not.to.contain('expects two');
    expect(await runner.end()).to.equal('');
    expect(runner.isAlive).to.equal(false);
  });

  it('runs a file on one backend after the other', async () => {
    runner.provide('current', { kafkaBrokers: ['one:9092', 'two:9092'], redisUrl: 'redis://three:6379' });
    const outputs: string[] = [];
    for (const backend of ['embedded', 'cluster', 'embedded'] as const) {
      const { counts, output } = await run('on-either-backend', backend);
      expect(counts).to.deep.equal({ passed: 1, failed: 0, skipped: 0 });
      outputs.push(/opens (.*)/.exec(output)?.[1] ?? '');
    }
    expect(outputs).to.deep.equal([
      '"the embedded store"',
      '{"KAFKA_BROKERS":"one:9092,two:9092","REDIS_URL":"redis://three:6379"}',
      '"the embedded store"',
    ]);
  });

  it('leaves nothing of a file in the process, however many files it runs', async () => {
    const outputs: string[] = [];
    for (let count = 1; count <= 12; count += 1) outputs.push((await run('failing')).output);
    expect(outputs.join('')).not.to.contain('MaxListenersExceededWarning');
  });

  it('counts one failure for a file whose process dies, names both, and ends the processes that the file started', async () => {
    const { counts, failures, output } = await run('dying');
    expect(counts).to.deep.equal({ passed: 0, failed: 1, skipped: 0 });
    expect(failures).to.contain('test/support/suites/dying.ts').and.to.contain('exit code 7');
    expect(runner.isAlive).to.equal(false);
    expect(await runner.end()).to.equal('');
    const orphan = Number(/orphan (\d+)/.exec(output)?.[1]);
    expect(orphan).to.be.greaterThan(0);
    await eventually(() => conditionOf(identify(orphan)) === 'gone');
  });

  it('names what a file left open, when the file is over and when the process cannot exit because of it', async () => {
    await run('passing');
    const { counts, opened } = await run('leaving-open');
    expect(counts).to.deep.equal({ passed: 1, failed: 0, skipped: 0 });
    expect(opened).to.contain('Timeout');
    expect(await runner.end(200)).to.match(/exit code 1.*was left open.*Timeout/);
  });
});

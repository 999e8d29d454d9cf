import { expect } from 'chai';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { sumOf } from '../../../scripts/suite/counts.ts';
import { Runner, type FileOutcome } from '../../../scripts/suite/runner/runner.ts';
import { countedOutcomes, runFailedAgain, secondRunsMaximum } from '../../../scripts/suite/second-runs.ts';
import { findTests, type TestFile } from '../../../scripts/suite/test-files.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

describe('second runs of test files', () => {
  let folder: string;
  let ranAlone: string[];

  before(async () => {
    folder = await temporaryFolder();
  });
  beforeEach(() => {
    ranAlone = [];
    process.env['MARKER'] = join(folder, 'marker');
  });
  afterEach(() => {
    delete process.env['MARKER'];
  });
  after(() => removeFolder(folder));

  function suite(name: string): TestFile {
    const file = findTests(`test/support/suites/${name}.ts`)?.files[0];
    if (file === undefined) throw new Error(`There is no suite ${name}`);
    return file;
  }

  async function run(file: TestFile): Promise<FileOutcome> {
    const runner = new Runner(new Map());
    try {
      return await runner.run(file);
    } finally {
      runner.kill();
    }
  }

  function runAlone(file: TestFile): Promise<FileOutcome> {
    ranAlone.push(file.source);
    return run(file);
  }

  it('count for files that failed, whether they pass then or not', async () => {
    const outcomes = [await run(suite('passing')), await run(suite('failing-once')), await run(suite('failing'))];
    expect(sumOf(...outcomes.map(({ counts }) => counts))).to.deep.equal({ passed: 1, failed: 3, skipped: 1 });
    const secondRuns = await runFailedAgain(outcomes, runAlone);
    expect(ranAlone).to.deep.equal(['test/support/suites/failing-once.ts', 'test/support/suites/failing.ts']);
    expect(secondRuns.map(({ first, second }) => [first.counts.failed, second.counts.failed])).to.deep.equal([
      [1, 0],
      [2, 2],
    ]);
    const counted = countedOutcomes(outcomes, secondRuns);
    expect(sumOf(...counted.map(({ counts }) => counts))).to.deep.equal({ passed: 2, failed: 2, skipped: 1 });
  });

  it(`are left out when more than ${secondRunsMaximum} files failed`, async () => {
    const failed = await run(suite('failing'));
    const outcomes = Array.from({ length: secondRunsMaximum + 1 }, () => ({ ...failed }));
    expect(await runFailedAgain(outcomes, runAlone)).to.deep.equal([]);
    expect(ranAlone).to.deep.equal([]);
    expect(countedOutcomes(outcomes, [])).to.deep.equal(outcomes);
    expect(await runFailedAgain(outcomes.slice(1), runAlone)).to.have.length(secondRunsMaximum);
  });
});

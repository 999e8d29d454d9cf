import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'mocha';
import { findTests, testFilesIn } from '../../scripts/suite/test-files.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const program = fileURLToPath(new URL('../../scripts/run-tests.js', import.meta.url));

describe('The runner of the tests', () => {
  let folder: string;

  before(async () => {
    folder = await temporaryFolder();
    mkdirSync(join(folder, 'bin'));
    symlinkSync(process.execPath, join(folder, 'bin/node'));
  });

  after(() => removeFolder(folder));

  /** Runs test files on a machine with only Node: no Java, no Redis, nothing to install them with. */
  function run(file: string, environment: Record<string, string> = {}): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, file], {
      encoding: 'utf8',
      env: { PATH: join(folder, 'bin'), LENDSTREAM_CACHE_DIR: join(folder, 'cache'), ...environment },
    });
    return { status, output: stdout + stderr };
  }

  it('passes the cluster of the environment to the suites that need one', () => {
    const { status, output } = run('test/support/suites/on-cluster.ts', {
      CI: 'true',
      KAFKA_BROKERS: 'one:9092,two:9092',
      REDIS_URL: 'redis://three:6379',
    });
    expect(output).to.match(/^2 passed, 0 failed, 0 skipped$/m);
    expect(output).not.to.contain('Starting Kafka');
    expect(status).to.equal(0);
  });

  it('reports that no cluster is available and how to get one, and counts the tests that need it as skipped', () => {
    const { status, output } = run('test/support/suites/on-cluster.ts');
    expect(output).to.contain('NO CLUSTER');
    expect(output).to.match(/Java 17, Maven, redis-server: not found.*[Ii]nstall with/);
    expect(output).to.contain('skipped: "A suite that needs a cluster" needs KAFKA_BROKERS and REDIS_URL');
    expect(output).to.match(/^1 passed, 0 failed, 1 skipped$/m);
    expect(status).to.equal(0);
  });

  it('fails for the same reason where CI=true', () => {
    const { status, output } = run('test/support/suites/on-cluster.ts', { CI: 'true' });
    expect(output)
      .to.contain('NO CLUSTER')
      .and.to.match(/^1 passed, 1 failed, 0 skipped$/m);
    expect(status).to.equal(1);
  });

  it('requires a cluster for a file that runs on both backends, even if it requests none itself', () => {
    const { status, output } = run('test/lending-format/stored-toggles.test.ts');
    expect(output).to.contain('NO CLUSTER');
    expect(output).to.match(/^\d+ passed, 0 failed, 0 skipped$/m);
    expect(status).to.equal(0);
  });

  it('starts nothing for suites that need no cluster', () => {
    const { status, output } = run('test/scripts/local-cluster/prerequisites.test.ts', { CI: 'true' });
    expect(output).not.to.match(/NO CLUSTER|Starting/);
    expect(status).to.equal(0);
  });

  it('reports in one line that a name is no test, before it runs any other', () => {
    for (const name of ['test/broker/rebalanse.test.ts', 'test/support/cluster', 'src/main.ts', 'test/schemas']) {
      expect(findTests(name), name).to.equal(undefined);
    }
    const { status, output } = run('test/brokr');
    expect(output).to.equal('lendstream: there is no test file or folder test/brokr\n');
    expect(status).to.equal(2);
  });

  it('runs the files of a folder in parallel, and prints a line for each, and the counts last', () => {
    const { status, output } = run('test/lending-format/payloads');
    const files = testFilesIn().filter(({ source }) => source.startsWith('test/lending-format/payloads/'));
    for (const { source } of files)
      expect(output).to.match(new RegExp(`^ +\\d+\\.\\d s +\\d+\\.\\d s  ${source}: \\d+ passed$`, 'm'));
    expect(output).to.match(new RegExp(`s  test/lending-format \\(${files.length} files, \\d+ tests passed\\)`));
    expect(output).to.match(/^\d+ passed, 0 failed, 0 skipped$/m);
    expect(status).to.equal(0);
  });
});

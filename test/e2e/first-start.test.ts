import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../src/errors.ts';
import { packageRoot } from '../../src/package-root.ts';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http/client.ts';
import { readyAddress } from '../support/processes/ready-address.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

/** Generous: it installs and builds, on a busy machine with an empty cache. Milliseconds. */
const startMillisecondsMaximum = 240_000;

/** Runs a program and returns what it prints; undefined when it is not there or fails. */
function outputOf(program: string, ...words: string[]): string | undefined {
  const { status, stdout } = spawnSync(program, words, { encoding: 'utf8', timeout: 20_000, cwd: packageRoot });
  return status === 0 ? stdout : undefined;
}

describe('the first start of a clone', function () {
  this.timeout(startMillisecondsMaximum + 60_000);
  let folder: string;

  before(async function () {
    folder = await temporaryFolder();
    const files = outputOf('git', 'ls-files', '--cached', '--others', '--exclude-standard');
    if (files === undefined || outputOf('npm', 'ping') === undefined) {
      process.stderr.write('    skipped: it needs git, and a registry that npm can reach\n');
      this.skip();
    }
    for (const file of files.split('\n')) {
      if (file !== '' && existsSync(join(packageRoot, file))) cpSync(join(packageRoot, file), join(folder, file));
    }
  });

  after(() => removeFolder(folder));

  it('installs and builds what it runs alone, and serves the program, its page, the demonstration and examples', async () => {
    const environment = { ...process.env, KAFKA_BROKERS: '', REDIS_URL: '', HOST: '127.0.0.1', PORT: '0' };
    const child = spawn(join(folder, 'scripts/start'), {
      // As on a server, where npm leaves out what only a build needs, unless it is told to install it.
      env: { ...environment, LOG_LEVEL: 'warn', DATA_DIR: 'data', NODE_ENV: 'production' },
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = once(child, 'exit');
    const printed: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => printed.push(text));
    try {
      const url = await readyAddress(child, { withinMilliseconds: startMillisecondsMaximum }).catch(
        (error: unknown) => {
          throw new Error(`${describeError(error)}: ${printed.join('')}`, { cause: error });
        },
      );
      await eventually(async () => (await call(`${url}/admin`, 'GET')).status === 200, 60_000);
      const demonstration = execFileSync(join(folder, 'scripts/demo'), {
        env: { ...environment, LENDSTREAM_URL: url },
        encoding: 'utf8',
      });
      expect(demonstration).to.contain('events received and committed');
      expect(existsSync(join(folder, 'dist/scripts/examples/consumer.js'))).to.equal(true);
      expect(readdirSync(join(folder, 'node_modules')))
        .to.include('express')
        .and.not.to.include('mocha');
      expect(existsSync(join(folder, 'dist/test'))).to.equal(false);
    } finally {
      child.kill('SIGTERM');
      await exited;
    }
  });
});

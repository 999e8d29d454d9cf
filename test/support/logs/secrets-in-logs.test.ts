import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { join } from 'node:path';
import { createLogger, silentLogger } from '../../../src/logger.ts';
import { packageRoot } from '../../../src/package-root.ts';
import { removeFolder, temporaryFolder } from '../processes/service.ts';
import { recordingLogger } from '../values/recording-logger.ts';
import { findingsFileVariable, personalWord, secretsIn } from './lines-with-secrets.ts';
import { checkedLogger, LogFindings } from './secrets-in-logs.ts';

const apiKey = `lendstream_${'k'.repeat(43)}`;
const settingsKey = 'the-key-of-an-administrator';

describe('the check of log lines', () => {
  const bad: readonly (readonly [what: string, line: string])[] = [
    ['an API key', `{"msg":"refused ${apiKey}"}`],
    ['an access token', `{"authorization":"Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzaG9wIn0.c2lnbmF0dXJl"}`],
    ['the password of an address', '{"address":"rediss://user:secret@redis:6379/1"}'],
    ['the password of an address', '{"address":"redis://:secret@redis:6379"}'],
    ['text about a person', `{"path":"/loans?accountHolderId=${personalWord}-1"}`],
    ['a key of the settings', `{"key":"${settingsKey}"}`],
  ];
  for (const [what, line] of bad) {
    it(`finds ${what} in ${line}`, () => {
      expect(secretsIn(line, ['', settingsKey])).to.deep.equal([what]);
    });
  }

  it('finds nothing in ordinary lines', () => {
    const lines = [
      '{"level":40,"address":"redis://127.0.0.1:6379","error":"connect ECONNREFUSED 127.0.0.1:6379"}',
      '{"error":"Error: late\\n    at file:///a/b.js:10:20\\n    at https://host:80/x@1","path":"/loans/eyJ"}',
      'lendstream_audit_failures_total',
    ];
    expect(lines.flatMap((line) => secretsIn(line, ['', 'short']))).to.deep.equal([]);
  });

  describe('in a process', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await temporaryFolder();
    });
    afterEach(() => removeFolder(folder));

    it('that a test starts finds what its logger and its console write', () => {
      const file = join(folder, 'findings');
      const logger = new URL('../../../src/logger.js', import.meta.url).href;
      const program = `
        const { createLogger } = await import('${logger}');
        createLogger('info', { isReadable: false, hasColours: false }).info({ key: '${apiKey}' }, 'A fact');
        console.error('${settingsKey}');`;
      const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
        env: { ...process.env, API_KEYS: settingsKey, [findingsFileVariable]: file },
        encoding: 'utf8',
      });
      expect(status, stderr).to.equal(0);
      expect(stderr).to.contain(apiKey).and.contain(settingsKey);
      const findings = new LogFindings(file);
      expect(findings.take().map((finding) => finding.split(':', 1)[0])).to.deep.equal([
        'an API key',
        'a key of the settings',
      ]);
      expect(findings.take()).to.deep.equal([]);
    });

    /** A thread that writes a key in both ways. */
    function leakingThread(): string {
      const script = join(folder, 'leaking.cjs');
      const write = `require('node:fs').writeSync(2, 'written ${apiKey}\\n'); console.error('printed ${apiKey}');`;
      writeFileSync(script, write);
      return script;
    }

    /** What a leak of this process is found to be. It does not become a finding of the test. */
    async function findingsOf(leak: () => unknown): Promise<string[]> {
      const file = join(folder, 'findings');
      const before = process.env[findingsFileVariable];
      process.env[findingsFileVariable] = file;
      try {
        await leak();
        return new LogFindings(file).take();
      } finally {
        process.env[findingsFileVariable] = before;
      }
    }

    it('that a test starts finds what its threads write', () => {
      const file = join(folder, 'findings');
      const program = join(folder, 'program.cjs');
      writeFileSync(program, `new (require('node:worker_threads').Worker)('${leakingThread()}');`);
      const { status, stderr } = spawnSync(process.execPath, [program], {
        env: { ...process.env, [findingsFileVariable]: file },
        encoding: 'utf8',
      });
      expect(status, stderr).to.equal(0);
      const found = new LogFindings(file).take().join();
      expect(found).to.contain('an API key: written').and.to.contain('an API key: printed');
    });

    it('of the tests finds what threads write that it starts', async () => {
      const found = await findingsOf(() => once(new Worker(leakingThread(), { stderr: true }), 'exit'));
      expect(found.join()).to.contain('an API key: written').and.to.contain('an API key: printed');
    });

    it('of the tests starts threads, also with a limit of memory', () => {
      const program = join(folder, 'program.mjs');
      const watching = new URL('./secrets-in-logs.js', import.meta.url).href;
      writeFileSync(
        program,
        `import { Worker } from 'node:worker_threads';
        import { watchThreadsOfTests } from '${watching}';
        watchThreadsOfTests();
        new Worker('', { eval: true });`,
      );
      const { status, stderr } = spawnSync(process.execPath, ['--max-old-space-size=512', program], {
        encoding: 'utf8',
      });
      expect(status, stderr).to.equal(0);
    });

    it('of the tests finds what a logger writes to standard error', async () => {
      const found = await findingsOf(() =>
        createLogger('info', { isReadable: false, hasColours: false }).info({ key: apiKey }, 'A deliberate leak'),
      );
      expect(found).to.have.lengthOf(1);
    });

    it('of the tests finds what is given to loggers of their own', async () => {
      const { logger, lines } = recordingLogger();
      const found = await findingsOf(() => {
        logger.child({}).info({ key: apiKey }, 'A fact');
        logger.error({ address: 'redis://:secret@redis' }, 'A fact');
        checkedLogger({}).debug({ text: personalWord }, 'A fact');
      });
      expect(found.map((finding) => finding.split(':', 1)[0])).to.deep.equal([
        'an API key',
        'the password of an address',
        'text about a person',
      ]);
      expect(lines).to.have.lengthOf(2);
    });

    it('of the tests finds what is given to the silent logger', () => {
      silentLogger.child({}).warn({ key: apiKey }, 'A fact');
      expect(new LogFindings(join(folder, 'none')).take()).to.have.lengthOf(1);
    });
  });

  it('leaves out no logger of a test', () => {
    const folder = join(packageRoot, 'test');
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const own = names.filter((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return /\.\.\.silentLogger|: Logger = \{|\bpino\(/.test(text);
    });
    expect(own).to.deep.equal(['support/logs/secrets-in-logs.ts']);
  });
});

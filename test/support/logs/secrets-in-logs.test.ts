import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { silentLogger } from '../../../src/logger.ts';
import { removeFolder, temporaryFolder } from '../processes/service.ts';
import { findingsFileVariable, LogFindings, personalWord, secretsIn } from './secrets-in-logs.ts';

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

    it('of the tests finds what is given to the silent logger', () => {
      silentLogger.child({}).warn({ key: apiKey }, 'A fact');
      expect(new LogFindings(join(folder, 'none')).take()).to.have.lengthOf(1);
    });
  });
});

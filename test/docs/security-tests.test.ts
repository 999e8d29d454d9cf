import { expect } from 'chai';
import { describe, it } from 'mocha';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkTargets } from '../../scripts/docs/markdown.ts';
import { packageRoot } from '../../src/package-root.ts';

const page = readFileSync(join(packageRoot, 'docs/security-tests.md'), 'utf8');

/** The rows of all tables, as lines, without their heads. */
const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (-+|attack|risk) /.test(line));

describe('docs/security-tests.md', () => {
  it('names for each attack an answer and at least one test that exists', () => {
    expect(rows).to.have.length.greaterThan(45);
    const wrong = rows.filter((row) => {
      const cells = row.split('|').slice(1, -1);
      const targets = linkTargets(cells[2] ?? '');
      const areTests = targets.every(
        (target) => /^\.\.\/test\/.+\.test\.ts$/.test(target) && existsSync(join(packageRoot, 'docs', target)),
      );
      return cells.length !== 3 || (cells[1] ?? '').trim() === '' || targets.length === 0 || !areTests;
    });
    expect(wrong).to.deep.equal([]);
  });

  it('has each risk of the OWASP API Security Top 10, each of which has a test', () => {
    const numbers = Array.from({ length: 10 }, (_, index) => index + 1);
    const named = rows.flatMap((row) => /^\| API(\d+),/.exec(row)?.[1] ?? []).map(Number);
    expect(named).to.deep.equal(numbers);
    const tests = readFileSync(join(packageRoot, 'test/security/owasp-top-ten.test.ts'), 'utf8');
    for (const number of numbers) expect(tests, `API${number}`).to.contain(`it('API${number}, `);
  });

  it('is linked from SECURITY.md', () => {
    expect(linkTargets(readFileSync(join(packageRoot, 'SECURITY.md'), 'utf8'))).to.include('docs/security-tests.md');
  });
});

import { existsSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';

/** Not a test: test/scripts/suite runs it. It fails until the file that MARKER names exists, and makes it. */

describe('A suite that fails the first time', () => {
  it('finds its marker', () => {
    const marker = process.env['MARKER'] ?? '';
    const isThere = existsSync(marker);
    writeFileSync(marker, '');
    expect(isThere).to.equal(true);
  });
});

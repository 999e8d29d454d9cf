import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableRows } from '../../scripts/docs/markdown.ts';
import { personalFields } from '../../src/lending/personal-data/personal-fields.ts';
import { personalEvents } from '../../src/lending-format/personal-data/masked-events.ts';
import { packageRoot } from '../../src/package-root.ts';

const page = readFileSync(join(packageRoot, 'docs/personal-data.md'), 'utf8');

describe('docs/personal-data.md', () => {
  it('has each personal field, and no other', () => {
    const rows = tableRows(page).filter(([record]) => record === 'account' || record === 'transaction');
    expect(rows).to.deep.equal(
      personalFields.map(({ record, path, meaning, after }) => [
        record,
        `\`${path}\``,
        meaning,
        after === 'absent' ? 'absent' : '`erased`',
      ]),
    );
  });

  it('names each event that shows them', () => {
    const text = page.replaceAll(/\s+/g, ' ');
    for (const [event, record] of Object.entries(personalEvents)) {
      expect(text).to.contain(`\`${record}\` of [\`${event}\`](events.md#${event})`);
    }
  });
});

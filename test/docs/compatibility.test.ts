import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableRows } from '../../scripts/docs/markdown.ts';
import { auditEventTypeOf } from '../../src/audit/audit-entry.ts';
import { deadLetterEventType } from '../../src/broker/dead-letters/dead-letter-queue.ts';
import { unsupportedPaths } from '../../src/http/streaming/not-supported.ts';
import { lendingEventTypes } from '../../src/lending-format/lending-topics.ts';
import { packageRoot } from '../../src/package-root.ts';
import { operations } from '../support/http/api-description.ts';

const page = readFileSync(join(packageRoot, 'docs/compatibility.md'), 'utf8');

/** How many operations the description of Nakadi's API has. */
const operationCount = 47;

const [, section = ''] = page.split('## Operations\n');

const rows = tableRows(section.split('\n## ')[0] ?? '').map(([operation = '', here = '']) => ({
  operation: operation.replaceAll('`', ''),
  here,
}));

function operationsThatAre(...words: readonly string[]): string[] {
  return rows.flatMap(({ operation, here }) => (words.includes(here) ? [operation] : []));
}

/** The mounted routes are described, and no others: see openapi.test.ts. */
const described = new Set(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`));

describe('the operations in docs/compatibility.md', () => {
  it('are all those of the original, each once, here, better or out', () => {
    expect(new Set(rows.map(({ operation }) => operation)).size).to.equal(operationCount);
    expect(operationsThatAre('here', 'better', 'out')).to.have.length(operationCount);
  });

  it('are mounted, if they are here or better', () => {
    expect(operationsThatAre('here', 'better').filter((operation) => !described.has(operation))).to.deep.equal([]);
  });

  it('are refused with a reason, if they are out', () => {
    const refused = unsupportedPaths.map(([path]) => path.replaceAll(/:(\w+)/g, '{$1}'));
    const out = operationsThatAre('out');
    expect(out.filter((operation) => described.has(operation))).to.deep.equal([]);
    expect([...new Set(out.map((operation) => operation.split(' ')[1]))]).to.have.members(refused);
  });
});

describe('the names that docs/compatibility.md says are taken', () => {
  it('are those of the event types of the service that do not begin with its own prefix', () => {
    const row = page.split('\n').find((line) => line.startsWith('| names of event types ')) ?? '';
    const names = [...row.matchAll(/`([a-z_.]+)`/g)].map(([, name]) => name);
    const types = [...lendingEventTypes(1, 1), deadLetterEventType(), auditEventTypeOf(1)].map(({ name }) => name);
    expect(names).to.have.members(['lendstream.', ...types.filter((name) => !name.startsWith('lendstream.'))]);
  });
});

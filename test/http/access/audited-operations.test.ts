import { expect } from 'chai';
import { describe, it } from 'mocha';
import { auditedOperations, unauditedOperations } from '../../../src/http/access/audited-operations.ts';
import { operations } from '../../../src/http/access/operation-permissions.ts';

describe('the table of audited operations', () => {
  const reads = operations.filter(({ method }) => method === 'GET').map(({ id }) => id);
  const others = operations.filter(({ method }) => method !== 'GET').map(({ id }) => id);
  const audited = Object.keys(auditedOperations);
  const unaudited = Object.keys(unauditedOperations);

  it('has every operation that is no GET, as audited or with a reason why it is not', () => {
    expect([...audited, ...unaudited].toSorted()).to.deep.equal(others.toSorted());
  });

  it('audits no GET', () => {
    expect(audited.filter((id) => reads.includes(id))).to.deep.equal([]);
  });

  it('audits everything that needs a permission to change something', () => {
    const changing = operations.filter(
      ({ permission }) => permission.endsWith(':manage') || permission.startsWith('loan-commands:'),
    );
    const changes = changing.filter(({ method }) => method !== 'GET').map(({ id }) => id);
    // Previews ask for the permission of reading.
    expect(changes.filter((id) => !audited.includes(id))).to.deep.equal([]);
  });

  it('records the states before and after of everything that the registry holds', () => {
    const plain = Object.entries(auditedOperations).flatMap(([id, { audit, definition }]) =>
      audit === 'administration' && definition === undefined ? [id] : [],
    );
    expect(plain.toSorted()).to.deep.equal([
      'createIndexRateSource',
      'endOfDay',
      'markDeadLetter',
      'moveCursors',
      'redeliverDeadLetter',
      'resetCursors',
    ]);
  });
});

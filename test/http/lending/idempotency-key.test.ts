import { expect } from 'chai';
import { describe, it } from 'mocha';
import { commandIdOf } from '../../../src/http/lending/idempotency-key.ts';

describe('the command id of a request', () => {
  it('is the same for the same key and path, on any node and after any restart', () => {
    // Written as a constant: if it ever changed, a request repeated after an upgrade would run twice.
    expect(commandIdOf('key', '/loans/a/repayment-transactions')).to.equal('50bc4b9a-5af7-5ee8-a6f1-35047cb26550');
  });

  it('differs by key and by path, wherever the boundary between them is', () => {
    const ids = [
      commandIdOf('key', '/loans/a'),
      commandIdOf('key', '/loans/b'),
      commandIdOf('other', '/loans/a'),
      commandIdOf('key/loans', '/a'),
    ];
    expect(new Set(ids).size).to.equal(4);
  });

  it('is new for each request without a key', () => {
    expect(commandIdOf(undefined, '/loans')).to.not.equal(commandIdOf(undefined, '/loans'));
  });

  it('accepts keys of 1 to 256 characters', () => {
    expect(() => commandIdOf('k'.repeat(256), '/loans')).not.to.throw();
    for (const key of ['', 'k'.repeat(257)]) {
      expect(() => commandIdOf(key, '/loans')).to.throw('INVALID_PARAMETERS Idempotency-Key');
    }
  });
});

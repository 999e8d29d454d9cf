import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isReservedId } from '../../src/ports/reserved-ids.ts';

describe('a reserved id', () => {
  it('belongs to the service and never to a subscription', () => {
    expect(isReservedId('lendstream.loan-partitions')).to.equal(true);
    expect(isReservedId('c023c1b5-6e7e-55a5-9554-64c003ef5c87')).to.equal(false);
  });
});

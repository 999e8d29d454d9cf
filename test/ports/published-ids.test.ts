import { expect } from 'chai';
import { describe, it } from 'mocha';
import { outcomeMilliseconds } from '../../src/kafka/produce/produce-outcome.ts';
import { appendingShare, claimMilliseconds, publishedId } from '../../src/ports/published-ids.ts';

describe('the id of a published event', () => {
  const eid = '4ae5011e-eb01-11e5-8b4a-1c6f65464fc6';

  it('is short, and the same in any letter case', () => {
    expect(publishedId(eid)).to.equal('SuUBHusBEeWLShxvZUZPxg');
    expect(publishedId(eid.toUpperCase())).to.equal(publishedId(eid));
  });

  it('is another for another event', () => {
    expect(publishedId(eid.replace(/6$/, '7'))).to.not.equal(publishedId(eid));
  });

  it('is claimed for longer than an append may take that begins at the last moment', () => {
    expect(claimMilliseconds * (1 - appendingShare)).to.be.greaterThan(outcomeMilliseconds + 1_000);
  });
});

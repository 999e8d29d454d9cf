import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readToken, writeToken } from '../../../src/broker/retained-events/page-token.ts';

describe('the token of a page', () => {
  it('says the direction and the position of each partition', () => {
    const positions = Array.from({ length: 1_000 }, (_, index) => 10_000_000_000 + index);
    const place = { direction: 'backward', positions } as const;
    const token = writeToken(place);
    expect(readToken(token)).to.deep.equal(place);
    expect(token.length).to.be.lessThan(10_000);
    const largest = { direction: 'forward', positions: [Number.MAX_SAFE_INTEGER, 0] } as const;
    expect(readToken(writeToken(largest))).to.deep.equal(largest);
  });

  it('is refused when it is none', () => {
    const tooMany = writeToken({ direction: 'forward', positions: Array.from({ length: 1_001 }, () => 1) });
    for (const wrong of ['', 'f', 'x.1', 'f.', 'f.-1', 'f.1.', 'F.1', 'f.zzzzzzzzzzz', tooMany]) {
      expect(() => readToken(wrong), wrong).to.throw('token');
    }
  });
});

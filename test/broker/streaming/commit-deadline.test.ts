import { expect } from 'chai';
import { describe, it } from 'mocha';
import { commitDeadline, isCommitOverdue } from '../../../src/broker/streaming/commit-deadline.ts';

const rules = { commitTimeoutMilliseconds: 60 };

describe('the deadline of commits', () => {
  it('is the commit timeout after the moment since which sent events have waited', () => {
    expect(commitDeadline(rules, 100)).to.equal(160);
  });

  it('is no time to wait for while no sent events wait for a commit', () => {
    expect(commitDeadline(rules, undefined)).to.equal(0);
    expect(isCommitOverdue(rules, undefined, 1_000)).to.equal(false);
  });

  it('is missed from the very moment of it on', () => {
    expect([159, 160, 161].map((now) => isCommitOverdue(rules, 100, now))).to.deep.equal([false, true, true]);
  });
});

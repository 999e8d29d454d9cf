import { expect } from 'chai';
import { describe, it } from 'mocha';
import { eventBytesMaximum, refuse, tooLargeText } from '../../../src/broker/publishing/event-preparation.ts';

/** Preparing whole requests is tested through the publisher, in publisher.test.ts. */
describe('the items of a request that one event rejects', () => {
  const events = ['a', 'b', 'c'].map((eid) => ({ metadata: { eid } }));
  const briefly = (partitions: Int32Array | null): string[] =>
    refuse(events, 1, 'partitioning', 'validating', 'why', partitions).map(
      (item) => `${item.eid} ${item.publishing_status} ${item.step} ${item.partition} ${item.detail}`,
    );

  it('have its step before it, the step before after it, and partitions where they are known', () => {
    expect(briefly(Int32Array.of(2, 9, 9))).to.deep.equal([
      'a aborted partitioning 2 ',
      'b failed partitioning null why',
      'c aborted validating null ',
    ]);
    expect(briefly(null)[0]).to.equal('a aborted partitioning null ');
  });

  it('name the limit that an event exceeds', () => {
    expect(tooLargeText(eventBytesMaximum + 1)).to.equal('Event too large: 999001 bytes, max size is 999000 bytes');
  });
});

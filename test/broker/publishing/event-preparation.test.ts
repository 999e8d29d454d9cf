import { expect } from 'chai';
import { describe, it } from 'mocha';
import { eventBytesMaximum, refuse, sizeViolation } from '../../../src/broker/publishing/event-preparation.ts';
import { parseEvents } from '../../../src/broker/publishing/request-parsing.ts';

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
});

describe('the size of an event', () => {
  const detailOf = (body: string, index = 0): string | undefined =>
    sizeViolation(parseEvents(Buffer.from(body)), index);

  it('is that of its bytes as they were sent, white space between its tokens included', () => {
    const padded = (bytes: number): string => `{"a":${' '.repeat(bytes - 7)}1}`;
    const wide = (bytes: number): string => `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`;
    for (const event of [padded, wide]) {
      expect(detailOf(`[ ${event(eventBytesMaximum)} ]`)).to.equal(undefined);
      const detail = `Event too large: ${eventBytesMaximum + 2} bytes, max size is 999000 bytes`;
      expect(detailOf(`[{},${event(eventBytesMaximum + 2)}]`, 1)).to.equal(detail);
    }
    expect(detailOf(`[${padded(eventBytesMaximum + 1)}]`)).to.match(/^Event too large: 999001 bytes/);
  });
});

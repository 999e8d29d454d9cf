import { expect } from 'chai';
import { describe, it } from 'mocha';
import { beyondEndReason, unavailabilityReason } from '../../../src/broker/cursors/cursor-availability.ts';
import { boundsByPartition } from '../../../src/ports/partition-bounds.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';

/** Events 5 to 9 are available. */
const bounds = { topic: 'loans', partition: 2, earliest: 5, latest: 10 };

describe('the availability of a position', () => {
  const rows: { offset: number; toRead: boolean; toCommit: boolean; what: string }[] = [
    { offset: -1, toRead: true, toCommit: true, what: 'before the very first event' },
    { offset: 3, toRead: false, toCommit: true, what: 'before an event that has expired' },
    { offset: 4, toRead: true, toCommit: true, what: 'just before the oldest available event' },
    { offset: 9, toRead: true, toCommit: true, what: 'at the last event' },
    { offset: 10, toRead: false, toCommit: false, what: 'at the next, unwritten event' },
    { offset: 1000, toRead: false, toCommit: false, what: 'far beyond the end' },
  ];
  for (const { offset, toRead, toCommit, what } of rows) {
    it(`${what}: ${toRead ? 'can' : 'cannot'} be read from, ${toCommit ? 'can' : 'cannot'} be committed`, () => {
      const position = { eventType: 'loans', partition: 2, offset };
      expect(unavailabilityReason(position, bounds) === undefined).to.equal(toRead);
      expect(beyondEndReason(position, bounds.latest) === undefined).to.equal(toCommit);
    });
  }

  it('names the offset, the partition, the event type and a remedy', () => {
    expect(unavailabilityReason({ eventType: 'loans', partition: 2, offset: 3 }, bounds)).to.equal(
      'offset 001-0001-000000000000000003 for partition 2 event type loans is unavailable as retention time of data ' +
        'elapsed. PATCH partition offset with valid and available offset',
    );
    expect(beyondEndReason({ eventType: 'loans', partition: 2, offset: 10 }, bounds.latest)).to.equal(
      'offset 001-0001-000000000000000010 for partition 2 event type loans is unavailable as it lies beyond the last ' +
        'event. PATCH partition offset with valid and available offset',
    );
  });

  it('is found by partition', () => {
    expect(boundsByPartition([bounds]).get(partitionKey({ eventType: 'loans', partition: 2 }))).to.equal(bounds);
  });
});

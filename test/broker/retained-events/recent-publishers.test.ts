import { expect } from 'chai';
import { describe, it } from 'mocha';
import { RecentPublishers } from '../../../src/broker/retained-events/recent-publishers.ts';
import type { FoundEvent } from '../../../src/broker/retained-events/partition-search.ts';

/** An event as a search finds it. */
function found(text: string, appendedAt: number): FoundEvent {
  const bytes = Buffer.from(text);
  const batch = { bytes, valueStarts: [0], valueEnds: [bytes.length], appendedAt };
  return { batch, index: 0, offset: 0 } as unknown as FoundEvent;
}

describe('who published events', () => {
  it('is counted by name, with the time and flow of the event that was found first', () => {
    const publishers = new RecentPublishers();
    for (const [text, at] of [
      ['{"metadata":{"published_by":"b","flow_id":"2"}}', 2_000],
      ['{"metadata":{"published_by":"a","flow_id":7}}', 1_500],
      ['{"metadata":{"published_by":"b","flow_id":"1"}}', 1_000],
    ] as const) {
      expect(String(publishers.add(found(text, at)))).to.equal(text);
    }
    expect(publishers.list()).to.deep.equal([
      { name: 'b', events: 2, lastPublishedAt: '1970-01-01T00:00:02.000Z', lastFlowId: '2' },
      { name: 'a', events: 1, lastPublishedAt: '1970-01-01T00:00:01.500Z', lastFlowId: null },
    ]);
  });

  it('is not known of JSON without such metadata', () => {
    const publishers = new RecentPublishers();
    for (const text of ['1', 'null', '[]', '{"metadata":null}', '{"metadata":{"published_by":1}}']) {
      publishers.add(found(text, 0));
    }
    expect(publishers.list().map(({ name, events }) => [name, events])).to.deep.equal([[null, 5]]);
  });
});

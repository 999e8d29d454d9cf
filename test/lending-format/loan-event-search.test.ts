import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { readLoanEvents } from '../../src/lending-format/loan-event-search.ts';
import { lendingEventTypeNames } from '../../src/lending-format/lending-topics.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { openPartOfEmbeddedLog } from '../support/shared-embedded-log.ts';
import { overriding } from '../support/stepping-log.ts';

const [topic] = lendingEventTypeNames;

describe('readLoanEvents', () => {
  let log: EventLog;

  beforeEach(async () => {
    log = await openPartOfEmbeddedLog();
    for (const name of lendingEventTypeNames) {
      await log.createTopic({ name, partitionCount: 1, cleanupPolicy: 'delete', retentionMilliseconds: 3_600_000 });
    }
    for (const sequence of [1, 2, 3]) {
      const value = Buffer.from(JSON.stringify({ sequence }));
      await log.append([{ topic, partition: 0, records: [{ key: 'loan', value }] }]);
    }
  });

  afterEach(() => log.close());

  async function found(searched: EventLog): Promise<{ sequences: number[]; complete: boolean }> {
    const { events, complete } = await readLoanEvents(searched, 'loan', 1);
    return { sequences: events.map((text) => (JSON.parse(text) as { sequence: number }).sequence), complete };
  }

  it('returns a complete list when it has read the whole log', async () => {
    expect(await found(log)).to.deep.equal({ sequences: [1, 2, 3], complete: true });
  });

  it('returns an incomplete list when a read had no result in its time', async () => {
    const read: EventLog['read'] = async (from, options) =>
      from.offset === 1 ? { batches: [], nextOffset: 1 } : log.read(from, { ...options, bytesMaximum: 1 });
    expect(await found(overriding(log, { read }))).to.deep.equal({ sequences: [1], complete: false });
  });

  it('continues with the remaining events when retention removes some between its requests', async () => {
    const bounds: EventLog['bounds'] = async (partitions) => {
      const before = await log.bounds(partitions);
      await log.deleteRecords({ topic, partition: 0, offset: 1 }, Date.now() + 60_000);
      return before;
    };
    expect(await found(overriding(log, { bounds }))).to.deep.equal({ sequences: [2, 3], complete: true });
  });
});

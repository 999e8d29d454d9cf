import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { publishedId } from '../../../src/ports/published-ids.ts';
import { readStoredIds, type StoredId } from '../../../src/broker/log/published-events.ts';
import { openOwnLog, runRetention, type OwnLog } from '../../support/backend-under-test.ts';
import { codeOf } from '../../support/log-reading.ts';
import { overriding } from '../../support/stepping-log.ts';

describe('the ids of events in the log', () => {
  let own: OwnLog;
  let topic: string;

  beforeEach(async () => {
    own = await openOwnLog();
    topic = `orders-${randomUUID()}`;
    const retention = { cleanupPolicy: 'delete', retentionMilliseconds: 3_600_000 } as const;
    await own.log.createTopic({ name: topic, partitionCount: 3, ...retention });
  });
  afterEach(() => own.cleanup());

  async function append(partition: number, count = 1, padding = ''): Promise<string[]> {
    const eids = Array.from({ length: count }, () => randomUUID());
    const records = eids.map((eid) => {
      const metadata = { occurred_at: 'then', published_by: 'x', eid };
      return { key: null, value: Buffer.from(JSON.stringify({ metadata, padding })) };
    });
    await own.log.append([{ topic, partition, records }]);
    return eids.map(publishedId);
  }

  async function read(since: number, partitions?: readonly number[], log: EventLog = own.log): Promise<StoredId[]> {
    const found: StoredId[] = [];
    for await (const ids of readStoredIds(log, topic, since, partitions)) found.push(...ids);
    return found;
  }

  const idsOf = (found: readonly StoredId[]): string[] => found.map(({ id }) => id);

  it('are read from every partition, or from those that are named', async () => {
    const [first, third] = [await append(0, 2), await append(2, 1)];
    const found = await read(0);
    expect(idsOf(found)).to.deep.equal([...first, ...third]);
    expect(found.map(({ partition }) => partition)).to.deep.equal([0, 0, 2]);
    expect(idsOf(await read(0, [2]))).to.deep.equal(third);
    expect(await read(0, [])).to.deep.equal([]);
  });

  it('are read in as many reads as they need', async () => {
    const eids: string[] = [];
    for (let batch = 0; batch < 5; batch += 1) eids.push(...(await append(1, 4, 'x'.repeat(200_000))));
    expect(idsOf(await read(0))).to.deep.equal(eids);
  });

  it('are those of a time and later', async () => {
    await append(0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const since = Date.now();
    const later = await append(0);
    const found = await read(since);
    expect(idsOf(found)).to.deep.equal(later);
    expect(found[0]?.appendedAt).to.be.at.least(since);
    expect(await read(Date.now() + 60_000)).to.deep.equal([]);
  });

  it('are read from where retention has left off', async () => {
    await append(0, 3);
    const log = overriding<EventLog>(own.log, {
      offsetsAt: async (partitions, time) => {
        const found = await own.log.offsetsAt(partitions, time);
        await own.log.deleteRecords({ topic, partition: 0, offset: 2 }, Date.now() + 60_000);
        await runRetention(own.log, Date.now());
        return found;
      },
    });
    const found = await read(0, [0], log);
    expect(found.length).to.be.within(0, 3);
  });

  it('are an error when records do not become visible', async () => {
    await append(0);
    const log = overriding<EventLog>(own.log, {
      read: ({ offset }) => Promise.resolve({ batches: [], nextOffset: offset }),
    });
    expect(await codeOf(read(0, [0], log))).to.equal('LOG_UNAVAILABLE');
  });
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import type { EventLog, Offset, ReadOptions } from '../../../src/ports/event-log.ts';
import { readPastRetention, readStoredRecords } from '../../../src/broker/log/stored-records.ts';
import { openOwnLog, runRetention, type OwnLog } from '../../support/backend-under-test.ts';
import { codeOf, records, recordsOf } from '../../support/log-reading.ts';
import { overriding } from '../../support/stepping-log.ts';

describe('stored records', () => {
  let own: OwnLog;
  let topic: string;

  beforeEach(async () => {
    own = await openOwnLog();
    topic = `orders-${randomUUID()}`;
    await own.log.createTopic({
      name: topic,
      partitionCount: 1,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 3_600_000,
    });
  });
  afterEach(() => own.cleanup());

  const append = (...values: string[]): Promise<unknown> =>
    own.log.append([{ topic, partition: 0, records: records(...values) }]);

  const latest = async (): Promise<Offset> => (await own.log.bounds([{ topic, partition: 0 }]))[0]?.latest ?? 0;

  /** The values from an offset on, up to the present end unless another one is given. */
  async function read(
    offset: Offset,
    { log = own.log, end }: { log?: EventLog; end?: Offset } = {},
  ): Promise<string[]> {
    const values: string[] = [];
    for await (const batch of readStoredRecords(log, { topic, partition: 0, offset }, end ?? (await latest()))) {
      values.push(...recordsOf(batch).map(({ value }) => value ?? '-'));
      batch.release?.();
    }
    return values;
  }

  it('are read from an offset to an end, in as many reads as they need', async () => {
    expect(await read(0)).to.deep.equal([]);
    const values = Array.from({ length: 5 }, (_, index) => String(index).repeat(400_000));
    for (const value of values) await append(value);
    const end = await latest();
    expect(await read(0)).to.deep.equal(values);
    expect((await read(end - 1)).at(-1)).to.equal(values.at(-1));
    expect(await read(end)).to.deep.equal([]);
  });

  it('are those that are left when retention removes the others meanwhile', async () => {
    for (let number = 0; number < 4; number += 1) await append(`${number}`);
    const end = await latest();
    const removeBefore = async (offset: Offset): Promise<void> => {
      await own.log.deleteRecords({ topic, partition: 0, offset }, Date.now() + 60_000);
      await runRetention(own.log, Date.now());
    };
    await removeBefore(2);
    const [bounds] = await own.log.bounds([{ topic, partition: 0 }]);
    const left = bounds?.earliest ?? 0;
    expect(left).to.be.greaterThan(0);
    const options = { bytesMaximum: 1024, waitMilliseconds: 0 };
    const passed = await readPastRetention(own.log, { topic, partition: 0, offset: 0 }, options);
    expect(passed).to.deep.equal({ batches: [], nextOffset: left });
    expect((await read(0, { end })).at(-1)).to.equal('3');
    expect(await read(0, { end: left }), 'all of them are gone').to.deep.equal([]);
    expect(await codeOf(read(end + 1, { end: end + 2 })), 'nothing is passed over at the end').to.equal(
      'OFFSET_OUT_OF_RANGE',
    );
  });

  it('are waited for ten times in a row, and are an error then', async () => {
    await append('first');
    const end = await latest();
    let emptyReads = Infinity;
    const asked: ReadOptions[] = [];
    const log = overriding<EventLog>(own.log, {
      read: (from, options) => {
        asked.push(options);
        if (asked.length > emptyReads) return own.log.read(from, options);
        return Promise.resolve({ batches: [], nextOffset: from.offset });
      },
    });
    expect(await codeOf(read(0, { log, end }))).to.equal('LOG_UNAVAILABLE');
    expect(asked).to.deep.equal(
      Array.from({ length: 10 }, () => ({ bytesMaximum: 1024 * 1024, waitMilliseconds: 1_000 })),
    );
    [emptyReads, asked.length] = [9, 0];
    expect(await read(0, { log, end }), 'visible at the last moment').to.deep.equal(['first']);
  });

  it('are waited for ten times again after each step forward', async () => {
    let reads = 0;
    const log = overriding<EventLog>(own.log, {
      read: ({ offset }) => {
        reads += 1;
        return Promise.resolve({ batches: [], nextOffset: reads % 10 === 0 ? offset + 1 : offset });
      },
    });
    expect(await read(0, { log, end: 3 })).to.deep.equal([]);
    expect(reads).to.equal(30);
  });
});

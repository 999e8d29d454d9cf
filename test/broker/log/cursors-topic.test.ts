import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../../src/ports/event-log.ts';
import {
  createCursorsTopic,
  cursorsTopic,
  mirrorRecord,
  readMirror,
  writeMirror,
  type MirroredOffset,
} from '../../../src/broker/log/cursors-topic.ts';
import { codeOf } from '../../support/log-reading.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openPartOfEmbeddedLog } from '../../support/shared-embedded-log.ts';

describe('the mirror of committed offsets', () => {
  const loanPartition = { eventType: 'mirror.loans', partition: 3 };
  let log: EventLog;

  beforeEach(async () => {
    log = await openPartOfEmbeddedLog();
    await createCursorsTopic(log);
  });

  afterEach(() => log.close());

  const write = (...offsets: [offset: number | null, epoch?: number][]): Promise<void> =>
    writeMirror(
      log,
      offsets.map(([offset, epoch]) => mirrorRecord('s', loanPartition, offset, epoch)),
    );

  const held = async (): Promise<MirroredOffset[]> => (await readMirror(log)).get('s') ?? [];

  it('is created once, by any number of processes', async () => {
    await Promise.all([createCursorsTopic(log), createCursorsTopic(log)]);
    const topics = await log.listTopics();
    expect(topics.filter(({ name }) => name === cursorsTopic)).to.have.length(1);
  });

  const cases: { title: string; written: [number | null, number?][]; expected: [number, number] | undefined }[] = [
    { title: 'nothing was written', written: [], expected: undefined },
    { title: 'records without epochs: the newest wins, backwards too', written: [[50], [3]], expected: [3, 0] },
    {
      title: 'records of one epoch: the largest wins, in any order',
      written: [
        [7, 100],
        [5, 100],
      ],
      expected: [7, 100],
    },
    {
      title: 'a reset: the higher epoch wins, backwards too',
      written: [
        [50, 100],
        [3, 200],
      ],
      expected: [3, 200],
    },
    {
      title: 'a late record from before a reset: it changes nothing',
      written: [
        [50, 100],
        [3, 200],
        [51, 100],
      ],
      expected: [3, 200],
    },
    { title: 'a removal', written: [[50, 100], [null]], expected: undefined },
    { title: 'a new start after a removal', written: [[50, 100], [null], [-1, 200]], expected: [-1, 200] },
  ];
  for (const { title, written, expected } of cases) {
    it(`has the right offset after ${title}`, async () => {
      if (written.length > 0) await write(...written);
      const mirrored = expected === undefined ? [] : [{ ...loanPartition, offset: expected[0], epoch: expected[1] }];
      expect(await held()).to.deep.equal(mirrored);
    });
  }

  it('keeps subscriptions and partitions apart', async () => {
    await writeMirror(log, [
      mirrorRecord('s', loanPartition, 1),
      mirrorRecord('s', { ...loanPartition, partition: 4 }, 2),
      mirrorRecord('t', loanPartition, 3),
    ]);
    const mirror = await readMirror(log);
    expect(mirror.get('s')?.map(({ partition, offset }) => [partition, offset])).to.deep.equal([
      [3, 1],
      [4, 2],
    ]);
    expect(mirror.get('t')?.map(({ partition, offset }) => [partition, offset])).to.deep.equal([[3, 3]]);
  });

  it('is not taken for half of it: ten reads in a row that bring nothing are an error', async () => {
    await write([1], [2]);
    const [bounds] = await log.bounds([{ topic: cursorsTopic, partition: 0 }]);
    const end = bounds?.latest ?? 0;
    /** @param empty How many reads bring nothing before each step forward. */
    const readAfter = (empty: number): Promise<unknown> => {
      let reads = 0;
      const slow = overriding<EventLog>(log, {
        read: async ({ offset }) => {
          reads += 1;
          return { batches: [], nextOffset: reads % (empty + 1) === 0 ? offset + 1 : offset };
        },
      });
      return codeOf(readMirror(slow));
    };
    expect(end).to.be.greaterThan(1);
    expect(await readAfter(9)).to.equal(null);
    expect(await readAfter(10)).to.equal('COORDINATION_UNAVAILABLE');
  });

  for (const text of ['{"offset":1,"epoch":"2"}', '{"offset":1.5,"epoch":2}', '{"offset":null}', '{}']) {
    it(`is damaged when it contains ${text}`, async () => {
      const records = [{ key: 's/mirror.loans/3', value: Buffer.from(text) }];
      await writeMirror(log, records);
      expect(await codeOf(readMirror(log))).to.equal('CORRUPT_BATCH');
    });
  }

  it('reports when it could not be written', async () => {
    await log.close();
    const failure: unknown = await write([1]).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
  });
});

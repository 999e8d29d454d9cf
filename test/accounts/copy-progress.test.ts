import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { changelogBounds } from '../../src/accounts/changelog-bounds.ts';
import { CopyProgress } from '../../src/accounts/copy-progress.ts';
import { accountsTopic } from '../../src/lending-format/lending-topics.ts';
import type { Logger } from '../../src/logger.ts';
import { appendTo, keyed } from '../support/log-reading.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { openTemporaryLog, type TemporaryLog } from '../support/temporary-log.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

describe('the progress of the copy', () => {
  let temporary: TemporaryLog;
  let clock: SimulatedClock;
  let logged: object[];
  let positions: number[];

  beforeEach(async () => {
    temporary = await openTemporaryLog();
    const topic = {
      name: accountsTopic,
      partitionCount: 2,
      cleanupPolicy: 'compact',
      retentionMilliseconds: 0,
    } as const;
    await temporary.log.createTopic(topic);
    clock = new SimulatedClock();
    logged = [];
    positions = [0, 0];
  });
  afterEach(() => temporary.cleanup());

  async function fill(partition: number, count: number): Promise<void> {
    const records = Array.from({ length: count }, (_, index) => keyed(`loan/${index}`, '1'));
    await appendTo(temporary.log, { topic: accountsTopic, partition }, records);
  }

  async function begin(): Promise<CopyProgress> {
    const logger: Logger = checkedLogger({ info: (facts) => void logged.push(facts) });
    const positionOf = (partition: number): number => positions[partition] ?? 0;
    const bounds = await changelogBounds(temporary.log, 2);
    return new CopyProgress({ task: 'The copy is read', bounds, positionOf, clock, logger });
  }

  it('is the share of what the copy lacked at the beginning, in the log and at each look', async () => {
    await fill(0, 60);
    await fill(1, 60);
    positions = [20, 60];
    const progress = await begin();
    await clock.turn(2_000);
    expect(progress.look().reason).to.equal('The copy is read: 0 of 40 records, 0 %.');
    positions = [31, 60];
    await fill(1, 100);
    expect(progress.look()).to.deep.equal({
      reason: 'The copy is read: 11 of 40 records, 27 %.',
      progress: {
        recordsRead: 11,
        records: 40,
        percent: 27,
        partitions: [
          { partition: 0, recordsRead: 11, records: 40 },
          { partition: 1, recordsRead: 0, records: 0 },
        ],
      },
    });
    await clock.turn(2_000);
    positions = [60, 160];
    progress.end();
    await clock.turn(10_000);
    expect(logged).to.deep.equal([{ done: 0 }, { done: 0.27 }, { done: 1, seconds: 4 }]);
  });

  it('is not complete before the last record', async () => {
    await fill(0, 1_000);
    const progress = await begin();
    positions = [999, 0];
    expect(progress.look().reason).to.equal('The copy is read: 999 of 1000 records, 99 %.');
    positions = [1_000, 0];
    const { reason, progress: complete } = progress.look();
    expect(reason).to.equal('The copy is read: all 1000 records are there, and their indexes are being made.');
    expect(complete.percent).to.equal(100);
    progress.end();
  });

  it('is not in the log when the copy is complete within a moment', async () => {
    await fill(0, 10);
    const progress = await begin();
    await clock.turn(1_999);
    progress.end();
    await clock.turn(2_000);
    expect(logged).to.deep.equal([]);
  });

  it('is complete when there was nothing to read', async () => {
    const progress = await begin();
    expect(progress.look().progress).to.deep.include({ recordsRead: 0, records: 0, percent: 100 });
    progress.end();
  });
});

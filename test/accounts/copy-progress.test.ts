import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { CopyProgress } from '../../src/accounts/copy-progress.ts';
import { Health, type HealthPart } from '../../src/health.ts';
import { accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { type Logger, silentLogger } from '../../src/logger.ts';
import { appendTo, keyed } from '../support/log-reading.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { openTemporaryLog, type TemporaryLog } from '../support/temporary-log.ts';

describe('the progress of the copy', () => {
  let temporary: TemporaryLog;
  let clock: SimulatedClock;
  let part: HealthPart;
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
    part = new Health(clock).part('accounts-copy');
    logged = [];
    positions = [0, 0];
  });
  afterEach(() => temporary.cleanup());

  async function fill(partition: number, count: number): Promise<void> {
    const records = Array.from({ length: count }, (_, index) => keyed(`loan/${index}`, '1'));
    await appendTo(temporary.log, { topic: accountsTopic, partition }, records);
  }

  function begin(): Promise<CopyProgress> {
    const logger: Logger = { ...silentLogger, info: (facts) => void logged.push(facts) };
    const positionOf = (partition: number): number => positions[partition] ?? 0;
    return CopyProgress.begin({
      log: temporary.log,
      partitionCount: 2,
      positionOf,
      clock,
      logger,
      health: part,
    });
  }

  it('is the share of what the copy lacked at the beginning, in the log and in why the process is not ready', async () => {
    await fill(0, 60);
    await fill(1, 60);
    positions = [20, 60];
    const progress = await begin();
    await clock.turn(2_000);
    expect(part.reason).to.equal('The local copy of accounts is being read from the log: 0 % done.');
    positions = [31, 60];
    await fill(1, 100);
    await clock.turn(2_000);
    expect(part.reason).to.equal('The local copy of accounts is being read from the log: 27 % done.');
    positions = [60, 160];
    progress.end();
    await clock.turn(10_000);
    expect(logged).to.deep.equal([{ done: 0 }, { done: 0.27 }, { done: 1, seconds: 4 }]);
  });

  it('is not shown when the copy is complete within a moment', async () => {
    await fill(0, 10);
    const progress = await begin();
    await clock.turn(1_999);
    progress.end();
    await clock.turn(2_000);
    expect(part.ready).to.equal(true);
    expect(logged).to.deep.equal([]);
  });

  it('is complete when there was nothing to read', async () => {
    const progress = await begin();
    await clock.turn(2_000);
    expect(part.reason).to.include('100 % done');
    progress.end();
  });
});

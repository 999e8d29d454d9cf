import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { ensureTopic } from '../../../src/broker/log/ensure-topic.ts';
import type { EventLog, TopicConfiguration } from '../../../src/ports/event-log.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { openOwnLog, type OwnLog } from '../../support/backend-under-test.ts';
import { codeOf } from '../../support/log-reading.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';

describe('a required topic', () => {
  const wanted: TopicConfiguration = {
    name: 'wanted',
    partitionCount: 2,
    cleanupPolicy: 'compact',
    retentionMilliseconds: 0,
  };
  let temporary: OwnLog;

  beforeEach(async () => {
    temporary = await openOwnLog();
  });
  afterEach(() => temporary.cleanup());

  const present = async (): Promise<TopicConfiguration[]> =>
    (await temporary.log.listTopics()).filter(({ name }) => name === wanted.name);

  it('is created once by any number of simultaneous requests', async () => {
    const found = await Promise.all(Array.from({ length: 4 }, () => ensureTopic(temporary.log, wanted, [])));
    for (const topic of found) expect(topic).to.deep.include(wanted);
    expect(await present()).to.have.length(1);
  });

  it('is returned unchanged when it differs from the requested one', async () => {
    await ensureTopic(temporary.log, wanted);
    const other = { ...wanted, partitionCount: 5 };
    expect(await ensureTopic(temporary.log, other)).to.include({ partitionCount: 2 });
    // Even when it was created after the list was made.
    expect(await ensureTopic(temporary.log, other, [])).to.include({ partitionCount: 2 });
  });

  it('is waited for while another process is creating it', async () => {
    await temporary.log.createTopic(wanted);
    let lists = 0;
    let listings = 0;
    const spreading = overriding<EventLog>(temporary.log, {
      listTopics: async (names) => ((lists += 1) < 3 ? [] : temporary.log.listTopics(names)),
      endOffsets: async (partitions) => {
        if ((listings += 1) < 3) throw new LendstreamError('UNKNOWN_TOPIC_OR_PARTITION', 'Not yet.');
        return temporary.log.endOffsets(partitions);
      },
    });
    expect(await ensureTopic(spreading, wanted)).to.deep.include(wanted);
    expect([lists, listings]).to.deep.equal([3, 3]);
  });

  it('is waited for thirty seconds', async () => {
    const clock = new SimulatedClock();
    const unusable = overriding<EventLog>(temporary.log, {
      endOffsets: () => Promise.reject(new LendstreamError('LOG_UNAVAILABLE', 'Not yet.')),
    });
    let code: unknown;
    void codeOf(ensureTopic(unusable, wanted, [wanted], clock)).then((found) => (code = found));
    await clock.turn(30_000);
    expect(code).to.equal(undefined);
    await clock.turn(20);
    expect(code).to.equal('LOG_UNAVAILABLE');
  });

  it('does not exist when the log refuses it', async () => {
    expect(await codeOf(ensureTopic(temporary.log, { ...wanted, partitionCount: 0 }))).to.equal('UNPROCESSABLE');
    expect(await present()).to.deep.equal([]);
  });
});

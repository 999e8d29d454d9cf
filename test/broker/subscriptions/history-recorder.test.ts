import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { HistoryRecorder } from '../../../src/broker/subscriptions/history-recorder.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/logger.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';
import { eventually } from '../../support/eventually.ts';
import { openCoordinationUnderTest, openOwnLog, type OwnLog } from '../../support/backend-under-test.ts';

describe('the activity of subscriptions that a process records', () => {
  let own: OwnLog;
  let coordination: Coordination;
  let now = 1_000;

  before(async () => {
    own = await openOwnLog();
    coordination = await openCoordinationUnderTest(`notes-${randomUUID()}`, own.log);
  });

  after(async () => {
    await coordination.close();
    await own.cleanup();
  });

  const recorderOf = (): HistoryRecorder =>
    new HistoryRecorder({ coordination, clock: { ...systemClock, now: () => now }, logger: silentLogger });
  const cursor = (partition: string, offset: string) => ({
    event_type: 'orders',
    partition,
    offset,
    cursor_token: 'any',
  });
  const partitionAt = (partition: number) => ({ eventType: 'orders', partition });

  it('is visible immediately on the same process', async () => {
    const recorder = recorderOf();
    const subscription = randomUUID();
    recorder.recordCommits(subscription, [cursor('0', '1'), cursor('1', '5')]);
    now = 2_000;
    recorder.recordCommits(subscription, [cursor('0', '2')]);
    recorder.recordEndedStream(subscription, 'one', 'Commit timeout reached');
    recorder.recordEndedStream(subscription, 'two', 'Shutdown');
    const { lastCommits, endedStreams } = await recorder.historyOf(subscription);
    expect(lastCommits).to.have.deep.members([
      { ...partitionAt(0), offset: '2', committedAt: 2_000 },
      { ...partitionAt(1), offset: '5', committedAt: 1_000 },
    ]);
    expect(endedStreams).to.deep.equal([
      { streamId: 'two', reason: 'Shutdown', endedAt: 2_000 },
      { streamId: 'one', reason: 'Commit timeout reached', endedAt: 2_000 },
    ]);
  });

  it('is visible to other processes when this one closes', async () => {
    const recorder = recorderOf();
    const subscription = randomUUID();
    recorder.recordEndedStream(subscription, 'one', 'Shutdown');
    await recorder.close();
    expect((await recorderOf().historyOf(subscription)).endedStreams.map(({ streamId }) => streamId)).to.deep.equal([
      'one',
    ]);
  });

  it('is stored after five seconds, for all subscriptions together', async () => {
    const clock = new SimulatedClock();
    const recorder = new HistoryRecorder({ coordination, clock, logger: silentLogger });
    const subscriptions = [randomUUID(), randomUUID()];
    const [early, late] = subscriptions as [string, string];
    const stored = async (): Promise<number[]> =>
      Promise.all(subscriptions.map(async (id) => (await coordination.history(id)).endedStreams.length));
    recorder.recordEndedStream(early, 'one', 'Shutdown');
    await clock.turn(2_000);
    recorder.recordEndedStream(late, 'two', 'Shutdown');
    await clock.turn(2_999);
    expect(await stored()).to.deep.equal([0, 0]);
    await clock.turn(1);
    await eventually(async () => (await stored()).join() === '1,1');
    recorder.recordEndedStream(early, 'three', 'Shutdown');
    await clock.turn(5_000);
    await eventually(async () => (await stored()).join() === '2,1');
    expect(clock.nextDeadline()).to.equal(Infinity);
  });

  it('is dropped for the oldest of more than ten thousand subscriptions', async () => {
    const recorder = new HistoryRecorder({ coordination, clock: new SimulatedClock(), logger: silentLogger });
    const ids = Array.from({ length: 10_001 }, () => randomUUID());
    for (const id of ids.slice(0, 10_000)) recorder.recordEndedStream(id, 'one', 'Shutdown');
    const [first, second, third] = ids as [string, string, string];
    const countOf = async (id: string): Promise<number> => (await recorder.historyOf(id)).endedStreams.length;
    recorder.recordEndedStream(ids.at(-1) as string, 'one', 'Shutdown');
    expect(await countOf(first)).to.equal(0);
    expect(await countOf(second)).to.equal(1);
    recorder.recordEndedStream(first, 'two', 'Shutdown');
    expect(await countOf(third), 'with ten thousand again').to.equal(1);
  });

  it('keeps at most the maximum number of ended streams', async () => {
    const sizes: number[] = [];
    const counting = overriding<Coordination>(coordination, {
      recordHistory: (id, history) => {
        sizes.push(history.endedStreams.length);
        return coordination.recordHistory(id, history);
      },
    });
    const recorder = new HistoryRecorder({ coordination: counting, clock: systemClock, logger: silentLogger });
    const subscription = randomUUID();
    for (let number = 1; number <= 12; number += 1) recorder.recordEndedStream(subscription, `stream-${number}`, 'any');
    const { endedStreams } = await recorder.historyOf(subscription);
    expect(sizes, 'before they are stored').to.deep.equal([10]);
    expect(endedStreams.map(({ streamId }) => streamId)).to.deep.equal(
      [12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map((number) => `stream-${number}`),
    );
  });
});

import { expect } from 'chai';
import * as fc from 'fast-check';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { createCursorsTopic, cursorsTopic, mirrorRecord } from '../../src/broker/log/cursors-topic.ts';
import type { EventLog, LogRecord } from '../../src/ports/event-log.ts';
import { CursorMirror } from '../../src/embedded/cursor-mirror.ts';
import { LendstreamError } from '../../src/errors.ts';
import { eventually } from '../support/eventually.ts';
import { SimulatedClock, settled } from '../support/simulated-clock.ts';
import { recordsOf } from '../support/lending/lending-log.ts';
import { overriding } from '../support/stepping-log.ts';
import { type TemporaryLog, openTemporaryLog } from '../support/temporary-log.ts';

/** The offset from which a subscription starts in these tests; committed offsets are above it. */
const start = 0;

describe('writing cursors to their mirror', () => {
  let temporary: TemporaryLog;
  let log: EventLog;
  let isFull: boolean;
  let attempts: number;
  let subscriptionId: string;
  let writes: CursorMirror;
  let clock: SimulatedClock;

  before(async () => {
    temporary = await openTemporaryLog();
    await createCursorsTopic(temporary.log);
    // The log while the disk is full: a moment later it reports that nothing was stored.
    log = overriding<EventLog>(temporary.log, {
      append: async (appends) => {
        attempts += 1;
        if (!isFull) return temporary.log.append(appends);
        await new Promise((resolve) => setImmediate(resolve));
        throw new LendstreamError('LOG_FULL', 'Nothing was stored: the disk is full.');
      },
    });
  });

  after(() => temporary.cleanup());

  beforeEach(() => {
    isFull = false;
    attempts = 0;
    subscriptionId = randomUUID();
    clock = new SimulatedClock();
    writes = new CursorMirror(log, clock);
  });

  afterEach(() => writes.close());

  const record = (partition: number, offset: number): LogRecord =>
    mirrorRecord(subscriptionId, { eventType: 't', partition }, offset);

  /** The offsets of a partition in the log, in their order on the disk. */
  async function written(partition: number): Promise<number[]> {
    const { key } = record(partition, 0);
    const records = (await recordsOf(temporary.log, cursorsTopic)).filter((stored) => stored.key === key);
    return records.map(({ text }) => (JSON.parse(text ?? '') as { offset: number }).offset);
  }

  const outcomeOf = (write: Promise<void>): Promise<string> =>
    write.then(
      () => 'written',
      (error: unknown) => (error instanceof LendstreamError ? error.code : String(error)),
    );

  it('lets a subscription start while the disk is full, accepts no commit, and writes the start once there is space', async () => {
    isFull = true;
    await writes.writeStart([record(0, start)]);
    expect(await outcomeOf(writes.write([record(0, 1)]))).to.equal('COORDINATION_UNAVAILABLE');
    expect(await written(0)).to.deep.equal([]);
    await clock.turn(999);
    isFull = false;
    expect(await written(0)).to.deep.equal([]);
    await clock.turn(1);
    await eventually(async () => (await written(0)).length > 0);
    expect(await written(0)).to.deep.equal([start]);
  });

  it('tries again once a second, for all starts together, until there is space', async () => {
    isFull = true;
    await Promise.all([writes.writeStart([record(0, start)]), writes.writeStart([record(1, start)])]);
    for (const expected of [3, 4, 5]) {
      await clock.turn(999);
      expect(attempts).to.equal(expected - 1);
      await clock.turn(1);
      expect(attempts).to.equal(expected);
      await settled();
    }
    isFull = false;
    await clock.turn(1_000);
    await eventually(async () => (await written(0)).length > 0);
    expect(clock.nextDeadline()).to.equal(Infinity);
    expect([await written(0), await written(1)]).to.deep.equal([[start], [start]]);
  });

  it('tries nothing any more once it is closed', async () => {
    isFull = true;
    await writes.writeStart([record(0, start)]);
    await writes.close();
    expect(clock.nextDeadline()).to.equal(Infinity);
    expect(attempts).to.equal(2);
    await writes.writeStart([record(1, start)]);
    expect(clock.nextDeadline()).to.equal(Infinity);
  });

  it('is closed when the writes in progress have ended', async () => {
    let isWritten = false;
    const writing = writes.write([record(0, 5)]).then(() => (isWritten = true));
    await writes.close();
    expect(isWritten).to.equal(true);
    await writing;
  });

  it('writes no start after a commit of the same partition, but writes the starts of other partitions with the commit', async () => {
    isFull = true;
    await writes.writeStart([record(0, start), record(1, start)]);
    isFull = false;
    await writes.write([record(0, 5)]);
    await writes.close();
    expect(await written(0)).to.deep.equal([5]);
    expect(await written(1)).to.deep.equal([start]);
  });

  it('writes no start after a commit that is in progress', async () => {
    isFull = true;
    await writes.writeStart([record(0, start)]);
    isFull = false;
    const underWay = [writes.write([record(0, 5)]), writes.write([]), writes.write([record(1, 7)])];
    await Promise.all(underWay);
    expect([await written(0), await written(1)]).to.deep.equal([[5], [7]]);
  });

  it('writes a start before a commit that arrives while the start is being written', async () => {
    isFull = true;
    await writes.writeStart([record(0, start)]);
    isFull = false;
    await Promise.all([writes.write([]), writes.write([record(0, 5)])]);
    await writes.close();
    expect(await written(0)).to.deep.equal([start, 5]);
  });

  it('keeps a start when its commit found no space either', async () => {
    isFull = true;
    await writes.writeStart([record(0, start)]);
    const failing = [writes.write([record(0, 5)]), writes.write([record(0, 6)])].map(outcomeOf);
    expect(new Set(await Promise.all(failing))).to.deep.equal(new Set(['COORDINATION_UNAVAILABLE']));
    isFull = false;
    await writes.close();
    expect(await written(0)).to.deep.equal([start]);
  });

  it('refuses a start when a fault other than a full disk prevents the write', async () => {
    const closed = new CursorMirror(
      overriding<EventLog>(log, {
        append: () => Promise.reject(new LendstreamError('LOG_UNAVAILABLE', 'The disk does not answer.')),
      }),
      clock,
    );
    expect(await outcomeOf(closed.writeStart([record(0, start)]))).to.equal('COORDINATION_UNAVAILABLE');
    await closed.close();
    await writes.close();
    expect(await written(0)).to.deep.equal([]);
  });

  it('writes each start before every commit of its partition, for any sequence of steps', async function () {
    this.timeout(60_000);
    const steps = fc.array(
      fc.record({
        kind: fc.constantFrom('start', 'commit', 'commit', 'commit', 'retry', 'full', 'room', 'await'),
        partition: fc.nat({ max: 2 }),
      }),
      { minLength: 5, maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (happening) => {
        subscriptionId = randomUUID();
        isFull = true;
        const mirror = new CursorMirror(log, clock);
        const started = new Set<number>();
        const acknowledged = new Map<number, number>();
        const underWay: Promise<unknown>[] = [];
        let next = start;
        for (const { kind, partition } of happening) {
          if (kind === 'full' || kind === 'room') isFull = kind === 'full';
          if (kind === 'await') await Promise.all(underWay);
          if (kind === 'retry') underWay.push(outcomeOf(mirror.write([])));
          if (kind === 'start' && !started.has(partition)) {
            await mirror.writeStart([record(partition, start)]);
            started.add(partition);
          }
          if (kind !== 'commit' || !started.has(partition)) continue;
          const offset = (next += 1);
          const writing = outcomeOf(mirror.write([record(partition, offset)]));
          underWay.push(writing.then((outcome) => outcome === 'written' && acknowledged.set(partition, offset)));
        }
        await Promise.all(underWay);
        isFull = false;
        await mirror.close();
        for (const partition of started) {
          const offsets = await written(partition);
          expect(offsets, 'in the order of the calls').to.deep.equal([...offsets].sort((a, b) => a - b));
          expect(offsets.at(-1)).to.equal(acknowledged.get(partition) ?? start);
        }
      }),
      { numRuns: 150 },
    );
  });
});

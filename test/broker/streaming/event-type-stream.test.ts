import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { EventTypeStream } from '../../../src/broker/streaming/event-type-stream.ts';
import type { EventTypeStreamParameters } from '../../../src/broker/streaming/stream-parameters.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/logger.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { eventually } from '../../support/eventually.ts';
import { failingReads } from '../../support/failing-reads.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openBroker, type Broker } from '../../support/broker-on-embedded-log.ts';

const topic = 'orders';

const defaults: EventTypeStreamParameters = {
  batchLimit: 1,
  flushMilliseconds: 20_000,
  streamLimit: 0,
  streamTimeoutMilliseconds: 3_600_000,
  keepAliveLimit: 0,
};

interface Line {
  readonly cursor: { readonly partition: string; readonly offset: string };
  readonly events?: readonly { readonly number: number }[];
  readonly info?: { readonly debug: string; readonly code: string };
}

describe('a stream of an event type without a subscription', () => {
  let broker: Broker;
  let stream: EventTypeStream | undefined;
  let clock: SimulatedClock;
  /** Reads that have found events. */
  let reads: number;
  let lines: Line[];

  beforeEach(async () => {
    clock = new SimulatedClock();
    reads = 0;
    lines = [];
    broker = await openBroker();
    await broker.log.createTopic({
      name: topic,
      partitionCount: 2,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 3_600_000,
    });
  });

  afterEach(async () => {
    stream?.close('client_closed');
    await broker.close();
  });

  const append = async (partition: number, ...numbers: number[]): Promise<void> => {
    const records = numbers.map((number) => ({ key: null, value: Buffer.from(JSON.stringify({ number })) }));
    await broker.log.append([{ topic, partition, records }]);
  };

  const open = (changes: Partial<EventTypeStreamParameters> = {}, offsets: number[] = [0, 0]): EventTypeStream => {
    const parameters = { ...defaults, ...changes };
    const log = overriding<EventLog>(broker.log, {
      read: async (from, options) => {
        const result = await broker.log.read(from, options);
        if (result.batches.length > 0) reads += 1;
        return result;
      },
    });
    const positions = offsets.map((offset, partition) => ({ topic, partition, offset }));
    stream = new EventTypeStream({ log, clock, logger: silentLogger }, positions, parameters);
    return stream;
  };

  const nextLine = async (from: EventTypeStream): Promise<Line | null> => {
    if (lines.length === 0) {
      const chunk = await from.next();
      const texts = chunk === null ? [] : Buffer.concat(chunk.pieces).toString().split('\n').slice(0, -1);
      lines = texts.map((text) => JSON.parse(text) as Line);
    }
    return lines.shift() ?? null;
  };

  /**
   * Everything up to the end: the numbers, and why it ended. The clock is turned as long as the stream waits.
   * @param readsAwaited How many reads find events before that.
   */
  const linesOf = async (
    from: EventTypeStream,
    readsAwaited = 0,
  ): Promise<[string, number[] | undefined, string | undefined][]> => {
    const received: [string, number[] | undefined, string | undefined][] = [];
    for (;;) {
      let line: Line | null | undefined;
      const next = nextLine(from).then((value) => (line = value));
      await eventually(() => reads >= readsAwaited || line !== undefined);
      await clock.turnUntil(() => line !== undefined);
      await next;
      if (line === undefined || line === null) return received;
      received.push([line.cursor.partition, numbersOf(line), line.info?.code]);
    }
  };

  const numbersOf = (line: Line | null): number[] | undefined => line?.events?.map(({ number }) => number);

  it('sends stored events and then new ones, in order', async () => {
    await append(0, 1, 2);
    const opened = open({ batchLimit: 2 }, [0]);
    const first = await nextLine(opened);
    expect(numbersOf(first)).to.deep.equal([1, 2]);
    expect(first?.cursor).to.deep.equal({ partition: '0', offset: '001-0001-000000000000000001' });
    const waiting = nextLine(opened);
    await append(0, 3, 4);
    expect(numbersOf(await waiting)).to.deep.equal([3, 4]);
  });

  it('begins at the requested positions', async () => {
    await append(1, 1, 2, 3);
    expect(numbersOf(await nextLine(open({}, [0, 2])))).to.deep.equal([3]);
  });

  it('lets no partition wait for another that has more than one write can hold', async () => {
    const value = Buffer.from(JSON.stringify({ number: 0, text: 'x'.repeat(200_000) }));
    for (let count = 0; count < 5; count += 1) {
      await broker.log.append([{ topic, partition: 0, records: [{ key: null, value }] }]);
    }
    await append(1, 1);
    const opened = open();
    const seen = [await nextLine(opened)];
    await eventually(() => reads >= 2);
    while (seen.length < 4) seen.push(await nextLine(opened));
    expect(seen.map((line) => line?.cursor.partition)).to.include('1');
  });

  it('ends after the requested number of events, with the reason on the last line', async () => {
    await append(0, 1, 2, 3);
    expect(await linesOf(open({ streamLimit: 2 }, [0]), 1)).to.deep.equal([
      ['0', [1], undefined],
      ['0', [2], 'stream_limit'],
    ]);
  });

  it('sends an incomplete batch after the flush timeout, and a keep-alive without events', async () => {
    await append(0, 1);
    const opened = open({ batchLimit: 10, flushMilliseconds: 30_000 }, [0]);
    let due = 0;
    const next = (): Promise<Line | null> => nextLine(opened).finally(() => (due += 1));
    const first = next();
    await eventually(() => reads === 1);
    await clock.turn(29_999);
    expect(due).to.equal(0);
    await clock.turn(1);
    expect(numbersOf(await first)).to.deep.equal([1]);
    const idle = next();
    await clock.turn(29_999);
    expect(due).to.equal(1);
    await clock.turn(1);
    expect(await idle).to.deep.equal({ cursor: { partition: '0', offset: '001-0001-000000000000000000' } });
  });

  it('ends when every partition has been idle long enough, with the reason on the last keep-alive', async () => {
    const received = await linesOf(open({ flushMilliseconds: 1_000, keepAliveLimit: 2 }));
    expect(received.map(([, events, code]) => [events, code])).to.deep.equal([
      [undefined, undefined],
      [undefined, undefined],
      [undefined, undefined],
      [undefined, 'keep_alive_limit'],
    ]);
    expect(received.map(([partition]) => partition).sort()).to.deep.equal(['0', '0', '1', '1']);
  });

  it('does not end while one partition has been idle for less', async () => {
    const opened = open({ flushMilliseconds: 1_000, keepAliveLimit: 2 });
    for (let round = 1; round <= 4; round += 1) {
      await append(1, round);
      expect(numbersOf(await nextLine(opened))).to.deep.equal([round]);
      const idle = [nextLine(opened)];
      await clock.turn(1_000);
      idle.push(nextLine(opened));
      const received = await Promise.all(idle);
      expect(received.map((line) => line?.cursor.partition)).to.have.members(['0', '1']);
      expect(received.map((line) => line?.info)).to.deep.equal([undefined, undefined]);
    }
    expect((await linesOf(opened)).map(([, events, code]) => [events, code])).to.deep.equal([
      [undefined, undefined],
      [undefined, 'keep_alive_limit'],
    ]);
  });

  it('sends an event that waits for a batch before it ends because its partitions were idle', async () => {
    const opened = open({ batchLimit: 2, flushMilliseconds: 1_000, keepAliveLimit: 1 });
    const waiting = nextLine(opened);
    await clock.turn(500);
    await append(1, 1, 2);
    expect(numbersOf(await waiting)).to.deep.equal([1, 2]);
    const idle = nextLine(opened);
    await clock.turn(500);
    expect((await idle)?.cursor.partition).to.equal('0');
    const last = nextLine(opened);
    await append(0, 3);
    await eventually(() => reads === 2);
    await clock.turn(500);
    expect([await last, await nextLine(opened)].map((line) => [numbersOf(line), line?.info?.code])).to.deep.equal([
      [undefined, undefined],
      [[3], 'keep_alive_limit'],
    ]);
    expect(await nextLine(opened)).to.equal(null);
  });

  it('ends at its timeout with the buffered events and a keep-alive for each partition without a line', async () => {
    await append(0, 1);
    const opened = open({ batchLimit: 10, streamTimeoutMilliseconds: 10_000 });
    expect(await linesOf(opened, 1)).to.have.deep.members([
      ['0', [1], undefined],
      ['1', undefined, 'stream_timeout'],
    ]);
  });

  it('sends one keep-alive per partition when it had no events until its timeout, the last with the reason', async () => {
    const opened = open({ flushMilliseconds: 10_000, streamTimeoutMilliseconds: 10_000 });
    expect(await linesOf(opened)).to.deep.equal([
      ['0', undefined, undefined],
      ['1', undefined, 'stream_timeout'],
    ]);
  });

  it('sends the reason on a separate line when every partition already had one', async () => {
    await append(0, 1);
    await append(1, 2);
    const received = await linesOf(open({ streamTimeoutMilliseconds: 10_000 }), 2);
    expect(received.slice(0, 2).map(([, events, code]) => [events, code])).to.have.deep.members([
      [[1], undefined],
      [[2], undefined],
    ]);
    expect(received.slice(2).map(([, events, code]) => [events, code])).to.deep.equal([[undefined, 'stream_timeout']]);
  });

  it('aborts the response when a line cannot be built, and sends nothing after it', async () => {
    await append(0, 1, 2);
    const log = overriding<EventLog>(broker.log, {
      read: async (from, options) => {
        const result = await broker.log.read(from, options);
        const copy = (): never => {
          throw new Error('No memory.');
        };
        const batches = result.batches.map((batch) =>
          overriding(batch, { bytes: Object.assign(Buffer.from(batch.bytes), { copy }) }),
        );
        return { ...result, batches };
      },
    });
    const positions = [{ topic, partition: 0, offset: 0 }];
    const broken = new EventTypeStream({ log, clock, logger: silentLogger }, positions, defaults);
    expect(await broken.next().catch((error: unknown) => error)).to.have.property('message', 'No memory.');
    expect(await broken.next()).to.equal(null);
  });

  it('ends a wait when the process stops, with that reason', async () => {
    const opened = open();
    const waiting = nextLine(opened);
    opened.close('server_shutdown');
    expect(await waiting).to.deep.equal({
      cursor: { partition: '0', offset: '001-0001--1' },
      info: { debug: 'The server is shutting down', code: 'server_shutdown' },
    });
    expect(await opened.next()).to.equal(null);
  });

  it('reads again a second after the log could not be read, and waits for nothing else but keep-alives', async () => {
    await append(0, 1);
    let attempts = 0;
    const log = overriding<EventLog>(broker.log, {
      read: (from, options) => {
        attempts += 1;
        if (attempts === 1) return Promise.reject(new LendstreamError('LOG_UNAVAILABLE', 'Later.'));
        return broker.log.read(from, options);
      },
    });
    const opened = new EventTypeStream(
      { log, clock, logger: silentLogger },
      [{ topic, partition: 0, offset: 0 }],
      defaults,
    );
    const waiting = nextLine(opened);
    expect(clock.nextDeadline()).to.equal(20_000);
    await clock.turn(999);
    expect(attempts).to.equal(1);
    await clock.turn(1);
    expect(attempts).to.equal(2);
    expect(numbersOf(await waiting)).to.deep.equal([1]);
    opened.close('client_closed');
  });

  it('ends a wait for a log that cannot be read when the process stops', async () => {
    const log = failingReads(broker.log, new LendstreamError('LOG_UNAVAILABLE', 'Later.'));
    const opened = new EventTypeStream(
      { log, clock, logger: silentLogger },
      [{ topic, partition: 0, offset: 0 }],
      defaults,
    );
    const waiting = nextLine(opened);
    // Until the read has failed.
    await clock.turn(1);
    opened.close('server_shutdown');
    expect((await waiting)?.info?.code).to.equal('server_shutdown');
  });

  it('ends when its events are deleted while it reads, with that reason', async () => {
    const opened = open();
    const waiting = nextLine(opened);
    await broker.log.deleteTopic(topic);
    expect((await waiting)?.info).to.deep.equal({
      debug: 'Event type was deleted: orders',
      code: 'event_type_deleted',
    });
    expect(await opened.next()).to.equal(null);
  });
});

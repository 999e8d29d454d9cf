import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { EventTypeStream, type EventTypeStreamParameters } from '../../../src/broker/streaming/event-type-stream.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/logger.ts';
import { openBroker, type Broker } from '../../support/broker-on-embedded-log.ts';

const topic = 'orders';

interface Line {
  readonly cursor: { readonly partition: string; readonly offset: string };
  readonly events?: readonly { readonly number: number }[];
  readonly info?: { readonly debug: string; readonly code: string };
}

describe('a stream of an event type without a subscription', () => {
  let broker: Broker;
  let stream: EventTypeStream | undefined;

  beforeEach(async () => {
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
    const parameters = {
      batchLimit: 1,
      flushMilliseconds: 20_000,
      streamLimit: 0,
      streamTimeoutMilliseconds: 0,
      keepAliveLimit: 0,
      ...changes,
    };
    const services = { log: broker.log, clock: systemClock, logger: silentLogger };
    const positions = offsets.map((offset, partition) => ({ topic, partition, offset }));
    stream = new EventTypeStream(services, positions, parameters);
    return stream;
  };

  const nextLine = async (from: EventTypeStream): Promise<Line | null> => {
    const chunk = await from.next();
    return chunk === null ? null : (JSON.parse(Buffer.concat(chunk.pieces).toString()) as Line);
  };

  /** Everything up to the end: numbers or none, and why it ended. */
  const linesOf = async (from: EventTypeStream): Promise<[string, number[] | undefined, string | undefined][]> => {
    const lines: [string, number[] | undefined, string | undefined][] = [];
    for (let line = await nextLine(from); line !== null; line = await nextLine(from)) {
      lines.push([line.cursor.partition, numbersOf(line), line.info?.code]);
    }
    return lines;
  };

  const numbersOf = (line: Line | null): number[] | undefined => line?.events?.map(({ number }) => number);

  it('sends what is there and then what comes, in order', async () => {
    await append(0, 1, 2);
    const opened = open({ batchLimit: 2 }, [0]);
    const first = await nextLine(opened);
    expect(numbersOf(first)).to.deep.equal([1, 2]);
    expect(first?.cursor).to.deep.equal({ partition: '0', offset: '001-0001-000000000000000001' });
    const waiting = nextLine(opened);
    await append(0, 3, 4);
    expect(numbersOf(await waiting)).to.deep.equal([3, 4]);
  });

  it('begins where it is told', async () => {
    await append(1, 1, 2, 3);
    expect(numbersOf(await nextLine(open({}, [0, 2])))).to.deep.equal([3]);
  });

  it('lets no partition wait for another', async () => {
    await append(0, 1, 1, 1, 1);
    await append(1, 2);
    const opened = open();
    const seen = [await nextLine(opened), await nextLine(opened), await nextLine(opened)];
    expect(seen.map((line) => line?.cursor.partition)).to.include('1');
  });

  it('ends after the events asked for, and says so with the last of them', async () => {
    await append(0, 1, 2, 3);
    expect(await linesOf(open({ streamLimit: 2 }, [0]))).to.deep.equal([
      ['0', [1], undefined],
      ['0', [2], 'stream_limit'],
    ]);
  });

  it('sends a short batch when its time has come, and without events a sign of life', async () => {
    await append(0, 1);
    const opened = open({ batchLimit: 10, flushMilliseconds: 30 }, [0]);
    expect(numbersOf(await nextLine(opened))).to.deep.equal([1]);
    const idle = await nextLine(opened);
    expect(idle).to.deep.equal({ cursor: { partition: '0', offset: '001-0001-000000000000000000' } });
  });

  it('ends when every partition has been idle for long enough, and says so with the last keep-alive', async () => {
    const lines = await linesOf(open({ flushMilliseconds: 10, keepAliveLimit: 2 }));
    expect(lines.map(([, events, code]) => [events, code])).to.deep.equal([
      [undefined, undefined],
      [undefined, undefined],
      [undefined, undefined],
      [undefined, 'keep_alive_limit'],
    ]);
    expect(lines.map(([partition]) => partition).sort()).to.deep.equal(['0', '0', '1', '1']);
  });

  it('does not end while one partition has been idle for less', async () => {
    const opened = open({ flushMilliseconds: 30, keepAliveLimit: 2, streamTimeoutMilliseconds: 400 });
    const appends: Promise<void>[] = [];
    const busy = setInterval(() => appends.push(append(1, 1)), 10);
    const lines = await linesOf(opened);
    clearInterval(busy);
    await Promise.all(appends);
    expect(lines.at(-1)?.[2]).to.equal('stream_timeout');
    expect(lines.filter(([partition, events]) => partition === '0' && events === undefined).length).to.be.above(2);
  });

  it('ends when its time is over, with what it holds and a keep-alive of each partition that was never heard', async () => {
    await append(0, 1);
    const opened = open({ batchLimit: 10, streamTimeoutMilliseconds: 100 });
    expect(await linesOf(opened)).to.have.deep.members([
      ['0', [1], undefined],
      ['1', undefined, 'stream_timeout'],
    ]);
  });

  it('sends one keep-alive for each partition when nothing came in all its time, the last with the reason', async () => {
    const opened = open({ flushMilliseconds: 100, streamTimeoutMilliseconds: 100 });
    expect(await linesOf(opened)).to.deep.equal([
      ['0', undefined, undefined],
      ['1', undefined, 'stream_timeout'],
    ]);
  });

  it('says why in a line of its own when every partition was heard before', async () => {
    await append(0, 1);
    await append(1, 2);
    const lines = await linesOf(open({ streamTimeoutMilliseconds: 100 }));
    expect(lines.slice(0, 2).map(([, events, code]) => [events, code])).to.have.deep.members([
      [[1], undefined],
      [[2], undefined],
    ]);
    expect(lines.slice(2).map(([, events, code]) => [events, code])).to.deep.equal([[undefined, 'stream_timeout']]);
  });

  it('ends a wait when the process stops, and says so', async () => {
    const opened = open();
    const waiting = nextLine(opened);
    opened.close('server_shutdown');
    expect(await waiting).to.deep.equal({
      cursor: { partition: '0', offset: '001-0001--1' },
      info: { debug: 'The server is shutting down', code: 'server_shutdown' },
    });
    expect(await opened.next()).to.equal(null);
  });

  it('ends when its events are deleted under it, and says so', async () => {
    const opened = open();
    const waiting = nextLine(opened);
    await broker.log.deleteTopic(topic);
    expect((await waiting)?.info?.code).to.equal('log_error');
    expect(await opened.next()).to.equal(null);
  });
});

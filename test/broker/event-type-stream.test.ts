import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { EventTypeStream, type EventTypeStreamParameters } from '../../src/broker/event-type-stream.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import { openBroker, type Broker } from '../support/broker-on-embedded-log.ts';

const topic = 'orders';

interface Line {
  readonly cursor: { readonly partition: string; readonly offset: string };
  readonly events?: readonly { readonly number: number }[];
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
    stream?.close();
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

  it('ends after the events asked for', async () => {
    await append(0, 1, 2, 3);
    const opened = open({ streamLimit: 2 });
    expect([numbersOf(await nextLine(opened)), numbersOf(await nextLine(opened)), await opened.next()]).to.deep.equal([
      [1],
      [2],
      null,
    ]);
  });

  it('sends a short batch when its time has come, and without events a sign of life', async () => {
    await append(0, 1);
    const opened = open({ batchLimit: 10, flushMilliseconds: 30 }, [0]);
    expect(numbersOf(await nextLine(opened))).to.deep.equal([1]);
    const idle = await nextLine(opened);
    expect(idle).to.deep.equal({ cursor: { partition: '0', offset: '001-0001-000000000000000000' } });
  });

  it('ends when it has been idle for long enough', async () => {
    const opened = open({ flushMilliseconds: 10, keepAliveLimit: 2 }, [0]);
    expect([await nextLine(opened), await nextLine(opened)].map(numbersOf)).to.deep.equal([undefined, undefined]);
    expect(await opened.next()).to.equal(null);
  });

  it('ends when its time is over, with what it holds', async () => {
    await append(0, 1);
    const opened = open({ batchLimit: 10, streamTimeoutMilliseconds: 100 }, [0]);
    expect(numbersOf(await nextLine(opened))).to.deep.equal([1]);
    expect(await opened.next()).to.equal(null);
  });

  it('ends a wait when it is closed', async () => {
    const opened = open();
    const waiting = opened.next();
    opened.close();
    expect(await waiting).to.equal(null);
  });

  it('ends when its events are deleted under it', async () => {
    const opened = open();
    const waiting = opened.next();
    await broker.log.deleteTopic(topic);
    expect(await waiting).to.equal(null);
  });
});

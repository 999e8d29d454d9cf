import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LendstreamError } from '../../../src/errors.ts';
import type { BrokerAddress, RequestSender } from '../../../src/kafka/connection/connections.ts';
import { ClusterMetadata } from '../../../src/kafka/connection/cluster-metadata.ts';
import { KafkaReader } from '../../../src/kafka/consume/reader.ts';
import type { KafkaRequest } from '../../../src/kafka/protocol/request.ts';
import { WireWriter } from '../../../src/kafka/protocol/wire.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { PartitionBounds, ReadResult } from '../../../src/ports/event-log.ts';
import { codeOf, recordsOf } from '../../support/log-reading.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { encode } from '../protocol/encoded-batches.ts';
import { SimulatedBroker, pass, readFetch, type FetchedPosition } from '../simulated-broker.ts';

const [offsetOutOfRange, corruptMessage, notLeader] = [1, 2, 6];
const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** What the test lets the broker respond for a partition. */
interface Part {
  readonly errorCode?: number;
  /** Committed readers may read up to here. Default 0. */
  readonly end?: number;
  readonly batches?: Buffer;
}

/** A request that waits until the test responds to it. */
interface OpenFetch {
  readonly purpose: string;
  readonly waitMilliseconds: number;
  readonly bytesMaximum: number;
  readonly positions: readonly FetchedPosition[];
  /** When it came. Monotonic milliseconds. */
  readonly at: number;
  /** Responds with a part for each partition; an empty one where none is given. Rejects the request with an error. */
  respond(parts: Readonly<Record<number, Part>> | Error): Promise<void>;
}

/** A broker whose responses to fetches the test gives one by one. */
class ManualBroker implements RequestSender {
  /** The fetches that have no response yet. */
  readonly open: OpenFetch[] = [];
  readonly #clock: SimulatedClock;
  readonly #simulated: SimulatedBroker;

  constructor(clock: SimulatedClock, simulated: SimulatedBroker) {
    this.#clock = clock;
    this.#simulated = simulated;
  }

  send<Response>(to: BrokerAddress, purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    if (request.name !== 'Fetch') return this.#simulated.send(to, purpose, request);
    const { topics, ...received } = readFetch(request.encode() as Buffer);
    const [{ topic, positions } = { topic: '', positions: [] }] = topics;
    return new Promise((resolve, reject) => {
      const fetch: OpenFetch = {
        ...received,
        purpose,
        positions,
        at: this.#clock.monotonic(),
        respond: async (parts) => {
          this.open.splice(this.open.indexOf(fetch), 1);
          if (parts instanceof Error) reject(parts);
          else resolve(request.decode(responseOf(topic, positions, parts)));
          await pass(this.#clock);
        },
      };
      this.open.push(fetch);
    });
  }
}

/** Fetch, version 10. */
function responseOf(
  topic: string,
  positions: readonly FetchedPosition[],
  parts: Readonly<Record<number, Part>>,
): Buffer {
  const writer = new WireWriter().int32(0).int16(0).int32(0).int32(1).string(topic);
  writer.array(positions, ({ partition }) => {
    const { errorCode = 0, end = 0, batches = Buffer.alloc(0) } = parts[partition] ?? {};
    writer.int32(partition).int16(errorCode).int64(end).int64(end).int64(0).int32(0).bytes(batches);
  });
  return writer.toBuffer();
}

function newReader(boundsOf: () => Promise<PartitionBounds[]> = () => Promise.resolve([])) {
  const clock = new SimulatedClock();
  const simulated = new SimulatedBroker(clock, 4);
  const broker = new ManualBroker(clock, simulated);
  const metadata = new ClusterMetadata(broker, simulated.seeds, clock);
  const reader = new KafkaReader({ connections: broker, metadata, bounds: boundsOf, clock, logger: silentLogger });
  const read = (partition: number, offset: number, waitMilliseconds = Infinity, bytesMaximum = 1) =>
    reader.read({ topic: simulated.topic, partition, offset }, { bytesMaximum, waitMilliseconds });
  /** The only fetch that is open. */
  const only = (): OpenFetch => {
    expect(broker.open.map(({ purpose }) => purpose)).to.have.length(1);
    return broker.open[0] as OpenFetch;
  };
  /** The open fetch of a purpose. */
  const fetchOf = (purpose: string): OpenFetch => {
    const found = broker.open.find((fetch) => fetch.purpose === purpose);
    if (found === undefined) throw new Error(`No ${purpose}, but ${broker.open.map((each) => each.purpose).join()}`);
    return found;
  };
  return { clock, broker, reader, read, only, fetchOf, topic: simulated.topic };
}

function batchAt(baseOffset: number, value: string | Buffer = 'x'): Buffer {
  return encode([{ key: null, value: Buffer.from(value) }], { baseOffset });
}

function valuesOf({ batches }: ReadResult): (string | null)[] {
  return batches.flatMap(recordsOf).map(({ value }) => value);
}

function partitionsIn({ positions }: OpenFetch): number[] {
  return positions.map(({ partition }) => partition);
}

describe('The requests of a reader of Kafka', () => {
  it('fetch what a new read needs at once, with limits for the response and for each partition', async () => {
    const { clock, only, read } = newReader();
    void read(0, 0, 0, 1);
    void read(1, 7, 0, 300 * kibibyte);
    void read(2, 0, 0, 30 * mebibyte);
    await pass(clock);
    expect(only()).to.include({ purpose: 'catch-up', waitMilliseconds: 0, bytesMaximum: 4 * mebibyte });
    expect(only().positions).to.deep.equal([
      { partition: 0, offset: 0, bytesMaximum: 64 * kibibyte },
      { partition: 1, offset: 7, bytesMaximum: 300 * kibibyte },
      { partition: 2, offset: 0, bytesMaximum: mebibyte },
    ]);
  });

  it('grow by four when the next batch does not fit, up to the largest batch, until there are records', async () => {
    const { clock, only, read } = newReader();
    const result = read(0, 0, 0);
    const sizes: (number | undefined)[] = [];
    // Records of another partition show that the response was not just empty.
    void read(1, 0, 0);
    await pass(clock);
    for (let offset = 0; offset < 6; offset += 1) {
      void read(1, offset + 1, 0);
      sizes.push(only().positions.find(({ partition }) => partition === 0)?.bytesMaximum);
      await only().respond({ 0: { end: 9 }, 1: { end: 9, batches: batchAt(offset) } });
    }
    const largest = 8 * mebibyte + 64 * kibibyte;
    expect(sizes.map((size = 0) => size / kibibyte)).to.deep.equal([
      64,
      256,
      1_024,
      4_096,
      largest / kibibyte,
      largest / kibibyte,
    ]);
    await only().respond({ 0: { end: 9, batches: batchAt(0, 'large') } });
    expect(valuesOf(await result)).to.deep.equal(['large']);
    void read(0, 1, 0);
    await pass(clock);
    expect(only().positions).to.deep.equal([{ partition: 0, offset: 1, bytesMaximum: 64 * kibibyte }]);
  });

  it('do not grow when the response was full of records of others', async () => {
    const { clock, only, read } = newReader();
    const results = [read(0, 0, 0), read(1, 0, 0)];
    await pass(clock);
    await only().respond({ 0: { end: 9 }, 1: { end: 9, batches: batchAt(0, Buffer.alloc(mebibyte)) } });
    expect(only().positions).to.deep.equal([{ partition: 0, offset: 0, bytesMaximum: 64 * kibibyte }]);
    await only().respond({ 0: { end: 9, batches: batchAt(0, 'next') } });
    expect(valuesOf((await Promise.all(results))[0] as ReadResult)).to.deep.equal(['next']);
  });

  it('grow up to the size of a response that its own limit may have cut short, to the byte', async () => {
    for (const [bytes, kibibytes] of [
      [mebibyte - 1, 256],
      [mebibyte, 64],
    ] as const) {
      const { clock, only, read } = newReader();
      void read(0, 0, 0);
      void read(1, 0, 0);
      await pass(clock);
      const parts = (valueBytes: number) => ({
        0: { end: 9 },
        1: { end: 9, batches: batchAt(0, Buffer.alloc(valueBytes)) },
      });
      const framing = responseOf('quiet', only().positions, parts(mebibyte - 1_000)).length - (mebibyte - 1_000);
      await only().respond(parts(bytes - framing));
      expect(only().positions).to.deep.equal([{ partition: 0, offset: 0, bytesMaximum: kibibytes * kibibyte }]);
    }
  });

  it('are not sent for records that were fetched within the last second', async () => {
    const { clock, broker, only, read } = newReader();
    const fetch = async (value: string, milliseconds: number): Promise<void> => {
      const result = read(0, 0, 0);
      await pass(clock, milliseconds);
      await only().respond({ 0: { end: 9, batches: batchAt(0, value) } });
      expect(valuesOf(await result)).to.deep.equal([value]);
    };
    const expectInMemory = async (value: string): Promise<void> => {
      expect(valuesOf(await read(0, 0, 0))).to.deep.equal([value]);
      expect(broker.open).to.deep.equal([]);
    };
    // Aged records are dropped every 500 ms, counted from the first read.
    await fetch('x', 1);
    await clock.turn(1_498);
    await expectInMemory('x');
    await clock.turn(1);
    await fetch('y', 500);
    await clock.turn(999);
    await expectInMemory('y');
    await clock.turn(1);
    await fetch('z', 0);
  });

  it('poll a position where a read begins to wait by a short poll, and by longer ones while it is quiet', async () => {
    const { clock, only, fetchOf, broker, read } = newReader();
    void read(0, 0);
    await pass(clock);
    await only().respond({});
    expect(only()).to.include({ purpose: 'middle-poll', waitMilliseconds: 50, bytesMaximum: mebibyte });
    await pass(clock, 30);
    void read(1, 0);
    await pass(clock);
    await fetchOf('catch-up').respond({});
    expect(fetchOf('short-poll')).to.include({ waitMilliseconds: 5, bytesMaximum: mebibyte });
    expect(partitionsIn(fetchOf('short-poll'))).to.deep.equal([1]);
    await pass(clock, 20);
    await fetchOf('middle-poll').respond({});
    expect(partitionsIn(fetchOf('long-poll'))).to.deep.equal([0]);
    expect(fetchOf('long-poll')).to.include({ waitMilliseconds: 500, bytesMaximum: mebibyte });
    expect(broker.open.map(({ purpose }) => purpose).sort()).to.deep.equal(['long-poll', 'middle-poll', 'short-poll']);
  });

  it('of a poll do not end a read that began after they were sent', async () => {
    const { clock, only, fetchOf, read } = newReader();
    const waiting = read(0, 0);
    await pass(clock);
    await only().respond({});
    const atOnce = read(0, 0, 0);
    await pass(clock);
    expect(partitionsIn(fetchOf('catch-up'))).to.deep.equal([0]);
    await fetchOf('middle-poll').respond({});
    await fetchOf('catch-up').respond({ 0: { end: 1, batches: batchAt(0, 'new') } });
    expect((await Promise.all([atOnce, waiting])).map(valuesOf)).to.deep.equal([['new'], ['new']]);
  });

  for (const [what, response] of [
    ['failed', new LendstreamError('OUTCOME_UNKNOWN', 'No response.')],
    ['brought records', { 0: { end: 1, batches: batchAt(0) } }],
    ['brought an error', { 0: { errorCode: notLeader } }],
  ] as const) {
    it(`do not rest after a poll that ${what}, while other positions wait for it`, async () => {
      const { clock, fetchOf, read } = newReader();
      for (const partition of [0, 1, 2]) {
        void read(partition, 0);
        await pass(clock);
        await fetchOf('catch-up').respond({});
      }
      expect(['middle-poll', 'short-poll'].map((purpose) => partitionsIn(fetchOf(purpose)))).to.deep.equal([[0], [1]]);
      await fetchOf('middle-poll').respond(response);
      expect(partitionsIn(fetchOf('middle-poll'))).to.deep.equal([2]);
    });
  }

  it('rest for 25 ms after a poll that ended early without anything', async () => {
    const { clock, only, broker, read } = newReader();
    void read(0, 0);
    await pass(clock);
    await only().respond({});
    const poll = only();
    await pass(clock, 24);
    await poll.respond({});
    await pass(clock, 24);
    expect(broker.open).to.deep.equal([]);
    await pass(clock, 1);
    expect(only().at).to.equal(24 + 25);
    await pass(clock, 25);
    await only().respond({});
    expect(only().at).to.equal(24 + 25 + 25);
  });

  it('continue for a position that the records of another one do not cover', async () => {
    const { clock, only, read } = newReader();
    const results = [read(0, 0, 0), read(0, 5, 0)];
    await pass(clock);
    expect(only().positions.map(({ offset }) => offset)).to.deep.equal([0]);
    await only().respond({ 0: { end: 6, batches: batchAt(0, 'first') } });
    expect(only().positions.map(({ offset }) => offset)).to.deep.equal([5]);
    await only().respond({ 0: { end: 6, batches: batchAt(5, 'fifth') } });
    expect((await Promise.all(results)).map(valuesOf)).to.deep.equal([['first'], ['fifth']]);
  });

  it('continue for other positions of a partition when the broker reports that one is damaged', async () => {
    const { clock, only, read } = newReader();
    const damaged = codeOf(read(0, 0, 0));
    const sound = read(0, 5, 0);
    await pass(clock);
    await only().respond({ 0: { errorCode: corruptMessage } });
    expect(await damaged).to.equal('CORRUPT_BATCH');
    await only().respond({ 0: { end: 6, batches: batchAt(5, 'sound') } });
    expect(valuesOf(await sound)).to.deep.equal(['sound']);
  });

  it('are not sent for a partition that waits for its next attempt', async () => {
    const { clock, only, fetchOf, broker, read } = newReader();
    for (const partition of [0, 1]) {
      void read(partition, 0);
      await pass(clock);
      await fetchOf('catch-up').respond({});
    }
    // Both shorter polls are in progress, so the next position waits for one of them.
    void read(2, 0);
    await pass(clock);
    await fetchOf('catch-up').respond({});
    void read(2, 0, 0);
    await pass(clock);
    await fetchOf('catch-up').respond({ 2: { errorCode: notLeader } });
    await pass(clock, 5);
    await fetchOf('short-poll').respond({});
    expect(broker.open.flatMap(partitionsIn)).to.not.include(2);
    await pass(clock, 20);
    expect(partitionsIn(fetchOf('catch-up'))).to.deep.equal([2]);
    expect(only).to.throw();
  });

  describe('when the broker says that an offset is out of range', () => {
    const bounds = { topic: 'quiet', partition: 0, earliest: 5, latest: 9 };

    for (const [offset, isOutside] of [
      [4, true],
      [5, false],
      [9, false],
      [10, true],
    ] as const) {
      it(`${isOutside ? 'fail' : 'ask again'} for offset ${offset} of 5 to 9`, async () => {
        const { clock, broker, only, read } = newReader(() => Promise.resolve([bounds]));
        const outcome = codeOf(read(0, offset, 0));
        await pass(clock);
        await only().respond({ 0: { errorCode: offsetOutOfRange } });
        await pass(clock, 25);
        expect(broker.open).to.have.length(isOutside ? 0 : 1);
        if (!isOutside) await only().respond({ 0: { end: offset } });
        expect(await outcome).to.equal(isOutside ? 'OFFSET_OUT_OF_RANGE' : null);
      });
    }

    it('continue with the other positions of the partition', async () => {
      const { clock, only, read } = newReader(() => Promise.resolve([bounds]));
      const outside = codeOf(read(0, 4, 0));
      const within = read(0, 5, 0);
      await pass(clock);
      await only().respond({ 0: { errorCode: offsetOutOfRange } });
      expect(await outside).to.equal('OFFSET_OUT_OF_RANGE');
      await only().respond({ 0: { end: 9, batches: batchAt(5, 'within') } });
      expect(valuesOf(await within)).to.deep.equal(['within']);
    });

    for (const [code, isFinal] of [
      ['UNKNOWN_TOPIC_OR_PARTITION', true],
      ['LOG_UNAVAILABLE', false],
    ] as const) {
      it(`${isFinal ? 'fail' : 'ask again'} when its bounds cannot be looked up with ${code}`, async () => {
        const { clock, broker, only, read } = newReader(() => Promise.reject(new LendstreamError(code, 'No.')));
        const outcome = codeOf(read(0, 4, 0));
        await pass(clock);
        await only().respond({ 0: { errorCode: offsetOutOfRange } });
        await pass(clock, 25);
        expect(broker.open).to.have.length(isFinal ? 0 : 1);
        if (!isFinal) await only().respond({ 0: { end: 4 } });
        expect(await outcome).to.equal(isFinal ? code : null);
      });
    }
  });

  it('are repeated after a failure as soon as the partition may be tried again', async () => {
    const { clock, broker, only, read } = newReader();
    const result = read(0, 0, 0);
    await pass(clock);
    await only().respond(new LendstreamError('OUTCOME_UNKNOWN', 'No response.'));
    await pass(clock, 24);
    expect(broker.open).to.deep.equal([]);
    await pass(clock, 1);
    await only().respond({ 0: { end: 1, batches: batchAt(0, 'after all') } });
    expect(valuesOf(await result)).to.deep.equal(['after all']);
  });

  it('end when the reader is closed, with its timers', async () => {
    const { clock, broker, reader, read } = newReader();
    const outcomes = [0, 1, 2].map((partition) => codeOf(read(partition, 0)));
    await pass(clock);
    reader.close();
    expect(await Promise.all(outcomes)).to.deep.equal(['LOG_CLOSED', 'LOG_CLOSED', 'LOG_CLOSED']);
    expect(clock.nextDeadline()).to.equal(Infinity);
    await Promise.all(broker.open.map((fetch) => fetch.respond({})));
    await clock.turn(60_000);
    expect(broker.open).to.deep.equal([]);
  });
});

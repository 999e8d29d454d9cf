import type { Clock } from '../../src/clock.ts';
import type { BrokerAddress, RequestSender } from '../../src/kafka/connection/connections.ts';
import type { KafkaRequest } from '../../src/kafka/protocol/request.ts';
import { WireReader, WireWriter } from '../../src/kafka/protocol/wire.ts';
import { settled, type SimulatedClock } from '../support/simulated-clock.ts';

const address = { host: 'broker', port: 9092 };
const [fetchKey, metadataKey] = [1, 3];
const noErrorCode = 0;

/** Lets milliseconds pass, and lets everything run that follows, although it goes around the event loop a few times. */
export async function pass(clock: SimulatedClock, milliseconds = 0): Promise<void> {
  await clock.turn(milliseconds);
  for (let turn = 0; turn < 5; turn += 1) await settled();
}

/** A cluster of one broker that leads every partition of one topic. Nothing is ever appended to it. */
export class SimulatedBroker implements RequestSender {
  readonly seeds: readonly BrokerAddress[] = [address];
  readonly topic = 'quiet';
  readonly partitionCount: number;
  /** The broker that leads every partition: itself, or -1 for none. */
  leader = 0;
  /** How many fetches it has received. */
  fetchCount = 0;
  /** Whether it responds to a poll immediately, although there is nothing, instead of waiting as long as it may. */
  isHasty = false;
  /** What it reports of each partition that is fetched; undefined to leave all of them out of its response. */
  errorCode: number | undefined = noErrorCode;
  readonly #clock: Clock;

  constructor(clock: Clock, partitionCount: number) {
    this.#clock = clock;
    this.partitionCount = partitionCount;
  }

  async send<Response>(_to: BrokerAddress, _purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    const body = request.encode();
    if (request.apiKey === metadataKey) return request.decode(this.#metadata());
    if (request.apiKey !== fetchKey) throw new Error(`A request that is not simulated: ${request.name}`);
    const requested = readFetch(Buffer.isBuffer(body) ? body : Buffer.concat(body));
    this.fetchCount += 1;
    if (!this.isHasty) await this.#clock.sleep(requested.waitMilliseconds);
    const partitions = requested.topics.map(({ topic, positions }) => ({
      topic,
      partitions: positions.map(({ partition }) => partition),
    }));
    return request.decode(emptyResponse(this.errorCode === undefined ? [] : partitions, this.errorCode ?? noErrorCode));
  }

  /** Metadata, version 5. */
  #metadata(): Buffer {
    const numbers = Array.from({ length: this.partitionCount }, (_, index) => index);
    const writer = new WireWriter().int32(0);
    writer.array([address], ({ host, port }) => writer.int32(0).string(host).int32(port).int16(-1));
    writer.string('simulated').int32(0);
    writer.array([this.topic], (topic) =>
      writer
        .int16(noErrorCode)
        .string(topic)
        .int8(0)
        .array(numbers, (partition) =>
          writer.int16(noErrorCode).int32(partition).int32(this.leader).int32(0).int32(0).int32(0),
        ),
    );
    return writer.toBuffer();
  }
}

type RequestedPartitions = readonly { readonly topic: string; readonly partitions: readonly number[] }[];

/** One partition of a Fetch request. */
export interface FetchedPosition {
  readonly partition: number;
  readonly offset: number;
  readonly bytesMaximum: number;
}

/** The content of a Fetch request, version 10. */
export interface ReceivedFetch {
  readonly waitMilliseconds: number;
  readonly bytesMaximum: number;
  readonly topics: readonly { readonly topic: string; readonly positions: readonly FetchedPosition[] }[];
}

export function readFetch(body: Buffer): ReceivedFetch {
  const reader = new WireReader(body);
  reader.int32(); // replica
  const waitMilliseconds = reader.int32();
  reader.int32(); // the least that is worth a response
  const bytesMaximum = reader.int32();
  reader.position += 1 + 4 + 4; // isolation, session and its epoch
  const topics = reader.array(() => ({
    topic: reader.string(),
    positions: reader.array(() => {
      const partition = reader.int32();
      reader.position += 4; // leader's epoch
      const offset = reader.int64();
      reader.position += 8; // log start
      return { partition, offset, bytesMaximum: reader.int32() };
    }),
  }));
  return { waitMilliseconds, bytesMaximum, topics };
}

/** The partitions are empty: their ends are at 0. */
function emptyResponse(requested: RequestedPartitions, errorCode: number): Buffer {
  const writer = new WireWriter().int32(0).int16(noErrorCode).int32(0);
  writer.array(requested, ({ topic, partitions }) =>
    writer.string(topic).array(partitions, (partition) => {
      writer.int32(partition).int16(errorCode).int64(0).int64(0).int64(0);
      return writer.int32(0).int32(0); // aborted transactions, record batches
    }),
  );
  return writer.toBuffer();
}

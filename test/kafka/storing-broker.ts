import type { LendstreamError } from '../../src/errors.ts';
import type { BrokerAddress, RequestSender } from '../../src/kafka/connection/connections.ts';
import { field } from '../../src/kafka/protocol/record-batches/layout.ts';
import type { KafkaRequest } from '../../src/kafka/protocol/request.ts';
import { WireReader, WireWriter } from '../../src/kafka/protocol/wire.ts';
import type { SimulatedClock } from '../support/simulated-clock.ts';
import { SimulatedBroker } from './simulated-broker.ts';

const messageTooLarge = 10;

interface StoredBatch {
  readonly partition: number;
  readonly sequence: number;
  readonly count: number;
}

/** A cluster of one broker that stores batches up to a size, and remembers each request by what it stored of it. */
export class StoringBroker implements RequestSender {
  readonly requests: StoredBatch[][] = [];
  /** When each request to store something came, also those that failed. Monotonic milliseconds. */
  readonly times: number[] = [];
  /** How the next requests to store something fail: with a code for each partition, or without a response. */
  readonly failures: (number | LendstreamError)[] = [];
  batchBytesMaximum = Infinity;
  /** The offset of the first record of every batch. */
  baseOffset = 0;
  /** How often it was asked which broker leads the partitions. */
  lookupCount = 0;
  /** How often it gave out a producer id. */
  identityCount = 0;
  /** What the responses to requests to store something wait for. */
  held: Promise<void> = Promise.resolve();
  readonly simulated: SimulatedBroker;
  readonly #clock: SimulatedClock;

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
    this.simulated = new SimulatedBroker(clock, 4);
  }

  async send<Response>(to: BrokerAddress, purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    if (request.name === 'InitProducerId') {
      this.identityCount += 1;
      return request.decode(
        new WireWriter().int32(0).int16(0).bigInt64(BigInt(this.identityCount)).int16(0).toBuffer(),
      );
    }
    if (request.name !== 'Produce') {
      this.lookupCount += 1;
      return this.simulated.send(to, purpose, request);
    }
    this.times.push(this.#clock.monotonic());
    await this.held;
    const failure = this.failures.shift() ?? 0;
    if (typeof failure !== 'number') throw failure;
    return request.decode(this.#store(Buffer.concat(request.encode() as Buffer[]), failure));
  }

  /** Produce, version 7. */
  #store(body: Buffer, failure: number): Buffer {
    const reader = new WireReader(body);
    reader.string(); // transactional id
    reader.position += 2 + 4; // replicas, time
    const stored: StoredBatch[] = [];
    const writer = new WireWriter();
    const topics = reader.array(() => ({
      topic: reader.string(),
      results: reader.array(() => {
        const partition = reader.int32();
        const bytes = reader.source.subarray(reader.position + 4, reader.position + 4 + reader.int32());
        reader.position += bytes.length;
        const errorCode = bytes.length > this.batchBytesMaximum ? messageTooLarge : failure;
        const sequence = bytes.readInt32BE(field.baseSequence);
        if (errorCode === 0) stored.push({ partition, sequence, count: bytes.readInt32BE(field.recordCount) });
        return { partition, errorCode };
      }),
    }));
    this.requests.push(stored);
    writer.array(topics, ({ topic, results }) =>
      writer
        .string(topic)
        .array(results, ({ partition, errorCode }) =>
          writer.int32(partition).int16(errorCode).int64(this.baseOffset).int64(0).int64(0),
        ),
    );
    return writer.int32(0).toBuffer();
  }
}

import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { BrokerAddress, RequestSender } from '../../../../src/kafka/connection/connections.ts';
import { ClusterMetadata } from '../../../../src/kafka/connection/cluster-metadata.ts';
import {
  TransactionOutput,
  type WrittenPartition,
} from '../../../../src/kafka/produce/transactions/transaction-output.ts';
import { field } from '../../../../src/kafka/protocol/record-batches/layout.ts';
import type { KafkaRequest } from '../../../../src/kafka/protocol/request.ts';
import { WireReader, WireWriter } from '../../../../src/kafka/protocol/wire.ts';
import { codeOf } from '../../../support/log-reading.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';
import { SimulatedBroker } from '../../simulated-broker.ts';

const messageTooLarge = 10;
const mebibyte = 1024 * 1024;

interface StoredBatch {
  readonly partition: number;
  readonly sequence: number;
  readonly count: number;
}

/** Stores batches up to a size, and remembers each request by its batches. */
class StoringBroker implements RequestSender {
  readonly requests: StoredBatch[][] = [];
  batchBytesMaximum = Infinity;
  /** The offset of the first record of every batch. */
  baseOffset = 0;
  readonly simulated: SimulatedBroker;

  constructor(clock: SimulatedClock) {
    this.simulated = new SimulatedBroker(clock, 4);
  }

  async send<Response>(to: BrokerAddress, purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    if (request.name !== 'Produce') return this.simulated.send(to, purpose, request);
    const reader = new WireReader(Buffer.concat(request.encode() as Buffer[]));
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
        const errorCode = bytes.length > this.batchBytesMaximum ? messageTooLarge : 0;
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
    return request.decode(writer.int32(0).toBuffer());
  }
}

function newOutput() {
  const clock = new SimulatedClock();
  const broker = new StoringBroker(clock);
  const metadata = new ClusterMetadata(broker, broker.simulated.seeds, clock);
  const identity = { producerId: 7n, producerEpoch: 0 };
  const output = new TransactionOutput({ connections: broker, metadata, clock }, 'writer', identity);
  const write = (partitions: readonly number[], count: number, bytes: number): Promise<readonly WrittenPartition[]> =>
    output.write(
      partitions.map((partition) => ({
        topic: broker.simulated.topic,
        partition,
        records: Array.from({ length: count }, () => ({ key: null, value: Buffer.alloc(bytes) })),
      })),
    );
  return { broker, write };
}

describe('The records of a transaction', () => {
  it('are numbered from one batch to the next, and from one append to the next', async () => {
    const { broker, write } = newOutput();
    await write([0], 20, mebibyte);
    await write([0, 1], 2, 10);
    expect(broker.requests).to.deep.equal([
      [{ partition: 0, sequence: 0, count: 8 }],
      [{ partition: 0, sequence: 8, count: 8 }],
      [{ partition: 0, sequence: 16, count: 4 }],
      [
        { partition: 0, sequence: 20, count: 2 },
        { partition: 1, sequence: 0, count: 2 },
      ],
    ]);
  });

  it('end where the last of their batches does, as far as the broker says it', async () => {
    const { broker, write } = newOutput();
    broker.baseOffset = 100;
    const ends = async (...append: Parameters<typeof write>): Promise<unknown[]> =>
      (await write(...append)).map(({ partition, nextOffset }) => [partition, nextOffset]);
    expect(await ends([0, 1], 2, 10)).to.deep.equal([
      [0, 102],
      [1, 102],
    ]);
    expect(await ends([0], 20, mebibyte)).to.deep.equal([[0, 104]]);
    broker.baseOffset = -1;
    expect(await ends([0], 2, 10)).to.deep.equal([[0, undefined]]);
  });

  it('share requests until one of them has eight mebibytes', async () => {
    const { broker, write } = newOutput();
    await write([0, 1, 2], 1, 4 * mebibyte - 100);
    expect(broker.requests.map((batches) => batches.map(({ partition }) => partition))).to.deep.equal([[0, 1, 2]]);
    broker.requests.length = 0;
    await write([0, 1, 2], 1, 4 * mebibyte);
    expect(broker.requests.map((batches) => batches.map(({ partition }) => partition))).to.deep.equal([[0, 1], [2]]);
  });

  it('are sent in batches of half the size when the topic refuses one, also later', async () => {
    const { broker, write } = newOutput();
    broker.batchBytesMaximum = 5_000;
    await write([0], 8, 1_000);
    await write([0], 4, 1_000);
    const counts = broker.requests.map((batches) => batches.map(({ count }) => count));
    expect(counts).to.deep.equal([[], [3], [3], [2], [3], [1]]);
  });

  it('are sent compressed when they are large, and the topic counts what is sent', async () => {
    const { broker, write } = newOutput();
    broker.batchBytesMaximum = 50_000;
    await write([0], 8, mebibyte - 100);
    expect(broker.requests).to.deep.equal([[{ partition: 0, sequence: 0, count: 8 }]]);
    broker.requests.length = 0;
    broker.batchBytesMaximum = 20_000;
    await write([0], 8, mebibyte - 100);
    const counts = broker.requests.map((batches) => batches.map(({ count }) => count));
    expect(counts, 'halved by what they are before they are compressed').to.deep.equal([[], [3], [3], [2]]);
  });

  it('fail when the topic refuses one of them alone', async () => {
    const { broker, write } = newOutput();
    broker.batchBytesMaximum = 3_000;
    expect(await codeOf(write([0], 1, 4_000))).to.equal('RECORD_TOO_LARGE');
    expect(broker.requests).to.have.length(1);
  });
});

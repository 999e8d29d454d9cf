import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LendstreamError, type ErrorCode } from '../../../src/errors.ts';
import type { BrokerAddress, RequestSender } from '../../../src/kafka/connection/connections.ts';
import { ClusterMetadata } from '../../../src/kafka/connection/cluster-metadata.ts';
import { listBounds, listEndOffsets } from '../../../src/kafka/consume/partition-bounds.ts';
import { listOffsetsRequest } from '../../../src/kafka/protocol/list-offsets-request.ts';
import type { KafkaRequest } from '../../../src/kafka/protocol/request.ts';
import { WireReader, WireWriter } from '../../../src/kafka/protocol/wire.ts';
import { int32, int64, text } from '../../support/kafka/frames.ts';
import { codeOf } from '../../support/log-reading.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { SimulatedBroker, pass } from '../simulated-broker.ts';

/** A broker whose partitions begin at 3 and end at 8. */
class BrokerWithBounds implements RequestSender {
  /** What the next requests for bounds fail with, one for each. */
  readonly failures: LendstreamError[] = [];
  /** When requests for bounds came. Monotonic milliseconds. */
  readonly times: number[] = [];
  readonly #clock: SimulatedClock;
  readonly simulated: SimulatedBroker;

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
    this.simulated = new SimulatedBroker(clock, 2);
  }

  async send<Response>(to: BrokerAddress, purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    if (request.name !== 'ListOffsets') return this.simulated.send(to, purpose, request);
    this.times.push(this.#clock.monotonic());
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const reader = new WireReader(request.encode() as Buffer);
    reader.position += 4 + 1; // replica, isolation
    const writer = new WireWriter().int32(0);
    const topics = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => ({ partition: reader.int32(), time: reader.int64() })),
    }));
    writer.array(topics, ({ topic, partitions }) =>
      writer.string(topic).array(partitions, ({ partition, time }) =>
        writer
          .int32(partition)
          .int16(0)
          .int64(-1)
          .int64(time === -2 ? 3 : 8),
      ),
    );
    return request.decode(writer.toBuffer());
  }
}

function newBroker() {
  const clock = new SimulatedClock();
  const broker = new BrokerWithBounds(clock);
  const metadata = new ClusterMetadata(broker, broker.simulated.seeds, clock);
  const { topic } = broker.simulated;
  const bounds = () => listBounds({ connections: broker, metadata, clock }, [{ topic, partition: 1 }]);
  const endOffsets = () => listEndOffsets({ connections: broker, metadata, clock }, [{ topic, partition: 1 }]);
  return { clock, broker, bounds, endOffsets, expected: [{ topic, partition: 1, earliest: 3, latest: 8 }] };
}

describe('The bounds of partitions', () => {
  for (const [isolation, includeUncommitted] of [
    [0, true],
    [1, false],
  ] as const) {
    it(`are requested ${includeUncommitted ? 'including' : 'without'} open transactions, as a client and no replica`, () => {
      const partitions = [
        { topic: 'a', partition: 3 },
        { topic: 'b', partition: 0 },
        { topic: 'a', partition: 4 },
      ];
      const ofPartition = (partition: number): Buffer => Buffer.concat([int32(partition), int64(-2n)]);
      const request = listOffsetsRequest(partitions, -2, { includeUncommitted });
      expect((request.encode() as Buffer).toString('hex')).to.equal(
        Buffer.concat([
          Buffer.concat([int32(-1), Buffer.of(isolation), int32(2)]),
          Buffer.concat([text('a'), int32(2), ofPartition(3), ofPartition(4)]),
          Buffer.concat([text('b'), int32(1), ofPartition(0)]),
        ]).toString('hex'),
      );
    });
  }

  for (const code of ['LOG_UNAVAILABLE', 'OUTCOME_UNKNOWN'] as const satisfies ErrorCode[]) {
    it(`are requested again after a pause when there was no response: ${code}`, async () => {
      const { clock, broker, bounds, expected } = newBroker();
      broker.failures.push(new LendstreamError(code, 'No response.'));
      const found = bounds();
      await pass(clock);
      await pass(clock, 29);
      expect(broker.times).to.have.length(2);
      await pass(clock, 1);
      expect(await found).to.deep.equal(expected);
      expect(broker.times).to.deep.equal([0, 0, 30, 30]);
    });
  }

  it('need one request where only the end is wanted, and again after a pause when there was no response', async () => {
    const { clock, broker, endOffsets, expected } = newBroker();
    const ends = expected.map(({ topic, partition, latest }) => ({ topic, partition, latest }));
    expect(await endOffsets()).to.deep.equal(ends);
    expect(broker.times).to.deep.equal([0]);
    broker.failures.push(new LendstreamError('LOG_UNAVAILABLE', 'No response.'));
    const found = endOffsets();
    await pass(clock);
    await pass(clock, 30);
    expect(await found).to.deep.equal(ends);
    expect(broker.times).to.deep.equal([0, 0, 30]);
  });

  it('are not requested again after the log was closed', async () => {
    const { clock, broker, bounds } = newBroker();
    broker.failures.push(new LendstreamError('LOG_CLOSED', 'The log is closed.'));
    expect(await codeOf(bounds())).to.equal('LOG_CLOSED');
    await clock.turn(20_000);
    expect(broker.times).to.have.length(2);
  });

  it('are requested for ten seconds at the most', async () => {
    const { clock, broker, bounds } = newBroker();
    for (let index = 0; index < 1_000; index += 1) {
      broker.failures.push(new LendstreamError('LOG_UNAVAILABLE', 'No response.'));
    }
    const outcome = codeOf(bounds());
    for (let passed = 0; passed < 10_100; passed += 20) await pass(clock, 20);
    expect(await outcome).to.equal('LOG_UNAVAILABLE');
    expect(broker.times.at(-1)).to.be.within(9_600, 10_020);
  });
});

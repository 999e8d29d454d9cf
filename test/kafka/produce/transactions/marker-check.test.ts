import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { BrokerAddress } from '../../../../src/kafka/connection/connections.ts';
import { Coordinators } from '../../../../src/kafka/connection/coordinator.ts';
import { ClusterMetadata } from '../../../../src/kafka/connection/cluster-metadata.ts';
import { openKafkaWriter } from '../../../../src/kafka/produce/transactions/fenced-writer.ts';
import type { KafkaRequest } from '../../../../src/kafka/protocol/request.ts';
import { WireWriter } from '../../../../src/kafka/protocol/wire.ts';
import { silentLogger } from '../../../../src/logger.ts';
import { records } from '../../../support/log-reading.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';
import { SimulatedBroker, pass } from '../../simulated-broker.ts';

/** A cluster of one broker that accepts every step of a transaction, and finishes each one. */
class AcceptingBroker {
  /** The names of the requests. */
  readonly requests: string[] = [];
  readonly simulated: SimulatedBroker;

  constructor(clock: SimulatedClock) {
    this.simulated = new SimulatedBroker(clock, 1);
  }

  async send<Response>(to: BrokerAddress, purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    if (request.name === 'Metadata') return this.simulated.send(to, purpose, request);
    await Promise.resolve();
    this.requests.push(request.name);
    const write = this.#responses[request.name];
    if (write === undefined) throw new Error(`A request that is not simulated: ${request.name}`);
    return request.decode(write(new WireWriter()).toBuffer());
  }

  current(): object {
    return this;
  }

  readonly #responses: Readonly<Record<string, (writer: WireWriter) => WireWriter>> = {
    FindCoordinator: (writer) => writer.int32(0).int16(0).string(null).int32(1).string('broker').int32(9_092),
    DescribeTransactions: (writer) =>
      writer.int32(0).compactArray(['writer'], (id) => {
        writer.int16(0).compactString(id).compactString('Empty').int32(0).int64(0).bigInt64(7n).int16(0);
        writer.compactArray([], () => {}).noTags();
      }),
    InitProducerId: (writer) => writer.int32(0).int16(0).bigInt64(7n).int16(0),
    AddPartitionsToTxn: (writer) =>
      writer.int32(0).array([this.simulated.topic], (topic) => writer.string(topic).int32(1).int32(0).int16(0)),
    Produce: (writer) =>
      writer
        .array([this.simulated.topic], (topic) =>
          writer.string(topic).int32(1).int32(0).int16(0).int64(0).int64(0).int64(0),
        )
        .int32(0),
    EndTxn: (writer) => writer.int32(0).int16(0),
    DescribeProducers: (writer) => writer.int32(0).compactArray([], () => {}),
  };
}

async function openWriter() {
  const clock = new SimulatedClock();
  const connections = new AcceptingBroker(clock);
  const { simulated, requests } = connections;
  const metadata = new ClusterMetadata(connections, simulated.seeds, clock);
  const writer = await openKafkaWriter(
    {
      connections,
      metadata,
      coordinators: new Coordinators(metadata, clock),
      clock,
      logger: silentLogger,
      cleanupPolicyOf: () => Promise.resolve('delete'),
    },
    'writer',
    [],
  );
  const commit = async (): Promise<void> => {
    await writer.append([{ topic: simulated.topic, partition: 0, records: records('a') }]);
    await writer.commit();
  };
  const checks = () => requests.filter((name) => name === 'DescribeProducers').length;
  return { clock, writer, commit, checks };
}

describe('The check whether a transaction was finished', () => {
  it('comes once, a second after the last transaction', async () => {
    const { clock, commit, checks } = await openWriter();
    await commit();
    await pass(clock, 999);
    await commit();
    await pass(clock, 999);
    expect(checks()).to.equal(0);
    await pass(clock, 1);
    expect(checks()).to.equal(1);
    await pass(clock, 60_000);
    expect(checks()).to.equal(1);
  });

  it('does not come after the writer was closed', async () => {
    const { clock, writer, commit, checks } = await openWriter();
    await commit();
    await writer.close();
    await pass(clock, 60_000);
    expect(checks()).to.equal(0);
  });
});

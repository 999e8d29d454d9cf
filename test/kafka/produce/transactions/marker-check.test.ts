import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { BrokerAddress } from '../../../../src/kafka/connection/connections.ts';
import { Coordinators } from '../../../../src/kafka/connection/coordinator.ts';
import { ClusterMetadata } from '../../../../src/kafka/connection/cluster-metadata.ts';
import { openKafkaWriter } from '../../../../src/kafka/produce/transactions/fenced-writer.ts';
import type { KafkaRequest } from '../../../../src/kafka/protocol/request.ts';
import { WireWriter } from '../../../../src/kafka/protocol/wire.ts';
import { silentLogger } from '../../../../src/logger.ts';
import { codeOf, records } from '../../../support/log-reading.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';
import { SimulatedBroker, pass } from '../../simulated-broker.ts';

const [unknownPartition, notLeader, invalidTopic, producerFenced] = [3, 6, 17, 90];

/** A cluster of one broker that accepts every step of a transaction, and finishes each one. */
class AcceptingBroker {
  /** The names of the requests. */
  readonly requests: string[] = [];
  /** Whether the partition shows the transaction as open, because its marker was left out. */
  lacksMarker = false;
  /** What it responds to an addition to a transaction. */
  additionErrorCode = 0;
  /** What it reports of the partition when it is asked for open transactions. */
  checkErrorCode = 0;
  /** What the response to a check waits for. */
  held: Promise<void> = Promise.resolve();
  readonly simulated: SimulatedBroker;

  constructor(clock: SimulatedClock) {
    this.simulated = new SimulatedBroker(clock, 1);
  }

  async send<Response>(to: BrokerAddress, purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    if (request.name === 'Metadata') return this.simulated.send(to, purpose, request);
    this.requests.push(request.name);
    await (request.name === 'DescribeProducers' ? this.held : Promise.resolve());
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
      writer
        .int32(0)
        .array([this.simulated.topic], (topic) => writer.string(topic).int32(1).int32(0).int16(this.additionErrorCode)),
    Produce: (writer) =>
      writer
        .array([this.simulated.topic], (topic) =>
          writer.string(topic).int32(1).int32(0).int16(0).int64(0).int64(0).int64(0),
        )
        .int32(0),
    EndTxn: (writer) => writer.int32(0).int16(0),
    DescribeProducers: (writer) =>
      writer.int32(0).compactArray([this.simulated.topic], (topic) => {
        writer.compactString(topic).compactArray([0], (partition) => {
          writer.int32(partition).int16(this.checkErrorCode).compactString('');
          writer.compactArray(this.lacksMarker ? [7n] : [], (producerId) => {
            writer.bigInt64(producerId).int32(0).int32(0).int64(0).int32(0).int64(5).noTags();
          });
          writer.noTags();
        });
        writer.noTags();
      }),
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
  return { clock, connections, writer, commit, checks };
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

  for (const errorCode of [unknownPartition, notLeader]) {
    it(`comes again a second after one to which no broker responded but with error ${errorCode}`, async () => {
      const { clock, connections, commit, checks } = await openWriter();
      await commit();
      connections.checkErrorCode = errorCode;
      for (let passed = 0; passed < 30_000; passed += 20) await pass(clock, 20);
      expect(checks()).to.be.above(1);
      connections.checkErrorCode = 0;
      for (let passed = 0; passed < 3_000; passed += 20) await pass(clock, 20);
      const count = checks();
      await pass(clock, 60_000);
      expect(checks()).to.equal(count);
      await commit();
    });
  }

  it('means nothing when another transaction has begun and ended during it', async () => {
    const { clock, connections, commit, checks } = await openWriter();
    await commit();
    let release = (): void => undefined;
    connections.held = new Promise((resolve) => (release = resolve));
    connections.lacksMarker = true;
    await pass(clock, 1_000);
    await commit();
    release();
    await pass(clock, 999);
    expect(checks()).to.equal(1);
    connections.lacksMarker = false;
    await pass(clock, 1);
    expect(checks()).to.equal(2);
    expect(connections.requests.filter((name) => name === 'AddPartitionsToTxn')).to.have.length(2);
  });

  it('fails the writer when another one has fenced it off', async () => {
    const { clock, connections, commit, checks } = await openWriter();
    await commit();
    connections.lacksMarker = true;
    connections.additionErrorCode = producerFenced;
    await pass(clock, 1_000);
    const requests = connections.requests.length;
    expect(await codeOf(commit())).to.equal('WRITER_FENCED');
    expect(connections.requests).to.have.length(requests);
    await pass(clock, 60_000);
    expect([checks(), connections.requests.length]).to.deep.equal([2, requests]);
  });

  it('fails the writer when the check itself is refused for good', async () => {
    const { clock, connections, commit } = await openWriter();
    await commit();
    connections.checkErrorCode = invalidTopic;
    await pass(clock, 1_000);
    expect(await codeOf(commit())).to.equal('UNPROCESSABLE');
  });
});

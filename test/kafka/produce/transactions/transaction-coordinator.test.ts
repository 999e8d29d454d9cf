import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { BrokerAddress } from '../../../../src/kafka/connection/connections.ts';
import { Coordinators } from '../../../../src/kafka/connection/coordinator.ts';
import { ClusterMetadata } from '../../../../src/kafka/connection/cluster-metadata.ts';
import { TransactionCoordinator } from '../../../../src/kafka/produce/transactions/transaction-coordinator.ts';
import type { KafkaRequest } from '../../../../src/kafka/protocol/request.ts';
import { WireWriter } from '../../../../src/kafka/protocol/wire.ts';
import { silentLogger } from '../../../../src/logger.ts';
import { codeOf } from '../../../support/log-reading.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const [loading, moved, ending, notAttempted] = [14, 16, 51, 55];
const broker = { host: 'coordinator', port: 9_092 };
const topic = 'payments';

/** A broker that coordinates every transaction, and adds partitions as the test lets it. */
class CoordinatingBroker {
  /** The error codes of the partitions in the next responses; none when they are used up. */
  readonly errorCodes: (readonly number[])[] = [];
  lookups = 0;
  /** When partitions were to be added. Monotonic milliseconds. */
  readonly times: number[] = [];
  readonly #clock: SimulatedClock;

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
  }

  async send<Response>(_to: BrokerAddress, _purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    await Promise.resolve();
    const writer = new WireWriter().int32(0);
    if (request.name === 'FindCoordinator') {
      this.lookups += 1;
      writer.int16(0).string(null).int32(1).string(broker.host).int32(broker.port);
    } else {
      this.times.push(this.#clock.monotonic());
      const partitions = [...(this.errorCodes.shift() ?? [0]).entries()];
      writer.array([topic], (name) =>
        writer.string(name).array(partitions, ([partition, errorCode]) => writer.int32(partition).int16(errorCode)),
      );
    }
    return request.decode(writer.toBuffer());
  }

  current(): object {
    return this;
  }
}

function newCoordinator() {
  const clock = new SimulatedClock();
  const connections = new CoordinatingBroker(clock);
  const metadata = new ClusterMetadata(connections, [broker], clock);
  const coordinators = new Coordinators(metadata, clock);
  const coordinator = new TransactionCoordinator(
    { connections, metadata, coordinators, clock, logger: silentLogger },
    'writer',
  );
  const add = () => codeOf(coordinator.addPartitions({ producerId: 7n, producerEpoch: 0 }, [{ topic, partition: 0 }]));
  return { clock, connections, coordinator, add };
}

describe('Adding partitions to a transaction', () => {
  it('is tried for ten seconds while the last one is ending: after a millisecond at first, at last every 50', async () => {
    const { clock, connections, add } = newCoordinator();
    connections.errorCodes.push(...Array.from({ length: 1_000 }, () => [ending]));
    const outcome = add();
    await clock.turn(10_000);
    expect(await outcome).to.equal('LOG_UNAVAILABLE');
    const pauses = connections.times.slice(1).map((time, index) => time - (connections.times[index] ?? 0));
    expect(pauses.slice(0, 4)).to.deep.equal([1, 1.5, 2.25, 3.375]);
    expect(pauses.at(-1)).to.be.closeTo(50, 1e-6);
    expect(connections.times.at(-1)).to.be.within(9_950, 10_000);
  });

  for (const [what, errorCode, lookups] of [
    ['loads', loading, 1],
    ['moves', moved, 2],
  ] as const) {
    it(`looks the coordinator up ${lookups === 1 ? 'once' : 'again'} when it ${what}`, async () => {
      const { clock, connections, add } = newCoordinator();
      connections.errorCodes.push([errorCode]);
      const outcome = add();
      await clock.turn(1);
      expect([await outcome, connections.times, connections.lookups]).to.deep.equal([null, [0, 1], lookups]);
    });
  }

  it('fails with the error of the partition that was refused, not with that of the others', async () => {
    for (const [errorCodes, expected] of [
      [[notAttempted, 3, notAttempted], 'UNKNOWN_TOPIC_OR_PARTITION'],
      [[0, notAttempted], 'LOG_UNAVAILABLE'],
      [[notAttempted], 'LOG_UNAVAILABLE'],
    ] as const) {
      const { connections, add } = newCoordinator();
      connections.errorCodes.push(errorCodes);
      expect(await add()).to.equal(expected);
      expect(connections.times).to.have.length(1);
    }
  });
});

describe('The markers of a transaction', () => {
  it('are not looked for when no transaction was decided, or when the next one has begun', async () => {
    const { connections, coordinator, add } = newCoordinator();
    const identity = { producerId: 7n, producerEpoch: 0 };
    for (const requests of [0, 1]) {
      expect(coordinator.hasUnconfirmedMarkers).to.equal(false);
      expect(await coordinator.lacksMarkers(identity)).to.equal(false);
      await coordinator.completeMarkers(identity);
      expect(connections.times).to.have.length(requests);
      await add();
    }
  });
});

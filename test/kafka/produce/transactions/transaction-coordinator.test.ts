import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Coordinators } from '../../../../src/kafka/connection/coordinator.ts';
import { ClusterMetadata } from '../../../../src/kafka/connection/cluster-metadata.ts';
import { TransactionCoordinator } from '../../../../src/kafka/produce/transactions/transaction-coordinator.ts';
import { silentLogger } from '../../../../src/logger.ts';
import { codeOf } from '../../../support/log-reading.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';
import { CoordinatingBroker } from '../../coordinating-broker.ts';

const [loading, moved, ending, notAttempted] = [14, 16, 51, 55];
const topic = 'payments';

function newCoordinator() {
  const clock = new SimulatedClock();
  /** The error codes of the partitions in the next responses; none when they are used up. */
  const errorCodes: (readonly number[])[] = [];
  const connections = new CoordinatingBroker(clock, (_request, response) => {
    const partitions = [...(errorCodes.shift() ?? [0]).entries()];
    response.array([topic], (name) =>
      response.string(name).array(partitions, ([partition, errorCode]) => response.int32(partition).int16(errorCode)),
    );
  });
  const metadata = new ClusterMetadata(connections, [connections.address], clock);
  const coordinators = new Coordinators(metadata, clock);
  const coordinator = new TransactionCoordinator(
    { connections, metadata, coordinators, clock, logger: silentLogger },
    'writer',
  );
  const add = () => codeOf(coordinator.addPartitions({ producerId: 7n, producerEpoch: 0 }, [{ topic, partition: 0 }]));
  return { clock, connections, errorCodes, coordinator, add };
}

describe('Adding partitions to a transaction', () => {
  it('is tried for ten seconds while the last one is ending: after a millisecond at first, at last every 50', async () => {
    const { clock, connections, errorCodes, add } = newCoordinator();
    errorCodes.push(...Array.from({ length: 1_000 }, () => [ending]));
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
      const { clock, connections, errorCodes, add } = newCoordinator();
      errorCodes.push([errorCode]);
      const outcome = add();
      await clock.turn(1);
      expect([await outcome, connections.times, connections.lookups]).to.deep.equal([null, [0, 1], lookups]);
    });
  }

  it('fails with the error of the partition that was refused, not with that of the others', async () => {
    for (const [partitionCodes, expected] of [
      [[notAttempted, 3, notAttempted], 'UNKNOWN_TOPIC_OR_PARTITION'],
      [[0, notAttempted], 'LOG_UNAVAILABLE'],
      [[notAttempted], 'LOG_UNAVAILABLE'],
    ] as const) {
      const { connections, errorCodes, add } = newCoordinator();
      errorCodes.push(partitionCodes);
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

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { Coordination } from '../../../src/ports/coordination.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { NodeLease } from '../../../src/broker/streaming/node-lease.ts';
import {
  SubscriptionWatch,
  type Observation,
  type Observer,
} from '../../../src/broker/streaming/subscription-watch.ts';
import { giveWay } from '../../../src/clock.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/logger.ts';
import { openPartOfEmbeddedLog } from '../../support/shared-embedded-log.ts';
import { EmbeddedCoordination } from '../../../src/embedded/coordination.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';
import { eventually } from '../../support/eventually.ts';

const id = 'watched';
const partition = { eventType: 'watch.loans', partition: 0 };

describe('the watch of a stream', () => {
  let log: EventLog;
  let coordination: Coordination;
  let clock: SimulatedClock;
  /** The error with which reading fails. */
  let failure: Error | undefined;
  /** What the result of reading the topology waits for on its way back. */
  let topologyOnItsWay: Promise<void> | undefined;
  let lease: NodeLease;
  let observer: Recorder;
  let watch: SubscriptionWatch;

  /** Records the observations, and returns to the watch only when it is released. */
  class Recorder implements Observer {
    readonly observations: Observation[] = [];
    failure: Error | undefined;
    until: Promise<void> = Promise.resolve();
    async observed(observation: Observation): Promise<void> {
      this.observations.push(observation);
      await this.until;
      const { failure: error } = this;
      this.failure = undefined;
      if (error !== undefined) throw error;
    }
  }

  const kinds = (): string[] => observer.observations.map(({ kind }) => kind);
  const last = (): Observation | undefined => observer.observations.at(-1);
  const untilObserved = (...expected: string[]) => eventually(() => kinds().join() === expected.join());
  /** Milliseconds until the next read without a change notification. */
  const nextReadIn = (): number => Math.min(watch.nextReadAt, watch.nextOffsetsAt) - clock.monotonic();

  beforeEach(async () => {
    log = await openPartOfEmbeddedLog();
    clock = new SimulatedClock();
    const embedded = await EmbeddedCoordination.open({ log, clock, logger: silentLogger });
    await embedded.initialise(id, [{ ...partition, offset: 4 }]);
    failure = undefined;
    topologyOnItsWay = undefined;
    coordination = overriding<Coordination>(embedded, {
      committedOffsets: (subscriptionId) =>
        failure === undefined ? embedded.committedOffsets(subscriptionId) : Promise.reject(failure),
      topology: async (subscriptionId) => {
        if (failure !== undefined) throw failure;
        const topology = await embedded.topology(subscriptionId);
        await topologyOnItsWay;
        return topology;
      },
    });
    lease = new NodeLease({ coordination, nodeId: 'node', leaseMilliseconds: 9_000, clock, logger: silentLogger });
    await lease.start();
    observer = new Recorder();
    watch = new SubscriptionWatch({ coordination, clock, lease }, id, observer);
  });

  afterEach(async () => {
    watch.stop();
    lease.stop();
    await coordination.close();
    await log.close();
  });

  it('begins with the topology and the offsets in it, and the lease epoch under which they were read', async () => {
    watch.start();
    await untilObserved('topology');
    const observation = last();
    expect(observation).to.deep.include({ committed: [{ ...partition, offset: 4 }], leaseEpoch: 1 });
    expect(observation).to.have.nested.property('topology.partitions').with.length(1);
  });

  it('has no lease epoch when the lease may have ended before the read began, and reads again in the next epoch', async () => {
    clock.jump(7_200);
    watch.start();
    await untilObserved('topology');
    expect(last()).to.include({ leaseEpoch: 0 });
    watch.recheck(clock.monotonic(), false);
    await lease.renew();
    watch.recheck(clock.monotonic(), false);
    await untilObserved('topology', 'topology');
    expect(last()).to.include({ leaseEpoch: 2 });
    watch.recheck(clock.monotonic(), false);
    await coordination.topology(id);
    expect(kinds()).to.have.length(2);
  });

  it('reads what a change notification names: only offsets, or the topology with the offsets', async () => {
    watch.start();
    await untilObserved('topology');
    watch.notify('offsets');
    await untilObserved('topology', 'offsets');
    watch.notify('topology');
    await untilObserved('topology', 'offsets', 'topology');
  });

  it('reads the offsets again that may have changed after they were read with the topology', async () => {
    let arrive = (): void => {};
    topologyOnItsWay = new Promise((resolve) => (arrive = resolve));
    watch.start();
    await coordination.committedOffsets(id);
    watch.notify('offsets');
    arrive();
    await untilObserved('topology', 'offsets');
  });

  it('reads nothing when the change notification contains the offsets', () => {
    failure = new Error('Not to be read.');
    watch.notify('offsets', undefined, [{ ...partition, offset: 9 }]);
    expect(last()).to.deep.equal({ kind: 'offsets', committed: [{ ...partition, offset: 9 }] });
  });

  it('does not read the same generation again', async () => {
    watch.start();
    await untilObserved('topology');
    const { generation } = await coordination.topology(id);
    watch.notify('topology', generation);
    await coordination.commit(id, 'nobody', []);
    expect(kinds()).to.have.length(1);
    watch.notify('topology', generation + 1);
    await untilObserved('topology', 'topology');
  });

  it('lets the observer finish before it reads again, once for all notifications in the meantime', async () => {
    let finish = (): void => {};
    observer.until = new Promise((resolve) => (finish = resolve));
    watch.start();
    await untilObserved('topology');
    for (let change = 0; change < 3; change += 1) watch.notify('topology');
    await coordination.topology(id);
    expect(kinds()).to.deep.equal(['topology']);
    finish();
    await untilObserved('topology', 'topology');
    await coordination.topology(id);
    expect(kinds()).to.have.length(2);
  });

  it('reads the offsets every second while commits are expected, and otherwise the topology every five minutes', async () => {
    watch.start();
    await untilObserved('topology');
    watch.recheck(clock.monotonic(), false);
    expect(nextReadIn()).to.equal(300_000);
    watch.recheck(clock.monotonic(), true);
    expect(nextReadIn()).to.equal(1_000);
    await clock.turn(999);
    watch.recheck(clock.monotonic(), true);
    expect(nextReadIn()).to.equal(1);
    await clock.turn(1);
    watch.recheck(clock.monotonic(), true);
    await untilObserved('topology', 'offsets');
    watch.recheck(clock.monotonic(), true);
    expect(nextReadIn()).to.equal(1_000);
    watch.recheck(clock.monotonic(), false);
    expect(nextReadIn()).to.equal(299_000);
    watch.readSoon(clock.monotonic());
    expect(nextReadIn()).to.equal(1_000);
  });

  it('reads the topology again after five minutes, and then after five more', async () => {
    watch.start();
    await untilObserved('topology');
    clock.jump(299_999);
    watch.recheck(clock.monotonic(), false);
    expect(nextReadIn()).to.equal(1);
    clock.jump(1);
    watch.recheck(clock.monotonic(), false);
    await untilObserved('topology', 'topology');
    expect(nextReadIn()).to.equal(300_000);
  });

  it('passes on why a read failed, and reads everything again after a second', async () => {
    failure = new LendstreamError('COORDINATION_UNAVAILABLE', 'It is away.');
    watch.start();
    await untilObserved('failure');
    expect(last()).to.include({ error: failure });
    expect(nextReadIn()).to.equal(1_000);
    failure = undefined;
    await clock.turn(1_000);
    watch.recheck(clock.monotonic(), true);
    await untilObserved('failure', 'topology');
  });

  it('reads nothing before that second is over, even if another read was requested when the first one failed', async () => {
    failure = new LendstreamError('COORDINATION_UNAVAILABLE', 'It is away.');
    watch.start();
    watch.notify('topology');
    watch.notify('offsets');
    await untilObserved('failure');
    await clock.turn(999);
    watch.recheck(clock.monotonic(), true);
    await giveWay();
    expect(kinds()).to.deep.equal(['failure']);
  });

  it('treats a failure of the observer as a failed read', async () => {
    observer.failure = new LendstreamError('LOG_UNAVAILABLE', 'No bounds.');
    watch.start();
    await untilObserved('topology', 'failure');
    expect(nextReadIn()).to.equal(1_000);
    observer.failure = new LendstreamError('LOG_UNAVAILABLE', 'No bounds.');
    watch.notify('offsets', undefined, []);
    await untilObserved('topology', 'failure', 'offsets', 'failure');
  });

  it('reports nothing once it is stopped', async () => {
    let finish = (): void => {};
    observer.until = new Promise((resolve) => (finish = resolve));
    watch.start();
    await untilObserved('topology');
    watch.notify('topology');
    watch.stop();
    finish();
    await coordination.topology(id);
    await clock.turn(0);
    expect(kinds()).to.deep.equal(['topology']);
  });
});

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../../src/ports/event-log.ts';
import type { CommittedOffset, Coordination, Topology } from '../../../src/ports/coordination.ts';
import { NodeLease } from '../../../src/broker/streaming/node-lease.ts';
import { StreamWatch, type StreamWatcher } from '../../../src/broker/streaming/watch.ts';
import { systemClock } from '../../../src/clock.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { silentLogger, type Logger } from '../../../src/logger.ts';
import { openPartOfEmbeddedLog } from '../../support/shared-embedded-log.ts';
import { EmbeddedCoordination } from '../../../src/embedded/coordination.ts';
import { overriding } from '../../support/stepping-log.ts';
import { eventually } from '../../support/eventually.ts';

const id = 'watched';
const partition = { eventType: 'watch.loans', partition: 0 };

describe('the watch of a stream', () => {
  let log: EventLog;
  let coordination: Coordination;
  let failure: Error | undefined;
  let lease: NodeLease;
  let seen: Seen;
  const warnings: string[] = [];
  const now = (): number => systemClock.monotonic();
  const logger: Logger = { ...silentLogger, warn: (_facts, message) => void warnings.push(message) };

  /** A stream that only keeps what it is told. */
  class Seen implements StreamWatcher {
    readonly streamId = 'stream';
    readonly subscription = { id };
    readonly observations: { committed: readonly CommittedOffset[]; topology: Topology | undefined }[] = [];
    away = 0;
    failures: unknown[] = [];
    hasEnded(): boolean {
      return false;
    }
    async applyState(committed: readonly CommittedOffset[], topology: Topology | undefined): Promise<void> {
      this.observations.push({ committed, topology });
      await Promise.resolve();
    }
    onRefreshed(): void {}
    onStoreUnreachable(): void {
      this.away += 1;
    }
    onRefreshFailed(error: unknown): void {
      this.failures.push(error);
    }
  }

  const open = (): StreamWatch => new StreamWatch({ coordination, clock: systemClock, logger, lease }, seen);

  beforeEach(async () => {
    log = await openPartOfEmbeddedLog();
    const embedded = await EmbeddedCoordination.open({ log, clock: systemClock, logger: silentLogger });
    await embedded.initialise(id, [{ ...partition, offset: 4 }]);
    failure = undefined;
    warnings.length = 0;
    coordination = overriding<Coordination>(embedded, {
      committedOffsets: (subscriptionId) =>
        failure === undefined ? embedded.committedOffsets(subscriptionId) : Promise.reject(failure),
    });
    const own = { nodeId: 'node', leaseMilliseconds: 60_000, clock: systemClock, logger: silentLogger };
    lease = new NodeLease({ coordination, ...own });
    await lease.start();
    seen = new Seen();
  });

  afterEach(async () => {
    lease.stop();
    await coordination.close();
    await log.close();
  });

  it('lets a stream send when the topology was read under the lease that holds now', async () => {
    const watch = open();
    expect(watch.maySend(now())).to.equal(false);
    watch.refresh();
    await eventually(() => seen.observations.length === 1);
    await eventually(() => watch.maySend(now()));
    expect(seen.observations[0]?.committed).to.deep.equal([{ ...partition, offset: 4 }]);
    expect(seen.observations[0]?.topology?.partitions).to.have.length(1);
  });

  it('reads of what a hint tells: offsets alone, or the topology and then the offsets', async () => {
    const watch = open();
    watch.refresh();
    await eventually(() => seen.observations.length === 1);
    watch.notify('offsets');
    await eventually(() => seen.observations.length === 2);
    expect(seen.observations[1]?.topology).to.equal(undefined);
    watch.notify('topology');
    await eventually(() => seen.observations.length === 3);
    expect(seen.observations[2]?.topology).not.to.equal(undefined);
  });

  it('does not look again for a generation that it has read', async () => {
    const watch = open();
    watch.refresh();
    await eventually(() => seen.observations.length === 1);
    const { generation } = await coordination.topology(id);
    watch.notify('topology', generation);
    await coordination.commit(id, 'nobody', []);
    expect(seen.observations).to.have.length(1);
    watch.notify('topology', generation + 1);
    await eventually(() => seen.observations.length === 2);
  });

  it('looks again within a second while commits are expected, and else after minutes', () => {
    const watch = open();
    expect(watch.nextRefreshAt - now()).to.be.within(100_000, 400_000);
    watch.expectCommits(true, now());
    expect(watch.nextRefreshAt - now()).to.be.within(500, 1_000);
    watch.expectCommits(false, now());
    watch.refreshSoon(now());
    expect(watch.nextRefreshAt - now()).to.be.within(500, 1_000);
  });

  it('tells of a store that is away, warns of it once, and tries again after a second', async () => {
    failure = new LendstreamError('COORDINATION_UNAVAILABLE', 'It is away.');
    const watch = open();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      watch.notify('topology');
      await eventually(() => seen.away === attempt);
      expect(watch.nextRefreshAt - now()).to.be.within(500, 1_000);
    }
    expect(warnings).to.have.length(1);
    failure = undefined;
    watch.notify('topology');
    await eventually(() => seen.observations.length === 1);
    expect(seen.failures).to.deep.equal([]);
  });

  it('says when looking failed for good', async () => {
    failure = new Error('broken');
    open().refresh();
    await eventually(() => seen.failures.length === 1);
    expect(seen.away).to.equal(0);
  });
});

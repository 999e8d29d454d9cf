import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import {
  missedChangesMillisecondsMaximum,
  type CommitResult,
  type CommittedOffset,
  type Coordination,
  type ChangeListener,
  type CoordinationChange,
  type CursorToCommit,
  type PartitionOwnership,
  type Session,
} from '../../src/ports/coordination.ts';
import type { EventTypePartition } from '../../src/ports/event-type-partition.ts';
import { rebalance } from '../../src/broker/subscriptions/rebalance.ts';
import { eventually } from '../support/eventually.ts';
import { describeRandomHistories } from './coordination-histories.contract.ts';
import { describeNodeReports } from './node-reports.contract.ts';

/** One backend under test. Tests use their own subscriptions and nodes, so that one store serves all of them. */
export interface CoordinationHarness {
  readonly coordination: Coordination;
  /**
   * Another process on the same store, whose notifications all get lost. The same process where there can be only one.
   */
  readonly unheard: Coordination;
  /** Lets leases and claims age by this much. */
  elapse(milliseconds: number): Promise<void>;
  /** Waits until the condition is true, for at most this time of the store. */
  eventually(condition: () => boolean | Promise<boolean>, milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const eventType = 'contract.loans';
const leaseMilliseconds = 60_000;
const commitTimeoutMilliseconds = 10_000;

function partitionAt(partition: number): EventTypePartition {
  return { eventType, partition };
}

function at(partition: number, offset: number): CommittedOffset {
  return { eventType, partition, offset };
}

const notFound: CommitResult = { outcome: 'session_not_found' };

const committed = (...advanced: boolean[]): CommitResult => ({ outcome: 'committed', advanced });

/** What every adapter of the coordination port must do. */
export function describeCoordination(backend: string, open: () => Promise<CoordinationHarness>): void {
  describe(`coordination on ${backend}`, () => {
    let harness: CoordinationHarness;
    let coordination: Coordination;
    let subscription: string;
    let node: string;

    before(async () => {
      harness = await open();
      coordination = harness.coordination;
    });

    after(() => harness.close());

    beforeEach(async () => {
      subscription = randomUUID();
      node = randomUUID();
      await coordination.renewLease(node, leaseMilliseconds);
    });

    const session = (requested: number[] = [], nodeId = node): Session => ({
      streamId: randomUUID(),
      nodeId,
      requestedPartitions: requested.map(partitionAt),
      openedAt: 1_700_000_000_000,
      commitTimeoutMilliseconds,
    });

    const initialise = (...offsets: number[]): Promise<void> =>
      coordination.initialise(
        subscription,
        offsets.map((offset, partition) => at(partition, offset)),
      );

    const join = async (requested: number[] = [], nodeId = node): Promise<string> => {
      const joining = session(requested, nodeId);
      expect(await coordination.openSession(subscription, joining)).to.deep.equal({ outcome: 'opened' });
      return joining.streamId;
    };

    /** Applies the changes of the rebalancer. */
    const applyRebalance = async (): Promise<void> => {
      const { generation, sessions, partitions } = await coordination.topology(subscription);
      const changes = rebalance(sessions, partitions);
      expect(await coordination.applyOwnership(subscription, generation, changes)).to.equal('applied');
    };

    const ownership = async (partition: number): Promise<PartitionOwnership> => {
      const { partitions } = await coordination.topology(subscription);
      const found = partitions.find((candidate) => candidate.partition === partition);
      if (found === undefined) throw new Error(`Partition ${partition} is not known`);
      return found;
    };

    const owner = async (partition: number): Promise<string | null> => (await ownership(partition)).streamId;

    const offsets = async (): Promise<number[]> =>
      (await coordination.committedOffsets(subscription)).map(({ offset }) => offset);

    const commit = (streamId: string, ...cursors: CursorToCommit[]): Promise<CommitResult> =>
      coordination.commit(subscription, streamId, cursors);

    /** A stream that owns these partitions, committed where given. */
    const owning = async (...offsetsGiven: number[]): Promise<string> => {
      await initialise(...offsetsGiven);
      const streamId = await join();
      await applyRebalance();
      return streamId;
    };

    /** The reported notifications, without those that are repeated in case they were lost. */
    const recordNotifications = (): { changes: CoordinationChange[]; stop: () => void } => {
      const changes: CoordinationChange[] = [];
      const listener = (change: CoordinationChange, generation?: number): void => {
        if (generation === undefined) changes.push(change);
      };
      return { changes, stop: coordination.watch(subscription, listener) };
    };

    describe('claims', () => {
      it('are won by one of fifty simultaneous requests', async () => {
        const name = randomUUID();
        const results = await Promise.all(Array.from({ length: 50 }, () => coordination.claim(name, 10_000)));
        expect(results.filter(Boolean)).to.have.length(1);
      });

      it('are free again once released', async () => {
        const name = randomUUID();
        await coordination.claim(name, 10_000);
        await coordination.releaseClaim(name);
        expect(await coordination.claim(name, 10_000)).to.equal(true);
      });

      it('are free again when they have expired, and not before', async () => {
        const name = randomUUID();
        await coordination.claim(name, 400);
        await harness.elapse(50);
        expect(await coordination.claim(name, 400)).to.equal(false);
        await harness.elapse(400);
        expect(await coordination.claim(name, 400)).to.equal(true);
      });
    });

    describe('initialising', () => {
      it('has no partitions and no sessions before', async () => {
        expect(await coordination.committedOffsets(subscription)).to.deep.equal([]);
        const { sessions, partitions, resetting } = await coordination.topology(subscription);
        expect({ sessions, partitions, resetting }).to.deep.equal({ sessions: [], partitions: [], resetting: false });
      });

      it('registers partitions in order, unassigned, with their offsets', async () => {
        await coordination.initialise(subscription, [
          { eventType: 'contract.b', partition: 0, offset: 4 },
          { eventType: 'contract.a', partition: 10, offset: 3 },
          { eventType: 'contract.a', partition: 9, offset: -1 },
        ]);
        expect(await coordination.committedOffsets(subscription)).to.deep.equal([
          { eventType: 'contract.a', partition: 9, offset: -1 },
          { eventType: 'contract.a', partition: 10, offset: 3 },
          { eventType: 'contract.b', partition: 0, offset: 4 },
        ]);
        const { partitions, committed } = await coordination.topology(subscription);
        expect(committed).to.deep.equal(await coordination.committedOffsets(subscription));
        expect(partitions.map(({ state, streamId, nextStreamId }) => [state, streamId, nextStreamId])).to.deep.equal(
          Array.from({ length: 3 }, () => ['unassigned', null, null]),
        );
      });

      it('adds only what is missing: known partitions keep their offset and owner', async () => {
        const streamId = await owning(5);
        await initialise(99, 7);
        expect(await offsets()).to.deep.equal([5, 7]);
        expect(await owner(0)).to.equal(streamId);
        expect(await owner(1)).to.equal(null);
      });

      it('happens once when many streams start at the same time', async () => {
        await Promise.all(Array.from({ length: 10 }, (_, index) => initialise(index, index)));
        const [first, second] = await offsets();
        expect(first).to.equal(second);
        await initialise(77, 77);
        expect(await offsets()).to.deep.equal([first, second]);
      });
    });

    describe('opening a session', () => {
      it('opens as many streams as there are partitions and then refuses', async () => {
        await initialise(-1, -1);
        await join();
        await join();
        expect(await coordination.openSession(subscription, session())).to.deep.equal({
          outcome: 'no_free_slots',
          totalSlots: 2,
        });
      });

      it('opens exactly as many of twenty concurrent streams as there are partitions', async () => {
        await initialise(-1, -1, -1);
        const results = await Promise.all(
          Array.from({ length: 20 }, () => coordination.openSession(subscription, session())),
        );
        expect(results.filter(({ outcome }) => outcome === 'opened')).to.have.length(3);
      });

      it('opens exactly one of two concurrent first streams on one partition', async () => {
        for (let round = 0; round < 10; round += 1) {
          subscription = randomUUID();
          const race = async () => {
            await initialise(-1);
            return coordination.openSession(subscription, session());
          };
          const results = await Promise.all([race(), race()]);
          expect(results.map(({ outcome }) => outcome)).to.have.members(['opened', 'no_free_slots']);
        }
      });

      it('does not count requested partitions as slots for other streams', async () => {
        await initialise(-1, -1);
        await join([1]);
        await join();
        expect((await coordination.openSession(subscription, session())).outcome).to.equal('no_free_slots');
      });

      it('refuses partitions that another stream requested, and names them', async () => {
        await initialise(-1, -1, -1);
        await join([0, 2]);
        expect(await coordination.openSession(subscription, session([1, 2]))).to.deep.equal({
          outcome: 'partitions_taken',
          partitions: [partitionAt(2)],
        });
      });

      it('gives a requested partition to exactly one of ten concurrent streams', async () => {
        await initialise(-1, -1);
        const results = await Promise.all(
          Array.from({ length: 10 }, () => coordination.openSession(subscription, session([1]))),
        );
        expect(results.filter(({ outcome }) => outcome === 'opened')).to.have.length(1);
      });

      it('opens a direct stream although all slots are taken', async () => {
        await initialise(-1);
        await join();
        await join([0]);
      });

      it('lists sessions by stream id and raises the generation', async () => {
        await initialise(-1, -1);
        const earlier = (await coordination.topology(subscription)).generation;
        const ids = [await join(), await join()].sort();
        const { sessions, generation } = await coordination.topology(subscription);
        expect(sessions.map(({ streamId }) => streamId)).to.deep.equal(ids);
        expect(generation).to.be.greaterThan(earlier);
      });
    });

    describe('waiting for a slot', () => {
      const waitMilliseconds = 30_000;
      const full = { outcome: 'no_free_slots', totalSlots: 1 };
      const opened = { outcome: 'opened' };

      /** Asks with a place, and by the process that is not notified of anything. */
      const ask = (waiting: Session, placeMilliseconds = waitMilliseconds) =>
        harness.unheard.openSession(subscription, waiting, placeMilliseconds);

      it('gives a free slot to the session that asked first, on any process, and not to one without a place', async () => {
        const owner = await owning(-1);
        const [first, second] = [session(), session()];
        expect(await coordination.openSession(subscription, first, waitMilliseconds)).to.deep.equal(full);
        expect(await ask(second)).to.deep.equal(full);
        expect(await coordination.openSession(subscription, first, waitMilliseconds)).to.deep.equal(full);
        await coordination.closeSession(subscription, owner);
        expect(await coordination.openSession(subscription, session())).to.deep.equal(full);
        expect(await ask(second)).to.deep.equal(full);
        expect(await coordination.openSession(subscription, first, waitMilliseconds)).to.deep.equal(opened);
        await coordination.closeSession(subscription, first.streamId);
        expect(await ask(second)).to.deep.equal(opened);
        await coordination.closeSession(subscription, second.streamId);
        expect(await coordination.openSession(subscription, session())).to.deep.equal(opened);
      });

      it('holds back only as many as there are places before them', async () => {
        const owner = await owning(-1, -1);
        await join();
        const [first, second] = [session(), session()];
        for (const waiting of [first, second]) expect((await ask(waiting)).outcome).to.equal('no_free_slots');
        await initialise(-1, -1, -1, -1);
        expect(await ask(second), 'two slots, and one place before').to.deep.equal(opened);
        expect((await coordination.openSession(subscription, session())).outcome).to.equal('no_free_slots');
        await coordination.closeSession(subscription, owner);
        expect((await coordination.openSession(subscription, session())).outcome).to.equal('opened');
        expect(await ask(first)).to.deep.equal(opened);
      });

      it('ends when the session gives up, which is reported', async () => {
        const owner = await owning(-1);
        const [first, second] = [session(), session()];
        for (const waiting of [first, second]) await ask(waiting);
        await coordination.closeSession(subscription, owner);
        const { generation } = await coordination.topology(subscription);
        const { changes, stop } = recordNotifications();
        await coordination.closeSession(subscription, first.streamId);
        await eventually(() => changes.includes('topology'));
        stop();
        expect((await coordination.topology(subscription)).generation).to.be.greaterThan(generation);
        expect(await ask(second)).to.deep.equal(opened);
      });

      it('ends with its time, and with the lease of its node', async () => {
        const other = randomUUID();
        await coordination.renewLease(other, 10_000);
        const owner = await owning(-1);
        const [late, dead, second] = [session(), session([], other), session()];
        await ask(late, 10_000);
        await ask(dead);
        await ask(second);
        await coordination.closeSession(subscription, owner);
        expect((await ask(second)).outcome).to.equal('no_free_slots');
        await harness.elapse(10_100);
        expect(await ask(second)).to.deep.equal(opened);
      });

      it('puts a session whose place has ended behind those that still wait', async () => {
        const owner = await owning(-1);
        const [late, second] = [session(), session()];
        await ask(late, 10_000);
        await ask(second);
        await harness.elapse(10_100);
        await coordination.closeSession(subscription, owner);
        expect(await ask(late)).to.deep.equal(full);
        expect(await ask(second)).to.deep.equal(opened);
      });

      it('keeps a place during a reset, and none for a session that requests partitions', async () => {
        const owner = await owning(-1);
        await coordination.closeSession(subscription, owner);
        await coordination.beginReset(subscription);
        const first = session();
        expect(await ask(first)).to.deep.equal({ outcome: 'resetting' });
        const direct = session([0]);
        expect(await ask(direct)).to.deep.equal({ outcome: 'resetting' });
        await coordination.finishReset(subscription, []);
        expect(await coordination.openSession(subscription, session())).to.deep.equal(full);
        expect(await ask(first)).to.deep.equal(opened);
        expect(await ask(direct), 'direct streams take partitions from others').to.deep.equal(opened);
      });

      it('is over when the subscription is removed', async () => {
        await owning(-1);
        await ask(session());
        await coordination.remove(subscription);
        await initialise(-1);
        expect(await coordination.openSession(subscription, session())).to.deep.equal(opened);
      });
    });

    describe('ownership', () => {
      it('is applied under the generation that it was decided on, and raises the fence', async () => {
        await initialise(-1);
        const before = (await ownership(0)).fence;
        const streamId = await join();
        await applyRebalance();
        expect(await ownership(0)).to.deep.equal({
          ...partitionAt(0),
          state: 'assigned',
          streamId,
          nextStreamId: null,
          fence: before + 1,
        });
      });

      it('changes nothing under an older generation', async () => {
        await initialise(-1);
        const { generation } = await coordination.topology(subscription);
        const streamId = await join();
        const before = await coordination.topology(subscription);
        expect(
          await coordination.applyOwnership(subscription, generation, [
            { ...partitionAt(0), state: 'assigned', streamId, nextStreamId: null },
          ]),
        ).to.equal('conflict');
        expect(await coordination.topology(subscription)).to.deep.equal(before);
      });

      it('accepts one of two decisions on the same generation', async () => {
        await initialise(-1, -1);
        await join();
        await join();
        const { generation, sessions, partitions } = await coordination.topology(subscription);
        const changes = rebalance(sessions, partitions);
        const results = await Promise.all([
          coordination.applyOwnership(subscription, generation, changes),
          coordination.applyOwnership(subscription, generation, changes),
        ]);
        expect(results).to.have.members(['applied', 'conflict']);
      });

      it('is not given to a closed stream, neither as owner nor as next stream', async () => {
        const streamId = await owning(-1);
        await initialise(-1, -1);
        const { generation } = await coordination.topology(subscription);
        const before = await coordination.topology(subscription);
        for (const change of [
          { ...partitionAt(1), state: 'assigned', streamId: 'gone', nextStreamId: null } as const,
          { ...partitionAt(0), state: 'reassigning', streamId, nextStreamId: 'gone' } as const,
          { ...partitionAt(9), state: 'assigned', streamId, nextStreamId: null } as const,
        ]) {
          expect(await coordination.applyOwnership(subscription, generation, [change])).to.equal('conflict');
        }
        expect(await coordination.topology(subscription)).to.deep.equal(before);
      });

      it('is not taken from an open stream', async () => {
        const streamId = await owning(-1, -1);
        const other = await join();
        const { generation } = await coordination.topology(subscription);
        expect(
          await coordination.applyOwnership(subscription, generation, [
            { ...partitionAt(0), state: 'assigned', streamId: other, nextStreamId: null },
          ]),
        ).to.equal('conflict');
        expect(await owner(0)).to.equal(streamId);
      });

      it('stays with the owner under the same fence while it is reassigning and when that is cancelled', async () => {
        const streamId = await owning(-1, -1);
        const other = await join();
        const { fence } = await ownership(1);
        await applyRebalance();
        expect(await ownership(1)).to.deep.include({
          state: 'reassigning',
          streamId,
          nextStreamId: other,
          fence,
        });
        expect(await commit(streamId, at(1, 3))).to.deep.equal(committed(true));
        await coordination.closeSession(subscription, other);
        await applyRebalance();
        expect(await ownership(1)).to.deep.include({ state: 'assigned', streamId, nextStreamId: null, fence });
      });
    });

    describe('releasing', () => {
      const reassigning = async (): Promise<{ old: string; next: string; fence: number }> => {
        const old = await owning(-1, -1);
        const next = await join();
        await applyRebalance();
        return { old, next, fence: (await ownership(1)).fence };
      };

      it('hands the partition to its next stream under a new fence', async () => {
        const { old, next, fence } = await reassigning();
        expect(await coordination.release(subscription, old, partitionAt(1), fence)).to.deep.equal({
          outcome: 'released',
          nextStreamId: next,
          fence: fence + 1,
        });
        expect(await ownership(1)).to.deep.include({ state: 'assigned', streamId: next, fence: fence + 1 });
        expect(await commit(old, at(1, 3))).to.deep.equal({ outcome: 'not_owner', cursor: partitionAt(1) });
        expect(await commit(next, at(1, 3))).to.deep.equal(committed(true));
      });

      it('leaves the partition unassigned when its next stream is closed', async () => {
        const { old, next, fence } = await reassigning();
        await coordination.closeSession(subscription, next);
        expect(await coordination.release(subscription, old, partitionAt(1), fence)).to.deep.include({
          outcome: 'released',
          nextStreamId: null,
        });
        expect(await ownership(1)).to.deep.include({ state: 'unassigned', streamId: null, nextStreamId: null });
      });

      it('is refused to another stream, under an old fence, and for an unknown partition', async () => {
        const { old, next, fence } = await reassigning();
        const before = await coordination.topology(subscription);
        for (const result of [
          await coordination.release(subscription, next, partitionAt(1), fence),
          await coordination.release(subscription, old, partitionAt(1), fence - 1),
          await coordination.release(subscription, old, partitionAt(9), fence),
          await coordination.release(randomUUID(), old, partitionAt(1), fence),
        ]) {
          expect(result).to.deep.equal({ outcome: 'fenced' });
        }
        expect(await coordination.topology(subscription)).to.deep.equal(before);
      });

      it('works only once', async () => {
        const { old, fence } = await reassigning();
        await coordination.release(subscription, old, partitionAt(1), fence);
        expect(await coordination.release(subscription, old, partitionAt(1), fence)).to.deep.equal({
          outcome: 'fenced',
        });
      });
    });

    describe('closing a session', () => {
      it('gives reassigning partitions to their next stream and leaves the others unassigned', async () => {
        const old = await owning(-1, -1);
        const next = await join();
        await applyRebalance();
        const { fence } = await ownership(1);
        await coordination.closeSession(subscription, old);
        expect(await ownership(0)).to.deep.include({ state: 'unassigned', streamId: null });
        expect(await ownership(1)).to.deep.include({
          state: 'assigned',
          streamId: next,
          nextStreamId: null,
          fence: fence + 1,
        });
      });

      it('changes nothing and reports no error for an unknown session', async () => {
        await owning(-1);
        const before = await coordination.topology(subscription);
        await coordination.closeSession(subscription, randomUUID());
        await coordination.closeSession(randomUUID(), randomUUID());
        expect(await coordination.topology(subscription)).to.deep.equal(before);
      });

      it('never uses a fence again', async () => {
        await initialise(-1);
        const seen: number[] = [];
        for (let round = 0; round < 5; round += 1) {
          const streamId = await join();
          await applyRebalance();
          seen.push((await ownership(0)).fence);
          await coordination.closeSession(subscription, streamId);
        }
        const [first = 0] = seen;
        expect(seen).to.deep.equal([first, first + 1, first + 2, first + 3, first + 4]);
      });
    });

    describe('committing', () => {
      it('only moves forward, and judges cursors in order against the highest one so far', async () => {
        const streamId = await owning(100);
        expect(await commit(streamId, ...[105, 106, 102, 96, 130].map((offset) => at(0, offset)))).to.deep.equal(
          committed(true, true, false, false, true),
        );
        expect(await commit(streamId, ...[120, 121].map((offset) => at(0, offset)))).to.deep.equal(
          committed(false, false),
        );
        expect(await offsets()).to.deep.equal([130]);
      });

      it('judges each partition separately', async () => {
        const streamId = await owning(100, 200);
        expect(
          await commit(streamId, at(0, 101), at(1, 201), at(1, 150), at(0, 101), at(1, 202), at(0, 99), at(0, 103)),
        ).to.deep.equal(committed(true, true, false, false, true, false, true));
        expect(await offsets()).to.deep.equal([103, 202]);
      });

      it('shows in the topology, of a partition that goes to another stream as well', async () => {
        const streamId = await owning(100, 200);
        await commit(streamId, at(0, 101));
        expect((await coordination.topology(subscription)).committed).to.deep.equal([at(0, 101), at(1, 200)]);
        await commit(streamId, at(1, 203));
        await coordination.closeSession(subscription, streamId);
        await join();
        await applyRebalance();
        expect((await coordination.topology(subscription)).committed).to.deep.equal([at(0, 101), at(1, 203)]);
      });

      it('accepts a cursor after an outdated one', async () => {
        const streamId = await owning(100);
        expect(await commit(streamId, at(0, 90), at(0, 101))).to.deep.equal(committed(false, true));
      });

      it('accepts the very first event and treats the position before it as outdated', async () => {
        const streamId = await owning(-1);
        expect(await commit(streamId, at(0, -1))).to.deep.equal(committed(false));
        expect(await commit(streamId, at(0, 0))).to.deep.equal(committed(true));
      });

      it('returns an empty result for an empty request', async () => {
        expect(await commit(await owning(-1))).to.deep.equal(committed());
      });

      it('is refused for unknown sessions and for those of another subscription', async () => {
        const streamId = await owning(5);
        expect(await commit(randomUUID(), at(0, 6))).to.deep.equal(notFound);
        expect(await coordination.commit(randomUUID(), streamId, [at(0, 6)])).to.deep.equal(notFound);
        expect(await offsets()).to.deep.equal([5]);
      });

      it('is refused as a whole when one partition belongs to another stream', async () => {
        const first = await owning(5, 5);
        const second = await join();
        await applyRebalance();
        await coordination.release(subscription, first, partitionAt(1), (await ownership(1)).fence);
        expect(await commit(first, at(0, 6), at(1, 6))).to.deep.equal({ outcome: 'not_owner', cursor: partitionAt(1) });
        expect(await commit(second, at(1, 6), at(0, 6))).to.deep.equal({
          outcome: 'not_owner',
          cursor: partitionAt(0),
        });
        expect(await commit(first, at(0, 6), at(7, 6))).to.deep.equal({ outcome: 'not_owner', cursor: partitionAt(7) });
        expect(await offsets()).to.deep.equal([5, 5]);
      });

      it('is accepted under a fence only while that fence is current', async () => {
        const streamId = await owning(5);
        const { fence } = await ownership(0);
        expect(await commit(streamId, { ...at(0, 6), fence })).to.deep.equal(committed(true));
        expect(await commit(streamId, { ...at(0, 7), fence: fence - 1 })).to.deep.equal({
          outcome: 'not_owner',
          cursor: partitionAt(0),
        });
        expect(await offsets()).to.deep.equal([6]);
      });

      it('ends at the highest of many concurrent offsets', async () => {
        const streamId = await owning(-1);
        const order = Array.from({ length: 50 }, (_, index) => (index * 7) % 50);
        const results = await Promise.all(order.map((offset) => commit(streamId, at(0, offset))));
        expect(await offsets()).to.deep.equal([49]);
        const advances = results.filter((result) => result.outcome === 'committed' && result.advanced[0] === true);
        expect(advances.length).to.be.within(1, 50);
      });

      it('accepts one of many equal concurrent requests', async () => {
        const streamId = await owning(-1);
        const results = await Promise.all(Array.from({ length: 20 }, () => commit(streamId, at(0, 3))));
        expect(results.filter((result) => result.outcome === 'committed' && result.advanced[0])).to.have.length(1);
      });
    });

    describe('committing for a session with strict commits', () => {
      const notSent = (partition: number, offset: number): CommitResult => ({
        outcome: 'not_sent',
        cursor: at(partition, offset),
      });

      const owningStrictly = async (...offsetsGiven: number[]): Promise<string> => {
        await initialise(...offsetsGiven);
        const strict = { ...session(), sentOffsets: [] };
        await coordination.openSession(subscription, strict);
        await applyRebalance();
        return strict.streamId;
      };

      const recordSent = (streamId: string, ...sent: CommittedOffset[]): Promise<boolean> =>
        coordination.recordSent(subscription, streamId, sent);

      it('is refused beyond what it was sent, as a whole, on any process', async () => {
        const streamId = await owningStrictly(5, 5);
        expect(await commit(streamId, at(0, 6))).to.deep.equal(notSent(0, 6));
        expect(await recordSent(streamId, at(0, 8))).to.equal(true);
        expect(await commit(streamId, at(0, 7), at(1, 6))).to.deep.equal(notSent(1, 6));
        expect(await harness.unheard.commit(subscription, streamId, [at(0, 9)])).to.deep.equal(notSent(0, 9));
        expect(await commit(streamId, at(0, 8), at(0, 9))).to.deep.equal(notSent(0, 9));
        expect(await offsets()).to.deep.equal([5, 5]);
        expect(await harness.unheard.commit(subscription, streamId, [at(0, 8)])).to.deep.equal(committed(true));
        expect(await offsets()).to.deep.equal([8, 5]);
      });

      it('is outdated up to what is committed, whichever stream was sent it', async () => {
        const streamId = await owningStrictly(5);
        expect(await commit(streamId, at(0, 5), at(0, 3), at(0, -1))).to.deep.equal(committed(false, false, false));
        await recordSent(streamId, at(0, 6));
        expect(await commit(streamId, at(0, 6))).to.deep.equal(committed(true));
        expect(await commit(streamId, at(0, 6), at(0, 4))).to.deep.equal(committed(false, false));
      });

      it('keeps the furthest position of each partition: what comes late changes nothing', async () => {
        const streamId = await owningStrictly(-1, -1);
        await recordSent(streamId, at(0, 7), at(1, 2));
        expect(await recordSent(streamId, at(0, 6), at(1, 2))).to.equal(true);
        expect(await recordSent(streamId, at(0, 9))).to.equal(true);
        expect(await commit(streamId, at(0, 8))).to.deep.equal(notSent(0, 8));
        expect(await commit(streamId, at(0, 7), at(1, 2))).to.deep.equal(committed(true, true));
      });

      it('is shown with the session, changes no generation, and needs an open session', async () => {
        const streamId = await owningStrictly(-1);
        const { generation } = await coordination.topology(subscription);
        await recordSent(streamId, at(0, 4));
        const topology = await coordination.topology(subscription);
        expect(topology.generation).to.equal(generation);
        expect(topology.sessions.map(({ sentOffsets }) => sentOffsets)).to.deep.equal([[at(0, 4)]]);
        await coordination.closeSession(subscription, streamId);
        expect(await recordSent(streamId, at(0, 5))).to.equal(false);
        expect(await recordSent(randomUUID(), at(0, 5))).to.equal(false);
      });

      it('is refused beyond what it was sent also after the session was closed', async () => {
        const streamId = await owningStrictly(5, 5);
        await recordSent(streamId, at(0, 8));
        await coordination.closeSession(subscription, streamId);
        expect(await commit(streamId, at(0, 9))).to.deep.equal(notSent(0, 9));
        expect(await commit(streamId, at(1, 6))).to.deep.equal(notSent(1, 6));
        expect(await commit(streamId, at(0, 8), at(1, 5))).to.deep.equal(committed(true, false));
      });

      it('is not compared with anything for other sessions', async () => {
        const streamId = await owning(5);
        expect(await commit(streamId, at(0, 600))).to.deep.equal(committed(true));
        await coordination.closeSession(subscription, streamId);
        expect(await commit(streamId, at(0, 700))).to.deep.equal(committed(true));
      });
    });

    describe('the heart-beats of a session', () => {
      const owningWithHeartbeats = async (...offsetsGiven: number[]): Promise<string> => {
        await initialise(...offsetsGiven);
        const counting = { ...session(), countsHeartbeats: true as const };
        await coordination.openSession(subscription, counting);
        await applyRebalance();
        return counting.streamId;
      };

      const heartbeats = (streamId: string): Promise<number> => harness.unheard.heartbeats(subscription, streamId);

      it('are commits of what is committed already, and only those, on any process', async () => {
        const streamId = await owningWithHeartbeats(5, 5);
        expect(await heartbeats(streamId)).to.equal(0);
        expect(await commit(streamId, at(0, 5))).to.deep.equal(committed(false));
        expect(await heartbeats(streamId)).to.equal(1);
        expect(await harness.unheard.commit(subscription, streamId, [at(0, 3), at(1, 5)])).to.deep.equal(
          committed(false, false),
        );
        expect(await heartbeats(streamId)).to.equal(2);
        expect(await commit(streamId, at(0, 4), at(1, 4)), 'older').to.deep.equal(committed(false, false));
        expect(await commit(streamId, at(0, 5), at(1, 6)), 'moves forward').to.deep.equal(committed(false, true));
        expect(await heartbeats(streamId)).to.equal(2);
        expect(await commit(streamId, at(1, 6))).to.deep.equal(committed(false));
        expect(await heartbeats(streamId)).to.equal(3);
        expect(await offsets()).to.deep.equal([5, 6]);
      });

      it('are reported, and end with the session', async () => {
        const streamId = await owningWithHeartbeats(5);
        const { changes, stop } = recordNotifications();
        await commit(streamId, at(0, 5));
        await eventually(() => changes.includes('offsets'));
        stop();
        await coordination.closeSession(subscription, streamId);
        expect(await heartbeats(streamId)).to.equal(0);
        expect(await commit(streamId, at(0, 5))).to.deep.equal(committed(false));
        expect(await heartbeats(streamId)).to.equal(0);
      });

      it('are not counted for other sessions', async () => {
        const streamId = await owning(5);
        const { changes, stop } = recordNotifications();
        await commit(streamId, at(0, 5));
        expect(await heartbeats(streamId)).to.equal(0);
        expect(await heartbeats(randomUUID())).to.equal(0);
        expect(changes).not.to.include('offsets');
        stop();
      });
    });

    describe('committing after the session was closed', () => {
      it('is accepted until another stream gets the partition, by the same rules', async () => {
        const streamId = await owning(5, 5);
        await coordination.closeSession(subscription, streamId);
        expect(await owner(0), 'the partition is free at once').to.equal(null);
        expect(await commit(streamId, at(0, 6), at(0, 9), at(0, 8), at(1, 5))).to.deep.equal(
          committed(true, true, false, false),
        );
        expect(await offsets()).to.deep.equal([9, 5]);
      });

      it('is accepted on another process', async () => {
        const streamId = await owning(5);
        await coordination.closeSession(subscription, streamId);
        expect(await harness.unheard.commit(subscription, streamId, [at(0, 6)])).to.deep.equal(committed(true));
      });

      it('is accepted while other streams are open that did not get the partition yet', async () => {
        const streamId = await owning(5);
        await coordination.closeSession(subscription, streamId);
        await join();
        expect(await commit(streamId, at(0, 6))).to.deep.equal(committed(true));
      });

      it('is refused once another stream has the partition, and also after that stream has ended', async () => {
        const streamId = await owning(5);
        await coordination.closeSession(subscription, streamId);
        const next = await join();
        await applyRebalance();
        expect(await commit(streamId, at(0, 6))).to.deep.equal(notFound);
        await coordination.closeSession(subscription, next);
        expect(await commit(streamId, at(0, 7))).to.deep.equal(notFound);
        expect(await commit(next, at(0, 8))).to.deep.equal(committed(true));
        expect(await offsets()).to.deep.equal([8]);
      });

      it('is refused for a partition that went to its next stream when the session closed', async () => {
        const streamId = await owning(5, 5);
        const next = await join();
        await applyRebalance();
        await coordination.closeSession(subscription, streamId);
        expect(await owner(1)).to.equal(next);
        expect(await commit(streamId, at(1, 6))).to.deep.equal(notFound);
        expect(await commit(streamId, at(0, 6)), 'nobody has this one').to.deep.equal(committed(true));
      });

      it('is refused as a whole when another stream has one of the partitions', async () => {
        const streamId = await owning(5, 5);
        const next = await join([1]);
        await applyRebalance();
        await coordination.closeSession(subscription, streamId);
        expect(await owner(1)).to.equal(next);
        expect(await commit(streamId, at(0, 6), at(1, 6))).to.deep.equal(notFound);
        expect(await commit(streamId, at(1, 6), at(0, 6))).to.deep.equal(notFound);
        expect(await offsets()).to.deep.equal([5, 5]);
      });

      it('is accepted until the commit timeout of the session has passed, and no longer', async () => {
        const streamId = await owning(5);
        await coordination.closeSession(subscription, streamId);
        await harness.elapse(commitTimeoutMilliseconds / 2);
        expect(await commit(streamId, at(0, 6))).to.deep.equal(committed(true));
        await harness.elapse(commitTimeoutMilliseconds / 2);
        expect(await commit(streamId, at(0, 7))).to.deep.equal(notFound);
        expect(await offsets()).to.deep.equal([6]);
      });

      it('is never accepted for a stream that ended because nothing was committed in time', async () => {
        const streamId = await owning(5);
        await coordination.closeSession(subscription, streamId, 'refused');
        expect(await commit(streamId, at(0, 6))).to.deep.equal(notFound);
      });

      it('is accepted only from the last owner of each partition, and only with cursors', async () => {
        const [first, second] = [await owning(5, 5), await join()];
        await applyRebalance();
        await coordination.release(subscription, first, partitionAt(1), (await ownership(1)).fence);
        await coordination.closeSession(subscription, first);
        await coordination.closeSession(subscription, second);
        expect(await commit(first, at(1, 6))).to.deep.equal(notFound);
        expect(await commit(second, at(0, 6))).to.deep.equal(notFound);
        expect(await commit(first, at(7, 6))).to.deep.equal(notFound);
        expect(await commit(first)).to.deep.equal(notFound);
        expect(await commit(randomUUID(), at(0, 6))).to.deep.equal(notFound);
        expect(await commit(second, at(1, 6))).to.deep.equal(committed(true));
        expect(await offsets()).to.deep.equal([5, 6]);
      });

      it('is accepted under a fence only when that fence is the one of the closed session', async () => {
        const streamId = await owning(5);
        const { fence } = await ownership(0);
        await coordination.closeSession(subscription, streamId);
        expect(await commit(streamId, { ...at(0, 6), fence: fence - 1 })).to.deep.equal(notFound);
        expect(await commit(streamId, { ...at(0, 6), fence })).to.deep.equal(committed(true));
      });

      it('is accepted when the session was closed because its process died', async () => {
        const dying = randomUUID();
        await coordination.renewLease(dying, 300);
        await initialise(5);
        const dead = await join([], dying);
        await applyRebalance();
        await harness.elapse(350);
        expect(await coordination.reapSessions(subscription)).to.equal(1);
        expect(await commit(dead, at(0, 6))).to.deep.equal(committed(true));
      });

      it('is refused after a reset of the cursors', async () => {
        const streamId = await owning(5, 5);
        await coordination.closeSession(subscription, streamId);
        await coordination.beginReset(subscription);
        expect(await commit(streamId, at(0, 6)), 'until then it counts').to.deep.equal(committed(true));
        await coordination.finishReset(subscription, [at(0, 3)]);
        expect(await commit(streamId, at(0, 7))).to.deep.equal(notFound);
        expect(await commit(streamId, at(1, 7))).to.deep.equal(notFound);
        expect(await offsets()).to.deep.equal([3, 5]);
      });

      it('is refused after the subscription was removed', async () => {
        const streamId = await owning(5);
        await coordination.closeSession(subscription, streamId);
        await coordination.remove(subscription);
        await initialise(-1);
        expect(await commit(streamId, at(0, 6))).to.deep.equal(notFound);
        expect(await offsets()).to.deep.equal([-1]);
      });
    });

    describe('failed deliveries', () => {
      const failing = (partition: number, firstOffset: number, throughOffset = firstOffset) => ({
        ...partitionAt(partition),
        firstOffset,
        throughOffset,
      });

      /** Opens a stream that gets what is free, and closes it with these failures. */
      const fail = async (failuresMaximum: number, ...partitions: ReturnType<typeof failing>[]): Promise<void> => {
        const streamId = await join();
        await applyRebalance();
        await coordination.closeSession(subscription, streamId, 'accepted', { failuresMaximum, partitions });
      };

      const record = async (partition: number) => (await ownership(partition)).failureRecord;

      it('leave no record on partitions of which none was reported', async () => {
        await initialise(-1, -1);
        await fail(2, failing(0, 0));
        const streamId = await join();
        await applyRebalance();
        await coordination.closeSession(subscription, streamId, 'accepted', { failuresMaximum: 2, partitions: [] });
        expect(await ownership(1)).not.to.have.property('failureRecord');
      });

      it('are counted for as long as the first event that was not committed stays the same', async () => {
        await initialise(4);
        await fail(3, failing(0, 5, 9));
        expect(await record(0)).to.deep.equal({ failures: 1, firstOffset: 5, throughOffset: 9, isOneByOne: false });
        await fail(3, failing(0, 5, 6));
        expect(await record(0)).to.deep.equal({ failures: 2, firstOffset: 5, throughOffset: 9, isOneByOne: false });
        await fail(3, failing(0, 7, 8));
        expect(await record(0)).to.deep.equal({ failures: 1, firstOffset: 7, throughOffset: 8, isOneByOne: false });
      });

      it('lead to deliveries one by one at their maximum, and are counted for each event from then on', async () => {
        await initialise(4);
        await fail(2, failing(0, 5, 9));
        await fail(2, failing(0, 5, 7));
        expect(await record(0)).to.deep.equal({ failures: 0, firstOffset: 5, throughOffset: 9, isOneByOne: true });
        await fail(2, failing(0, 5));
        expect(await record(0)).to.deep.equal({ failures: 1, firstOffset: 5, throughOffset: 9, isOneByOne: true });
        await fail(2, failing(0, 5));
        expect(await record(0)).to.deep.equal({ failures: 2, firstOffset: 5, throughOffset: 9, isOneByOne: true });
        await fail(2, failing(0, 9));
        expect(await record(0)).to.deep.equal({ failures: 1, firstOffset: 9, throughOffset: 9, isOneByOne: true });
        await fail(2, failing(0, 10, 12));
        expect(await record(0)).to.deep.equal({ failures: 1, firstOffset: 10, throughOffset: 12, isOneByOne: false });
      });

      it('stay with the partition when it gets another owner, is handed over and is committed', async () => {
        await initialise(4, 4);
        await fail(2, failing(0, 5), failing(1, 5));
        const kept = [await record(0), await record(1)];
        const first = await join();
        await applyRebalance();
        const second = await join();
        await applyRebalance();
        const leaving = (await coordination.topology(subscription)).partitions.find(
          ({ state }) => state === 'reassigning',
        );
        if (leaving === undefined) throw new Error('No partition is handed over');
        await coordination.release(subscription, first, leaving, leaving.fence);
        expect(await owner(leaving.partition)).to.equal(second);
        await commit(second, at(leaving.partition, 7));
        expect([await record(0), await record(1)]).to.deep.equal(kept);
        expect(await offsets()).to.include.members([4, 7]);
      });

      it('are counted when the partition goes to its next stream at the close', async () => {
        const first = await owning(4, 4);
        const second = await join();
        await applyRebalance();
        const partitions = [failing(0, 5), failing(1, 5)];
        await coordination.closeSession(subscription, first, 'refused', { failuresMaximum: 2, partitions });
        expect(await owner(1)).to.equal(second);
        expect([(await record(0))?.failures, (await record(1))?.failures]).to.deep.equal([1, 1]);
      });

      it('are not counted for a partition of another stream, nor a second time', async () => {
        const first = await owning(4, 4);
        const second = await join();
        await applyRebalance();
        await coordination.release(subscription, first, partitionAt(1), (await ownership(1)).fence);
        const failed = { failuresMaximum: 2, partitions: [failing(0, 5), failing(1, 5), failing(7, 5)] };
        await coordination.closeSession(subscription, first, 'accepted', failed);
        await coordination.closeSession(subscription, first, 'accepted', failed);
        expect(await owner(1)).to.equal(second);
        expect([(await record(0))?.failures, await record(1)]).to.deep.equal([1, undefined]);
      });

      it('are not counted when their first event is committed, so that the count of the next one goes on', async () => {
        await initialise(4);
        await fail(2, failing(0, 5, 9));
        await fail(2, failing(0, 5, 9));
        await fail(2, failing(0, 6));
        const streamId = await join();
        await applyRebalance();
        await commit(streamId, at(0, 5));
        const late = { failuresMaximum: 2, partitions: [failing(0, 5)] };
        await coordination.closeSession(subscription, streamId, 'accepted', late);
        expect(await record(0)).to.deep.equal({ failures: 1, firstOffset: 6, throughOffset: 9, isOneByOne: true });
        await fail(2, failing(0, 6));
        expect(await record(0)).to.have.property('failures', 2);
      });

      it('are not counted when a session is closed because its process died', async () => {
        const dying = randomUUID();
        await coordination.renewLease(dying, 300);
        await initialise(4);
        await fail(3, failing(0, 5));
        await join([], dying);
        await applyRebalance();
        await harness.elapse(350);
        expect(await coordination.reapSessions(subscription)).to.equal(1);
        expect((await record(0))?.failures).to.equal(1);
      });

      it('are forgotten by a reset of the cursors and when the subscription is removed', async () => {
        await initialise(4, 4);
        await fail(2, failing(0, 5), failing(1, 5));
        await coordination.beginReset(subscription);
        await coordination.finishReset(subscription, []);
        expect((await record(0))?.failures, 'a reset that changes nothing').to.equal(1);
        await coordination.beginReset(subscription);
        await coordination.finishReset(subscription, [at(0, 4)]);
        expect([await record(0), await record(1)]).to.deep.equal([undefined, undefined]);
        await fail(2, failing(0, 5));
        await coordination.remove(subscription);
        await initialise(4);
        expect(await record(0)).to.equal(undefined);
      });
    });

    describe('leases', () => {
      it('that expired close only the sessions of their nodes, and free their partitions', async () => {
        const dying = randomUUID();
        await coordination.renewLease(dying, 300);
        await initialise(5, 5);
        const dead = await join([], dying);
        const alive = await join();
        await applyRebalance();
        expect(await coordination.reapSessions(subscription)).to.equal(0);
        await harness.elapse(350);
        expect(await coordination.reapSessions(subscription)).to.equal(1);
        expect(await coordination.reapSessions(subscription)).to.equal(0);
        const { sessions, partitions } = await coordination.topology(subscription);
        expect(sessions.map(({ streamId }) => streamId)).to.deep.equal([alive]);
        expect(partitions.filter(({ streamId }) => streamId === dead)).to.deep.equal([]);
        await applyRebalance();
        expect([await owner(0), await owner(1)]).to.deep.equal([alive, alive]);
        expect(await commit(dead, at(0, 6), at(1, 6))).to.deep.equal(notFound);
      });

      it('stay valid while they are renewed', async () => {
        const renewing = randomUUID();
        await initialise(-1);
        await coordination.renewLease(renewing, 300);
        await join([], renewing);
        for (let round = 0; round < 3; round += 1) {
          await harness.elapse(200);
          await coordination.renewLease(renewing, 300);
          expect(await coordination.reapSessions(subscription)).to.equal(0);
        }
      });

      it('that expired hand the reassigning partitions of their owner to the next stream', async () => {
        const dying = randomUUID();
        await coordination.renewLease(dying, 300);
        await initialise(-1, -1);
        await join([], dying);
        await applyRebalance();
        const next = await join();
        await applyRebalance();
        await harness.elapse(350);
        await coordination.reapSessions(subscription);
        expect(await ownership(1)).to.deep.include({ state: 'assigned', streamId: next });
      });
    });

    describe('resetting', () => {
      it('begins once, refuses new sessions and still accepts commits', async () => {
        const streamId = await owning(10, 10);
        expect(await coordination.beginReset(subscription)).to.equal(true);
        expect(await coordination.beginReset(subscription)).to.equal(false);
        expect((await coordination.topology(subscription)).resetting).to.equal(true);
        expect(await coordination.openSession(subscription, session())).to.deep.equal({ outcome: 'resetting' });
        expect(await commit(streamId, at(0, 11))).to.deep.equal(committed(true));
      });

      it('sets offsets in either direction and keeps those that are not named', async () => {
        await initialise(10, 10, 10);
        await coordination.beginReset(subscription);
        await coordination.finishReset(subscription, [at(0, 3), at(2, 30)]);
        expect(await offsets()).to.deep.equal([3, 10, 30]);
        expect((await coordination.topology(subscription)).resetting).to.equal(false);
        await join();
      });

      it('raises all fences and removes every owner, so that earlier deliveries cannot be committed', async () => {
        const streamId = await owning(10, 10);
        const fences = [(await ownership(0)).fence, (await ownership(1)).fence];
        await coordination.beginReset(subscription);
        await coordination.finishReset(subscription, [at(0, 3)]);
        expect(await commit(streamId, at(0, 11))).to.deep.equal({ outcome: 'not_owner', cursor: partitionAt(0) });
        await applyRebalance();
        expect((await ownership(0)).fence).to.be.greaterThan(fences[0] ?? Infinity);
        expect((await ownership(1)).fence).to.be.greaterThan(fences[1] ?? Infinity);
        expect(await offsets()).to.deep.equal([3, 10]);
        expect(await commit(streamId, at(0, 4))).to.deep.equal(committed(true));
      });

      it('changes the mark of its offsets, as a removal does, and nothing changes it while nothing happens', async () => {
        await initialise(10);
        const marks = async (): Promise<string[]> => {
          const found = await harness.unheard.offsetMarks();
          return [found.all, found.of(subscription)];
        };
        const before = await marks();
        expect(await marks()).to.deep.equal(before);
        await coordination.beginReset(subscription);
        await coordination.finishReset(subscription, [at(0, 3)]);
        const afterReset = await marks();
        await coordination.remove(subscription);
        const afterRemoval = await marks();
        for (const place of [0, 1]) {
          expect(new Set([before[place], afterReset[place], afterRemoval[place]]).size).to.equal(3);
        }
      });

      it('ends without any change when no offsets are given', async () => {
        const streamId = await owning(10);
        await coordination.beginReset(subscription);
        await coordination.finishReset(subscription, []);
        expect(await owner(0)).to.equal(streamId);
        expect(await offsets()).to.deep.equal([10]);
        expect(await coordination.beginReset(subscription)).to.equal(true);
      });
    });

    describe('the history', () => {
      const ended = (number: number) => ({
        streamId: `stream-${number}`,
        reason: 'Commit timeout reached',
        endedAt: number,
      });
      const commitOf = (partition: number, offset: string, committedAt: number) => ({
        ...partitionAt(partition),
        offset,
        committedAt,
      });

      it('is empty at first, and has the time since when it is kept', async () => {
        const { since, lastCommits, endedStreams } = await coordination.history(subscription);
        expect([lastCommits, endedStreams]).to.deep.equal([[], []]);
        expect(since).to.be.within(Date.now() - 600_000, Date.now() + 1_000);
      });

      it('has the last commit of each partition, whichever process received it', async () => {
        const commits = [commitOf(0, '1', 10), commitOf(1, '5', 10)];
        await coordination.recordHistory(subscription, { lastCommits: commits, endedStreams: [] });
        await harness.unheard.recordHistory(subscription, { lastCommits: [commitOf(0, '2', 20)], endedStreams: [] });
        const { lastCommits } = await coordination.history(subscription);
        expect(lastCommits).to.have.deep.members([commitOf(0, '2', 20), commitOf(1, '5', 10)]);
        expect((await coordination.history(randomUUID())).lastCommits).to.deep.equal([]);
      });

      it('has the last ten streams that ended, newest first', async () => {
        await coordination.recordHistory(subscription, { lastCommits: [], endedStreams: [ended(2), ended(1)] });
        for (let number = 3; number <= 12; number += 1) {
          await harness.unheard.recordHistory(subscription, { lastCommits: [], endedStreams: [ended(number)] });
        }
        const { endedStreams } = await coordination.history(subscription);
        expect(endedStreams).to.deep.equal([12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map(ended));
      });

      it('is removed with the subscription', async () => {
        await coordination.recordHistory(subscription, {
          lastCommits: [commitOf(0, '1', 10)],
          endedStreams: [ended(1)],
        });
        await coordination.remove(subscription);
        const { lastCommits, endedStreams } = await coordination.history(subscription);
        expect([lastCommits, endedStreams]).to.deep.equal([[], []]);
      });
    });

    describe('removing', () => {
      it('deletes sessions, ownership and offsets', async () => {
        const streamId = await owning(10);
        await coordination.remove(subscription);
        expect(await coordination.committedOffsets(subscription)).to.deep.equal([]);
        const { sessions, partitions } = await coordination.topology(subscription);
        expect({ sessions, partitions }).to.deep.equal({ sessions: [], partitions: [] });
        expect(await commit(streamId, at(0, 11))).to.deep.equal({ outcome: 'session_not_found' });
      });

      it('lets a subscription of the same id start again, with higher lease epochs than before', async () => {
        await owning(10);
        const { generation } = await coordination.topology(subscription);
        const { fence } = await ownership(0);
        await coordination.remove(subscription);
        await owning(-1);
        expect(await offsets()).to.deep.equal([-1]);
        expect((await ownership(0)).fence).to.be.greaterThan(fence);
        expect((await coordination.topology(subscription)).generation).to.be.greaterThan(generation);
      });

      it('leaves what an unknown subscription has: an empty topology without a generation', async () => {
        const nothing = { generation: 0, resetting: false, sessions: [], partitions: [], committed: [] };
        expect(await coordination.topology(randomUUID())).to.deep.equal(nothing);
      });

      it('reports no error for an unknown subscription', async () => {
        await coordination.remove(randomUUID());
      });
    });

    describe('watching', () => {
      it('reports sessions and ownership, commits, a reset and removal', async () => {
        const { changes, stop } = recordNotifications();
        const expecting = async (change: CoordinationChange, act: () => Promise<unknown>): Promise<void> => {
          changes.length = 0;
          await act();
          await eventually(() => changes.includes(change));
        };
        await initialise(-1);
        let streamId = '';
        await expecting('topology', async () => {
          streamId = await join();
        });
        await expecting('topology', applyRebalance);
        await expecting('offsets', () => commit(streamId, at(0, 1)));
        await expecting('reset', () => coordination.beginReset(subscription));
        await expecting('offsets', () => coordination.finishReset(subscription, [at(0, 0)]));
        await expecting('topology', () => coordination.closeSession(subscription, streamId));
        await expecting('removed', () => coordination.remove(subscription));
        stop();
      });

      it('reports the committed offsets of a commit on this process, and not outdated ones', async () => {
        const streamId = await owning(-1);
        const notified: (readonly CommittedOffset[])[] = [];
        const stop = coordination.watch(subscription, (_change, _generation, committed) => {
          // Without them, it is told to read again, which may happen at any time.
          if (committed !== undefined) notified.push(committed);
        });
        await commit(streamId, at(0, 5));
        await commit(streamId, at(0, 3), at(0, 7));
        await eventually(() => notified.length >= 2);
        stop();
        const positions = notified.map((committed) => committed.map(({ partition, offset }) => [partition, offset]));
        expect(positions).to.deep.equal([[[0, 5]], [[0, 7]]]);
      });

      it('notifies a watcher only about its own subscription, and only until it stops', async () => {
        const own = subscription;
        const recordOwn = (): { told: CoordinationChange[]; stop: () => void } => {
          const told: CoordinationChange[] = [];
          // A process that had no sight of the store tells every watcher to read again, with neither of these.
          const listener: ChangeListener = (change, _generation, committed) => {
            if (change === 'removed' || committed !== undefined) told.push(change);
          };
          return { told, stop: coordination.watch(subscription, listener) };
        };
        await owning(-1);
        const first = recordOwn();
        subscription = randomUUID();
        const other = recordOwn();
        await commit(await owning(-1), at(0, 5));
        await coordination.remove(subscription);
        await eventually(() => other.told.includes('removed'));
        other.stop();
        first.stop();
        subscription = own;
        const second = recordOwn();
        await coordination.remove(subscription);
        await eventually(() => second.told.includes('removed'));
        second.stop();
        expect(first.told).to.deep.equal([]);
      });

      it('reports a commit only when it is stored', async () => {
        const streamId = await owning(-1);
        const seen: Promise<number[]>[] = [];
        const stop = coordination.watch(subscription, (change) => {
          if (change === 'offsets') seen.push(offsets());
        });
        await commit(streamId, at(0, 8));
        await eventually(() => seen.length > 0);
        expect(await seen[0]).to.deep.equal([8]);
        stop();
      });
    });

    describe('watching without notifications', () => {
      /** Part of a second more than promised, because the result also has to be requested. */
      const milliseconds = missedChangesMillisecondsMaximum + 500;

      it('reports each change of sessions and ownership', async function () {
        this.timeout(20_000);
        await initialise(-1, -1, -1);
        let sessionsSeen = -1;
        const countSessions = async (): Promise<void> => {
          sessionsSeen = (await coordination.topology(subscription)).sessions.length;
        };
        const stop = coordination.watch(subscription, (change) => {
          if (change === 'topology') void countSessions();
        });
        await harness.unheard.renewLease(node, leaseMilliseconds);
        for (const count of [1, 2, 3]) {
          await harness.unheard.openSession(subscription, session());
          await harness.eventually(() => sessionsSeen === count, milliseconds);
        }
        const { sessions } = await coordination.topology(subscription);
        await harness.unheard.closeSession(subscription, sessions[0]?.streamId ?? '');
        await harness.eventually(() => sessionsSeen === 2, milliseconds);
        stop();
      });

      it('closes the sessions of dead nodes, and keeps those of living nodes', async function () {
        this.timeout(20_000);
        const dying = randomUUID();
        await harness.unheard.renewLease(dying, 10_000);
        await initialise(5, 5);
        await join([], dying);
        const alive = await join();
        await applyRebalance();
        const stop = coordination.watch(subscription, () => {});
        await harness.elapse(10_000);
        await coordination.renewLease(node, leaseMilliseconds);
        const streams = async (): Promise<string[]> =>
          (await coordination.topology(subscription)).sessions.map(({ streamId }) => streamId);
        await harness.eventually(async () => (await streams()).length === 1, milliseconds);
        expect(await streams()).to.deep.equal([alive]);
        await applyRebalance();
        expect([await owner(0), await owner(1)]).to.deep.equal([alive, alive]);
        stop();
      });
    });

    describeNodeReports(() => harness);
    describeRandomHistories(() => coordination);
  });
}

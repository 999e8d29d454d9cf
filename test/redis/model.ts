import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  type CommitResult,
  type CommittedOffset,
  type Coordination,
  type CursorToCommit,
  type OwnershipChange,
  type PartitionOwnership,
  type Topology,
} from '../../src/ports/coordination.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { rebalance } from '../../src/broker/subscriptions/rebalance.ts';

/**
 * A random history of one subscription: its streams read what they own, deliver the next events and commit what they
 * delivered, while streams and whole nodes start and stop. A stream whose node has died does not notice and continues.
 * After each step the shared state is checked against the invariants.
 */
export interface ModelWorld {
  /** Processes that share the store. */
  readonly processes: readonly Coordination[];
  /** Makes the store lose everything. */
  loseEverything?(): Promise<void>;
}

const eventType = 'model.loans';
const partitionCount = 4;
const leaseMilliseconds = 600_000;
const commitTimeoutMilliseconds = 600_000;
const logEnd = 10_000;

interface OwnedPartition {
  readonly fence: number;
  isHandingOver: boolean;
  /** The next offset that it delivers. */
  position: number;
}

interface ModelStream {
  readonly streamId: string;
  readonly nodeId: string;
  readonly process: Coordination;
  readonly assigned: Map<number, OwnedPartition>;
}

interface Shared {
  readonly topology: Topology;
  readonly offsets: readonly number[];
}

interface ModelNode {
  readonly nodeId: string;
  readonly process: Coordination;
  isDead: boolean;
}

type Operation = (before: Shared) => Promise<Allowed>;
type WeightedOperation = readonly [weight: number, name: string, operation: Operation];

/** What else a step may change: which streams may lose partitions, and whether offsets may be set anywhere. */
interface Allowed {
  readonly losers?: readonly string[];
  readonly forcedOffsets?: boolean;
  readonly removal?: boolean;
  /** The committed offsets that must be stored now. */
  readonly reached?: readonly number[];
}

export class Model {
  readonly subscriptionId = randomUUID();
  /** The steps so far, for the message of a failure. */
  readonly trace: string[] = [];
  readonly #world: ModelWorld;
  readonly #random: () => number;
  readonly #streams: ModelStream[] = [];
  readonly #nodes: ModelNode[] = [];
  /** By partition: every offset up to this one was delivered, or skipped by a reset. */
  readonly #deliveredThrough = Array.from({ length: partitionCount }, () => -1);
  /** By partition: the stream that closed as its owner, as long as no other stream gets the partition. */
  readonly #lastOwners = new Map<number, string>();
  readonly #highestFences = new Map<number, number>();
  #stale: { readonly generation: number; readonly changes: readonly OwnershipChange[] } | undefined;
  readonly #operations: readonly WeightedOperation[];

  constructor(world: ModelWorld, random: () => number) {
    this.#world = world;
    this.#random = random;
    this.#operations = [
      [6, 'open', () => this.#open()],
      [3, 'close', () => this.#close()],
      [1, 'node dies', () => this.#die()],
      [3, 'reap', (before) => this.#reap(before)],
      [8, 'rebalance', (before) => this.#rebalance(before)],
      [1, 'rebalance late', (before) => this.#applyStaleRebalance(before)],
      [2, 'steal', (before) => this.#steal(before)],
      [14, 'refresh', (before) => this.#refreshOwnership(before)],
      [14, 'deliver', () => this.#deliver()],
      [16, 'commit', (before) => this.#commit(before)],
      [6, 'release', (before) => this.#release(before)],
      [2, 'release wrongly', (before) => this.#releaseWrongly(before)],
      [1, 'reset', (before) => this.#reset(before)],
      [0.3, 'remove', (before) => this.#remove(before)],
      [world.loseEverything === undefined ? 0 : 1, 'lose everything', (before) => this.#lose(before)],
    ];
  }

  async run(steps: number): Promise<void> {
    for (const process of this.#world.processes) await this.#addNode(process);
    await this.#initialise();
    let before = await this.#shared();
    for (let step = 0; step < steps; step += 1) {
      const [, name, operation] = this.#pickOperation();
      this.trace.push(name);
      const allowed = await operation(before);
      const after = await this.#shared();
      this.#check(before, after, allowed);
      before = after;
    }
    await this.#checkLiveness();
  }

  // The actions of streams, nodes and operators.

  async #open(): Promise<Allowed> {
    const living = this.#nodes.filter(({ isDead }) => !isDead);
    const node = this.#pick(living) ?? (await this.#addNode(this.#pick(this.#world.processes)));
    const requestedPartitions = this.#random() < 0.2 ? [{ eventType, partition: this.#below(partitionCount) }] : [];
    const streamId = randomUUID();
    const session = {
      streamId,
      nodeId: node.nodeId,
      requestedPartitions,
      openedAt: this.#streams.length,
      commitTimeoutMilliseconds,
    };
    const { outcome } = await node.process.openSession(this.subscriptionId, session);
    if (outcome === 'opened') {
      this.#streams.push({ streamId, nodeId: node.nodeId, process: node.process, assigned: new Map() });
    }
    return {};
  }

  async #close(): Promise<Allowed> {
    const stream = this.#pickStream();
    if (stream === undefined) return {};
    await stream.process.closeSession(this.subscriptionId, stream.streamId);
    return { losers: [stream.streamId] };
  }

  async #die(): Promise<Allowed> {
    const node = this.#pick(this.#nodes.filter(({ isDead }) => !isDead));
    if (node === undefined) return {};
    node.isDead = true;
    await node.process.renewLease(node.nodeId, 0);
    await this.#addNode(node.process);
    return {};
  }

  async #reap({ topology }: Shared): Promise<Allowed> {
    const dead = new Set(this.#nodes.filter(({ isDead }) => isDead).map(({ nodeId }) => nodeId));
    const losers = topology.sessions.filter(({ nodeId }) => dead.has(nodeId)).map(({ streamId }) => streamId);
    const count = await this.#anyProcess().reapSessions(this.subscriptionId);
    // After a loss, no node counts as dead for a moment.
    if (this.#world.loseEverything === undefined || count > 0) expect(count).to.equal(losers.length);
    return { losers };
  }

  async #rebalance({ topology }: Shared): Promise<Allowed> {
    const { generation, sessions, partitions } = topology;
    const changes = rebalance(sessions, partitions);
    const result = await this.#apply(generation, changes);
    // After a loss, partitions stay where they are for a moment.
    if (this.#world.loseEverything === undefined) expect(result).to.equal('applied');
    if (changes.length > 0) this.#stale = { generation, changes };
    return {};
  }

  async #applyStaleRebalance(before: Shared): Promise<Allowed> {
    if (this.#stale === undefined || this.#stale.generation === before.topology.generation) return {};
    expect(await this.#apply(this.#stale.generation, this.#stale.changes)).to.equal('conflict');
    expect((await this.#shared()).topology, 'I7: a stale compare-and-set changes nothing').to.deep.equal(
      before.topology,
    );
    return {};
  }

  /** A wrong decision: an open owner must keep its partition, and closed streams get none. */
  async #steal({ topology }: Shared): Promise<Allowed> {
    const { generation, sessions, partitions } = topology;
    const owned = this.#pick(partitions.filter(({ streamId }) => streamId !== null));
    if (owned === undefined) return {};
    const open = new Set(sessions.map(({ streamId }) => streamId));
    const thieves = [...open, ...this.#streams.map(({ streamId }) => streamId)].filter(
      (streamId) => streamId !== owned.streamId,
    );
    const streamId = this.#pick(thieves);
    if (streamId === undefined || (open.has(streamId) && !open.has(owned.streamId ?? ''))) return {};
    const change = { eventType, partition: owned.partition, state: 'assigned', streamId, nextStreamId: null } as const;
    expect(await this.#apply(generation, [change]), 'I5: an open owner keeps its partition').to.equal('conflict');
    return {};
  }

  /** A stream reads what it owns now, as it would after a notification. */
  async #refreshOwnership({ topology, offsets }: Shared): Promise<Allowed> {
    const stream = this.#pickStream();
    if (stream === undefined) return {};
    const owned = topology.partitions.filter(({ streamId }) => streamId === stream.streamId);
    const numbers = new Set(owned.map(({ partition }) => partition));
    for (const partition of stream.assigned.keys()) if (!numbers.has(partition)) stream.assigned.delete(partition);
    for (const { partition, fence, state } of owned) {
      const ownedPartition = stream.assigned.get(partition);
      const isHandingOver = state === 'reassigning';
      if (ownedPartition?.fence === fence) ownedPartition.isHandingOver = isHandingOver;
      else stream.assigned.set(partition, { fence, isHandingOver, position: (offsets[partition] ?? -1) + 1 });
    }
    return {};
  }

  async #deliver(): Promise<Allowed> {
    const stream = this.#pickStream();
    const [partition, ownedPartition] = this.#pick([...(stream?.assigned ?? [])]) ?? [];
    if (partition === undefined || ownedPartition === undefined || ownedPartition.isHandingOver) return {};
    const through = Math.min(logEnd, ownedPartition.position + this.#below(5));
    if (ownedPartition.position <= (this.#deliveredThrough[partition] ?? -1) + 1) {
      this.#deliveredThrough[partition] = Math.max(this.#deliveredThrough[partition] ?? -1, through);
    }
    ownedPartition.position = through + 1;
    return {};
  }

  async #commit({ topology, offsets }: Shared): Promise<Allowed> {
    const stream = this.#pickStream();
    if (stream === undefined || stream.assigned.size === 0) return {};
    const cursors = [...stream.assigned].flatMap(([partition, { position, fence }]) => {
      if (position === 0 || this.#random() < 0.3) return [];
      const offset = Math.max(0, position - 1 - this.#below(3));
      return [{ eventType, partition, offset, ...(this.#random() < 0.3 ? { fence } : {}) }];
    });
    // Through any process, because the load balancer does not know streams.
    const result = await this.#tryCommit(stream.streamId, cursors);
    if (result === undefined) return {};
    const isOpen = topology.sessions.some(({ streamId }) => streamId === stream.streamId);
    const notOwned = cursors.find(({ partition, fence }) => {
      const owned = topology.partitions.find((each) => each.partition === partition);
      const owner = isOpen ? owned?.streamId : this.#lastOwners.get(partition);
      return owner !== stream.streamId || (fence !== undefined && owned?.fence !== fence);
    });
    // When it loses its data, Redis also loses what closed streams may still commit.
    const isForgotten = this.#world.loseEverything !== undefined && result.outcome === 'session_not_found';
    if (!isOpen && (cursors.length === 0 || notOwned !== undefined || isForgotten)) {
      expect(result).to.deep.equal({ outcome: 'session_not_found' });
    } else if (notOwned !== undefined) {
      expect(result).to.deep.equal({
        outcome: 'not_owner',
        cursor: { eventType, partition: notOwned.partition },
      });
    } else {
      const advanced = cursors.map(({ partition, offset }) => offset > (offsets[partition] ?? -1));
      expect(result).to.deep.equal({ outcome: 'committed', advanced });
      const reached = offsets.map((present, partition) =>
        Math.max(present, ...cursors.filter((cursor) => cursor.partition === partition).map(({ offset }) => offset)),
      );
      return { reached };
    }
    return {};
  }

  async #release({ topology }: Shared): Promise<Allowed> {
    const owned = this.#pick(topology.partitions.filter(({ state }) => state === 'reassigning'));
    if (owned?.streamId === undefined || owned.streamId === null) return {};
    const result = await this.#releaseAs(owned.streamId, owned, owned.fence);
    const isNextOpen = topology.sessions.some(({ streamId }) => streamId === owned.nextStreamId);
    expect(result).to.deep.equal({
      outcome: 'released',
      nextStreamId: isNextOpen ? owned.nextStreamId : null,
      fence: isNextOpen ? owned.fence + 1 : owned.fence,
    });
    return { losers: [owned.streamId] };
  }

  async #releaseWrongly(before: Shared): Promise<Allowed> {
    const owned = this.#pick(before.topology.partitions.filter(({ streamId }) => streamId !== null));
    if (owned === undefined || owned.streamId === null) return {};
    const stranger = this.#pick(this.#streams.filter(({ streamId }) => streamId !== owned.streamId));
    for (const [streamId, fence] of [
      [stranger?.streamId ?? randomUUID(), owned.fence],
      [owned.streamId, owned.fence - 1],
    ] as const) {
      expect(await this.#releaseAs(streamId, owned, fence)).to.deep.equal({ outcome: 'fenced' });
    }
    expect((await this.#shared()).topology).to.deep.equal(before.topology);
    return {};
  }

  async #reset({ topology, offsets }: Shared): Promise<Allowed> {
    const process = this.#anyProcess();
    const losers = topology.sessions.map(({ streamId }) => streamId);
    expect(await process.beginReset(this.subscriptionId)).to.equal(true);
    for (const streamId of losers) await process.closeSession(this.subscriptionId, streamId);
    const partition = this.#below(partitionCount);
    const offset = this.#below(60) - 1;
    await process.finishReset(this.subscriptionId, [{ eventType, partition, offset }]);
    this.#deliveredThrough[partition] = offset;
    const expected = offsets.map((present, index) => (index === partition ? offset : present));
    expect((await this.#shared()).offsets).to.deep.equal(expected);
    return { losers, forcedOffsets: true };
  }

  async #remove({ topology }: Shared): Promise<Allowed> {
    await this.#anyProcess().remove(this.subscriptionId);
    this.#deliveredThrough.fill(-1);
    await this.#initialise();
    return { losers: topology.sessions.map(({ streamId }) => streamId), forcedOffsets: true, removal: true };
  }

  /** A living process knows everything that was acknowledged, so nothing may be missing afterwards. */
  async #lose({ topology }: Shared): Promise<Allowed> {
    // As every process with open streams does after each change.
    for (const process of this.#world.processes) await process.topology(this.subscriptionId);
    await this.#world.loseEverything?.();
    const dead = new Set(this.#nodes.filter(({ isDead }) => isDead).map(({ nodeId }) => nodeId));
    const losers = topology.sessions.filter(({ nodeId }) => dead.has(nodeId)).map(({ streamId }) => streamId);
    const deadline = performance.now() + 5_000;
    const expected = topology.sessions.filter(({ nodeId }) => !dead.has(nodeId)).map(({ streamId }) => streamId);
    for (;;) {
      const { sessions, partitions } = (await this.#shared()).topology;
      const present = new Set(sessions.map(({ streamId }) => streamId));
      const owners = new Map(partitions.map((partition) => [partition.partition, partition.streamId]));
      const isBack = expected.every((streamId) => present.has(streamId));
      const isOwned = topology.partitions.every(
        ({ partition, streamId }) => !expected.includes(streamId ?? '') || owners.get(partition) === streamId,
      );
      if (isBack && isOwned) return { losers };
      expect(performance.now(), 'open streams and what they own come back').to.be.below(deadline);
    }
  }

  // The invariants.

  #check(before: Shared, after: Shared, allowed: Allowed): void {
    const { losers = [], forcedOffsets = false, removal = false, reached } = allowed;
    if (reached !== undefined) expect(after.offsets, 'what was answered is stored').to.deep.equal(reached);
    if (after.topology.partitions.length !== partitionCount) throw new Error('A partition is not known');
    expect(after.topology.generation, 'the generation never shrinks').to.be.at.least(before.topology.generation);
    const openBefore = new Set(before.topology.sessions.map(({ streamId }) => streamId));
    const openAfter = new Set(after.topology.sessions.map(({ streamId }) => streamId));
    for (const now of after.topology.partitions) {
      const was = before.topology.partitions.find(({ partition }) => partition === now.partition);
      if (was === undefined) throw new Error('A partition came from nowhere');
      this.#checkOwnership(was, now);
      if (now.streamId !== null || forcedOffsets) this.#lastOwners.delete(now.partition);
      else if (was.streamId !== null && !openAfter.has(was.streamId)) {
        // When both streams of a hand-over died, the order in which they were closed decides which one was the last
        // owner.
        const isHandedOver = was.nextStreamId !== null && now.fence > was.fence;
        this.#lastOwners.set(now.partition, isHandedOver ? was.nextStreamId : was.streamId);
      }
      const lost = was.streamId !== null && openBefore.has(was.streamId) && now.streamId !== was.streamId;
      if (lost) expect(losers, 'I5: only who lets go loses a partition').to.include(was.streamId);
      const committed = after.offsets[now.partition] ?? -1;
      if (!forcedOffsets && !removal) {
        expect(committed, 'I2: offsets move forward').to.be.at.least(before.offsets[now.partition] ?? Infinity);
      }
      expect(committed, 'I1: no gap').to.be.at.most(this.#deliveredThrough[now.partition] ?? -1);
    }
  }

  #checkOwnership(was: PartitionOwnership, now: PartitionOwnership): void {
    const highest = this.#highestFences.get(now.partition) ?? 0;
    expect(now.fence, 'I6: a fence never shrinks').to.be.at.least(highest);
    if (now.streamId !== null && now.streamId !== was.streamId) {
      expect(now.fence, 'I4: a new owner has a new fence').to.be.greaterThan(highest);
    }
    this.#highestFences.set(now.partition, now.fence);
    expect(now.state === 'unassigned', 'unassigned means nobody').to.equal(now.streamId === null);
    expect(now.state === 'reassigning', 'only a reassigning one has a next').to.equal(now.nextStreamId !== null);
  }

  /** I11: with an open stream on a living node, every partition gets an open owner. */
  async #checkLiveness(): Promise<void> {
    await this.#anyProcess().reapSessions(this.subscriptionId);
    await this.#open();
    const deadline = performance.now() + 5_000;
    for (;;) {
      await this.#anyProcess().reapSessions(this.subscriptionId);
      await this.#rebalance(await this.#shared());
      const { sessions, partitions } = (await this.#shared()).topology;
      const autoStreams = sessions.filter(({ requestedPartitions }) => requestedPartitions.length === 0);
      if (autoStreams.length === 0) return;
      const open = new Set(sessions.map(({ streamId }) => streamId));
      if (partitions.every(({ streamId }) => streamId !== null && open.has(streamId))) return;
      expect(performance.now(), 'I11: every partition has an owner').to.be.below(deadline);
    }
  }

  // Helpers.

  async #shared(): Promise<Shared> {
    const process = this.#anyProcess();
    const [topology, committed] = await Promise.all([
      process.topology(this.subscriptionId),
      process.committedOffsets(this.subscriptionId),
    ]);
    return { topology, offsets: committed.map(({ offset }) => offset) };
  }

  #initialise(): Promise<void> {
    const start = Array.from({ length: partitionCount }, (_, partition): CommittedOffset => ({
      eventType,
      partition,
      offset: -1,
    }));
    return this.#anyProcess().initialise(this.subscriptionId, start);
  }

  async #addNode(process: Coordination | undefined): Promise<ModelNode> {
    if (process === undefined) throw new Error('There is no process');
    const node = { nodeId: randomUUID(), process, isDead: false };
    await process.renewLease(node.nodeId, leaseMilliseconds);
    this.#nodes.push(node);
    return node;
  }

  /** @returns undefined when the commit has to be retried, as may be necessary after a loss */
  async #tryCommit(streamId: string, cursors: readonly CursorToCommit[]): Promise<CommitResult | undefined> {
    try {
      return await this.#anyProcess().commit(this.subscriptionId, streamId, cursors);
    } catch (error) {
      const mayFail = this.#world.loseEverything !== undefined;
      if (mayFail && isLendstreamError(error, 'COORDINATION_UNAVAILABLE')) return undefined;
      throw error;
    }
  }

  #apply(generation: number, changes: readonly OwnershipChange[]): Promise<'applied' | 'conflict'> {
    return this.#anyProcess().applyOwnership(this.subscriptionId, generation, changes);
  }

  #releaseAs(streamId: string, ownership: PartitionOwnership, fence: number) {
    const { partition } = ownership;
    return this.#anyProcess().release(this.subscriptionId, streamId, { eventType, partition }, fence);
  }

  #anyProcess(): Coordination {
    const process = this.#pick(this.#world.processes);
    if (process === undefined) throw new Error('There is no process');
    return process;
  }

  /** A living stream, or one that should have ended, more often a recent one. */
  #pickStream(): ModelStream | undefined {
    return this.#pick(this.#streams.slice(-8));
  }

  #pickOperation(): WeightedOperation {
    const total = this.#operations.reduce((sum, [weight]) => sum + weight, 0);
    let left = this.#random() * total;
    for (const operation of this.#operations) {
      left -= operation[0];
      if (left < 0) return operation;
    }
    throw new Error('There is no operation');
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.#below(items.length)];
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import type { Coordination, OwnershipChange, Topology } from '../../src/ports/coordination.ts';
import { rebalance } from '../../src/broker/subscriptions/rebalance.ts';

const eventType = 'contract.histories';
const partitionCount = 4;
const leaseMilliseconds = 600_000;
const commitTimeoutMilliseconds = 600_000;

interface Commit {
  readonly kind: 'commit' | 'commitTogether';
  readonly stream: number;
  readonly partition: number;
  /** How far beyond the committed offset. */
  readonly ahead: number;
}

interface Reset {
  readonly kind: 'reset';
  readonly partition: number;
  readonly offset: number;
}

/** One step of a history. Its numbers choose among what exists at that moment. */
type Step =
  | { readonly kind: 'open'; readonly requested: number | undefined }
  | { readonly kind: 'close'; readonly stream: number }
  | { readonly kind: 'release' | 'releaseAsStranger'; readonly partition: number }
  | { readonly kind: 'settle' | 'applyStale' | 'takeFromOwner' }
  | Commit
  | Reset;

const partition = fc.nat(partitionCount - 1);
const stream = fc.nat(7);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('open'), requested: fc.option(partition, { nil: undefined }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('close'), stream }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('release'), partition }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('releaseAsStranger'), partition }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('settle') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('applyStale') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('takeFromOwner') }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('commit'), stream, partition, ahead: fc.integer({ min: -3, max: 5 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('commitTogether'), stream, partition, ahead: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset'), partition, offset: fc.nat(20) }) },
);

/**
 * Random histories of streams that open, close, commit, hand over and reset. Closed streams continue to commit, like
 * real ones that have not noticed. After each step the state of the store is checked against the invariants.
 */
export function describeRandomHistories(open: () => Coordination): void {
  describe('random histories', () => {
    it('keep one owner per partition, rising fences, and offsets that only a reset moves back', async function () {
      this.timeout(60_000);
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
          const history = new History(open());
          await history.begin();
          for (const each of steps) await history.runStep(each);
          await history.end();
        }),
        { numRuns: 25 },
      );
    });
  });
}

class History {
  readonly #coordination: Coordination;
  readonly #subscription = randomUUID();
  readonly #node = randomUUID();
  /** Every stream so far, including closed ones. */
  readonly #streams: string[] = [];
  /** A generation that is no longer current, with changes that were valid under it. */
  #stale: { generation: number; changes: OwnershipChange[] } | undefined;
  #opened = 0;
  /** By partition: the stream that closed as its owner, as long as no other stream gets the partition. */
  readonly #lastOwners = new Map<number, string>();

  constructor(coordination: Coordination) {
    this.#coordination = coordination;
  }

  async begin(): Promise<void> {
    await this.#coordination.renewLease(this.#node, leaseMilliseconds);
    await this.#coordination.initialise(
      this.#subscription,
      Array.from({ length: partitionCount }, (_, number) => ({ eventType, partition: number, offset: -1 })),
    );
  }

  async end(): Promise<void> {
    await this.#coordination.remove(this.#subscription);
  }

  async runStep(next: Step): Promise<void> {
    const before = await this.#topology();
    const offsetsBefore = await this.#offsets();
    const mayLose = await this.#execute(next, before, offsetsBefore);
    const after = await this.#topology();
    const offsetsAfter = await this.#offsets();

    expect(after.generation, 'the generation never shrinks').to.be.at.least(before.generation);
    const openBefore = new Set(before.sessions.map(({ streamId }) => streamId));
    const openAfter = new Set(after.sessions.map(({ streamId }) => streamId));
    for (const [index, now] of after.partitions.entries()) {
      const was = before.partitions[index];
      if (was === undefined) throw new Error('A partition came from nowhere');
      expect(now.fence, 'a fence never shrinks').to.be.at.least(was.fence);
      if (now.streamId !== null && now.streamId !== was.streamId) {
        expect(now.fence, 'a new owner has a new fence').to.be.greaterThan(was.fence);
      }
      if (now.streamId !== null) expect(openAfter.has(now.streamId), 'an owner is open').to.equal(true);
      expect(now.state === 'unassigned', 'unassigned means nobody').to.equal(now.streamId === null);
      expect(now.state === 'reassigning', 'only a reassigning one has a next').to.equal(now.nextStreamId !== null);
      if (now.streamId !== null || next.kind === 'reset') this.#lastOwners.delete(now.partition);
      else if (was.streamId !== null && !openAfter.has(was.streamId)) this.#lastOwners.set(now.partition, was.streamId);
      const lost = was.streamId !== null && openBefore.has(was.streamId) && now.streamId !== was.streamId;
      if (lost) expect(mayLose, `an open owner lost a partition by ${next.kind}`).to.include(was.streamId);
      if (next.kind !== 'reset') {
        expect(offsetsAfter[index], 'an offset never moves back').to.be.at.least(offsetsBefore[index] ?? Infinity);
      }
    }
  }

  /** @returns the streams that may lose partitions by this step */
  async #execute(next: Step, before: Topology, offsets: readonly number[]): Promise<readonly string[]> {
    switch (next.kind) {
      case 'open':
        return this.#open(next.requested);
      case 'close':
        await this.#coordination.closeSession(this.#subscription, this.#stream(next.stream));
        return [this.#stream(next.stream)];
      case 'settle':
        return this.#applyRebalance(before);
      case 'applyStale':
        return this.#applyStale(before);
      case 'takeFromOwner':
        return this.#reassignFromOwner(before);
      case 'release':
      case 'releaseAsStranger':
        return this.#release(before, next.partition, next.kind === 'release');
      case 'commit':
      case 'commitTogether':
        return this.#commit(next, before, offsets);
      case 'reset':
      default:
        return this.#reset(next, before, offsets);
    }
  }

  async #open(requested: number | undefined): Promise<readonly string[]> {
    const streamId = randomUUID();
    this.#opened += 1;
    const requestedPartitions = requested === undefined ? [] : [{ eventType, partition: requested }];
    const session = {
      streamId,
      nodeId: this.#node,
      requestedPartitions,
      openedAt: this.#opened,
      commitTimeoutMilliseconds,
    };
    const { outcome } = await this.#coordination.openSession(this.#subscription, session);
    if (outcome === 'opened') this.#streams.push(streamId);
    return [];
  }

  async #applyRebalance({ generation, sessions, partitions }: Topology): Promise<readonly string[]> {
    const changes = rebalance(sessions, partitions);
    expect(await this.#apply(generation, changes)).to.equal('applied');
    if (changes.length > 0) this.#stale = { generation, changes };
    return [];
  }

  async #applyStale(before: Topology): Promise<readonly string[]> {
    if (this.#stale === undefined) return [];
    expect(await this.#apply(this.#stale.generation, this.#stale.changes)).to.equal('conflict');
    expect(await this.#topology(), 'a stale compare-and-set changes nothing').to.deep.equal(before);
    return [];
  }

  async #reassignFromOwner({ generation, sessions, partitions }: Topology): Promise<readonly string[]> {
    const owned = partitions.find(({ streamId }) => streamId !== null);
    const otherSession = sessions.find(({ streamId }) => streamId !== owned?.streamId);
    if (owned === undefined || otherSession === undefined) return [];
    const change = { eventType, partition: owned.partition, state: 'assigned' as const, nextStreamId: null };
    expect(await this.#apply(generation, [{ ...change, streamId: otherSession.streamId }])).to.equal('conflict');
    return [];
  }

  async #release(before: Topology, number: number, isOwner: boolean): Promise<readonly string[]> {
    const owned = before.partitions[number];
    if (owned === undefined || owned.streamId === null) return [];
    const streamId = isOwner ? owned.streamId : randomUUID();
    const result = await this.#coordination.release(this.#subscription, streamId, owned, owned.fence);
    expect(result.outcome).to.equal(isOwner ? 'released' : 'fenced');
    return isOwner ? [streamId] : [];
  }

  async #commit(next: Commit, before: Topology, offsets: readonly number[]): Promise<readonly string[]> {
    const streamId = this.#stream(next.stream);
    const known = offsets[next.partition] ?? -1;
    const offset = Math.max(-1, known + next.ahead);
    const together = next.kind === 'commit' ? [offset] : [offset, offset + 1, offset];
    const results = await Promise.all(
      together.map((each) =>
        this.#coordination.commit(this.#subscription, streamId, [
          { eventType, partition: next.partition, offset: each },
        ]),
      ),
    );
    const isOpen = before.sessions.some((session) => session.streamId === streamId);
    const owner = isOpen ? before.partitions[next.partition]?.streamId : this.#lastOwners.get(next.partition);
    const isOwner = owner === streamId;
    const refusal = isOpen ? 'not_owner' : 'session_not_found';
    for (const { outcome } of results) expect(outcome).to.equal(isOwner ? 'committed' : refusal);
    expect((await this.#offsets())[next.partition]).to.equal(isOwner ? Math.max(known, ...together) : known);
    return [];
  }

  async #reset(next: Reset, before: Topology, offsets: readonly number[]): Promise<readonly string[]> {
    const streams = before.sessions.map(({ streamId }) => streamId);
    expect(await this.#coordination.beginReset(this.#subscription)).to.equal(true);
    for (const streamId of streams) await this.#coordination.closeSession(this.#subscription, streamId);
    await this.#coordination.finishReset(this.#subscription, [
      { eventType, partition: next.partition, offset: next.offset },
    ]);
    const expected = offsets.map((offset, index) => (index === next.partition ? next.offset : offset));
    expect(await this.#offsets()).to.deep.equal(expected);
    return streams;
  }

  #apply(generation: number, changes: readonly OwnershipChange[]): Promise<'applied' | 'conflict'> {
    return this.#coordination.applyOwnership(this.#subscription, generation, changes);
  }

  #stream(number: number): string {
    return this.#streams[number % Math.max(1, this.#streams.length)] ?? randomUUID();
  }

  #topology(): Promise<Topology> {
    return this.#coordination.topology(this.#subscription);
  }

  async #offsets(): Promise<number[]> {
    return (await this.#coordination.committedOffsets(this.#subscription)).map(({ offset }) => offset);
  }
}

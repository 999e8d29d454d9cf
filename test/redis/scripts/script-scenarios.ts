import type { Claims } from '../../../src/redis/claims/claimed-work.ts';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import type { CommittedOffset, Coordination, PartitionOwnership, Topology } from '../../../src/ports/coordination.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import { recordFailure, type FailureRecord } from '../../../src/ports/failed-deliveries.ts';
import { readMirror } from '../../../src/broker/log/cursors-topic.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { rebalance } from '../../../src/broker/subscriptions/rebalance.ts';
import { allShards, shardCount, shardOf, type KeySpace } from '../../../src/redis/keys.ts';
import { loadScripts, mergedKeys, scriptKeys, type ScriptSource } from '../../../src/redis/script-loading.ts';

/** The environment of a scenario: two processes on the same scripts, which may be wrong. */
export interface ScenarioWorld {
  readonly first: Coordination & Claims;
  readonly second: Coordination & Claims;
  readonly client: Redis;
  readonly keys: KeySpace;
  readonly log: EventLog;
  readonly scriptSource: ScriptSource;
  /**
   * How often a scenario looks for what has to come soon, with a pause between. Checks are counted and no time: on a
   * busy machine each of them takes longer, as the awaited work does.
   */
  readonly checksMaximum: number;
  elapse(milliseconds: number): Promise<void>;
}

const eventType = 'scenario.loans';
/** Of the first process, and of the second: a process closes what it does not know of its own node. */
const node = 'scenario-node';
const nodeOfSecond = 'scenario-other-node';
const leaseMilliseconds = 600_000;
const commitTimeoutMilliseconds = 400_000;
/** What is left of a time that is nearly over: more than a slow machine takes for the next steps. */
const restMilliseconds = 300_000;
/** Newer than every epoch that a scenario gets, and so far below the largest exact number that fences can grow. */
const epochAhead = 8e15;

const partitionAt = (partition: number) => ({ eventType, partition });
const at = (partition: number, offset: number): CommittedOffset => ({ eventType, partition, offset });
const notOwner = (partition: number) => ({ outcome: 'not_owner', cursor: partitionAt(partition) });

/** A separate subscription for each scenario. */
class Scenario {
  readonly subscription: string;
  readonly world: ScenarioWorld;

  constructor(world: ScenarioWorld, subscription: string = randomUUID()) {
    this.world = world;
    this.subscription = subscription;
  }

  initialise(...offsets: number[]): Promise<void> {
    return this.world.first.initialise(
      this.subscription,
      offsets.map((offset, partition) => at(partition, offset)),
    );
  }

  async join({ requested = [], nodeId, process = this.world.first }: JoinOptions = {}): Promise<string> {
    const streamId = randomUUID();
    nodeId ??= process === this.world.first ? node : nodeOfSecond;
    await process.renewLease(nodeId, leaseMilliseconds);
    const requestedPartitions = requested.map(partitionAt);
    const session = { streamId, nodeId, requestedPartitions, openedAt: 1, commitTimeoutMilliseconds };
    expect(await process.openSession(this.subscription, session)).to.deep.equal({ outcome: 'opened' });
    return streamId;
  }

  async refusedJoin(requested: number[] = []): Promise<string> {
    const requestedPartitions = requested.map(partitionAt);
    const streamId = randomUUID();
    const session = { streamId, nodeId: node, requestedPartitions, openedAt: 1, commitTimeoutMilliseconds };
    return (await this.world.first.openSession(this.subscription, session)).outcome;
  }

  topology(): Promise<Topology> {
    return this.world.first.topology(this.subscription);
  }

  async applyRebalance(): Promise<void> {
    const { generation, sessions, partitions } = await this.topology();
    const changes = rebalance(sessions, partitions);
    expect(await this.world.first.applyOwnership(this.subscription, generation, changes)).to.equal('applied');
  }

  /** A stream that owns partitions with these offsets. */
  async owning(...offsets: number[]): Promise<string> {
    await this.initialise(...offsets);
    const streamId = await this.join();
    await this.applyRebalance();
    return streamId;
  }

  async partition(number: number): Promise<PartitionOwnership> {
    const found = (await this.topology()).partitions.find(({ partition }) => partition === number);
    if (found === undefined) throw new Error(`Partition ${number} is not known`);
    return found;
  }

  async offsets(process: Coordination = this.world.first): Promise<number[]> {
    return (await process.committedOffsets(this.subscription)).map(({ offset }) => offset);
  }

  commit(streamId: string, ...cursors: (CommittedOffset & { fence?: number })[]) {
    return this.world.first.commit(this.subscription, streamId, cursors);
  }

  release(streamId: string, partition: number, fence: number) {
    return this.world.first.release(this.subscription, streamId, partitionAt(partition), fence);
  }

  async apply(generation: number, partition: number, streamId: string, nextStreamId: string | null = null) {
    const state = nextStreamId === null ? ('assigned' as const) : ('reassigning' as const);
    const changes = [{ ...partitionAt(partition), state, streamId, nextStreamId }];
    return this.world.first.applyOwnership(this.subscription, generation, changes);
  }

  key(kind: Parameters<KeySpace['key']>[1]): string {
    return this.world.keys.key(this.subscription, kind);
  }

  /** What a node restores of partition 0 after a loss, and a session for the stream that owns it. */
  merge({ offset = '', streamId = '', isRefill = false }: MergeOptions): Promise<unknown> {
    const { client, scriptSource } = this.world;
    const keys = [...scriptKeys['refill/merge'], ...mergedKeys].map((kind) => this.key(kind));
    const head = ['', 'nobody', 'nobody', isRefill ? 1 : 0, 0, this.subscription, 0, 1];
    const partition = [1, partitionKey(partitionAt(0)), offset, 3, streamId, 0];
    const session = { nodeId: node, openedAt: 1, requestedPlaces: [], commitTimeoutMilliseconds };
    const sessions = streamId === '' ? [0] : [1, streamId, JSON.stringify(session)];
    const script = loadScripts(scriptSource).get('refill/merge')?.text ?? '';
    return client.eval(script, keys.length, ...keys, ...head, ...partition, ...sessions);
  }

  /** As after a refill: other nodes may still come back for some minutes. */
  async beginRecovery(): Promise<void> {
    const { client } = this.world;
    await client.hset(this.key('meta'), 'refilled', 1);
    await client.hset(this.key('shard'), 'recoverUntil', Date.now() + leaseMilliseconds);
  }

  async mirrored(): Promise<number[]> {
    return ((await readMirror(this.world.log)).get(this.subscription) ?? []).map(({ offset }) => offset);
  }

  /** Redis loses all data of this service. */
  async lose(): Promise<void> {
    await this.#loseShards(allShards);
  }

  /** Redis loses the data of the shard of this subscription. */
  async loseShard(): Promise<void> {
    await this.#loseShards([shardOf(this.subscription)]);
  }

  async #loseShards(shards: readonly number[]): Promise<void> {
    const { client, keys } = this.world;
    const all = await Promise.all(
      shards.map((shard) => {
        const one = keys.shardKey(shard, 'shard');
        return client.keys(`${one.slice(0, one.lastIndexOf(':'))}*`);
      }),
    );
    for (const list of all) if (list.length > 0) await client.del(...list);
  }
}

interface MergeOptions {
  /** In the form of Redis: offset@epoch. */
  readonly offset?: string;
  readonly streamId?: string;
  /** Whether nothing else is known yet. */
  readonly isRefill?: boolean;
}

interface JoinOptions {
  readonly requested?: number[];
  readonly nodeId?: string;
  readonly process?: Coordination;
}

/** Notifications that are repeated in case they were lost are not included. */
function watchChanges(process: Coordination, subscription: string, notified: Set<string>): () => void {
  return process.watch(subscription, (change, generation) => {
    if (generation === undefined) notified.add(change);
  });
}

/** A subscription of the same shard. */
function neighbourOf(subscription: string): string {
  for (;;) {
    const neighbour = randomUUID();
    if (shardOf(neighbour) === shardOf(subscription)) return neighbour;
  }
}

/** The id of a subscription of another shard. */
function idOfOtherShard(subscription: string): string {
  for (;;) {
    const other = randomUUID();
    if (shardOf(other) !== shardOf(subscription)) return other;
  }
}

async function soon(world: ScenarioWorld, condition: () => Promise<boolean>): Promise<void> {
  if (!(await isSoon(world, condition))) throw new Error('What was waited for did not come');
}

/** Between two checks of a condition. Milliseconds. */
const pauseMilliseconds = 20;

async function isSoon({ checksMaximum }: ScenarioWorld, condition: () => Promise<boolean>): Promise<boolean> {
  for (let check = 0; check < checksMaximum; check += 1) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
  }
  return false;
}

type Scenarios = Readonly<Record<string, (world: ScenarioWorld) => Promise<void>>>;

/** By name; each throws when something is wrong. These run concurrently. */
export const scenarios: Scenarios = {
  'a commit is accepted from the owner only, under its fence, and while its session is open': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(5, 5);
    const other = await scenario.join();
    const { fence } = await scenario.partition(0);
    expect(await scenario.commit(streamId, { ...at(0, 6), fence: fence - 1 })).to.deep.equal(notOwner(0));
    expect(await scenario.commit(other, at(0, 6))).to.deep.equal(notOwner(0));
    expect(await scenario.commit(streamId, at(0, 6), at(7, 6))).to.deep.equal(notOwner(7));
    await scenario.applyRebalance();
    await scenario.release(streamId, 1, (await scenario.partition(1)).fence);
    expect(await scenario.commit(streamId, at(0, 6), at(1, 6))).to.deep.equal(notOwner(1));
    expect(await scenario.offsets()).to.deep.equal([5, 5]);
    // Nothing but its session is gone.
    await world.client.hdel(scenario.key('sessions'), streamId);
    expect(await scenario.commit(streamId, at(0, 6))).to.deep.equal({ outcome: 'session_not_found' });
  },

  'a closed stream may commit what it owned last until another stream gets it': async (world) => {
    const scenario = new Scenario(world);
    const notFound = { outcome: 'session_not_found' };
    const done = { outcome: 'committed', advanced: [true] };
    const streamId = await scenario.owning(5, 5);
    const { fence } = await scenario.partition(0);
    await world.first.closeSession(scenario.subscription, streamId);
    expect(await scenario.commit(streamId)).to.deep.equal(notFound);
    expect(await scenario.commit(randomUUID(), at(0, 6))).to.deep.equal(notFound);
    expect(await scenario.commit(streamId, { ...at(0, 6), fence: fence - 1 })).to.deep.equal(notFound);
    expect(await scenario.commit(streamId, at(0, 6), at(7, 6))).to.deep.equal(notFound);
    expect(await scenario.commit(streamId, at(0, 6))).to.deep.equal(done);
    const next = await scenario.join({ requested: [0] });
    await scenario.applyRebalance();
    expect(await scenario.commit(streamId, at(0, 7))).to.deep.equal(notFound);
    await world.first.closeSession(scenario.subscription, next, 'refused');
    expect(await scenario.commit(streamId, at(0, 7))).to.deep.equal(notFound);
    expect(await scenario.commit(next, at(0, 7))).to.deep.equal(notFound);
    expect(await scenario.offsets()).to.deep.equal([6, 5]);
  },

  'a strict session commits what it was sent and no more, closed or restored, and what is recorded late is ignored':
    async (world) => {
      const scenario = new Scenario(world);
      const notSent = (partition: number, offset: number) => ({ outcome: 'not_sent', cursor: at(partition, offset) });
      await scenario.initialise(5, 5);
      const streamId = randomUUID();
      const timing = { openedAt: 1, commitTimeoutMilliseconds };
      await world.first.renewLease(node, leaseMilliseconds);
      const session = { streamId, nodeId: node, requestedPartitions: [], ...timing, sentOffsets: [] };
      await world.first.openSession(scenario.subscription, session);
      await scenario.applyRebalance();
      expect(await scenario.commit(streamId, at(0, 6))).to.deep.equal(notSent(0, 6));
      const record = (...sent: CommittedOffset[]) => world.first.recordSent(scenario.subscription, streamId, sent);
      expect(await record(at(0, 8), at(1, 6))).to.equal(true);
      expect(await record(at(0, 9))).to.equal(true);
      expect(await record(at(0, 7), at(1, 9))).to.equal(true);
      expect(await scenario.commit(streamId, at(0, 9))).to.deep.equal(notSent(0, 9));
      expect(await scenario.commit(streamId, at(1, 7))).to.deep.equal(notSent(1, 7));
      expect(await scenario.commit(streamId, at(0, 5), at(0, 7))).to.deep.equal({
        outcome: 'committed',
        advanced: [false, true],
      });
      await scenario.merge({ streamId });
      expect(await scenario.commit(streamId, at(0, 9)), 'restored late').to.deep.equal(notSent(0, 9));
      await world.first.closeSession(scenario.subscription, streamId);
      expect(await scenario.commit(streamId, at(0, 9)), 'closed').to.deep.equal(notSent(0, 9));
      expect(await scenario.commit(streamId, at(0, 8)), 'closed').to.deep.equal({
        outcome: 'committed',
        advanced: [true],
      });
      const gone = { ...session, streamId: randomUUID() };
      await world.first.openSession(scenario.subscription, gone);
      // Nothing but its session is gone.
      await world.client.hdel(scenario.key('sessions'), gone.streamId);
      expect(await world.first.recordSent(scenario.subscription, gone.streamId, [at(0, 9)]), 'gone').to.equal(false);
    },

  'failed deliveries are counted when a session closes, by the rule of the port': async (world) => {
    const scenario = new Scenario(world);
    await scenario.initialise(4, 4);
    const reports: [number, number, number][] = [
      [5, 9, 3],
      [5, 6, 3],
      [7, 8, 3],
      [7, 12, 3],
      [7, 7, 3],
      [7, 7, 3],
      [7, 7, 3],
      [12, 12, 3],
      [13, 13, 3],
    ];
    let expected: FailureRecord | undefined;
    for (const [firstOffset, throughOffset, failuresMaximum] of reports) {
      const streamId = await scenario.join();
      await scenario.applyRebalance();
      const delivery = { ...partitionAt(0), firstOffset, throughOffset };
      const failed = { failuresMaximum, partitions: [delivery] };
      await world.first.closeSession(scenario.subscription, streamId, 'accepted', failed);
      expected = recordFailure(expected, delivery, failuresMaximum);
      expect((await scenario.partition(0)).failureRecord).to.deep.equal(expected);
      expect((await scenario.partition(1)).failureRecord).to.equal(undefined);
    }
    const owner = await scenario.join();
    await scenario.applyRebalance();
    const next = await scenario.join({ requested: [0] });
    await scenario.applyRebalance();
    expect(await scenario.commit(owner, { ...at(0, 9), fence: (await scenario.partition(0)).fence })).to.deep.equal({
      outcome: 'committed',
      advanced: [true],
    });
    await scenario.release(owner, 0, (await scenario.partition(0)).fence);
    expect(await scenario.partition(0)).to.deep.include({ streamId: next, failureRecord: expected });
    await world.first.beginReset(scenario.subscription);
    await world.first.finishReset(scenario.subscription, [at(1, 4)]);
    expect((await scenario.partition(0)).failureRecord).to.equal(undefined);
  },

  'a stream may still commit when its session was closed because its node died': async (world) => {
    const scenario = new Scenario(world);
    await scenario.initialise(5);
    const streamId = await scenario.join({ nodeId: 'scenario-silent-node' });
    await scenario.applyRebalance();
    await world.client.hdel(world.keys.shardKey(shardOf(scenario.subscription), 'nodes'), 'scenario-silent-node');
    await world.first.reapSessions(scenario.subscription);
    expect(await scenario.commit(streamId, at(0, 6))).to.deep.equal({ outcome: 'committed', advanced: [true] });
  },

  'offsets move forward only, judged in order': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(5);
    expect(await scenario.commit(streamId, at(0, 9), at(0, 7), at(0, 10))).to.deep.equal({
      outcome: 'committed',
      advanced: [true, false, true],
    });
    expect(await scenario.offsets()).to.deep.equal([10]);
    expect(await scenario.commit(streamId, at(0, 3))).to.deep.equal({ outcome: 'committed', advanced: [false] });
    expect(await scenario.commit(streamId, at(0, 10))).to.deep.equal({ outcome: 'committed', advanced: [false] });
    expect(await scenario.offsets()).to.deep.equal([10]);
  },

  'commits that share a call are each judged by themselves, after those before them': async (world) => {
    const scenario = new Scenario(world);
    const neighbour = new Scenario(world, neighbourOf(scenario.subscription));
    const streamId = await scenario.owning(5, 5);
    const other = await neighbour.owning(5);
    const done = (...advanced: boolean[]) => ({ outcome: 'committed', advanced });
    const results = await Promise.all([
      scenario.commit(streamId, at(0, 8)),
      neighbour.commit(other, at(0, 6)),
      scenario.commit(streamId, at(0, 7), at(1, 6)),
      neighbour.commit(streamId, at(0, 9)),
      scenario.commit(streamId, at(1, 9), at(7, 9)),
      scenario.commit(streamId, at(0, 9), at(1, 5)),
      neighbour.commit(other, at(0, 7), at(0, 6)),
    ]);
    expect(results).to.deep.equal([
      done(true),
      done(true),
      done(false, true),
      { outcome: 'session_not_found' },
      notOwner(7),
      done(true, false),
      done(true, false),
    ]);
    expect(await scenario.offsets()).to.deep.equal([9, 6]);
    expect(await neighbour.offsets()).to.deep.equal([7]);
  },

  'large numbers are kept exactly': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(-1);
    const offset = Number.MAX_SAFE_INTEGER - 1;
    await scenario.commit(streamId, at(0, offset));
    expect(await scenario.offsets()).to.deep.equal([offset]);
    expect((await scenario.partition(0)).fence).to.satisfy(Number.isSafeInteger);
  },

  'committed offsets are dirty until they are mirrored, which happens soon': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(-1);
    const member = `${scenario.subscription}/${partitionKey(partitionAt(0))}`;
    const dirty = (): Promise<string | null> => world.client.hget(scenario.key('dirty'), member);
    let offset = 4;
    let marked: string | null = null;
    // On a busy machine an offset may be mirrored before its mark is read.
    for (; offset < 8 && marked === null; offset += 1) {
      await scenario.commit(streamId, at(0, offset));
      marked = await dirty();
    }
    expect(marked).to.match(new RegExp(`^${offset - 1}@\\d+$`));
    await soon(world, async () => (await scenario.mirrored())[0] === offset - 1);
    await soon(world, async () => (await dirty()) === null);
  },

  'offsets that changed while they were mirrored stay dirty, and a late writer writes the newer ones again': async (
    world,
  ) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(-1);
    const field = partitionKey(partitionAt(0));
    const isCorrected = async (offset: number): Promise<boolean> => {
      await scenario.commit(streamId, at(0, offset));
      const stored = (await world.client.hget(scenario.key('offsets'), field)) ?? '';
      await world.client.hset(scenario.key('offsets'), field, stored.replace(`${offset}@`, `${offset + 4}@`));
      return isSoon(world, async () => (await scenario.mirrored())[0] === offset + 4);
    };
    // On a busy machine the mirror may be written before the newer offset is set, and nothing has to be corrected.
    for (const offset of [4, 14, 24, 34]) if (await isCorrected(offset)) return;
    throw new Error('The newer offset was never mirrored');
  },

  'a commit that Redis has lost is restored once the mirror has it': async (world) => {
    const scenario = new Scenario(world);
    await scenario.initialise(4);
    const field = partitionKey(partitionAt(0));
    const stored = (await world.client.hget(scenario.key('offsets'), field)) ?? '';
    const keys = (['shard', 'dirty', 'offsets'] as const).map((kind) => scenario.key(kind));
    const incarnation = (await world.client.hget(scenario.key('shard'), 'incarnation')) ?? '';
    const mirrored = stored.replace('4@', '9@');
    const values = [incarnation, 'nobody', 'nobody', '1', field, `${scenario.subscription}/${field}`, mirrored];
    const script = loadScripts(world.scriptSource).get('clear-dirty')?.text ?? '';
    expect(await world.client.eval(script, keys.length, ...keys, ...values)).to.deep.equal(['OK']);
    expect(await scenario.offsets()).to.deep.equal([9]);
  },

  'a compare-and-set under an older generation changes nothing': async (world) => {
    const scenario = new Scenario(world);
    await scenario.initialise(-1);
    const { generation } = await scenario.topology();
    const streamId = await scenario.join();
    expect(await scenario.apply(generation, 0, streamId)).to.equal('conflict');
    expect((await scenario.partition(0)).streamId).to.equal(null);
  },

  'every change of sessions and ownership raises the generation': async (world) => {
    const scenario = new Scenario(world);
    let generation = 0;
    const grown = async (step: string): Promise<void> => {
      const now = (await scenario.topology()).generation;
      expect(now, step).to.be.greaterThan(generation);
      generation = now;
    };
    await scenario.initialise(-1, -1);
    await grown('initialise');
    const streamId = await scenario.join();
    await grown('open');
    await scenario.applyRebalance();
    await grown('apply');
    await scenario.release(streamId, 0, (await scenario.partition(0)).fence);
    await grown('release');
    await world.first.closeSession(scenario.subscription, streamId);
    await grown('close');
    await world.first.beginReset(scenario.subscription);
    await grown('begin reset');
    await world.first.finishReset(scenario.subscription, [at(0, 3)]);
    await grown('finish reset');
  },

  'an open owner keeps its partition, and closed streams get none': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(-1, -1);
    const other = await scenario.join();
    await scenario.initialise(-1, -1, -1);
    const { generation } = await scenario.topology();
    expect(await scenario.apply(generation, 0, other), 'steal').to.equal('conflict');
    expect(await scenario.apply(generation, 2, 'gone'), 'closed owner').to.equal('conflict');
    expect(await scenario.apply(generation, 0, streamId, 'gone'), 'closed next').to.equal('conflict');
    expect(await scenario.apply(generation, 0, other, streamId), 'reassigned by a stranger').to.equal('conflict');
    expect(await scenario.apply(generation, 9, other), 'unknown partition').to.equal('conflict');
    expect((await scenario.partition(0)).streamId).to.equal(streamId);
  },

  'each new owner has the next fence, and an owner that stays keeps its own': async (world) => {
    const scenario = new Scenario(world);
    await scenario.initialise(-1, -1);
    const before = (await scenario.partition(1)).fence;
    const streamId = await scenario.join();
    await scenario.applyRebalance();
    expect((await scenario.partition(1)).fence).to.equal(before + 1);
    const next = await scenario.join();
    await scenario.applyRebalance();
    expect(await scenario.partition(1)).to.deep.include({ state: 'reassigning', streamId, fence: before + 1 });
    expect(await scenario.release(streamId, 1, before + 1)).to.deep.equal({
      outcome: 'released',
      nextStreamId: next,
      fence: before + 2,
    });
    expect(await scenario.partition(1)).to.deep.include({ state: 'assigned', streamId: next, fence: before + 2 });
    await world.first.closeSession(scenario.subscription, next);
    await scenario.applyRebalance();
    expect(await scenario.partition(1)).to.deep.include({ streamId, fence: before + 3 });
  },

  'only the owner releases, under its fence, and nothing goes to a stream that has closed': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(-1, -1);
    const next = await scenario.join();
    await scenario.applyRebalance();
    const { fence } = await scenario.partition(1);
    expect(await scenario.release(next, 1, fence)).to.deep.equal({ outcome: 'fenced' });
    expect(await scenario.release(streamId, 1, fence - 1)).to.deep.equal({ outcome: 'fenced' });
    await world.first.closeSession(scenario.subscription, next);
    expect(await scenario.release(streamId, 1, fence)).to.deep.include({ outcome: 'released', nextStreamId: null });
    expect(await scenario.partition(1)).to.deep.include({ state: 'unassigned', streamId: null, nextStreamId: null });
  },

  'a closed session leaves nothing behind': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(-1, -1);
    const next = await scenario.join();
    await scenario.applyRebalance();
    await world.first.closeSession(scenario.subscription, streamId);
    const { sessions } = await scenario.topology();
    expect(sessions.map((session) => session.streamId)).to.deep.equal([next]);
    expect(await scenario.partition(0)).to.deep.include({ state: 'unassigned', streamId: null });
    expect(await scenario.partition(1)).to.deep.include({ state: 'assigned', streamId: next });
  },

  'there are as many slots as partitions, and each partition is requested once': async (world) => {
    const scenario = new Scenario(world);
    await scenario.initialise(-1, -1);
    await scenario.join({ requested: [1] });
    await scenario.join();
    expect(await scenario.refusedJoin()).to.equal('no_free_slots');
    expect(await scenario.refusedJoin([1])).to.equal('partitions_taken');
    expect(await scenario.refusedJoin([0])).to.equal('opened');
  },

  'initialising changes no known partition': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(5);
    await scenario.initialise(9, 9);
    expect(await scenario.offsets()).to.deep.equal([5, 9]);
    expect((await scenario.partition(0)).streamId).to.equal(streamId);
  },

  'a removed subscription is gone, and a new one has higher numbers whatever the time': async (world) => {
    const scenario = new Scenario(world);
    await scenario.owning(10);
    const owner = (await world.client.hget(scenario.key('owners'), partitionKey(partitionAt(0)))) ?? '';
    const { fence } = await scenario.partition(0);
    const ahead = fence + 1_000_000_000_000;
    await world.client.hset(
      scenario.key('owners'),
      partitionKey(partitionAt(0)),
      owner.replace(`${fence}`, `${ahead}`),
    );
    await world.first.remove(scenario.subscription);
    expect(await scenario.offsets()).to.deep.equal([]);
    expect((await scenario.topology()).sessions).to.deep.equal([]);
    await scenario.initialise(2);
    expect((await scenario.partition(0)).fence).to.be.greaterThan(ahead);
  },

  'a removed subscription does not come back from the memory of a process': async (world) => {
    const scenario = new Scenario(world);
    await scenario.owning(10);
    const key = partitionKey(partitionAt(0));
    const known = (await world.client.hget(scenario.key('offsets'), key)) ?? '';
    await world.first.remove(scenario.subscription);
    // Every reply also says how long other nodes may still come back.
    const [outcome, , changed] = (await scenario.merge({ offset: known })) as string[];
    expect([outcome, changed]).to.deep.equal(['OK', '0']);
    expect(await scenario.offsets()).to.deep.equal([]);
  },

  'a refill during which data was lost is not accepted': async (world) => {
    const { client, keys, scriptSource } = world;
    const scripts = loadScripts(scriptSource);
    const run = (name: 'refill/begin-refill' | 'refill/finish-refill', ...values: string[]): Promise<unknown> =>
      client.eval(scripts.get(name)?.text ?? '', 1, shard, ...values);
    const shard = keys.shardKey(shardCount, 'shard');
    expect(await run('refill/begin-refill', '', 'one')).to.deep.equal(['OK']);
    await client.del(shard);
    expect(await run('refill/finish-refill', 'one', '0', 'nobody', '600000')).to.deep.equal(['LOST']);
    await run('refill/begin-refill', '', 'two');
    expect(await run('refill/finish-refill', 'two', '9000000000000000', 'nobody', '600000')).to.deep.equal(['OK']);
    const [seconds] = await client.time();
    const left = Number(await client.hget(shard, 'recoverUntil')) - Number(seconds) * 1_000;
    expect(left, 'for the other nodes').to.be.within(300_000, 601_000);
    const incarnation = await client.hget(shard, 'incarnation');
    expect(Number(incarnation)).to.be.greaterThan(9_000_000_000_000_000);
    expect(await run('refill/begin-refill', '5', 'three'), 'another incarnation stays').to.deep.equal(['OTHER']);
    expect(await client.hget(shard, 'incarnation')).to.equal(incarnation);
    await client.del(shard);
  },

  'the other process is notified of every change': async (world) => {
    const scenario = new Scenario(world);
    const notified = new Set<string>();
    const stop = watchChanges(world.second, scenario.subscription, notified);
    // A watch begins with a notification of its own.
    await soon(world, async () => notified.has('topology'));
    const expecting = async (change: string, act: () => Promise<unknown>): Promise<void> => {
      notified.clear();
      await act();
      await soon(world, async () => notified.has(change));
    };
    await expecting('topology', () => scenario.initialise(-1, -1));
    let streamId = '';
    await expecting('topology', async () => {
      streamId = await scenario.join();
    });
    await expecting('topology', () => scenario.applyRebalance());
    // No other process waits for commits on the process of their stream. What follows arrives after them.
    let commitsNotified = 0;
    const stopCounting = world.second.watch(scenario.subscription, (change) => {
      if (change === 'offsets') commitsNotified += 1;
    });
    for (const offset of [1, 2, 3]) await scenario.commit(streamId, at(0, offset));
    await expecting('topology', async () => {
      await scenario.release(streamId, 1, (await scenario.partition(1)).fence);
    });
    stopCounting();
    // Shortly after its start a process is told to read everything.
    expect(commitsNotified).to.be.below(3);
    await expecting('topology', () => world.first.closeSession(scenario.subscription, streamId));
    await expecting('reset', () => world.first.beginReset(scenario.subscription));
    await expecting('offsets', () => world.first.finishReset(scenario.subscription, [at(0, 0)]));
    await expecting('removed', () => world.first.remove(scenario.subscription));
    stop();
  },

  'the process of a stream is notified of its commits on another one': async (world) => {
    const scenario = new Scenario(world);
    const notified = new Set<string>();
    const streamId = await scenario.owning(-1, -1);
    const own = await scenario.join({ process: world.second });
    const stop = watchChanges(world.first, scenario.subscription, notified);
    await soon(world, async () => notified.has('topology'));
    // One may be a coincidence: shortly after its start a process is told to read everything.
    for (const offset of [1, 2, 3]) {
      notified.clear();
      // They share a call, and only the first one changes anything.
      await Promise.all([
        world.second.commit(scenario.subscription, streamId, [at(0, offset)]),
        world.second.commit(scenario.subscription, streamId, [at(0, offset)]),
        world.second.commit(scenario.subscription, own, [at(0, offset)]),
      ]);
      await soon(world, async () => notified.has('offsets'));
    }
    stop();
  },
};

/** These disturb others: time passes, or everything is lost. */
export const disturbingScenarios: Scenarios = {
  'after a loss a partition goes to the first node that restores it, and to no later one': async (world) => {
    const scenario = new Scenario(world);
    const owner = async (): Promise<string | null> => (await scenario.partition(0)).streamId;
    await scenario.merge({ offset: '5@1', isRefill: true });
    expect(await owner()).to.equal(null);
    await world.client.hset(scenario.key('shard'), 'recoverUntil', Date.now() + leaseMilliseconds);
    await scenario.merge({ streamId: 'first' });
    expect(await owner()).to.equal('first');
    await scenario.merge({ streamId: 'second' });
    expect(await owner()).to.equal('first');
    expect((await scenario.topology()).sessions.map(({ streamId }) => streamId)).to.deep.equal(['first', 'second']);
    await world.first.closeSession(scenario.subscription, 'first');
    await world.client.hset(scenario.key('shard'), 'recoverUntil', 1);
    await scenario.merge({ streamId: 'second' });
    expect(await owner()).to.equal(null);
    expect(await scenario.offsets()).to.deep.equal([5]);
  },

  'after a loss no stream comes back while a reset is in progress': async (world) => {
    const scenario = new Scenario(world);
    const streams = async () => (await scenario.topology()).sessions.map(({ streamId }) => streamId);
    await scenario.merge({ offset: '5@1', isRefill: true });
    await world.client.hset(scenario.key('shard'), 'recoverUntil', Date.now() + leaseMilliseconds);
    await scenario.merge({ streamId: 'known' });
    await world.first.beginReset(scenario.subscription);
    await scenario.merge({ streamId: 'late' });
    await scenario.merge({ streamId: 'known' });
    expect([await streams(), (await scenario.partition(0)).streamId]).to.deep.equal([['known'], 'known']);
    await world.first.finishReset(scenario.subscription, []);
    await scenario.merge({ streamId: 'late' });
    expect(await streams()).to.have.members(['known', 'late']);
  },

  'while other nodes may still come back, no partition is taken and no commit is refused permanently': async (
    world,
  ) => {
    const scenario = new Scenario(world);
    await scenario.initialise(-1, -1);
    const streamId = await scenario.join();
    await scenario.beginRecovery();
    const newer = new Scenario(world, neighbourOf(scenario.subscription));
    await newer.initialise(-1);
    await newer.join();
    await newer.applyRebalance();
    const { generation } = await scenario.topology();
    expect(await scenario.apply(generation, 0, streamId)).to.equal('conflict');
    for (const stranger of [streamId, randomUUID()]) {
      const result: unknown = await scenario.commit(stranger, at(0, 1)).catch((error: unknown) => error);
      expect(result).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    }
    await world.client.hset(scenario.key('shard'), 'recoverUntil', 1);
  },

  'what a check of watched subscriptions may find is counted': async (world) => {
    const scenario = new Scenario(world);
    const shard = scenario.key('shard');
    const expectCounted = async (act: () => Promise<unknown>): Promise<void> => {
      const before = Number(await world.client.hget(shard, 'changes'));
      await act();
      expect(Number(await world.client.hget(shard, 'changes'))).to.be.above(before);
    };
    await expectCounted(() => scenario.initialise(-1));
    let streamId = '';
    await expectCounted(async () => (streamId = await scenario.join()));
    await expectCounted(() => scenario.applyRebalance());
    await expectCounted(() => world.first.beginReset(scenario.subscription));
    await expectCounted(() => world.first.finishReset(scenario.subscription, [at(0, 3)]));
    await expectCounted(() => world.first.closeSession(scenario.subscription, streamId));
    await expectCounted(() => scenario.merge({ offset: `9@${epochAhead}` }));
    const nodes = world.keys.shardKey(shardOf(scenario.subscription), 'nodes');
    await world.client.hset(nodes, 'scenario-ended-node', '1');
    await expectCounted(() => world.first.renewLease(node, leaseMilliseconds));
    await expectCounted(() => world.first.remove(scenario.subscription));
  },

  'the state of a shard says whether a check may find anything': async (world) => {
    const { client, keys, scriptSource } = world;
    const scenario = new Scenario(world);
    await scenario.initialise(-1);
    await world.first.renewLease(node, leaseMilliseconds);
    const [shard, nodes] = [scenario.key('shard'), keys.shardKey(shardOf(scenario.subscription), 'nodes')];
    const state = async (incarnation?: string): Promise<unknown> => {
      const found = incarnation ?? (await client.hget(shard, 'incarnation')) ?? '';
      const script = loadScripts(scriptSource).get('shard-state')?.text ?? '';
      return client.eval(script, 2, shard, nodes, found, 'no channel', 'no origin');
    };
    const changes = await client.hget(shard, 'changes');
    expect(Number(changes)).to.be.above(0);
    expect(await state()).to.deep.equal(['OK', changes, '0']);
    expect(await state('5'), 'another incarnation').to.include('INCARNATION');
    await client.hset(nodes, 'scenario-ended-node', '1');
    expect(await state(), 'a lease has ended').to.deep.equal(['OK', changes, '1']);
    await client.hdel(nodes, 'scenario-ended-node');
    await client.hset(shard, 'returnUntil', Date.now() + leaseMilliseconds);
    expect(await state(), 'after an outage').to.deep.equal(['OK', changes, '1']);
    await client.hset(shard, 'returnUntil', 1);
    expect(await state()).to.deep.equal(['OK', changes, '0']);
  },

  'leases are renewed in, and states read of, several shards at once, or none when one was lost': async (world) => {
    const { client, keys, scriptSource } = world;
    const scenario = new Scenario(world);
    await scenario.initialise(-1);
    await world.first.renewLease(node, leaseMilliseconds);
    const own = shardOf(scenario.subscription);
    const shards = [own, (own + 1) % shardCount, (own + 2) % shardCount];
    const scriptKeysOfAll = shards.flatMap((shard) => [keys.shardKey(shard, 'shard'), keys.shardKey(shard, 'nodes')]);
    const known = await Promise.all(
      shards.map(async (shard) => (await client.hget(keys.shardKey(shard, 'shard'), 'incarnation')) ?? ''),
    );
    const run = async (name: 'shard-state' | 'renew-lease', values: string[], found = known): Promise<unknown> => {
      const [first = '', ...others] = found;
      const script = loadScripts(scriptSource).get(name)?.text ?? '';
      const all = [first, 'no channel', 'no origin', ...values, ...others];
      return client.eval(script, scriptKeysOfAll.length, ...scriptKeysOfAll, ...all);
    };
    const changesOf = (shard: number): Promise<string | null> => client.hget(keys.shardKey(shard, 'shard'), 'changes');
    const last = shards.at(-1) ?? 0;
    const lastNodes = keys.shardKey(last, 'nodes');
    await client.hset(keys.shardKey(last, 'shard'), 'returnUntil', 1);
    await client.hset(lastNodes, 'scenario-ended-node', '1');
    const changes = await Promise.all(shards.map(async (shard) => (await changesOf(shard)) ?? '0'));
    const [, ...states] = (await run('shard-state', [])) as string[];
    expect(states.filter((_, index) => index % 2 === 0)).to.deep.equal(changes);
    expect(states.at(-1), 'a lease of the last one has ended').to.equal('1');
    const renewal = ['several', '60000', '600000000', '1'];
    for (const place of shards.keys()) {
      const other = known.map((incarnation, index) => (index === place ? '5' : incarnation));
      expect(await run('shard-state', [], other), `shard ${place} was lost`).to.include('INCARNATION');
      expect(await run('renew-lease', renewal, other), `shard ${place} was lost`).to.include('INCARNATION');
    }
    expect(await client.hexists(keys.shardKey(own, 'nodes'), 'several'), 'nothing was done').to.equal(0);
    expect(await run('renew-lease', renewal)).to.deep.equal(['OK']);
    for (const shard of shards) {
      expect(await client.hexists(keys.shardKey(shard, 'nodes'), 'several'), `shard ${shard}`).to.equal(1);
    }
    expect(await client.hexists(lastNodes, 'scenario-ended-node')).to.equal(0);
    expect(Number(await changesOf(last)), 'counted where it ended').to.be.above(Number(changes.at(-1)));
    for (const shard of shards) await client.hdel(keys.shardKey(shard, 'nodes'), 'several');
  },

  'sessions end with the lease of their node, and not before': async (world) => {
    const scenario = new Scenario(world);
    await scenario.initialise(-1, -1);
    const dying = randomUUID();
    const dead = await scenario.join({ nodeId: dying });
    const alive = await scenario.join();
    await scenario.applyRebalance();
    expect(await world.first.reapSessions(scenario.subscription)).to.equal(0);
    await world.elapse(leaseMilliseconds - restMilliseconds);
    await world.first.renewLease(node, leaseMilliseconds);
    expect(await world.first.reapSessions(scenario.subscription)).to.equal(0);
    await world.elapse(restMilliseconds);
    expect(await world.first.reapSessions(scenario.subscription)).to.equal(1);
    const { sessions, partitions } = await scenario.topology();
    expect(sessions.map(({ streamId }) => streamId)).to.deep.equal([alive]);
    expect(partitions.map(({ streamId }) => streamId)).not.to.include(dead);
  },

  'a free slot goes to the stream that has waited longest, as long as its place and its node last': async (world) => {
    const scenario = new Scenario(world);
    const { subscription } = scenario;
    await scenario.initialise(-1, -1);
    const ask = async (streamId: string, placeMilliseconds = 2 * restMilliseconds, nodeId = node): Promise<string> => {
      const session = { streamId, nodeId, requestedPartitions: [], openedAt: 1, commitTimeoutMilliseconds };
      return (await world.first.openSession(subscription, session, placeMilliseconds)).outcome;
    };
    const [early, late, passing, orphan] = ['early', 'late', 'passing', 'orphan'].map(
      (name) => `${name}-${randomUUID()}`,
    ) as [string, string, string, string];
    const [owner, otherOwner] = [await scenario.join(), await scenario.join()];
    expect(await ask(early)).to.equal('no_free_slots');
    expect(await ask(late)).to.equal('no_free_slots');
    await world.first.closeSession(subscription, owner);
    expect(await ask(late)).to.equal('no_free_slots');
    expect(await ask(early)).to.equal('opened');
    await world.first.closeSession(subscription, otherOwner);
    expect(await ask(late)).to.equal('opened');
    expect(await ask(passing, restMilliseconds)).to.equal('no_free_slots');
    const dying = randomUUID();
    await world.first.renewLease(dying, restMilliseconds);
    expect(await ask(orphan, 2 * restMilliseconds, dying)).to.equal('no_free_slots');
    await world.elapse(restMilliseconds);
    await world.first.renewLease(node, leaseMilliseconds);
    await world.first.closeSession(subscription, late);
    expect(await ask(randomUUID(), 0)).to.equal('opened');
  },

  'the time for late commits is the commit timeout of the session': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(5);
    await world.first.closeSession(scenario.subscription, streamId);
    await world.elapse(commitTimeoutMilliseconds - restMilliseconds);
    expect(await scenario.commit(streamId, at(0, 6))).to.deep.equal({ outcome: 'committed', advanced: [true] });
    await world.elapse(restMilliseconds);
    expect(await scenario.commit(streamId, at(0, 7))).to.deep.equal({ outcome: 'session_not_found' });
  },

  'a closed session that a Redis with older data restores cannot commit': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(5);
    const kinds = ['owners', 'sessions'] as const;
    const old = await Promise.all(kinds.map((kind) => world.client.hgetall(scenario.key(kind))));
    await world.first.closeSession(scenario.subscription, streamId, 'refused');
    for (const [index, kind] of kinds.entries()) await world.client.hset(scenario.key(kind), old[index] ?? {});
    await world.client.hdel(scenario.key('shard'), 'incarnation');
    expect((await scenario.topology()).sessions).to.deep.equal([]);
    await world.client.hset(scenario.key('shard'), 'recoverUntil', 1);
    expect(await scenario.commit(streamId, at(0, 6))).to.deep.equal({ outcome: 'session_not_found' });
  },

  'no session ends while nodes may still come back from an outage or a loss': async (world) => {
    const scenario = new Scenario(world);
    await scenario.initialise(-1, -1);
    await scenario.join({ nodeId: randomUUID() });
    const alive = await scenario.join();
    await world.elapse(leaseMilliseconds);
    const shard = world.keys.shardKey(shardOf(scenario.subscription), 'shard');
    await world.client.hincrby(shard, 'heardAt', -leaseMilliseconds);
    await world.first.renewLease(node, leaseMilliseconds);
    expect(await world.first.reapSessions(scenario.subscription), 'after an outage').to.equal(0);
    await world.client.hset(shard, 'returnUntil', 1);
    await scenario.beginRecovery();
    expect(await world.first.reapSessions(scenario.subscription), 'after a loss').to.equal(0);
    await world.client.hset(scenario.key('shard'), 'recoverUntil', 1);
    expect(await world.first.reapSessions(scenario.subscription)).to.equal(1);
    expect((await scenario.topology()).sessions.map(({ streamId }) => streamId)).to.deep.equal([alive]);
  },

  'sessions of watched subscriptions end too, except those of the checking process': async (world) => {
    const { client, keys, first } = world;
    const watched = new Scenario(world);
    const neighbour = new Scenario(world, neighbourOf(watched.subscription));
    const [own, dying] = [randomUUID(), randomUUID()];
    const shard = keys.shardKey(shardOf(watched.subscription), 'shard');
    const look = async (mayClose: '0' | '1', incarnation?: string): Promise<string[]> => {
      const both = [watched, neighbour];
      const kinds = ['meta', 'owners', 'sessions'] as const;
      const watchedKeys = [
        ...scriptKeys['check-watched'].map((kind) => watched.key(kind)),
        ...both.flatMap((scenario) => kinds.map((kind) => scenario.key(kind))),
      ];
      const found = incarnation ?? (await client.hget(shard, 'incarnation')) ?? '';
      const head = [found, keys.channel(''), 'nobody', mayClose, own];
      const script = loadScripts(world.scriptSource).get('check-watched')?.text ?? '';
      const ids = both.map(({ subscription }) => subscription);
      return (await client.eval(script, watchedKeys.length, ...watchedKeys, ...head, ...ids)) as string[];
    };
    const generations = async (): Promise<string[]> =>
      [await watched.topology(), await neighbour.topology()].map(({ generation }) => String(generation));
    await watched.initialise(-1, -1);
    await neighbour.initialise(-1);
    const ownStream = await watched.join({ nodeId: own });
    const dead = await watched.join({ nodeId: dying });
    await watched.applyRebalance();
    const lost = (await watched.topology()).partitions.find(({ streamId }) => streamId === dead)?.partition ?? -1;
    const alive = await neighbour.join();
    await first.renewLease(node, 3 * leaseMilliseconds);
    const before = await generations();
    expect(await look('1'), 'all are alive').to.deep.equal(['OK', ...before]);
    await world.elapse(leaseMilliseconds);
    expect(await look('0'), 'nothing may be closed').to.deep.equal(['OK', ...before]);
    expect(await look('1', '5'), 'another incarnation').to.include('INCARNATION');
    await client.hset(shard, 'returnUntil', Date.now() + leaseMilliseconds);
    expect(await look('1'), 'after an outage').to.deep.equal(['OK', ...before]);
    await client.hset(shard, 'returnUntil', 1);
    await watched.beginRecovery();
    expect(await look('1'), 'after a loss').to.deep.equal(['OK', ...before]);
    await client.hset(watched.key('shard'), 'recoverUntil', 1);
    const listening = client.duplicate();
    const notified: string[] = [];
    listening.on('message', (_channel: string, text: string) => notified.push(text));
    try {
      await listening.subscribe(keys.channel(watched.subscription), keys.channel(neighbour.subscription));
      expect(await look('1'), 'one has died').to.deep.equal(['OK', String(Number(before[0]) + 1), before[1]]);
      await soon(world, async () => notified.length > 0);
    } finally {
      listening.disconnect();
    }
    expect(notified).to.deep.equal(['nobody topology']);
    expect(await watched.commit(dead, at(lost, 1))).to.deep.equal({ outcome: 'committed', advanced: [true] });
    const { sessions, partitions } = await watched.topology();
    expect(sessions.map(({ streamId }) => streamId)).to.deep.equal([ownStream]);
    expect(new Set(partitions.map(({ streamId }) => streamId))).to.deep.equal(new Set([ownStream, null]));
    expect((await neighbour.topology()).sessions.map(({ streamId }) => streamId)).to.deep.equal([alive]);
    expect(await look('1')).to.deep.equal(['OK', ...(await generations())]);
  },

  'a reset moves backwards, removes all owners under new fences, and refuses streams until it ends': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(10, 10);
    const fences = (await scenario.topology()).partitions.map(({ fence }) => fence);
    expect(await world.first.beginReset(scenario.subscription)).to.equal(true);
    expect(await world.first.beginReset(scenario.subscription)).to.equal(false);
    expect(await world.second.beginReset(scenario.subscription)).to.equal(false);
    expect(await scenario.refusedJoin()).to.equal('resetting');
    await world.client.hdel(scenario.key('meta'), 'resetUntil');
    const finished: unknown = await world.first
      .finishReset(scenario.subscription, [at(0, 3)])
      .catch((error: unknown) => error);
    expect(finished, 'the mark is lost').to.have.property('code', 'COORDINATION_UNAVAILABLE');
    expect(await world.first.beginReset(scenario.subscription)).to.equal(true);
    await world.client.hdel(scenario.key('meta'), 'resetUntil');
    expect(await world.second.beginReset(scenario.subscription)).to.equal(true);
    const late: unknown = await world.first
      .finishReset(scenario.subscription, [at(0, 3)])
      .catch((error: unknown) => error);
    expect(late, 'another one has begun').to.have.property('code', 'COORDINATION_UNAVAILABLE');
    await world.first.finishReset(scenario.subscription, []);
    expect(await scenario.refusedJoin(), 'that one goes on').to.equal('resetting');
    await world.second.finishReset(scenario.subscription, []);
    expect(await world.first.beginReset(scenario.subscription)).to.equal(true);
    await world.first.finishReset(scenario.subscription, [at(0, 3)]);
    expect(await scenario.commit(streamId, at(0, 11))).to.deep.equal(notOwner(0));
    expect(await scenario.commit(streamId, at(1, 11))).to.deep.equal(notOwner(1));
    const { partitions, resetting } = await scenario.topology();
    expect(resetting).to.equal(false);
    for (const [index, { fence }] of partitions.entries()) expect(fence).to.be.greaterThan(fences[index] ?? Infinity);
    expect(await scenario.offsets()).to.deep.equal([3, 10]);
    await scenario.lose();
    expect(await scenario.offsets(), 'after a loss').to.deep.equal([3, 10]);
  },

  'a claim is released by its owner only': async (world) => {
    const name = randomUUID();
    expect(await world.first.claim(name, restMilliseconds)).to.equal(true);
    await world.elapse(restMilliseconds);
    expect(await world.second.claim(name, restMilliseconds)).to.equal(true);
    await world.first.releaseClaim(name);
    expect(await world.first.claim(name, restMilliseconds)).to.equal(false);
    await world.second.releaseClaim(name);
    expect(await world.first.claim(name, restMilliseconds)).to.equal(true);
  },

  'a claim is renewed by its owner only, from then on for the whole time': async (world) => {
    const name = randomUUID();
    expect(await world.first.renewClaim(name, restMilliseconds), 'nobody has it').to.equal(false);
    expect(await world.first.claim(name, restMilliseconds)).to.equal(true);
    await world.elapse(restMilliseconds - 1_000);
    expect(await world.second.renewClaim(name, restMilliseconds)).to.equal(false);
    expect(await world.first.renewClaim(name, restMilliseconds)).to.equal(true);
    await world.elapse(restMilliseconds - 1_000);
    expect(await world.second.claim(name, restMilliseconds)).to.equal(false);
    await world.elapse(1_000);
    expect(await world.second.claim(name, restMilliseconds)).to.equal(true);
    expect(await world.first.renewClaim(name, restMilliseconds), 'another one has it').to.equal(false);
  },

  'a loss is detected by the first call, and everything is as before under higher fences': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(5, 5);
    await scenario.commit(streamId, at(0, 8));
    const before = await scenario.topology();
    await scenario.lose();
    expect(await scenario.commit(streamId, at(1, 7))).to.deep.equal({ outcome: 'committed', advanced: [true] });
    expect(await scenario.offsets()).to.deep.equal([8, 7]);
    const after = await scenario.topology();
    expect(after.generation).to.be.greaterThan(before.generation);
    expect(after.sessions).to.deep.equal(before.sessions);
    for (const [index, partition] of after.partitions.entries()) {
      expect(partition.streamId).to.equal(streamId);
      expect(partition.fence).to.be.greaterThan(before.partitions[index]?.fence ?? Infinity);
    }
    await world.client.hset(scenario.key('shard'), 'recoverUntil', 1);
    expect(await world.first.reapSessions(scenario.subscription), 'leases are back').to.equal(0);
    await scenario.lose();
    expect(await scenario.offsets()).to.deep.equal([8, 7]);
    await scenario.lose();
    expect((await scenario.topology()).sessions).to.deep.equal(before.sessions);
  },

  'commits of several shards share a call, in which each shard counts by itself': async (world) => {
    const done = { outcome: 'committed', advanced: [true] };
    const one = new Scenario(world);
    const far = new Scenario(world, idOfOtherShard(one.subscription));
    const near = new Scenario(world, neighbourOf(far.subscription));
    const all = [one, far, near];
    const streams: string[] = [];
    for (const scenario of all) {
      streams.push(await scenario.owning(5));
      // This process restores what it has seen.
      await scenario.topology();
    }
    const commitAll = (offset: number) =>
      Promise.all(all.map((scenario, index) => scenario.commit(streams[index] ?? '', at(0, offset))));
    const offsets = async () => (await Promise.all(all.map((scenario) => scenario.offsets()))).flat();
    expect(await commitAll(7)).to.deep.equal([done, done, done]);
    expect(await offsets()).to.deep.equal([7, 7, 7]);
    const isAnyDirty = async (): Promise<boolean> =>
      (await world.client.hlen(one.key('dirty'))) + (await world.client.hlen(far.key('dirty'))) > 0;
    await soon(world, async () => !(await isAnyDirty()));
    await one.beginRecovery();
    const unknown = await Promise.allSettled([one, far].map((scenario) => scenario.commit(randomUUID(), at(0, 8))));
    expect(unknown.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled']);
    await world.client.hset(one.key('shard'), 'recoverUntil', 1);
    await far.beginRecovery();
    const other = await Promise.allSettled([one, far].map((scenario) => scenario.commit(randomUUID(), at(0, 8))));
    expect(other.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected']);
    await world.client.hset(far.key('shard'), 'recoverUntil', 1);
    await far.loseShard();
    expect(await commitAll(9), 'one shard is lost').to.deep.equal([done, done, done]);
    expect(await offsets()).to.deep.equal([9, 9, 9]);
  },

  'both processes restore their own streams after a loss': async (world) => {
    const scenario = new Scenario(world);
    await scenario.initialise(-1, -1);
    await scenario.join();
    await scenario.join({ process: world.second });
    await scenario.applyRebalance();
    const before = await scenario.topology();
    await world.second.topology(scenario.subscription);
    await scenario.lose();
    await scenario.offsets();
    // As nodes do that live. Otherwise each process ends the session of the other once the time to come back is over.
    await world.first.renewLease(node, leaseMilliseconds);
    await world.second.renewLease(nodeOfSecond, leaseMilliseconds);
    await soon(world, async () => {
      const { partitions, sessions } = await scenario.topology();
      const isOwned = partitions.every(({ streamId }, index) => streamId === before.partitions[index]?.streamId);
      return isOwned && sessions.length === 2;
    });
  },

  'older offsets, fences and sessions that come back are detected and corrected': async (world) => {
    const scenario = new Scenario(world);
    const streamId = await scenario.owning(-1, -1);
    const kinds = ['offsets', 'owners', 'sessions'] as const;
    const old = await Promise.all(kinds.map((kind) => world.client.hgetall(scenario.key(kind))));
    await scenario.commit(streamId, at(0, 9));
    await world.first.closeSession(scenario.subscription, streamId);
    const next = await scenario.join();
    await scenario.applyRebalance();
    const before = await scenario.topology();
    await scenario.offsets();
    for (const [index, kind] of kinds.entries()) await world.client.hset(scenario.key(kind), old[index] ?? {});
    const after = await scenario.topology();
    expect(after.partitions.map((partition) => partition.streamId)).to.deep.equal([next, next]);
    expect(after.sessions.map((session) => session.streamId)).to.deep.equal([next]);
    for (const [index, { fence }] of after.partitions.entries()) {
      expect(fence).to.be.greaterThan(before.partitions[index]?.fence ?? Infinity);
    }
    expect(await scenario.offsets()).to.deep.equal([9, -1]);
  },
};

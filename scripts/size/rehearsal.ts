import { randomUUID } from 'node:crypto';
import { rebalance } from '../../src/broker/subscriptions/rebalance.ts';
import { applyRebalance } from '../../src/broker/subscriptions/ownership-changes.ts';
import { every, giveWay, type Clock } from '../../src/clock.ts';
import type { CommittedOffset, Coordination, Topology } from '../../src/ports/coordination.ts';
import { shardCount, shardOf } from '../../src/redis/keys.ts';

/**
 * Plays the part of a large installation that fits into one process: the real assignment and the real coordination,
 * with all subscriptions and streams, but without events, sockets and consumers.
 */

export interface Size {
  readonly subscriptions: number;
  readonly streamsPerSubscription: number;
  readonly partitionsPerSubscription: number;
}

/** What a store has used of the processor and of memory so far. */
export interface Usage {
  readonly processorMicroseconds: number;
  readonly bytes: number;
}

export interface RehearsedStore {
  readonly coordination: Coordination;
  /** The clock of the coordination. */
  readonly clock: Clock;
  /** Of the store alone where it is a process of its own, else of this process. */
  usage(): Promise<Usage>;
  /** Makes the store lose everything. Absent where it cannot without this process. */
  forget?(): Promise<void>;
}

/** One part of the rehearsal, with what it cost the store. */
export interface Part {
  readonly name: string;
  readonly count: number;
  readonly microsecondsEach: number;
  readonly bytesEach: number;
  readonly elapsedSeconds: number;
}

/** How many operations are under way at a time. */
const operationsAtOnce = 200;

/** Streams are spread over so many nodes; then one of them dies. */
const nodeCount = 4;

const commitTimeoutMilliseconds = 60_000;
const leaseMilliseconds = 20_000;
const renewalMilliseconds = 2_000;

/** How long subscriptions are watched. Several rounds of checks. */
const watchMilliseconds = 6_000;

/** How often each shard changes while the checks after changes are measured: more often than there are rounds. */
const changeMilliseconds = 1_000;

/** After as long, the log has all offsets that were committed. */
const mirrorMilliseconds = 5_000;

/** How often a store that has lost everything is asked whether it answers again. */
const recoveryPollMilliseconds = 100;

/**
 * Opens all streams, commits once for each partition, watches all subscriptions at rest and while each shard changes,
 * lets one of four nodes die, and in the end lets the store lose everything.
 * @param progress Receives the name of each part when it begins.
 * @throws Error when a stream has no fair share of its subscription, or a partition belongs to a stream that is gone
 */
export async function rehearse(store: RehearsedStore, size: Size, progress: (text: string) => void): Promise<Part[]> {
  const run = randomUUID();
  const nodes = Array.from({ length: nodeCount }, (_, index) => `${run}-node-${index}`);
  const living = new Set(nodes);
  const renew = async (): Promise<void> => {
    await Promise.all([...living].map((node) => store.coordination.renewLease(node, leaseMilliseconds)));
  };
  await renew();
  const renewal = every(store.clock, renewalMilliseconds, () => void renew());
  try {
    const subscriptions = Array.from({ length: size.subscriptions }, (_, index) => `${run}-${index}`);
    const parts = new Parts(store, progress);
    await openStreams(parts, subscriptions, nodes, size);
    await commitAll(parts, subscriptions, size);
    await watchAll(parts, subscriptions, run);
    living.delete(nodes[0] ?? '');
    progress('One node dies');
    await store.clock.sleep(leaseMilliseconds);
    await shareOutAgain(parts, subscriptions, size.streamsPerSubscription - streamsOnNode(0, size));
    await loseAll(parts, subscriptions, size);
    return parts.list;
  } finally {
    renewal.cancel();
  }
}

/** Measures one part after another. */
class Parts {
  readonly list: Part[] = [];
  readonly store: RehearsedStore;
  readonly #progress: (text: string) => void;

  constructor(store: RehearsedStore, progress: (text: string) => void) {
    this.store = store;
    this.#progress = progress;
  }

  async measure(name: string, count: number, work: () => Promise<unknown>): Promise<void> {
    const { store } = this;
    this.#progress(`${name}, ${count.toLocaleString('en-US')}`);
    const before = await store.usage();
    const begin = store.clock.monotonic();
    await work();
    const elapsedSeconds = (store.clock.monotonic() - begin) / 1_000;
    const after = await store.usage();
    this.list.push({
      name,
      count,
      microsecondsEach: (after.processorMicroseconds - before.processorMicroseconds) / count,
      bytesEach: (after.bytes - before.bytes) / count,
      elapsedSeconds,
    });
  }
}

async function openStreams(
  parts: Parts,
  subscriptions: readonly string[],
  nodes: readonly string[],
  { streamsPerSubscription, partitionsPerSubscription }: Size,
): Promise<void> {
  const { coordination } = parts.store;
  const start = startOf(partitionsPerSubscription);
  await parts.measure('subscriptions initialised', subscriptions.length, () =>
    inGroups(subscriptions, (id) => coordination.initialise(id, start)),
  );
  const streams = subscriptions.flatMap((id) =>
    Array.from({ length: streamsPerSubscription }, (_, number) => ({
      id,
      number,
    })),
  );
  await parts.measure('streams opened', streams.length, () =>
    inGroups(streams, ({ id, number }) =>
      coordination.openSession(id, {
        streamId: `${id}/${number}`,
        nodeId: nodes[number % nodeCount] ?? '',
        requestedPartitions: [],
        openedAt: number,
        commitTimeoutMilliseconds,
      }),
    ),
  );
  await parts.measure('subscriptions shared out', subscriptions.length, () =>
    inGroups(subscriptions, async (id) => checkShares(await applyRebalance(coordination, id), streamsPerSubscription)),
  );
}

/** Where a new subscription starts in as many partitions: before their first events. */
function startOf(partitionCount: number): CommittedOffset[] {
  return Array.from({ length: partitionCount }, (_, partition) => ({
    eventType: 'rehearsal',
    partition,
    offset: -1,
  }));
}

async function commitAll(parts: Parts, subscriptions: readonly string[], size: Size): Promise<void> {
  const { coordination } = parts.store;
  await parts.measure('commits', subscriptions.length * size.partitionsPerSubscription, () =>
    inGroups(subscriptions, async (id) => {
      const { partitions } = await coordination.topology(id);
      for (const { eventType, partition, streamId } of partitions) {
        const result = await coordination.commit(id, streamId ?? '', [{ eventType, partition, offset: 1 }]);
        if (result.outcome !== 'committed') throw new Error(`A commit of ${id} was answered ${result.outcome}`);
      }
    }),
  );
}

async function watchAll(parts: Parts, subscriptions: readonly string[], run: string): Promise<void> {
  const { coordination, clock } = parts.store;
  // What the mirror takes for the commits is no part of it.
  await clock.sleep(mirrorMilliseconds);
  const unwatch = subscriptions.map((id) => coordination.watch(id, () => {}));
  await parts.measure('subscriptions watched for six seconds', subscriptions.length, () =>
    clock.sleep(watchMilliseconds),
  );
  const changing = oneOfEachShard(run);
  for (const id of changing) await coordination.initialise(id, startOf(1));
  let isOpen = false;
  const change = async (): Promise<void> => {
    isOpen = !isOpen;
    const stream = {
      streamId: 'changing',
      nodeId: `${run}-node-0`,
      requestedPartitions: [],
      openedAt: 0,
    };
    await Promise.all(
      changing.map((id) =>
        isOpen
          ? coordination.openSession(id, {
              ...stream,
              commitTimeoutMilliseconds,
            })
          : coordination.closeSession(id, stream.streamId),
      ),
    );
  };
  const changes = every(clock, changeMilliseconds, () => void change());
  await parts.measure('the same while each shard changes', subscriptions.length, () => clock.sleep(watchMilliseconds));
  changes.cancel();
  for (const stop of unwatch) stop();
}

/** Ids of subscriptions that are not watched, one in each shard of Redis. */
function oneOfEachShard(run: string): string[] {
  const found = new Map<number, string>();
  for (let number = 0; found.size < shardCount; number += 1) {
    const id = `${run}-changing-${number}`;
    found.set(shardOf(id), id);
  }
  return [...found.values()];
}

/** Waits until a store that lost everything answers again: by then one process has brought the cursors back. */
async function loseAll(parts: Parts, subscriptions: readonly string[], size: Size): Promise<void> {
  const { coordination, clock } = parts.store;
  if (parts.store.forget === undefined) return;
  await parts.store.forget();
  const cursors = subscriptions.length * size.partitionsPerSubscription;
  await parts.measure('cursors brought back into an empty Redis', cursors, async () => {
    for (const id of subscriptions) {
      while (!(await answers(coordination, id))) await clock.sleep(recoveryPollMilliseconds);
    }
  });
}

async function answers(coordination: Coordination, id: string): Promise<boolean> {
  try {
    await coordination.topology(id);
    return true;
  } catch {
    return false;
  }
}

async function shareOutAgain(parts: Parts, subscriptions: readonly string[], streamsLeft: number): Promise<void> {
  const { coordination } = parts.store;
  await parts.measure('subscriptions shared out after the death of a node', subscriptions.length, () =>
    inGroups(subscriptions, async (id) => {
      await coordination.reapSessions(id);
      checkShares(await applyRebalance(coordination, id), streamsLeft);
    }),
  );
}

/** How many streams of a subscription are on the node with this number. */
function streamsOnNode(node: number, { streamsPerSubscription }: Size): number {
  return Math.ceil((streamsPerSubscription - node) / nodeCount);
}

/** @throws Error unless every partition has an open stream, and the streams have the same number up to one */
function checkShares(topology: Topology, streamCount: number): void {
  const settled = rebalance(topology.sessions, topology.partitions).length === 0;
  const counts = new Map(topology.sessions.map(({ streamId }) => [streamId, 0]));
  for (const { streamId, nextStreamId } of topology.partitions) {
    const owner = nextStreamId ?? streamId ?? '';
    const count = counts.get(owner);
    if (count === undefined) throw new Error('A partition has no open stream');
    counts.set(owner, count + 1);
  }
  const shares = [...counts.values()];
  if (!settled || counts.size !== streamCount || Math.max(...shares) - Math.min(...shares) > 1) {
    throw new Error(`${streamCount} streams share their partitions as ${shares.join(', ')}`);
  }
}

async function inGroups<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const next = items.values();
  await Promise.all(
    Array.from({ length: operationsAtOnce }, async () => {
      for (const item of next) {
        await work(item);
        // A store in memory lets no timer run otherwise, and leases would end.
        await giveWay();
      }
    }),
  );
}

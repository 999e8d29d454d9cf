import { partitionKey } from '../ports/event-type-partition.ts';
import { readMirror, type MirroredOffset } from '../broker/log/cursors-topic.ts';
import { after, withTimeout, type Clock } from '../clock.ts';
import type { EventLog } from '../ports/event-log.ts';
import { LendstreamError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { doClaimed, type Claims } from './claims/claimed-work.ts';
import { decodeOffsets, encodeSession } from './script-values.ts';
import { allShards, shardOf } from './keys.ts';
import type { LastSeenSubscription, LastSeenState } from './last-seen-state.ts';
import type { MirrorEntry, CursorMirror } from './cursor-mirror.ts';
import { SubscriptionCalls } from './subscription-calls.ts';
import type { ScriptCalls } from './script-calls.ts';
import { mergedKeys } from './script-loading.ts';
import { isNewer, encodeOffset, type StoredOffset } from './stored-offset.ts';

/**
 * Restores in Redis the data that it has lost.
 *
 * Each shard has an *incarnation*, a number that every call carries. A Redis that comes up empty has none, and one that
 * comes up with old data has another, so every script refuses before it does anything. Sometimes the data may be old
 * without showing it: another server responds, or a result contradicts what was seen before. Then the process withdraws
 * the incarnation itself. After that:
 * - One process claims the refill. It *refills* the shard from the mirror and begins a new incarnation.
 * - Every process, the first one included, *asserts* what no mirror holds: the commits that it has not mirrored yet,
 *   its open streams with what they own, and the fences that it has seen. For {@link assertionWindowMilliseconds}
 *   after a refill, and as long again as it took, no process takes a partition whose owner may still come back, and no
 *   commit is refused permanently.
 *
 * Offsets move back at most by commits that were not mirrored yet. New fences are higher than every
 * fence that was seen. They are also higher than those that no process remembers: new fences start at the microseconds
 * of Redis time, which grow faster than any partition changes hands.
 */

/**
 * How long after a refill the other processes have at least to bring back what they know. Together they know about as
 * much as was refilled, so they also get the time that the refill took. Milliseconds.
 */
export const assertionWindowMilliseconds = 500;

/**
 * How long a process that refills may be silent before another one does it instead, in case the first has died. Two at
 * once do no harm, but the first has to begin again. Milliseconds.
 */
const refillLeaseMillisecondsDefault = 20_000;

/** How long a call waits for a recovery before it fails. Milliseconds. */
const recoveryTimeoutMilliseconds = 5_000;

/** How often waiting processes check whether the refill is done. Milliseconds. */
const refillPollIntervalMilliseconds = 50;

/** How many subscriptions of a shard are merged in one call: Redis does nothing else meanwhile. */
export const subscriptionsPerMerge = 50;

/** How many shards are merged at once. */
const concurrentShardsMaximum = 4;

/** How many subscriptions are compared with the mirror at once, and in one call. */
const comparedAtOnce = 2_000;
const offsetsPerCall = 500;

export interface RecoveryOptions {
  readonly store: ScriptCalls;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lastSeen: LastSeenState;
  readonly mirror: CursorMirror;
  /** The rest of each lease of the nodes whose sessions this process keeps: node and milliseconds. */
  readonly leases: () => readonly (readonly [nodeId: string, milliseconds: number])[];
  /** Called when Redis holds all known data again. */
  readonly onRecovered: () => void;
  /** Called some time after that, when the other processes have brought back what they know. */
  readonly onWindowOver: () => void;
  readonly claims: Claims;
  /** Default: 20,000. */
  readonly refillLeaseMilliseconds?: number | undefined;
}

/** A subscription, and what the mirror and this process know of it. */
interface SubscriptionToMerge {
  readonly id: string;
  readonly mirrored: readonly MirroredOffset[] | undefined;
  readonly seen: LastSeenSubscription | undefined;
  readonly unwritten: ReadonlyMap<string, StoredOffset | null> | undefined;
}

type Mirror = ReadonlyMap<string, readonly MirroredOffset[]>;

/** Finds out whether Redis has lost data, and restores what this process and the mirror know. */
export class Recovery {
  readonly #options: RecoveryOptions;
  #running: Promise<void> | undefined;
  /** How often the data was found to be possibly older than what this process knows. */
  #suspectedLosses = 0;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Makes every call recover before it does anything: the data behind the connection may have changed. */
  suspectDataLoss(): void {
    this.#suspectedLosses += 1;
    for (const [shard, incarnation] of this.#options.store.incarnations) {
      this.#options.store.incarnations.set(shard, markSuspect(incarnation));
    }
  }

  /**
   * Returns when, for every shard, this process works with an incarnation that holds what it knows. Callers share the
   * work.
   * @throws COORDINATION_UNAVAILABLE when this takes too long or Redis fails, and what the log throws when the mirror
   *   cannot be read.
   */
  async recover(): Promise<void> {
    await withTimeout(this.#options.clock, this.#sharedRecovery(), recoveryTimeoutMilliseconds, () => {
      throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Redis is being refilled from the log. Try again.');
    });
  }

  #sharedRecovery(): Promise<void> {
    this.#running ??= this.#recover().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /**
   * Recovers, and also merges the mirror into a Redis that seems well: Redis may have been put back to an older state
   * while no process was there to see it. However long a refill takes, a start waits for it.
   */
  async start(): Promise<void> {
    await this.#sharedRecovery();
    await this.#mergeAll(await this.#newerInMirror(), allShards);
  }

  /** What the mirror has of subscriptions whose offsets in Redis are older or missing: usually nothing. */
  async #newerInMirror(): Promise<Mirror> {
    const { store, log } = this.#options;
    const reads = new SubscriptionCalls<readonly string[]>({
      keys: store.keys,
      kinds: ['offsets'],
      subscriptionsPerCall: offsetsPerCall,
      call: async (shard, offsetKeys) => {
        const reply = await store.callShard('committed-offsets', shard, [], offsetKeys);
        // A Redis that has just lost its data has no offset that a mirrored one could be compared with.
        return reply[0] === 'OK' ? reply : ['OK'];
      },
      none: [],
    });
    const mirrored = [...(await readMirror(log))];
    const newer = new Map<string, readonly MirroredOffset[]>();
    for (let first = 0; first < mirrored.length; first += comparedAtOnce) {
      await Promise.all(
        mirrored.slice(first, first + comparedAtOnce).map(async ([id, offsets]) => {
          const stored = decodeOffsets(await reads.of(id));
          if (offsets.some((offset) => isNewerThan(offset, stored))) newer.set(id, offsets);
        }),
      );
    }
    return newer;
  }

  async #recover(): Promise<void> {
    const { store, logger, clock, claims } = this.#options;
    const leaseMilliseconds = this.#options.refillLeaseMilliseconds ?? refillLeaseMillisecondsDefault;
    const isFirst = store.incarnations.size === 0;
    for (;;) {
      const suspectedLosses = this.#suspectedLosses;
      const found = await this.#incarnations();
      const lost = allShards.filter((shard) => this.#isLost(shard, found[shard] ?? null));
      if (lost.length === 0) {
        const other = allShards.filter((shard) => store.incarnations.get(shard) !== found[shard]);
        const windowMilliseconds = await this.#mergeAll(new Map(), other);
        if (suspectedLosses !== this.#suspectedLosses) continue;
        for (const shard of other) store.incarnations.set(shard, found[shard] ?? '');
        if (other.length > 0) this.#notifyRecovered(windowMilliseconds);
        return;
      }
      const isRefilled = await doClaimed(claims, clock, { name: 'refill', leaseMilliseconds }, async () => {
        const facts = { shards: lost.length };
        if (isFirst) logger.info(facts, 'Redis is filled from the log');
        else logger.warn(facts, 'Redis may have lost its data and is refilled from the log');
        await this.#refill(lost, found);
      });
      if (!isRefilled) await clock.sleep(refillPollIntervalMilliseconds);
    }
  }

  #incarnations(): Promise<(string | null)[]> {
    const { store } = this.#options;
    return Promise.all(
      allShards.map((shard) => store.connection.readHashField(store.keys.shardKey(shard, 'shard'), 'incarnation')),
    );
  }

  /**
   * Whether a shard has lost data. An incarnation higher than the known one is no loss: another process began it after
   * a refill.
   */
  #isLost(shard: number, found: string | null): boolean {
    if (found === null) return true;
    const known = this.#knownIncarnation(shard);
    return this.#isSuspect(shard) ? Number(found) <= known : Number(found) < known;
  }

  #isSuspect(shard: number): boolean {
    return this.#options.store.incarnations.get(shard)?.endsWith(suspectMark) === true;
  }

  #knownIncarnation(shard: number): number {
    return Number((this.#options.store.incarnations.get(shard) ?? '0').replace(suspectMark, ''));
  }

  /** An interruption may leave shards without an incarnation. The next check then finds them lost again. */
  async #refill(lost: readonly number[], found: readonly (string | null)[]): Promise<void> {
    const { store, log, clock } = this.#options;
    const begin = clock.monotonic();
    const token = `${store.origin}/${begin}`;
    // What is written while the mirror is being read may be missing there.
    const unwritten = this.#options.mirror.entries().filter(({ stored }) => stored !== null);
    const mirror = await readMirror(log);
    const begun = new Map<number, string>();
    await Promise.all(
      lost.map(async (shard) => {
        const key = store.keys.shardKey(shard, 'shard');
        const [reply] = await store.run('refill/begin-refill', [key], [found[shard] ?? '', token]);
        if (reply === 'OK') begun.set(shard, key);
      }),
    );
    await this.#mergeAll(mirror, [...begun.keys()], unwritten);
    const windowMilliseconds = Math.ceil(assertionWindowMilliseconds + clock.monotonic() - begin);
    await Promise.all(
      Array.from(begun, ([shard, key]) => {
        const known = this.#knownIncarnation(shard);
        return store.run('refill/finish-refill', [key], [token, known, store.keys.incarnations(), windowMilliseconds]);
      }),
    );
  }

  /**
   * Merges the mirror and what this process has seen into these shards.
   * @param earlierEntries Of a refill: what was not in the mirror when it was read.
   * @returns how long the other processes may still bring back what they know, milliseconds
   */
  async #mergeAll(mirror: Mirror, into: readonly number[], earlierEntries?: readonly MirrorEntry[]): Promise<number> {
    const { lastSeen, mirror: writer } = this.#options;
    const wanted = new Set(into);
    const unwritten = new Map<string, Map<string, StoredOffset | null>>();
    for (const { subscriptionId, partitionKey: key, stored } of [...(earlierEntries ?? []), ...writer.entries()]) {
      const offsets = unwritten.get(subscriptionId) ?? new Map<string, StoredOffset | null>();
      unwritten.set(subscriptionId, offsets.set(key, stored));
    }
    const seen = new Map(lastSeen.entries());
    const subscriptions = [...new Set([...mirror.keys(), ...seen.keys(), ...unwritten.keys()])].filter((id) =>
      wanted.has(shardOf(id)),
    );
    const byShard = new Map<number, SubscriptionToMerge[]>(into.map((shard) => [shard, []]));
    for (const id of subscriptions) {
      const known = { id, mirrored: mirror.get(id), seen: seen.get(id), unwritten: unwritten.get(id) };
      byShard.get(shardOf(id))?.push(known);
    }
    // A shard without any of them gets the leases too: a session of its next subscription needs the one of its node.
    const hasLeases = this.#options.leases().length > 0;
    const next = byShard.entries();
    let windowMilliseconds = 0;
    await Promise.all(
      Array.from({ length: concurrentShardsMaximum }, async () => {
        for (const [shard, all] of next) {
          const count = hasLeases ? Math.max(all.length, 1) : all.length;
          for (let first = 0; first < count; first += subscriptionsPerMerge) {
            const part = all.slice(first, first + subscriptionsPerMerge);
            const window = await this.#merge(shard, part, earlierEntries !== undefined);
            windowMilliseconds = Math.max(windowMilliseconds, window);
          }
        }
      }),
    );
    return windowMilliseconds;
  }

  async #merge(shard: number, subscriptions: readonly SubscriptionToMerge[], isRefill: boolean): Promise<number> {
    const { store, leases } = this.#options;
    const nodes = leases();
    const [, windowMilliseconds] = await store.callShard(
      'refill/merge',
      shard,
      [isRefill ? '1' : '0', nodes.length, ...nodes.flat(), ...subscriptions.flatMap(encodeMerged)],
      subscriptions.flatMap(({ id }) => mergedKeys.map((kind) => store.keys.key(id, kind))),
    );
    return Number(windowMilliseconds);
  }

  /** @param windowMilliseconds How long the other processes may still bring back what they know. */
  #notifyRecovered(windowMilliseconds: number): void {
    const { clock, onRecovered, onWindowOver } = this.#options;
    onRecovered();
    after(clock, Math.max(assertionWindowMilliseconds, windowMilliseconds) + assertionWindowMilliseconds, onWindowOver);
  }
}

/** The values of merge.lua for one subscription. */
function encodeMerged({ id, mirrored, seen, unwritten }: SubscriptionToMerge): (string | number)[] {
  const offsets = new Map<string, StoredOffset>();
  const keepNewer = (key: string, stored: StoredOffset): void => {
    const current = offsets.get(key);
    if (current === undefined || isNewer(stored, current)) offsets.set(key, stored);
  };
  for (const { offset, epoch, ...partition } of mirrored ?? []) keepNewer(partitionKey(partition), { offset, epoch });
  // Only what the mirror lacks is written to it again.
  const inMirror = new Map(offsets);
  for (const [key, stored] of unwritten ?? []) {
    if (stored === null) offsets.delete(key);
    else keepNewer(key, stored);
  }
  const owners = new Map((seen?.partitions ?? []).map((partition) => [partitionKey(partition), partition]));
  const sessions = [...(seen?.sessions.values() ?? [])];
  // Another process may have removed a subscription that only this process remembers.
  const isKnown = mirrored !== undefined || unwritten !== undefined || sessions.length > 0;
  const keys = [...new Set([...offsets.keys(), ...owners.keys()])];
  const partitions = keys.flatMap((key) => {
    const stored = offsets.get(key);
    const { streamId = null, fence = 0 } = owners.get(key) ?? {};
    const isOwn = streamId !== null && seen?.sessions.has(streamId) === true;
    const isMirrored = stored !== undefined && inMirror.get(key) === stored;
    return [
      key,
      stored === undefined ? '' : encodeOffset(stored),
      fence,
      isOwn ? streamId : '',
      isMirrored ? '1' : '0',
    ];
  });
  return [
    id,
    seen?.generation ?? 0,
    isKnown ? '1' : '0',
    keys.length,
    ...partitions,
    sessions.length,
    ...sessions.flatMap((session) => [session.streamId, encodeSession(session)]),
  ];
}

function isNewerThan(mirrored: MirroredOffset, stored: ReadonlyMap<string, StoredOffset>): boolean {
  const current = stored.get(partitionKey(mirrored));
  return current === undefined || isNewer(mirrored, current);
}

/** Turns an incarnation into one that no Redis has, without losing its number. */
const suspectMark = '?';

function markSuspect(incarnation: string): string {
  return incarnation.endsWith(suspectMark) ? incarnation : incarnation + suspectMark;
}

import { randomUUID } from 'node:crypto';
import {
  comparePartitions,
  endedStreamsMaximum,
  partitionKey,
  type ChangeListener,
  type CommitAnswer,
  type CommittedOffset,
  type Coordination,
  type CoordinationChange,
  type CursorToCommit,
  type EventTypePartition,
  type LateCommits,
  type OpenSessionAnswer,
  type OwnershipChange,
  type ReleaseAnswer,
  type Session,
  type SubscriptionHistory,
  type Topology,
} from '../ports/coordination.ts';
import { createCursorsTopic } from '../broker/log/cursor-mirror.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Clock } from '../clock.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { readHistory, readOffsets, readOpening, readTopology, writeHistory, writeSession } from './answers.ts';
import { RedisConnection, type ConnectionEvents } from './connection.ts';
import { GroupExport, renewalClaimMilliseconds } from './group-export.ts';
import { Hints, parseHint } from './hints.ts';
import { KeySpace, parsePlace } from './keys.ts';
import { Leases } from './leases.ts';
import { Memory } from './memory.ts';
import { MirrorWriter } from './mirror-writer.ts';
import { OverdueCloses } from './overdue-closes.ts';
import { RecoveringCalls } from './recovering-calls.ts';
import { Recovery } from './recovery.ts';
import { loadScripts, readScriptSource, type ScriptSource } from './scripts.ts';
import type { StoredOffset } from './stored-offset.ts';
import { RedisStore } from './store.ts';
import { WatchRounds } from './watch-rounds.ts';

export interface RedisCoordinationOptions {
  /** One URL, or the URLs of several nodes of a Redis Cluster, separated by commas. */
  readonly redisUrl: string;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The prefix of all keys and channels. Services that share a Redis need different prefixes. */
  readonly keyPrefix?: string;
  /** Reads the text of the scripts. */
  readonly scriptSource?: ScriptSource;
}

/** How long a reset may take before it counts as over, in case the process that began it died. Milliseconds. */
const resetMillisecondsMaximum = 120_000;

/** The claim of the process that renews the consumer groups this time. */
const groupRenewal = 'group-renewal';

/** How long a removal is remembered: reading the mirror and merging it must not take longer. Milliseconds. */
const removalMillisecondsKnown = 600_000;

/** How long the history of a subscription without any activity is kept. Milliseconds. */
const historyMillisecondsKept = 30 * 86_400_000;

/**
 * How long closing waits for the log. Offsets that are not mirrored by then stay dirty in Redis, and other processes
 * mirror them. Milliseconds.
 */
const closeMillisecondsMaximum = 5_000;

/**
 * Coordinates any number of processes through Redis. keys.ts describes the keys, scripts/*.lua the operations on them.
 *
 * Redis is expendable: committed offsets reach the log within a moment (mirror-writer.ts), and a Redis that lost data
 * gets back what the log and the processes know (recovery.ts). While Redis is down, every call fails with
 * COORDINATION_UNAVAILABLE at once or within seconds. Streams keep what they hold and try again.
 */
export class RedisCoordination implements Coordination {
  readonly #logger: Logger;
  readonly #store: RedisStore;
  readonly #hints: Hints;
  readonly #memory = new Memory();
  readonly #mirror: MirrorWriter;
  readonly #groups: GroupExport;
  readonly #recovery: Recovery;
  readonly #calls: RecoveringCalls;
  readonly #leases: Leases;
  readonly #overdueCloses: OverdueCloses;
  readonly #rounds: WatchRounds;

  private constructor(store: RedisStore, hints: Hints, { log, clock, logger }: RedisCoordinationOptions) {
    this.#logger = logger;
    this.#store = store;
    this.#hints = hints;
    this.#leases = new Leases(clock, (shard, values) => this.#calls.renewLease(shard, values));
    this.#groups = new GroupExport({
      log,
      logger,
      claimRenewal: () => this.claim(groupRenewal, renewalClaimMilliseconds),
      releaseRenewal: () => this.releaseClaim(groupRenewal),
    });
    this.#mirror = new MirrorWriter({
      log,
      logger,
      store,
      onWritten: ({ subscriptionId, place, stored }) => {
        if (stored === null) this.#groups.forget(subscriptionId);
        else this.#groups.note(subscriptionId, place, offsetAt(place, stored));
      },
    });
    this.#recovery = new Recovery({
      store,
      log,
      logger,
      memory: this.#memory,
      mirror: this.#mirror,
      leases: () => this.#leases.left(),
      onRecovered: () => this.#hints.tellAll(),
      claim: (name, leaseMilliseconds) => this.claim(name, leaseMilliseconds),
      releaseClaim: (name) => this.releaseClaim(name),
    });
    this.#calls = new RecoveringCalls(store, this.#recovery);
    this.#overdueCloses = new OverdueCloses((...session) => this.closeSession(...session), logger);
    const { keys } = store;
    this.#rounds = new WatchRounds({ hints, keys, calls: this.#calls, leases: this.#leases, clock, logger });
  }

  /**
   * Connects and makes sure that Redis holds at least what the mirror in the log holds.
   * @throws COORDINATION_UNAVAILABLE, and what the log throws.
   */
  static async open(options: RedisCoordinationOptions): Promise<RedisCoordination> {
    const { redisUrl, log, logger, keyPrefix = 'lendstream', scriptSource = readScriptSource } = options;
    const keys = new KeySpace(keyPrefix);
    const hints = new Hints(logger);
    const origin = randomUUID();
    // Events before the coordination exists need no handling.
    const events: ConnectionEvents = { serverChanged: () => {}, resubscribed: () => {}, message: () => {} };
    const connection = await RedisConnection.open(redisUrl, logger, events);
    const store = new RedisStore(connection, keys, origin, loadScripts(scriptSource));
    const coordination = new RedisCoordination(store, hints, options);
    events.serverChanged = () => coordination.#recovery.distrust();
    events.resubscribed = () => coordination.#onResubscribed();
    events.message = (channel, text) => coordination.#onMessage(channel, text);
    try {
      await createCursorsTopic(log);
      connection.subscribe(keys.incarnations(), () => {});
      await coordination.#recovery.start();
      coordination.#rounds.start();
      coordination.#groups.start();
    } catch (error) {
      await coordination.close();
      throw error;
    }
    return coordination;
  }

  async claim(name: string, leaseMilliseconds: number): Promise<boolean> {
    this.#calls.requireOpen();
    const { connection, keys, origin } = this.#store;
    return connection.setIfAbsent(keys.claim(name), origin, leaseMilliseconds);
  }

  async releaseClaim(name: string): Promise<void> {
    this.#calls.requireOpen();
    await this.#store.run('release-claim', [this.#store.keys.claim(name)], [this.#store.origin]);
  }

  async renewLease(nodeId: string, leaseMilliseconds: number): Promise<void> {
    this.#calls.requireOpen();
    await this.#leases.renew(nodeId, leaseMilliseconds);
  }

  async reapSessions(subscriptionId: string): Promise<number> {
    await this.#leases.renewOverdue();
    const [, count] = await this.#calls.call('reap-sessions', subscriptionId, []);
    if (count !== '0') this.#hints.tell(subscriptionId, 'topology');
    return Number(count);
  }

  async initialise(subscriptionId: string, start: readonly CommittedOffset[]): Promise<void> {
    const places = start.flatMap((place) => [partitionKey(place), place.offset]);
    const [, ...added] = await this.#calls.call('initialise', subscriptionId, [subscriptionId, ...places]);
    if (added.length === 0) return;
    // The start of a subscription must not be decided twice, or the second decision would skip the events in between.
    // So it is mirrored at once.
    await this.#mirrorNow(subscriptionId, readOffsets(added));
    this.#hints.tell(subscriptionId, 'topology');
  }

  topology(subscriptionId: string): Promise<Topology> {
    return this.#calls.trusted(
      async () => readTopology(await this.#calls.call('topology', subscriptionId, [])),
      () => this.#memory.contradictsTopology(subscriptionId),
      (topology) => this.#memory.noteTopology(subscriptionId, topology),
    );
  }

  async committedOffsets(subscriptionId: string): Promise<CommittedOffset[]> {
    const offsets = await this.#calls.trusted(
      async () => {
        const [, fields] = await this.#calls.call('committed-offsets', subscriptionId, []);
        return readOffsets(fields as string[]);
      },
      () => this.#memory.contradictsOffsets(subscriptionId),
      (found) => this.#memory.noteOffsets(subscriptionId, found),
    );
    return [...offsets].map(([place, stored]) => offsetAt(place, stored)).sort(comparePartitions);
  }

  async openSession(subscriptionId: string, session: Session): Promise<OpenSessionAnswer> {
    const { streamId, requestedPartitions } = session;
    // Noted before Redis has the session, so that no recovery treats it as one that was left behind.
    this.#memory.noteSession(subscriptionId, session);
    const values = [streamId, writeSession(session), ...requestedPartitions.map(partitionKey)];
    let answer: unknown[];
    try {
      answer = await this.#calls.call('open-session', subscriptionId, values);
    } catch (error) {
      this.#memory.forgetSession(subscriptionId, streamId);
      this.#overdueCloses.add(subscriptionId, streamId, 'refused');
      throw error;
    }
    const opening = readOpening(answer);
    if (opening.outcome !== 'opened') this.#memory.forgetSession(subscriptionId, streamId);
    else if (answer[1] === '1') this.#hints.tell(subscriptionId, 'topology');
    return opening;
  }

  async closeSession(subscriptionId: string, streamId: string, lateCommits: LateCommits = 'accepted'): Promise<void> {
    this.#calls.requireOpen();
    this.#memory.forgetSession(subscriptionId, streamId);
    try {
      const [, wasThere] = await this.#calls.call('close-session', subscriptionId, [
        streamId,
        lateCommits === 'accepted' ? '1' : '0',
      ]);
      if (wasThere === '1') this.#hints.tell(subscriptionId, 'topology');
    } catch (error) {
      this.#overdueCloses.add(subscriptionId, streamId, lateCommits);
      throw error;
    }
  }

  async applyOwnership(
    subscriptionId: string,
    generation: number,
    changes: readonly OwnershipChange[],
  ): Promise<'applied' | 'conflict'> {
    const values = changes.flatMap(({ state, streamId, nextStreamId, ...place }) => [
      partitionKey(place),
      state === 'reassigning' ? 'R' : 'A',
      streamId,
      nextStreamId ?? '',
    ]);
    const [outcome] = await this.#calls.call('apply-ownership', subscriptionId, [generation, ...values]);
    if (outcome !== 'APPLIED') return 'conflict';
    if (changes.length > 0) this.#hints.tell(subscriptionId, 'topology');
    return 'applied';
  }

  async release(
    subscriptionId: string,
    streamId: string,
    partition: EventTypePartition,
    fence: number,
  ): Promise<ReleaseAnswer> {
    const answer = await this.#calls.call('release', subscriptionId, [streamId, partitionKey(partition), fence]);
    const [outcome, nextStreamId, newFence] = answer as string[];
    if (outcome !== 'RELEASED') return { outcome: 'fenced' };
    this.#hints.tell(subscriptionId, 'topology');
    return { outcome: 'released', nextStreamId: nextStreamId || null, fence: Number(newFence) };
  }

  async commit(subscriptionId: string, streamId: string, cursors: readonly CursorToCommit[]): Promise<CommitAnswer> {
    const values: (string | number)[] = [subscriptionId, streamId];
    for (const cursor of cursors) values.push(partitionKey(cursor), cursor.fence ?? '', cursor.offset);
    const [outcome, ...rest] = (await this.#calls.call('commit', subscriptionId, values)) as string[];
    switch (outcome) {
      case 'OK':
        return { outcome: 'committed', advanced: this.#noteCommits(subscriptionId, cursors, rest) };
      case 'SESSION_NOT_FOUND':
        return { outcome: 'session_not_found' };
      case 'NOT_OWNER':
        return { outcome: 'not_owner', cursor: parsePlace(rest[0] ?? '') };
      case undefined:
      default:
        throw new LendstreamError(
          'COORDINATION_UNAVAILABLE',
          'After a loss of coordination data it is not known yet whose the partition is. Try again.',
        );
    }
  }

  async beginReset(subscriptionId: string): Promise<boolean> {
    const [, hasBegun] = await this.#calls.call('begin-reset', subscriptionId, [resetMillisecondsMaximum]);
    if (hasBegun === '1') this.#hints.tell(subscriptionId, 'reset');
    return hasBegun === '1';
  }

  async finishReset(subscriptionId: string, offsets: readonly CommittedOffset[]): Promise<void> {
    const places = offsets.flatMap((place) => [partitionKey(place), place.offset]);
    const [outcome, ...set] = await this.#calls.call('finish-reset', subscriptionId, [subscriptionId, ...places]);
    if (outcome !== 'OK') {
      const detail =
        'After a loss of coordination data streams have opened during the reset: nothing was changed. Try again.';
      throw new LendstreamError('COORDINATION_UNAVAILABLE', detail);
    }
    this.#hints.tell(subscriptionId, 'offsets');
    this.#hints.tell(subscriptionId, 'topology');
    if (set.length > 0) await this.#mirrorNow(subscriptionId, readOffsets(set));
  }

  async remember(subscriptionId: string, news: SubscriptionHistory): Promise<void> {
    const values = [historyMillisecondsKept, endedStreamsMaximum, ...writeHistory(news)];
    await this.#calls.call('remember', subscriptionId, values);
  }

  async history(subscriptionId: string): Promise<SubscriptionHistory & { readonly since: number }> {
    return readHistory(await this.#calls.call('history', subscriptionId, [historyMillisecondsKept]));
  }

  async remove(subscriptionId: string): Promise<void> {
    const values = [subscriptionId, removalMillisecondsKnown];
    const [, ...places] = (await this.#calls.call('remove', subscriptionId, values)) as string[];
    this.#memory.forget(subscriptionId);
    for (const place of places) this.#mirror.note({ subscriptionId, place, stored: null });
    this.#hints.tell(subscriptionId, 'removed');
    if (places.length > 0) await this.#mirror.written();
  }

  watch(subscriptionId: string, listener: ChangeListener): () => void {
    const { connection, keys } = this.#store;
    const { channel } = keys.of(subscriptionId);
    // Changes from before Redis listened have not been reported.
    const listening = (): void => this.#hints.tell(subscriptionId, 'topology');
    if (this.#hints.add(subscriptionId, listener)) connection.subscribe(channel, listening);
    return () => {
      if (this.#hints.remove(subscriptionId, listener)) connection.unsubscribe(channel);
    };
  }

  /** Writes to the mirror what it lacks; the log stays open. Further calls throw COORDINATION_UNAVAILABLE. */
  async close(): Promise<void> {
    if (this.#calls.isClosed) return;
    this.#calls.close();
    this.#overdueCloses.stop();
    this.#rounds.stop();
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeMillisecondsMaximum);
    });
    await Promise.race([this.#mirror.close().then(() => this.#groups.close()), tooLate]);
    clearTimeout(timer);
    this.#store.connection.close();
    this.#hints.clear();
  }

  /** @param epochs The epoch of each cursor; '0' for an outdated one. */
  #noteCommits(
    subscriptionId: string,
    cursors: readonly CursorToCommit[],
    epochs: readonly string[],
  ): readonly boolean[] {
    const moved: CommittedOffset[] = [];
    const advanced = cursors.map((cursor, index) => {
      const epoch = epochs[index] ?? '0';
      if (epoch === '0') return false;
      this.#noteOffset(subscriptionId, partitionKey(cursor), { offset: cursor.offset, epoch: Number(epoch) });
      moved.push(cursor);
      return true;
    });
    if (moved.length > 0) this.#hints.tell(subscriptionId, 'offsets', undefined, moved);
    return advanced;
  }

  #noteOffset(subscriptionId: string, place: string, stored: StoredOffset): void {
    this.#memory.noteOffset(subscriptionId, place, stored);
    this.#mirror.note({ subscriptionId, place, stored });
  }

  async #mirrorNow(subscriptionId: string, offsets: ReadonlyMap<string, StoredOffset>): Promise<void> {
    for (const [place, stored] of offsets) this.#noteOffset(subscriptionId, place, stored);
    await this.#mirror.written();
  }

  #onMessage(channel: string, text: string): void {
    const { keys, origin } = this.#store;
    if (channel === keys.incarnations()) {
      this.#recoverSoon();
      return;
    }
    const change: CoordinationChange | undefined = parseHint(text, origin);
    if (change === undefined) return;
    const subscriptionId = keys.subscriptionOf(channel);
    if (change === 'removed') this.#memory.forget(subscriptionId);
    this.#hints.tell(subscriptionId, change);
  }

  #onResubscribed(): void {
    this.#hints.tellAll();
    this.#recoverSoon();
  }

  /** Recovers without waiting for the next call, since other processes may wait for what this one knows. */
  #recoverSoon(): void {
    if (this.#calls.isClosed) return;
    this.#recovery.recover().catch((error: unknown) => {
      this.#logger.debug({ error: describeError(error) }, 'Recovering is left to the next call');
    });
  }
}

/**
 * Copies field by field: a spread with an added field takes the engine a microsecond and creates an object layout of
 * its own.
 */
function offsetAt(place: string, { offset }: StoredOffset): CommittedOffset {
  const { eventType, partition } = parsePlace(place);
  return { eventType, partition, offset };
}

/**
 * The coordination on Redis.
 * In: the calls of the port, and notifications of changes by other processes. Out: calls of scripts/*.lua, which alone
 * change what is stored.
 * Start with `RedisCoordination` below. `keys.ts` lists what is stored, and `recovery.ts` restores what Redis has lost.
 */

import { randomUUID } from 'node:crypto';
import {
  endedStreamsMaximum,
  type ChangeListener,
  type CommitResult,
  type CommittedOffset,
  type Coordination,
  type CoordinationChange,
  type CursorToCommit,
  type LateCommits,
  type OffsetMarks,
  type OpenSessionResult,
  type OwnershipChange,
  type ReleaseResult,
  type Session,
  type SubscriptionHistory,
  type Topology,
} from '../ports/coordination.ts';
import { KeySpace, allShards, shardOf } from './keys.ts';
import { parsePartitionKey, partitionKey, type EventTypePartition } from '../ports/event-type-partition.ts';
import type { FailedDeliveries } from '../ports/failed-deliveries.ts';
import { createCursorsTopic } from '../broker/log/cursors-topic.ts';
import type { EventLog } from '../ports/event-log.ts';
import {
  nodeRetentionMilliseconds,
  reportedNodesMaximum,
  type NodeReport,
  type ReportedNode,
} from '../ports/node-reports.ts';
import { systemRandom, withTimeout, type Clock, type Random } from '../clock.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import {
  decodeCommittedOffsets,
  decodeHistory,
  decodeOffsets,
  decodeOpenSessionReply,
  decodeReportedNodes,
  decodeTopology,
  encodeFailedDeliveries,
  encodeHistory,
  encodeSession,
  offsetAt,
} from './script-values.ts';
import { CommitCalls } from './commit-calls.ts';
import { SubscriptionCalls } from './subscription-calls.ts';
import { RedisConnection, type RedisAddress, type ConnectionEvents, type OpenConnection } from './connection.ts';
import type { Claims } from './claims/claimed-work.ts';
import { GroupExport, renewalClaimMilliseconds } from './consumer-group-export.ts';
import { ChangeListeners, parseChangeNotification } from './change-listeners.ts';
import { NodeLeases } from './node-leases.ts';
import { LastSeenState } from './last-seen-state.ts';
import { CursorMirror } from './cursor-mirror.ts';
import { SessionCloseRetries } from './session-close-retries.ts';
import { RecoveringCalls } from './recovering-calls.ts';
import { Recovery } from './recovery.ts';
import { historyKeys, loadScripts, readScriptSource, topologyKeys, type ScriptSource } from './script-loading.ts';
import type { StoredOffset } from './stored-offset.ts';
import { ScriptCalls } from './script-calls.ts';
import { RedisPublishedIds, type RedisPublishedIdsOptions } from './published-ids/published-ids.ts';
import { MissedChanges } from './missed-changes-and-dead-nodes.ts';

export interface RedisCoordinationOptions {
  /** One URL, or the URLs of several nodes of a Redis Cluster, separated by commas. */
  readonly redisUrl: string;
  /** For `rediss://`; the authorities of Node.js when absent. */
  readonly redisTls?: RedisAddress['tls'];
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The prefix of all keys and channels. Services that share a Redis need different prefixes. */
  readonly keyPrefix?: string;
  /** How long a process that refills Redis may be silent before another one does it instead. */
  readonly refillLeaseMilliseconds?: number;
  /** Reads the text of the scripts. */
  readonly scriptSource?: ScriptSource;
  /** Varies the pauses between the checks of what is watched. */
  readonly random?: Random;
  /** Opens the connections, with ioredis by default. */
  readonly openConnection?: OpenConnection;
}

/** How long a reset may take by default before the process that began it counts as dead. Milliseconds. */
const resetMillisecondsDefault = 120_000;

/** How many subscriptions one call reads or writes: Redis does nothing else meanwhile. */
const offsetsPerCall = 500;
const topologiesPerCall = 100;
const historiesPerCall = 100;

/** The claim of the process that renews the consumer groups this time. */
const groupRenewal = 'group-renewal';

/** How long a removal is remembered: reading the mirror and merging it must not take longer. Milliseconds. */
const removalRetentionMilliseconds = 600_000;

/** How long the history of a subscription without any activity is kept. Milliseconds. */
const historyRetentionMilliseconds = 30 * 86_400_000;

/**
 * How long closing waits for the log. Offsets that are not mirrored by then stay dirty in Redis, and other processes
 * mirror them. Milliseconds.
 */
const closeTimeoutMilliseconds = 5_000;

/**
 * Coordinates any number of processes through Redis. keys.ts describes the keys, scripts/*.lua the operations on them.
 *
 * Redis is expendable: committed offsets reach the log within a moment (cursor-mirror.ts), and a Redis that lost data
 * gets back what the log and the processes know (recovery.ts). While Redis is down, every call fails with
 * COORDINATION_UNAVAILABLE at once or within seconds. Streams keep what they hold and try again.
 */
export class RedisCoordination implements Coordination, Claims {
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #store: ScriptCalls;
  readonly #listeners: ChangeListeners;
  readonly #lastSeen = new LastSeenState();
  readonly #mirror: CursorMirror;
  readonly #groups: GroupExport;
  readonly #recovery: Recovery;
  readonly #calls: RecoveringCalls;
  readonly #offsetReads: SubscriptionCalls<readonly string[]>;
  readonly #topologyReads: SubscriptionCalls<readonly unknown[]>;
  readonly #historyWrites: SubscriptionCalls<undefined>;
  readonly #commits: CommitCalls;
  readonly #leases: NodeLeases;
  readonly #sessionCloseRetries: SessionCloseRetries;
  /** The numbers of the resets in progress of this process, by subscription. */
  readonly #resets = new Map<string, number>();
  #resetCount = 0;
  readonly #missedChanges: MissedChanges;

  private constructor(store: ScriptCalls, listeners: ChangeListeners, options: RedisCoordinationOptions) {
    const { log, clock, logger, random = systemRandom } = options;
    this.#log = log;
    this.#clock = clock;
    this.#logger = logger;
    this.#store = store;
    this.#listeners = listeners;
    this.#leases = new NodeLeases(clock, (values) => this.#calls.renewLease(values));
    this.#groups = new GroupExport({
      log,
      clock,
      logger,
      claimRenewal: () => this.claim(groupRenewal, renewalClaimMilliseconds),
      releaseRenewal: () => this.releaseClaim(groupRenewal),
    });
    this.#mirror = new CursorMirror({
      log,
      clock,
      logger,
      store,
      onWritten: ({ subscriptionId, partitionKey: key, stored }) => {
        if (stored === null) this.#groups.forget(subscriptionId);
        else this.#groups.add(subscriptionId, key, offsetAt(key, stored));
      },
    });
    this.#recovery = new Recovery({
      store,
      log,
      clock,
      logger,
      lastSeen: this.#lastSeen,
      mirror: this.#mirror,
      leases: () => this.#leases.remaining(),
      onRecovered: () => {
        this.#lastSeen.noteRecovery();
        this.#listeners.notifyAll();
      },
      // Streams that were kept from taking partitions may take them now. One that has all of them takes no more.
      onWindowOver: () => this.#listeners.notifyAll((id) => !this.#lastSeen.ownsAllSinceRecovery(id)),
      claims: this,
      refillLeaseMilliseconds: options.refillLeaseMilliseconds,
    });
    this.#calls = new RecoveringCalls(store, this.#recovery);
    this.#sessionCloseRetries = new SessionCloseRetries((...session) => this.closeSession(...session), clock, logger);
    const { keys } = store;
    this.#offsetReads = new SubscriptionCalls<readonly string[]>({
      keys,
      kinds: ['offsets'],
      subscriptionsPerCall: offsetsPerCall,
      call: (shard, offsetKeys) => this.#calls.committedOffsets(shard, offsetKeys),
      none: [],
    });
    this.#topologyReads = new SubscriptionCalls<readonly unknown[]>({
      keys,
      kinds: topologyKeys,
      subscriptionsPerCall: topologiesPerCall,
      call: (shard, topologyKeysOfAll) => this.#calls.topologies(shard, topologyKeysOfAll),
      none: [],
    });
    this.#historyWrites = new SubscriptionCalls<undefined>({
      keys,
      kinds: historyKeys,
      subscriptionsPerCall: historiesPerCall,
      call: (shard, keysOfHistories, values) =>
        this.#calls.remember(shard, [historyRetentionMilliseconds, endedStreamsMaximum, ...values], keysOfHistories),
      none: undefined,
    });
    this.#commits = new CommitCalls(keys, !store.connection.isCluster, (...call) => this.#calls.commit(...call));
    this.#missedChanges = new MissedChanges({
      listeners,
      keys,
      calls: this.#calls,
      leases: this.#leases,
      clock,
      logger,
      random,
    });
  }

  /**
   * Connects and makes sure that Redis holds at least what the mirror in the log holds.
   * @throws COORDINATION_UNAVAILABLE, and what the log throws.
   */
  static async open(options: RedisCoordinationOptions): Promise<RedisCoordination> {
    const {
      redisUrl,
      redisTls: tls,
      log,
      clock,
      logger,
      keyPrefix = 'lendstream',
      scriptSource = readScriptSource,
      openConnection = (...opening) => RedisConnection.open(...opening),
    } = options;
    const keys = new KeySpace(keyPrefix);
    const listeners = new ChangeListeners(logger);
    const origin = randomUUID();
    // Events before the coordination exists need no handling.
    const events: ConnectionEvents = { serverChanged: () => {}, resubscribed: () => {}, message: () => {} };
    const connection = await openConnection({ redisUrl, tls }, logger, events, clock);
    const store = new ScriptCalls(connection, keys, origin, loadScripts(scriptSource));
    const coordination = new RedisCoordination(store, listeners, options);
    events.serverChanged = () => coordination.#recovery.suspectDataLoss();
    events.resubscribed = () => coordination.#onResubscribed();
    events.message = (channel, text) => coordination.#onMessage(channel, text);
    try {
      await createCursorsTopic(log, clock);
      connection.subscribe(keys.incarnations(), () => {});
      await coordination.#recovery.start();
      coordination.#missedChanges.start();
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

  async renewClaim(name: string, leaseMilliseconds: number): Promise<boolean> {
    this.#calls.requireOpen();
    const { keys, origin } = this.#store;
    const [, isHeld] = await this.#store.run('renew-claim', [keys.claim(name)], [origin, leaseMilliseconds]);
    return isHeld === '1';
  }

  async releaseClaim(name: string): Promise<void> {
    this.#calls.requireOpen();
    await this.#store.run('release-claim', [this.#store.keys.claim(name)], [this.#store.origin]);
  }

  /** The ids of published events, in the same Redis. */
  publishedIds(
    options: Pick<RedisPublishedIdsOptions, 'idsMaximum' | 'claimMilliseconds'> & { readonly clock?: Clock },
  ): RedisPublishedIds {
    return new RedisPublishedIds({
      log: this.#log,
      clock: this.#clock,
      logger: this.#logger,
      ...options,
      calls: {
        call: (...call) => this.#calls.call(...call),
        claim: (...claim) => this.claim(...claim),
        renewClaim: (...claim) => this.renewClaim(...claim),
        releaseClaim: (name) => this.releaseClaim(name),
      },
    });
  }

  async renewLease(nodeId: string, leaseMilliseconds: number): Promise<void> {
    await this.#leases.renew(nodeId, leaseMilliseconds);
  }

  async reapSessions(subscriptionId: string): Promise<number> {
    await this.#leases.renewOverdue();
    const [, count] = await this.#calls.call('reap-sessions', subscriptionId, []);
    if (count !== '0') this.#listeners.notify(subscriptionId, 'topology');
    return Number(count);
  }

  async reportNode(report: NodeReport): Promise<void> {
    await this.#writeReport(report.nodeId, JSON.stringify(report));
  }

  async withdrawNode(nodeId: string): Promise<void> {
    await this.#writeReport(nodeId, '');
  }

  async reportedNodes(): Promise<ReportedNode[]> {
    this.#calls.requireOpen();
    const keys = [this.#store.keys.nodeReports()];
    return decodeReportedNodes(await this.#store.run('nodes/list', keys, [nodeRetentionMilliseconds]));
  }

  async initialise(subscriptionId: string, start: readonly CommittedOffset[]): Promise<void> {
    const keysAndOffsets = start.flatMap((committed) => [partitionKey(committed), committed.offset]);
    const [, ...added] = await this.#calls.call('initialise', subscriptionId, [subscriptionId, ...keysAndOffsets]);
    if (added.length === 0) return;
    // The start of a subscription must not be decided twice, or the second decision would skip the events in between.
    // So it is mirrored at once.
    await this.#mirrorNow(subscriptionId, decodeOffsets(added));
    this.#listeners.notify(subscriptionId, 'topology');
  }

  async topology(subscriptionId: string): Promise<Topology> {
    const read = async (): Promise<Topology> => decodeTopology(await this.#topologyReads.of(subscriptionId));
    // Compared with what was known before the read began: what is learned during the read may well be newer.
    const contradicts = this.#lastSeen.contradictsTopology(subscriptionId);
    let topology = await read();
    if (contradicts(topology)) {
      // Fences never get smaller: something was lost without any other sign.
      this.#recovery.suspectDataLoss();
      topology = await read();
    }
    this.#lastSeen.recordTopology(subscriptionId, topology);
    return topology;
  }

  async committedOffsets(subscriptionId: string): Promise<CommittedOffset[]> {
    const fields = await this.#offsetReads.of(subscriptionId);
    return decodeCommittedOffsets(fields);
  }

  /** Each shard has one, which also changes with sessions and ownership. */
  async offsetMarks(): Promise<OffsetMarks> {
    const states = await this.#calls.shardStates(allShards);
    const marks = states.map(({ incarnation, changes }) => `${incarnation}:${changes}`);
    return {
      all: marks.join(' '),
      of: (subscriptionId) => marks[shardOf(subscriptionId)] as string,
    };
  }

  async openSession(subscriptionId: string, session: Session, placeMilliseconds = 0): Promise<OpenSessionResult> {
    const { streamId, nodeId, requestedPartitions } = session;
    // The store compares the leases of the nodes that wait.
    if (placeMilliseconds > 0) await this.#leases.renewOverdue();
    // Noted before Redis has the session, so that no recovery treats it as one that was left behind.
    this.#lastSeen.recordSession(subscriptionId, session);
    const head = [streamId, encodeSession(session), nodeId, Math.ceil(placeMilliseconds)];
    const values = [...head, ...requestedPartitions.map(partitionKey)];
    let reply: unknown[];
    try {
      reply = await this.#calls.call('open-session', subscriptionId, values);
    } catch (error) {
      this.#lastSeen.forgetSession(subscriptionId, streamId);
      this.#sessionCloseRetries.add(subscriptionId, streamId, 'refused');
      throw error;
    }
    const result = decodeOpenSessionReply(reply);
    if (result.outcome !== 'opened') this.#lastSeen.forgetSession(subscriptionId, streamId);
    else if (reply[1] === '1') this.#listeners.notify(subscriptionId, 'topology');
    return result;
  }

  async recordSent(
    subscriptionId: string,
    streamId: string,
    sentOffsets: readonly CommittedOffset[],
  ): Promise<boolean> {
    const session = this.#lastSeen.get(subscriptionId)?.sessions.get(streamId);
    if (session === undefined) return false;
    const sending = { ...session, sentOffsets };
    // Noted before Redis has it, so that a recovery never restores less than what was sent.
    this.#lastSeen.recordSession(subscriptionId, sending);
    const values = [streamId, encodeSession(sending)];
    const [, isOpen] = await this.#calls.call('record-sent', subscriptionId, values);
    return isOpen === '1';
  }

  async closeSession(
    subscriptionId: string,
    streamId: string,
    lateCommits: LateCommits = 'accepted',
    failed?: FailedDeliveries,
  ): Promise<void> {
    this.#lastSeen.forgetSession(subscriptionId, streamId);
    try {
      const [, existed] = await this.#calls.call('close-session', subscriptionId, [
        streamId,
        lateCommits === 'accepted' ? '1' : '0',
        ...encodeFailedDeliveries(failed),
      ]);
      if (existed === '1') this.#listeners.notify(subscriptionId, 'topology');
    } catch (error) {
      this.#sessionCloseRetries.add(subscriptionId, streamId, lateCommits, failed);
      throw error;
    }
  }

  async applyOwnership(
    subscriptionId: string,
    generation: number,
    changes: readonly OwnershipChange[],
  ): Promise<'applied' | 'conflict'> {
    const values = changes.flatMap(({ state, streamId, nextStreamId, ...partition }) => [
      partitionKey(partition),
      state === 'reassigning' ? 'R' : 'A',
      streamId,
      nextStreamId ?? '',
    ]);
    const [outcome] = await this.#calls.call('apply-ownership', subscriptionId, [generation, ...values]);
    if (outcome !== 'APPLIED') return 'conflict';
    if (changes.length > 0) this.#listeners.notify(subscriptionId, 'topology');
    return 'applied';
  }

  async release(
    subscriptionId: string,
    streamId: string,
    partition: EventTypePartition,
    fence: number,
  ): Promise<ReleaseResult> {
    const reply = await this.#calls.call('release', subscriptionId, [streamId, partitionKey(partition), fence]);
    const [outcome, nextStreamId, newFence] = reply as string[];
    if (outcome !== 'RELEASED') return { outcome: 'fenced' };
    this.#listeners.notify(subscriptionId, 'topology');
    return { outcome: 'released', nextStreamId: nextStreamId || null, fence: Number(newFence) };
  }

  async commit(subscriptionId: string, streamId: string, cursors: readonly CursorToCommit[]): Promise<CommitResult> {
    const isOpenHere = this.#lastSeen.get(subscriptionId)?.sessions.has(streamId) === true;
    const [outcome, ...rest] = await this.#commits.commit(subscriptionId, streamId, cursors, isOpenHere);
    switch (outcome) {
      case 'OK':
        return { outcome: 'committed', advanced: this.#recordCommits(subscriptionId, cursors, rest) };
      case 'SESSION_NOT_FOUND':
        return { outcome: 'session_not_found' };
      case 'NOT_OWNER':
        return { outcome: 'not_owner', cursor: parsePartitionKey(rest[0] ?? '') };
      case 'NOT_SENT':
        return {
          outcome: 'not_sent',
          cursor: { ...parsePartitionKey(rest[0] ?? ''), offset: Number(rest[1]) },
        };
      case undefined:
      default:
        throw new LendstreamError(
          'COORDINATION_UNAVAILABLE',
          'After a loss of coordination data, the owner of the partition is not known yet. Try again.',
        );
    }
  }

  async heartbeats(subscriptionId: string, streamId: string): Promise<number> {
    const [, count] = await this.#calls.call('heartbeats', subscriptionId, [streamId]);
    return Number(count);
  }

  async beginReset(subscriptionId: string, milliseconds = resetMillisecondsDefault): Promise<boolean> {
    // One whose mark Redis has lost is still in progress here.
    if (this.#resets.has(subscriptionId)) return false;
    this.#resetCount += 1;
    const number = this.#resetCount;
    const [, hasBegun] = await this.#calls.call('reset/begin-reset', subscriptionId, [milliseconds, number]);
    if (hasBegun !== '1') return false;
    this.#resets.set(subscriptionId, number);
    this.#listeners.notify(subscriptionId, 'reset');
    return true;
  }

  async finishReset(subscriptionId: string, offsets: readonly CommittedOffset[]): Promise<void> {
    const keysAndOffsets = offsets.flatMap((committed) => [partitionKey(committed), committed.offset]);
    const number = this.#resets.get(subscriptionId) ?? 0;
    this.#resets.delete(subscriptionId);
    const [outcome, ...set] = await this.#calls.call('reset/finish-reset', subscriptionId, [
      subscriptionId,
      number,
      ...keysAndOffsets,
    ]);
    if (outcome !== 'OK') {
      // The mark that keeps both away was lost with the data of Redis, or has expired.
      throw new LendstreamError(
        'COORDINATION_UNAVAILABLE',
        'Streams have opened during the reset, or another reset has begun. No cursor was changed. Try again.',
      );
    }
    this.#listeners.notify(subscriptionId, 'offsets');
    this.#listeners.notify(subscriptionId, 'topology');
    if (set.length > 0) await this.#mirrorNow(subscriptionId, decodeOffsets(set));
  }

  async recordHistory(subscriptionId: string, addition: SubscriptionHistory): Promise<void> {
    await this.#historyWrites.of(subscriptionId, encodeHistory(addition));
  }

  async history(subscriptionId: string): Promise<SubscriptionHistory & { readonly since: number }> {
    return decodeHistory(await this.#calls.call('history', subscriptionId, [historyRetentionMilliseconds]));
  }

  async remove(subscriptionId: string): Promise<void> {
    const values = [subscriptionId, removalRetentionMilliseconds];
    const [, ...removedKeys] = (await this.#calls.call('remove', subscriptionId, values)) as string[];
    this.#lastSeen.forget(subscriptionId);
    for (const key of removedKeys) this.#mirror.enqueue({ subscriptionId, partitionKey: key, stored: null });
    this.#listeners.notify(subscriptionId, 'removed');
    if (removedKeys.length > 0) await this.#mirror.flush();
  }

  watch(subscriptionId: string, listener: ChangeListener): () => void {
    const { connection, keys } = this.#store;
    const channel = keys.channel(subscriptionId);
    // Changes from before Redis listened have not been reported.
    const onSubscribed = (): void => this.#listeners.notify(subscriptionId, 'topology');
    if (this.#listeners.add(subscriptionId, listener)) connection.subscribe(channel, onSubscribed);
    return () => {
      if (this.#listeners.remove(subscriptionId, listener)) connection.unsubscribe(channel);
    };
  }

  /** Writes to the mirror what it lacks; the log stays open. Further calls throw COORDINATION_UNAVAILABLE. */
  async close(): Promise<void> {
    if (this.#calls.isClosed) return;
    this.#calls.close();
    this.#sessionCloseRetries.stop();
    this.#missedChanges.stop();
    const written = this.#mirror.close().then(() => this.#groups.close());
    await withTimeout(this.#clock, written, closeTimeoutMilliseconds, () => undefined);
    this.#store.connection.close();
    this.#listeners.clear();
  }

  /** @param report Empty for a node that withdraws. */
  async #writeReport(nodeId: string, report: string): Promise<void> {
    this.#calls.requireOpen();
    const values = [nodeId, report, nodeRetentionMilliseconds, reportedNodesMaximum];
    await this.#store.run('nodes/report', [this.#store.keys.nodeReports()], values);
  }

  /** @param epochs The epoch of each cursor; '0' for an outdated one. Then 'HEARTBEAT' if the commit is one. */
  #recordCommits(
    subscriptionId: string,
    cursors: readonly CursorToCommit[],
    epochs: readonly string[],
  ): readonly boolean[] {
    const advancedOffsets: CommittedOffset[] = [];
    const advanced = cursors.map((cursor, index) => {
      const epoch = epochs[index] ?? '0';
      if (epoch === '0') return false;
      this.#mirrorSoon(subscriptionId, partitionKey(cursor), { offset: cursor.offset, epoch: Number(epoch) });
      advancedOffsets.push(cursor);
      return true;
    });
    if (epochs[cursors.length] === 'HEARTBEAT') this.#listeners.notify(subscriptionId, 'offsets');
    if (advancedOffsets.length > 0) this.#listeners.notify(subscriptionId, 'offsets', undefined, advancedOffsets);
    return advanced;
  }

  #mirrorSoon(subscriptionId: string, key: string, stored: StoredOffset): void {
    this.#mirror.enqueue({ subscriptionId, partitionKey: key, stored });
  }

  async #mirrorNow(subscriptionId: string, offsets: ReadonlyMap<string, StoredOffset>): Promise<void> {
    for (const [key, stored] of offsets) this.#mirrorSoon(subscriptionId, key, stored);
    await this.#mirror.flush();
  }

  #onMessage(channel: string, text: string): void {
    const { keys, origin } = this.#store;
    if (channel === keys.incarnations()) {
      void this.#recoverSoon();
      return;
    }
    const change: CoordinationChange | undefined = parseChangeNotification(text, origin);
    if (change === undefined) return;
    const subscriptionId = keys.subscriptionOf(channel);
    if (change === 'removed') this.#lastSeen.forget(subscriptionId);
    this.#listeners.notify(subscriptionId, change);
  }

  #onResubscribed(): void {
    // After a recovery everyone has been notified. What would be read before it would fail, or be read twice.
    const { recoveries } = this.#lastSeen;
    void this.#recoverSoon().then(() => {
      if (recoveries === this.#lastSeen.recoveries) this.#listeners.notifyAll();
    });
  }

  /** Recovers without waiting for the next call, since other processes may wait for what this one knows. */
  async #recoverSoon(): Promise<void> {
    if (this.#calls.isClosed) return;
    await this.#recovery.recover().catch((error: unknown) => {
      this.#logger.debug({ error: describeError(error) }, 'Recovery failed; the next call retries');
    });
  }
}

import type {
  CommitResult,
  CommittedOffset,
  CursorToCommit,
  LateCommits,
  OpenSessionResult,
  PartitionOwnership,
  Session,
} from '../../src/ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../src/ports/event-type-partition.ts';
import type { Offset } from '../../src/ports/event-log.ts';
import type { EventFilter } from '../../src/broker/streaming/filters/event-filter.ts';
import type { FailedDeliveries } from '../../src/ports/failed-deliveries.ts';
import { isServiceEnd } from './ends-of-streams.ts';
import { PassedOverEvents, type ObservedLetter } from './passed-over-events.ts';
import type { StoreOperation, SubscriptionSnapshot } from './simulated-store.ts';
import { Violation } from './violation.ts';
import { WaitingStreams } from './waiting-streams.ts';

/** One line that reached a client, or was sent by a node. */
export interface ObservedLine {
  readonly subscriptionId: string;
  readonly streamId: string;
  readonly eventType: string;
  readonly partition: number;
  /** The position in the line. */
  readonly offset: Offset;
  /** The events as texts. */
  readonly events: readonly string[];
}

export interface StreamRules {
  readonly batchLimit: number;
  /** How long an event may wait for others. */
  readonly flushMilliseconds: number;
  readonly uncommittedEventsMaximum: number;
  /** 0 means any number. */
  readonly streamLimit: number;
  /** Whether it may commit only what it was sent. */
  readonly strictCommits?: true;
  /** On the kind of the events, if there is one. */
  readonly filter?: EventFilter;
}

interface PublishedPartition {
  /** By offset; undefined at deletions and gaps. */
  readonly events: (string | undefined)[];
  readonly offsets: Map<string, Offset>;
  /** When each event was published that no other one delays, in simulated milliseconds, by offset. */
  readonly aloneSince: Map<Offset, number>;
  /** Retention has deleted everything below it. */
  earliest: Offset;
}

interface SubscribedPartition {
  readonly published: PublishedPartition;
  committed: Offset;
  /** The largest committed offset of each epoch. A reset begins an epoch. */
  readonly committedByEpoch: Offset[];
  /** By offset: a client has received it, or none had to. */
  readonly delivered: boolean[];
  /** Like `delivered`, and before the last reset, or passed over by a reset. */
  readonly everDelivered: boolean[];
  highestFence: number;
  /** The stream that closed as its owner and may still commit, until a time of the store's clock. */
  lastOwner: LastOwner | undefined;
  /** The largest offset that a client has asked to commit, and may have, since the last reset. */
  askedByClients: Offset;
  /** The positions that resets with an unknown outcome may have set. */
  readonly resetTargets: Set<Offset>;
  /** The position that the last reset has set. */
  lastReset: Offset | undefined;
  /** The streams that have owned it since the last reset and did not release it. */
  readonly holders: Set<string>;
  /** Those of the last reset that moved it, and of earlier ones. */
  readonly resetHolders: Set<string>;
  /** The store has lost its data, and does not have all commits yet that it had acknowledged. */
  isBehind: boolean;
  /** Since when no open session has owned it. Simulated milliseconds. */
  unownedSince: number | undefined;
  /** The stream that owns it, and since when. Simulated milliseconds. */
  owner: { readonly streamId: string; readonly since: number } | undefined;
}

interface LastOwner {
  readonly streamId: string;
  readonly until: number;
  /** What it was sent according to the store, if its commits are strict. */
  readonly sentOffsets: readonly CommittedOffset[] | undefined;
  /** A reset is under way, or has failed: it may have taken the right to commit. */
  isUncertain: boolean;
}

interface ObservedStream {
  readonly rules: StreamRules;
  readonly nodeName: string;
  /** Simulated milliseconds. */
  readonly openedAt: number;
  readonly epochs: Map<string, number>;
  /** The last offset that a client received, by partition. */
  readonly received: Map<string, Offset>;
  /** Of the store when it was opened. */
  readonly incarnation: number;
  /** The partitions that others have owned since the store lost its data: what they did not commit comes again. */
  readonly repeated: Set<string>;
  /** The offsets of the events that the node has sent, by partition. */
  readonly sent: Map<string, Offset[]>;
  /** The last cursor of each partition that the node has sent with events. */
  readonly sentThrough: Map<string, Offset>;
  /** The last event of each partition that left since the stream got it, before it began to end. */
  readonly sentBeforeEnd: Map<string, Offset>;
  receivedEvents: number;
  /** When its session was closed because the lease of its node had expired. Simulated milliseconds. */
  reapedAt: number | undefined;
}

interface ObservedSubscription {
  readonly id: string;
  readonly partitions: Map<string, SubscribedPartition>;
  readonly streams: Map<string, ObservedStream>;
  readonly waiting: WaitingStreams;
  snapshot: SubscriptionSnapshot | undefined;
  /** Of the store in the last snapshot. */
  incarnation: number;
}

export interface InvariantsOptions {
  /** Simulated milliseconds. */
  readonly now: () => number;
  readonly leaseMilliseconds: number;
  /** When a call of this node to the store last failed, in simulated milliseconds. */
  readonly storeFailedAt: (nodeName: string) => number;
  /** When this node last heard that its lease was renewed, in simulated milliseconds. */
  readonly renewedAt: (nodeName: string) => number;
  /** Why a stream has ended, in the words of its last line; undefined when that is not known. */
  readonly closeReason: (streamId: string) => string | undefined;
  /**
   * Whether the store acknowledges commits before the log has them, so that it may lose the latest with its data, and
   * gets them back from the nodes. Its fences grow all the same.
   */
  readonly mayLoseCommits: boolean;
}

/**
 * How much later than its flush timeout an event may reach a client while everything works: a few messages, and clocks
 * that differ by one percent. How long a new owner may take until it reads. Milliseconds.
 */
const delayMillisecondsMaximum = 250;
const takeoverMillisecondsMaximum = 1_000;

/** How long a partition may have no owner while everything works: the lease and the time to detect its end. */
const unownedMillisecondsBeyondLease = 1_000;

/** The same where nodes look for dead ones in rounds, and not while others may come back from an outage. */
const unownedMillisecondsBeyondLeaseInRounds = 5_000;

/**
 * The invariants at every moment, whatever happens to processes, network and store. This class knows what was
 * published, sent, received and stored, and throws a {@link Violation} when these do not agree. Violations name:
 *
 * - I1: every committed event was delivered to a client, or deleted by retention, or passed over by a filter or policy.
 * - I2: committed offsets move back only by a reset, or by a store that lost its data.
 * - I4: a new owner has a new fence, and only the owner, or the last one while there is no other, commits.
 * - I5: a living owner loses a partition only when it releases it, or by a reset.
 * - I6: fences never become smaller.
 * - I7: a change of ownership for an older generation is not applied.
 * - I8: a stream gets events in order and passes over none.
 * - I9: uncommitted events stay within the window.
 * - I10: while everything works, a client that does not read delays no event of another subscription.
 * - I11: while everything works, each partition gets an owner.
 *
 * - R1 to R5: a store that has lost its data gets back what the log had, under new fences, and what each node knows.
 * - R6: a stream that a reset should have ended does not come back.
 *
 * I3, that what is not committed is delivered again, has no message of its own: at the end of a run, everything must be
 * delivered and committed.
 * The rules D1 to D8, on events that consumers cannot process, are at the checks here and in passed-over-events.ts, and
 * W1 to W4, on streams that wait for a slot, in waiting-streams.ts.
 */
export class Invariants {
  readonly #options: InvariantsOptions;
  readonly #published = new Map<string, PublishedPartition>();
  readonly #subscriptions = new Map<string, ObservedSubscription>();
  /**
   * When the leases of nodes end, as reported to the store, in milliseconds of the store's clock, and when that was
   * reported, in simulated milliseconds.
   */
  readonly #leases = new Map<string, { readonly endsAt: number; readonly reportedAt: number }>();
  /** What consumers failed with. */
  readonly unprocessable: PassedOverEvents;

  constructor(options: InvariantsOptions) {
    this.#options = options;
    this.unprocessable = new PassedOverEvents(options.now);
  }

  addSubscription(id: string): void {
    const streams = new Map<string, ObservedStream>();
    const leaseEndsAt = (nodeId: string): number =>
      this.#subscription(id).snapshot?.isAwaitingNodes === true ? Infinity : (this.#leases.get(nodeId)?.endsAt ?? 0);
    const waiting = new WaitingStreams(leaseEndsAt);
    this.#subscriptions.set(id, { id, partitions: new Map(), streams, waiting, snapshot: undefined, incarnation: 0 });
  }

  // The events of the simulation.

  published(where: EventTypePartition, baseOffset: Offset, values: readonly (string | null)[]): void {
    const published = this.#publishedPartition(where);
    for (const [index, value] of values.entries()) {
      if (value === null) continue;
      published.events[baseOffset + index] = value;
      published.offsets.set(value, baseOffset + index);
    }
  }

  /** The last event of a partition was published when there was nothing else to deliver. */
  publishedAlone(where: EventTypePartition): void {
    const { events, aloneSince } = this.#publishedPartition(where);
    aloneSince.set(events.length - 1, this.#options.now());
  }

  deleted(where: EventTypePartition, earliest: Offset): void {
    this.#publishedPartition(where).earliest = earliest;
  }

  streamOpened(subscriptionId: string, streamId: string, nodeName: string, rules: StreamRules): void {
    const subscription = this.#subscription(subscriptionId);
    const epochs = new Map<string, number>();
    for (const [key, { committedByEpoch }] of subscription.partitions) epochs.set(key, committedByEpoch.length - 1);
    subscription.streams.set(streamId, {
      rules,
      nodeName,
      openedAt: this.#options.now(),
      epochs,
      received: new Map(),
      incarnation: subscription.incarnation,
      repeated: new Set(),
      sent: new Map(),
      sentThrough: new Map(),
      sentBeforeEnd: new Map(),
      receivedEvents: 0,
      reapedAt: undefined,
    });
  }

  /** A node has written a line to the connection. */
  sent(line: ObservedLine): void {
    const subscription = this.#subscription(line.subscriptionId);
    const stream = this.#stream(subscription, line.streamId);
    const key = partitionKey(line);
    const partition = subscription.partitions.get(key);
    if (partition === undefined) {
      // A stream whose starting offsets could not be stored says why it ends.
      if (line.events.length === 0) return;
      throw new Violation(`I4: ${key} was sent before it belonged to the subscription`);
    }
    // With a filter, a line without events may move the cursor.
    if (stream.rules.filter !== undefined) stream.sentThrough.set(key, line.offset);
    if (line.events.length === 0) return;
    this.#checkExclusive(subscription, stream, line, key);
    const offsets = stream.sent.get(key) ?? [];
    stream.sent.set(key, offsets);
    stream.sentThrough.set(key, line.offset);
    const first = offsets.length;
    for (const event of line.events) offsets.push(offsetOf(partition.published, event, key));
    const isEnding = this.#options.closeReason(line.streamId) !== undefined;
    if (!isEnding) stream.sentBeforeEnd.set(key, offsets.at(-1) ?? -1);
    this.#checkWindow(subscription, stream, line.streamId);
    this.#checkSearch(subscription, stream, line, key, offsets[first] ?? -1);
  }

  /** A letter was appended to the queue of dead letters. */
  letter(letter: ObservedLetter): void {
    const published = this.#publishedPartition(letter).events[letter.offset];
    this.unprocessable.letter(letter, published);
  }

  /** A client has received a line. */
  received(line: ObservedLine): void {
    const subscription = this.#subscription(line.subscriptionId);
    const stream = this.#stream(subscription, line.streamId);
    const key = partitionKey(line);
    const partition = subscription.partitions.get(key);
    if (partition === undefined) {
      if (line.events.length === 0) return;
      throw new Violation(`I4: ${key} was received before it belonged to the subscription`);
    }
    const { events, streamId } = line;
    const { rules } = stream;
    if (events.length > rules.batchLimit) {
      throw new Violation(`A batch of ${events.length} events for ${streamId}, whose limit is ${rules.batchLimit}`);
    }
    stream.receivedEvents += events.length;
    if (rules.streamLimit > 0 && stream.receivedEvents > rules.streamLimit) {
      throw new Violation(`More than ${rules.streamLimit} events for ${streamId}`);
    }
    for (const event of events) {
      if (!isWanted(rules, event)) throw new Violation(`${event} of ${key} was sent to ${streamId}, which filters`);
      const offset = offsetOf(partition.published, event, key);
      this.#checkOrder(stream, partition, line, offset, key);
      this.#checkDelay(stream, partition, line, offset, key);
      stream.received.set(key, offset);
      partition.delivered[offset] = true;
      partition.everDelivered[offset] = true;
    }
    const last = stream.received.get(key);
    if (events.length > 0 && last !== undefined && line.offset < last) {
      throw new Violation(`The cursor ${line.offset} of ${key} lies before the event at ${last} that it comes with`);
    }
    this.#checkNothingPassedOver(stream, partition, line.offset + 1, key, streamId);
    this.#notePassedOver(stream, partition, line.offset, key);
  }

  // The state of the store.

  /**
   * Compares the state of the store with the previous one.
   * @param operations Those in progress, and those that have just ended.
   * @param storeTime The monotonic time of the store. Milliseconds.
   */
  storeChanged(
    subscriptionId: string,
    snapshot: SubscriptionSnapshot,
    operations: readonly StoreOperation[],
    storeTime: number,
  ): void {
    const subscription = this.#subscription(subscriptionId);
    const { incarnation } = snapshot;
    const before = subscription.incarnation === incarnation ? subscription.snapshot : undefined;
    const hasForgotten = subscription.incarnation !== incarnation && subscription.incarnation > 0;
    if (hasForgotten) {
      // The store may have got the first ones back.
      for (const [nodeId, { reportedAt }] of this.#leases) {
        if (reportedAt < this.#options.now()) this.#leases.delete(nodeId);
      }
      for (const partition of subscription.partitions.values()) {
        if (!this.#options.mayLoseCommits) partition.highestFence = -1;
        partition.lastOwner = undefined;
      }
      for (const key of subscription.partitions.keys()) this.unprocessable.lose(subscriptionId, key);
      subscription.waiting.forget();
    }
    const own = operations.filter((operation) => operation.arguments[0] === subscriptionId);
    this.#checkSessions(subscription, before, snapshot, own, storeTime);
    if (own.some(isResetWithOffsets)) this.#noteReset(subscription, own.some(isFinishedReset));
    for (const ownership of snapshot.topology.partitions) {
      const was = before?.topology.partitions.find(
        ({ eventType, partition }) => eventType === ownership.eventType && partition === ownership.partition,
      );
      this.#checkOwnership(subscription, before, snapshot, was, ownership, own);
    }
    this.#checkOperations(subscription, own);
    for (const operation of own) this.#noteSessions(subscription, operation);
    const { mayLoseCommits } = this.#options;
    if (hasForgotten && !mayLoseCommits && snapshot.committed.length < subscription.partitions.size) {
      throw new Violation('A partition is missing in the mirror');
    }
    for (const committed of snapshot.committed) this.#checkCommitted(subscription, committed, own, hasForgotten);
    subscription.snapshot = snapshot;
    subscription.incarnation = incarnation;
    this.#noteOwners(subscription, snapshot);
  }

  /**
   * Judges a call before the store does.
   * @param storeTime The monotonic time of the store. Milliseconds.
   */
  operationBegins(operation: StoreOperation, storeTime: number): void {
    if (operation.method === 'renewLease') {
      const [nodeId, milliseconds] = operation.arguments as [string, number];
      this.#leases.set(nodeId, { endsAt: storeTime + milliseconds, reportedAt: this.#options.now() });
    }
    if (operation.method === 'applyOwnership') {
      operation.isAllowed = operation.arguments[1] === operation.topology?.generation;
    }
    if (operation.method !== 'commit') return;
    operation.isAllowed = this.#mayCommit(operation, storeTime);
    if (operation.isAllowed === false) return;
    operation.unsent = this.#unsent(operation);
    const [subscriptionId, , cursors] = operation.arguments as [string, string, readonly CursorToCommit[]];
    for (const cursor of cursors.filter(isOfClient)) {
      const partition = this.#subscription(subscriptionId).partitions.get(partitionKey(cursor));
      if (partition !== undefined) partition.askedByClients = Math.max(partition.askedByClients, cursor.offset);
    }
  }

  // The end of a run.

  /** The partitions of a subscription with events that are neither committed nor deleted. */
  unfinished(subscriptionId: string): string[] {
    const { id, partitions } = this.#subscription(subscriptionId);
    return [...partitions].flatMap(([key, { published, committed }]) => {
      for (let offset = published.events.length - 1; offset > committed && offset >= published.earliest; offset -= 1) {
        if (published.events[offset] !== undefined) return [`${key} of ${id}, ${offset}, committed ${committed}`];
      }
      return [];
    });
  }

  /** From now on everything works, and partitions get owners in time. */
  beginQuiet(): void {
    for (const { partitions } of this.#subscriptions.values())
      for (const each of partitions.values()) this.#restart(each);
  }

  /** I11: while everything works and a stream accepts any partition, each has an owner. */
  checkOwned(subscriptionId: string, isServed: boolean): void {
    const { leaseMilliseconds, mayLoseCommits } = this.#options;
    const beyondLease = mayLoseCommits ? unownedMillisecondsBeyondLeaseInRounds : unownedMillisecondsBeyondLease;
    const maximum = leaseMilliseconds + beyondLease;
    for (const [key, partition] of this.#subscription(subscriptionId).partitions) {
      if (!isServed) this.#restart(partition);
      const { unownedSince } = partition;
      if (unownedSince === undefined || this.#options.now() - unownedSince <= maximum) continue;
      throw new Violation(`I11: ${key} of ${subscriptionId} has had no owner for more than ${maximum} ms`);
    }
  }

  /** While everything works, streams that wait take free slots. */
  checkWaiting(subscriptionId: string, storeTime: number): void {
    const { snapshot, waiting } = this.#subscription(subscriptionId);
    if (snapshot !== undefined) waiting.checkNoticed(snapshot.topology, storeTime);
  }

  /** Where nothing ever fails, streams that wait take free slots at once. Called after each change of the store. */
  checkToldAtOnce(subscriptionId: string, storeTime: number): void {
    const { snapshot, waiting } = this.#subscription(subscriptionId);
    if (snapshot !== undefined) waiting.checkToldAtOnce(snapshot.topology, storeTime);
  }

  #restart(partition: SubscribedPartition): void {
    if (partition.unownedSince !== undefined) partition.unownedSince = this.#options.now();
  }

  // Deliveries.

  #checkOrder(
    stream: ObservedStream,
    partition: SubscribedPartition,
    { streamId }: ObservedLine,
    offset: Offset,
    key: string,
  ): void {
    const last = stream.received.get(key);
    if (last !== undefined && offset <= last && !stream.repeated.has(key)) {
      throw new Violation(`I8: ${streamId} got ${offset} of ${key} after ${last}`);
    }
    this.#checkNothingPassedOver(stream, partition, offset, key, streamId);
  }

  /** I10: an event that its stream could deliver at once is not later than its flush timeout. */
  #checkDelay(
    { rules }: ObservedStream,
    { published, owner }: SubscribedPartition,
    { streamId, subscriptionId }: ObservedLine,
    offset: Offset,
    key: string,
  ): void {
    const publishedAt = published.aloneSince.get(offset);
    if (publishedAt === undefined || owner?.streamId !== streamId) return;
    if (owner.since > publishedAt - takeoverMillisecondsMaximum) return;
    const late = this.#options.now() - publishedAt - rules.flushMilliseconds;
    if (late <= delayMillisecondsMaximum) return;
    throw new Violation(`I10: ${offset} of ${key} reached ${streamId} of ${subscriptionId} ${late} ms too late`);
  }

  /** Every event before `offset` was received by this stream, is committed, or is deleted. */
  #checkNothingPassedOver(
    stream: ObservedStream,
    partition: SubscribedPartition,
    offset: Offset,
    key: string,
    streamId: string,
  ): void {
    const { published } = partition;
    for (let missing = firstOwed(stream, partition, key); missing < offset; missing += 1) {
      const event = published.events[missing];
      if (event === undefined || !isWanted(stream.rules, event)) continue;
      throw new Violation(`I8: ${streamId} passed over ${missing} of ${key} on its way to ${offset}`);
    }
  }

  /** What a filter passes over counts as delivered up to the cursor that the client has received. */
  #notePassedOver(stream: ObservedStream, partition: SubscribedPartition, through: Offset, key: string): void {
    const { rules } = stream;
    if (rules.filter === undefined) return;
    const { published, delivered, everDelivered } = partition;
    for (let offset = firstOwed(stream, partition, key, false); offset <= through; offset += 1) {
      const event = published.events[offset];
      if (event === undefined || isWanted(rules, event)) continue;
      delivered[offset] = true;
      everDelivered[offset] = true;
    }
  }

  /**
   * A node must not send once others may have taken over. Only a node that cannot reach the store may not know that,
   * until its lease is renewed.
   */
  #checkExclusive(
    { snapshot }: ObservedSubscription,
    { reapedAt, nodeName }: ObservedStream,
    { streamId }: ObservedLine,
    key: string,
  ): void {
    if (reapedAt === undefined) return;
    const owner = snapshot?.topology.partitions.find((partition) => partitionKey(partition) === key)?.streamId;
    if (owner === undefined || owner === null || owner === streamId) return;
    const { storeFailedAt, renewedAt, leaseMilliseconds } = this.#options;
    if (storeFailedAt(nodeName) > reapedAt - 3 * leaseMilliseconds && renewedAt(nodeName) <= reapedAt) return;
    throw new Violation(`${streamId} sent events of ${key} after its lease had ended and ${owner} had taken over`);
  }

  /** I9: events that are uncommitted and may be sent again after a crash stay within the window. */
  #checkWindow({ snapshot, partitions }: ObservedSubscription, stream: ObservedStream, streamId: string): void {
    let events = 0;
    for (const ownership of snapshot?.topology.partitions ?? []) {
      if (ownership.streamId !== streamId) continue;
      const key = partitionKey(ownership);
      const committed = partitions.get(key)?.committed ?? -1;
      const sent = stream.sent.get(key) ?? [];
      // A stream that got a partition again after a loss has sent some events twice.
      const uncommitted = new Set<Offset>();
      for (let index = sent.length - 1; index >= 0 && (sent[index] ?? -1) > committed; index -= 1) {
        uncommitted.add(sent[index] ?? -1);
      }
      events += uncommitted.size;
    }
    const maximum = stream.rules.uncommittedEventsMaximum;
    if (events > maximum) throw new Violation(`I9: ${streamId} has ${events} uncommitted events, allowed ${maximum}`);
  }

  /**
   * D7: while an event is with the consumer that may be the one that fails, the stream sends nothing else. Events that
   * failed too often are not sent at all.
   */
  #checkSearch(
    { id, snapshot, partitions, incarnation }: ObservedSubscription,
    stream: ObservedStream,
    { streamId, eventType, partition }: ObservedLine,
    key: string,
    first: Offset,
  ): void {
    // A stream that came back after a loss does not know what was counted since.
    if (stream.incarnation < incarnation) return;
    const owned = snapshot?.topology.partitions.filter((ownership) => ownership.streamId === streamId) ?? [];
    if (owned.every(({ failureRecord }) => failureRecord === undefined)) return;
    if (this.unprocessable.policySince(id, stream.openedAt) === undefined) return;
    const isOwned = owned.some((ownership) => ownership.eventType === eventType && ownership.partition === partition);
    if (isOwned) this.unprocessable.checkSent(id, key, first, stream.openedAt);
    let events = 0;
    let searched: string | undefined;
    for (const ownership of owned) {
      const ownedKey = partitionKey(ownership);
      const uncommitted = uncommittedOf(stream, ownedKey, partitions.get(ownedKey));
      events += uncommitted.length;
      const { failureRecord } = ownership;
      const [lowest] = uncommitted;
      if (failureRecord?.isOneByOne !== true || lowest === undefined || lowest > failureRecord.throughOffset) continue;
      searched = `${lowest} of ${ownedKey}`;
    }
    if (searched === undefined || events === 1) return;
    throw new Violation(`D7: ${streamId} sent ${events} events at once while ${searched} may be the one that fails`);
  }

  // The store.

  #checkSessions(
    subscription: ObservedSubscription,
    before: SubscriptionSnapshot | undefined,
    after: SubscriptionSnapshot,
    operations: readonly StoreOperation[],
    storeTime: number,
  ): void {
    const open = new Set(after.topology.sessions.map(({ streamId }) => streamId));
    const known = new Set(before?.topology.sessions.map(({ streamId }) => streamId));
    if (before?.topology.resetting === true && after.topology.resetting) {
      for (const streamId of open) if (!known.has(streamId)) throw new Violation(`${streamId} opened during a reset`);
    }
    for (const session of before?.topology.sessions ?? []) {
      if (open.has(session.streamId)) continue;
      const closing = operations.find(
        ({ method, arguments: [, streamId] }) => method === 'closeSession' && streamId === session.streamId,
      );
      if (operations.some((operation) => closesByMerge(operation, session))) continue;
      if (closing === undefined) this.#checkReaped(subscription, session, storeTime);
      if (closing?.arguments[2] !== 'refused') this.#noteLastOwner(subscription, before, after, session, storeTime);
    }
    if (before !== undefined && after.topology.generation < before.topology.generation) {
      throw new Violation('I7: the generation of the topology went back');
    }
  }

  /** A reset takes the partitions from all streams, including those that may only commit late. */
  #noteReset({ id, partitions }: ObservedSubscription, isFinished: boolean): void {
    for (const [key, partition] of partitions) {
      if (partition.lastOwner !== undefined) partition.lastOwner.isUncertain = true;
      if (!isFinished) continue;
      partition.lastOwner = undefined;
      this.unprocessable.reset(id, key);
    }
  }

  #noteLastOwner(
    { partitions }: ObservedSubscription,
    before: SubscriptionSnapshot | undefined,
    after: SubscriptionSnapshot,
    { streamId }: Session,
    storeTime: number,
  ): void {
    for (const ownership of before?.topology.partitions ?? []) {
      if (ownership.streamId !== streamId) continue;
      const key = partitionKey(ownership);
      const partition = partitions.get(key);
      const now = after.topology.partitions.find((each) => partitionKey(each) === key);
      if (partition === undefined || now === undefined || now.streamId !== null) continue;
      // When both sessions end together, the next stream may have owned the partition in between.
      const lastId = now.fence > ownership.fence ? ownership.nextStreamId : streamId;
      const last = before?.topology.sessions.find((session) => session.streamId === lastId);
      partition.lastOwner =
        last === undefined
          ? undefined
          : {
              streamId: last.streamId,
              until: storeTime + last.commitTimeoutMilliseconds,
              sentOffsets: last.sentOffsets,
              isUncertain: false,
            };
    }
  }

  #checkReaped({ streams }: ObservedSubscription, { streamId, nodeId }: Session, storeTime: number): void {
    const leaseEndsAt = this.#leases.get(nodeId)?.endsAt ?? 0;
    if (leaseEndsAt > storeTime) {
      throw new Violation(
        `I5: ${streamId} lost its session ${leaseEndsAt - storeTime} ms before the lease of ${nodeId} ends`,
      );
    }
    const stream = streams.get(streamId);
    if (stream !== undefined) stream.reapedAt = this.#options.now();
  }

  #checkOwnership(
    subscription: ObservedSubscription,
    before: SubscriptionSnapshot | undefined,
    after: SubscriptionSnapshot,
    was: PartitionOwnership | undefined,
    now: PartitionOwnership,
    operations: readonly StoreOperation[],
  ): void {
    const key = partitionKey(now);
    const partition = this.#subscribedPartition(subscription, now, after.committed);
    const isRestored = subscription.incarnation !== after.incarnation && partition.highestFence > -1;
    if (isRestored && now.fence === partition.highestFence) {
      throw new Violation(`R2: ${key} is restored under the fence ${now.fence}, which it had before`);
    }
    if (now.fence < partition.highestFence) throw new Violation(`I6: the fence of ${key} went back to ${now.fence}`);
    const hasNewOwner = now.streamId !== null && was !== undefined && now.streamId !== was.streamId;
    if (hasNewOwner && now.fence <= partition.highestFence) {
      throw new Violation(`I4: ${now.streamId} owns ${key} under the fence ${now.fence} of an earlier owner`);
    }
    partition.highestFence = now.fence;
    this.#checkState(after, now, key);
    this.#checkNotReset(subscription, now, key, operations);
    if (now.streamId !== null && now.streamId !== was?.streamId) this.#noteRepeated(subscription, after, now, key);
    if (was?.streamId === undefined || was.streamId === null || was.streamId === now.streamId) return;
    const isOwnerOpen = after.topology.sessions.some(({ streamId }) => streamId === was.streamId);
    if (!isOwnerOpen) return;
    const isReleased = operations.some(
      ({ method, arguments: [, streamId, released] }) =>
        method === 'release' && streamId === was.streamId && partitionKey(released as EventTypePartition) === key,
    );
    const isReset = operations.some(isResetWithOffsets);
    // Another node knows of a later owner.
    if (operations.some(({ method }) => method === 'merge')) return;
    if (!isReleased && !isReset) throw new Violation(`I5: ${was.streamId} lost ${key} without letting go of it`);
    if (isReleased) this.#checkReleased(subscription, was.streamId, key, before);
  }

  #checkState({ topology }: SubscriptionSnapshot, now: PartitionOwnership, key: string): void {
    if ((now.state === 'unassigned') !== (now.streamId === null))
      throw new Violation(`${key} is ${now.state} and owned`);
    if ((now.state === 'reassigning') !== (now.nextStreamId !== null)) {
      throw new Violation(`${key} is ${now.state} and goes to ${now.nextStreamId}`);
    }
    if (now.streamId === null || topology.sessions.some(({ streamId }) => streamId === now.streamId)) return;
    throw new Violation(`I11: ${key} is owned by ${now.streamId}, whose session has ended`);
  }

  /** R6: no stream owns what a reset has taken from it. */
  #checkNotReset(
    { partitions }: ObservedSubscription,
    { streamId }: PartitionOwnership,
    key: string,
    operations: readonly StoreOperation[],
  ): void {
    const partition = partitions.get(key);
    if (partition === undefined) return;
    for (const { method, arguments: args } of operations) {
      if (method !== 'release' || partitionKey(args[2] as EventTypePartition) !== key) continue;
      partition.holders.delete(String(args[1]));
    }
    if (streamId === null) return;
    partition.holders.add(streamId);
    if (!partition.resetHolders.has(streamId)) return;
    throw new Violation(`R6: ${streamId} owns ${key}, which a reset has taken from it`);
  }

  #noteRepeated(
    { streams }: ObservedSubscription,
    { incarnation }: SubscriptionSnapshot,
    { streamId: owner }: PartitionOwnership,
    key: string,
  ): void {
    for (const [streamId, stream] of streams) {
      if (streamId !== owner && stream.incarnation < incarnation) stream.repeated.add(key);
    }
  }

  /** I5: a partition is handed over when everything that was sent of it is committed. */
  #checkReleased(
    { streams, partitions }: ObservedSubscription,
    streamId: string,
    key: string,
    before: SubscriptionSnapshot | undefined,
  ): void {
    const last = streams.get(streamId)?.sent.get(key)?.at(-1) ?? -1;
    const committed = before?.committed.find((position) => partitionKey(position) === key)?.offset ?? -1;
    const earliest = partitions.get(key)?.published.earliest ?? 0;
    if (last > committed && last >= earliest) {
      throw new Violation(`I5: ${streamId} released ${key} with ${last} sent and ${committed} committed`);
    }
  }

  /** Notes the streams that wait for a slot, and what those that end report. */
  #noteSessions(subscription: ObservedSubscription, operation: StoreOperation): void {
    const { method, isFinished, error, result, topology, beganAt, arguments: args } = operation;
    if (!isFinished || error !== undefined || topology === undefined) return;
    if (method === 'openSession') {
      const [, session, placeMilliseconds = 0] = args as [string, Session, number | undefined];
      const answer = result as OpenSessionResult;
      subscription.waiting.asked({ session, placeMilliseconds, result: answer, topology, decidedAt: beganAt });
    }
    if (method !== 'closeSession') return;
    subscription.waiting.gaveUp(String(args[1]));
    if (topology.sessions.some(({ streamId }) => streamId === args[1])) this.#noteEnd(subscription, operation);
  }

  /**
   * D8: a stream reports as failed what it has sent and what is not committed, unless the service ended it. Its last
   * events may leave while it reports.
   */
  #noteEnd({ id, streams, partitions }: ObservedSubscription, { topology, arguments: args }: StoreOperation): void {
    const [, streamId, lateCommits, failed] = args as [string, string, LateCommits, FailedDeliveries | undefined];
    const stream = streams.get(streamId);
    if (stream === undefined) return;
    const reason = this.#options.closeReason(streamId);
    const isByService = reason !== undefined && isServiceEnd(reason) && lateCommits === 'accepted';
    if (isByService && failed !== undefined) throw new Violation(`D8: ${streamId} reports a failure: ${reason}`);
    const isDue = reason !== undefined && !isByService && this.unprocessable.policySince(id, stream.openedAt);
    const owned = topology?.partitions.filter((ownership) => ownership.streamId === streamId) ?? [];
    for (const ownership of owned) {
      const key = partitionKey(ownership);
      const partition = partitions.get(key);
      const uncommitted = uncommittedOf(stream, key, partition);
      const reported = failed?.partitions.find((delivery) => partitionKey(delivery) === key);
      if (reported === undefined) {
        const isOwed = uncommitted.some((offset) => offset <= (stream.sentBeforeEnd.get(key) ?? -1));
        if (!isDue || !isOwed) continue;
        throw new Violation(`D8: ${streamId} does not report ${uncommitted[0]} of ${key} as failed: ${reason}`);
      }
      const { firstOffset: offset } = reported;
      if (!(stream.sent.get(key) ?? []).includes(offset)) {
        throw new Violation(`D8: ${streamId} reports ${offset} of ${key}, which it has not sent: ${reason}`);
      }
      // The stream has not heard of its commit.
      if (offset <= (partition?.committed ?? -1)) continue;
      const { failureRecord } = ownership;
      const isSearched = failureRecord?.isOneByOne === true && offset <= failureRecord.throughOffset;
      this.unprocessable.failed(id, key, { offset, isSearched, fence: ownership.fence });
    }
  }

  /** I4: only the owner commits, or the last one while there is no other. I7: an outdated compare-and-set fails. */
  #checkOperations({ partitions }: ObservedSubscription, operations: readonly StoreOperation[]): void {
    for (const { method, isFinished, error, result, isAllowed, unsent, arguments: args } of operations) {
      if (!isFinished || error !== undefined) continue;
      if (method === 'applyOwnership' && result === 'applied' && !isAllowed) {
        throw new Violation('I7: a change of ownership was applied that was made for another generation');
      }
      if (method !== 'commit') continue;
      const [, streamId, cursors] = args as [string, string, readonly CursorToCommit[]];
      const { outcome } = result as CommitResult;
      if (outcome === 'not_sent' && isAllowed !== false && unsent.length > 0) continue;
      if (outcome === 'committed') checkSent(result as CommitResult, streamId, cursors, unsent);
      if ((outcome === 'committed') !== (isAllowed ?? outcome === 'committed') && cursors.length > 0) {
        throw new Violation(
          `I4: a commit of ${streamId}, which ${isAllowed ? 'may' : 'may not'} commit, is ${outcome}`,
        );
      }
      // The mirror has lost what a reset with an unknown outcome may have written.
      if (outcome === 'committed') {
        for (const cursor of cursors) partitions.get(partitionKey(cursor))?.resetTargets.clear();
      }
    }
  }

  /** Returns undefined when that depends on a reset that is under way or has failed. */
  #mayCommit({ topology, arguments: args }: StoreOperation, storeTime: number): boolean | undefined {
    const [subscriptionId, streamId, cursors] = args as [string, string, readonly CursorToCommit[]];
    const { partitions } = this.#subscription(subscriptionId);
    const isOpen = topology?.sessions.some((session) => session.streamId === streamId) ?? false;
    let isUncertain = false;
    const mayCommit = cursors.every((cursor) => {
      const owned = topology?.partitions.find((partition) => partitionKey(partition) === partitionKey(cursor));
      if (owned === undefined || (cursor.fence ?? owned.fence) !== owned.fence) return false;
      if (isOpen) return owned.streamId === streamId;
      const lastOwner = partitions.get(partitionKey(cursor))?.lastOwner;
      isUncertain ||= lastOwner?.isUncertain ?? false;
      return lastOwner?.streamId === streamId && storeTime < lastOwner.until;
    });
    return mayCommit && isUncertain ? undefined : mayCommit;
  }

  /** The cursors that the store takes for those of events that the stream, whose commits are strict, was not sent. */
  #unsent({ topology, arguments: args }: StoreOperation): CursorToCommit[] {
    const [subscriptionId, streamId, cursors] = args as [string, string, readonly CursorToCommit[]];
    const { streams, partitions } = this.#subscription(subscriptionId);
    const stream = streams.get(streamId);
    if (stream?.rules.strictCommits !== true) return [];
    const session = topology?.sessions.find((open) => open.streamId === streamId);
    return cursors.filter((cursor) => {
      const key = partitionKey(cursor);
      const partition = partitions.get(key);
      const sentOffsets = session === undefined ? partition?.lastOwner?.sentOffsets : session.sentOffsets;
      const known = sentOffsets?.find((sent) => partitionKey(sent) === key)?.offset ?? -1;
      const stored = topology?.committed.find((committed) => partitionKey(committed) === key)?.offset ?? -1;
      if (cursor.offset <= Math.max(known, partition?.isBehind === true ? stored : (partition?.committed ?? -1))) {
        return false;
      }
      if (cursor.offset <= (stream.sentThrough.get(key) ?? -1)) {
        throw new Violation(`${cursor.offset} of ${key} was sent to ${streamId} before the store learned it`);
      }
      return true;
    });
  }

  #checkCommitted(
    subscription: ObservedSubscription,
    { offset, ...where }: CommittedOffset,
    operations: readonly StoreOperation[],
    hasForgotten: boolean,
  ): void {
    const key = partitionKey(where);
    const partition = subscription.partitions.get(key);
    if (partition === undefined) return;
    for (const operation of operations) {
      if (operation.method !== 'finishReset') continue;
      const targets = operation.arguments[1] as readonly CommittedOffset[];
      for (const target of targets) if (partitionKey(target) === key) partition.resetTargets.add(target.offset);
    }
    const before = partition.committed;
    const lastCommitted = hasForgotten
      ? undefined
      : subscription.snapshot?.committed.find((committed) => partitionKey(committed) === key)?.offset;
    // What a node or the log brings back.
    const isRestored = hasForgotten || operations.some(({ method }) => method === 'merge');
    if (hasForgotten) partition.isBehind = this.#options.mayLoseCommits;
    if (offset === before) return;
    // A start that was lost before any stream heard of it: the next one is where the subscription begins now.
    const isFirstStart = lastCommitted === undefined && partition.everDelivered.length === 0;
    if (isFirstStart && operations.some(({ method }) => method === 'initialise')) {
      this.#reset(partition, offset);
      return;
    }
    const isReset = partition.resetTargets.has(offset) && (isRestored || operations.some(isFinishedReset));
    if (isReset || (isRestored && !partition.isBehind && partition.lastReset === offset && offset < before)) {
      for (let passed = before + 1; passed <= offset; passed += 1) partition.everDelivered[passed] = true;
      this.#reset(partition, offset);
      if (operations.some(isFinishedReset)) {
        for (const holder of partition.holders) partition.resetHolders.add(holder);
        partition.holders.clear();
      }
      return;
    }
    if (offset < before && partition.isBehind) {
      checkNotLowered(lastCommitted, offset, key);
      return;
    }
    if (isRestored && partition.isBehind && offset <= Math.max(...partition.committedByEpoch)) {
      // The log had not learned of a reset.
      partition.committed = offset;
      return;
    }
    if (offset < before)
      throw new Violation(`I2: the committed offset of ${key} went back from ${before} to ${offset}`);
    const { published } = partition;
    // A client may pass over what a reset wants to be delivered again: it commits, for another stream, what it received
    // before the reset.
    const committers = committersOf(subscription, operations, key, offset);
    const isByReceiver = committers.every(({ received }) => (received.get(key) ?? -1) >= offset);
    const delivered = isByReceiver ? partition.delivered : partition.everDelivered;
    for (let passed = before + 1; passed <= offset; passed += 1) {
      if (passed < published.earliest || published.events[passed] === undefined) continue;
      if (passed > partition.askedByClients) {
        if (isPassedOverByFilter(subscription, operations, partition, key, passed, offset)) {
          partition.delivered[passed] = true;
          partition.everDelivered[passed] = true;
          continue;
        }
        this.unprocessable.passedOver(subscription.id, key, passed, partition.highestFence);
        continue;
      }
      if (committers.every(({ sent }) => sent.get(key)?.includes(passed))) {
        this.unprocessable.committedByConsumer(subscription.id, key, passed);
      }
      if (delivered[passed] === true) continue;
      throw new Violation(`I1: ${passed} of ${key} is committed and was never delivered`);
    }
    partition.isBehind = false;
    partition.committed = offset;
    partition.committedByEpoch[partition.committedByEpoch.length - 1] = offset;
  }

  #reset(partition: SubscribedPartition, offset: Offset): void {
    partition.lastOwner = undefined;
    partition.lastReset = offset;
    partition.isBehind = false;
    partition.committed = offset;
    partition.askedByClients = offset;
    partition.committedByEpoch.push(offset);
    partition.resetTargets.clear();
    partition.delivered.length = Math.min(partition.delivered.length, offset + 1);
  }

  #noteOwners({ partitions, streams }: ObservedSubscription, { topology }: SubscriptionSnapshot): void {
    for (const ownership of topology.partitions) {
      const partition = partitions.get(partitionKey(ownership));
      if (partition === undefined) continue;
      const { streamId } = ownership;
      if (streamId === null) {
        partition.unownedSince ??= this.#options.now();
        partition.owner = undefined;
      } else {
        partition.unownedSince = undefined;
        partition.lastOwner = undefined;
        if (partition.owner?.streamId === streamId) continue;
        partition.owner = { streamId, since: this.#options.now() };
        // What it sent when it had the partition before is not its own any more.
        streams.get(streamId)?.sentBeforeEnd.delete(partitionKey(ownership));
      }
    }
  }

  // Look-ups.

  #subscription(id: string): ObservedSubscription {
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined) throw new Error(`There is no subscription ${id}`);
    return subscription;
  }

  #stream({ streams }: ObservedSubscription, streamId: string): ObservedStream {
    const stream = streams.get(streamId);
    if (stream === undefined) throw new Error(`There is no stream ${streamId}`);
    return stream;
  }

  #publishedPartition(where: EventTypePartition): PublishedPartition {
    const key = partitionKey(where);
    const known = this.#published.get(key);
    if (known !== undefined) return known;
    const published = {
      events: [],
      offsets: new Map<string, Offset>(),
      aloneSince: new Map<Offset, number>(),
      earliest: 0,
    };
    this.#published.set(key, published);
    return published;
  }

  #subscribedPartition(
    subscription: ObservedSubscription,
    where: EventTypePartition,
    committed: readonly CommittedOffset[],
  ): SubscribedPartition {
    const key = partitionKey(where);
    const known = subscription.partitions.get(key);
    if (known !== undefined) return known;
    const offset = committed.find((position) => partitionKey(position) === key)?.offset ?? -1;
    const partition = {
      published: this.#publishedPartition(where),
      committed: offset,
      committedByEpoch: [offset],
      delivered: [],
      everDelivered: [],
      highestFence: -1,
      lastOwner: undefined,
      askedByClients: -1,
      resetTargets: new Set<Offset>(),
      lastReset: undefined,
      holders: new Set<string>(),
      resetHolders: new Set<string>(),
      isBehind: false,
      unownedSince: undefined,
      owner: undefined,
    };
    subscription.partitions.set(key, partition);
    return partition;
  }
}

/** No stream with strict commits moves a committed offset to an event that it was not sent. */
function checkSent(
  result: CommitResult,
  streamId: string,
  cursors: readonly CursorToCommit[],
  unsent: readonly CursorToCommit[],
): void {
  for (const [index, cursor] of cursors.entries()) {
    if (result.outcome !== 'committed' || result.advanced[index] !== true || !unsent.includes(cursor)) continue;
    throw new Violation(`${streamId} committed ${cursor.offset} of ${partitionKey(cursor)}, which it was not sent`);
  }
}

/** The events of a partition that a stream has sent and that are not committed, by offset. */
function uncommittedOf(stream: ObservedStream, key: string, partition: SubscribedPartition | undefined): Offset[] {
  const from = Math.max((partition?.committed ?? -1) + 1, partition?.published.earliest ?? 0);
  const sent = stream.sent.get(key) ?? [];
  let first = sent.length;
  while (first > 0 && (sent[first - 1] ?? -1) >= from) first -= 1;
  return sent.slice(first);
}

/** Whether a client sent the cursor. The service commits under the fence of the partition. */
function isOfClient({ fence }: CursorToCommit): boolean {
  return fence === undefined;
}

/** I2: not even while nodes bring back what the store has lost. */
function checkNotLowered(before: Offset | undefined, offset: Offset, key: string): void {
  if (before === undefined || offset >= before) return;
  throw new Violation(`I2: the restored offset of ${key} went back from ${before} to ${offset}`);
}

/** Whether a node brings back what it knows, and no longer knows a session of its own. */
function closesByMerge({ method, arguments: args }: StoreOperation, { streamId, nodeId }: Session): boolean {
  if (method !== 'merge') return false;
  const [, nodeIds, streamIds] = args as [string, readonly string[], readonly string[]];
  return nodeIds.includes(nodeId) && !streamIds.includes(streamId);
}

function isResetWithOffsets({ method, arguments: [, offsets] }: StoreOperation): boolean {
  return method === 'finishReset' && (offsets as readonly CommittedOffset[]).length > 0;
}

function isFinishedReset({ method, isFinished, error }: StoreOperation): boolean {
  return method === 'finishReset' && isFinished && error === undefined;
}

function offsetOf(published: PublishedPartition, event: string, key: string): Offset {
  const offset = published.offsets.get(event);
  if (offset === undefined)
    throw new Violation(`${event} was sent as an event of ${key}, where it was never published`);
  return offset;
}

/**
 * The first offset that a stream owes its client: behind what is committed, deleted or received.
 * @param isBehindReceived Whether events before the last one that was received count no more.
 */
function firstOwed(
  { received, epochs }: ObservedStream,
  { published, committedByEpoch }: SubscribedPartition,
  key: string,
  isBehindReceived = true,
): Offset {
  let first = Math.max(published.earliest, isBehindReceived ? (received.get(key) ?? -1) + 1 : 0);
  for (let epoch = epochs.get(key) ?? 0; epoch < committedByEpoch.length; epoch += 1) {
    first = Math.max(first, (committedByEpoch[epoch] ?? -1) + 1);
  }
  return first;
}

/** Whether the filter of a stream lets an event through, decided by parsing it. */
function isWanted({ filter }: StreamRules, event: string): boolean {
  if (filter === undefined) return true;
  const { kind } = JSON.parse(event) as { readonly kind: number };
  return filter.conditions.every(({ text }) => Number(text.text) === kind);
}

/**
 * Whether the service committed an event that consumers fail with, and with it one before that the filter of the stream
 * passes over.
 */
function isPassedOverByFilter(
  { streams }: ObservedSubscription,
  operations: readonly StoreOperation[],
  { published }: SubscribedPartition,
  key: string,
  passed: Offset,
  offset: Offset,
): boolean {
  const event = published.events[passed];
  if (event === undefined || passed >= offset || published.events[offset] === undefined) return false;
  return operations.some(({ method, arguments: args }) => {
    if (method !== 'commit') return false;
    const [, streamId, cursors] = args as [string, string, readonly CursorToCommit[]];
    const isOfService = cursors.some(
      (cursor) => !isOfClient(cursor) && partitionKey(cursor) === key && cursor.offset === offset,
    );
    const rules = streams.get(streamId)?.rules;
    return isOfService && rules !== undefined && !isWanted(rules, event);
  });
}

/** The streams whose ids the commits of this offset came with. */
function committersOf(
  { streams }: ObservedSubscription,
  operations: readonly StoreOperation[],
  key: string,
  offset: Offset,
): ObservedStream[] {
  return operations.flatMap(({ method, arguments: args }) => {
    if (method !== 'commit') return [];
    const [, streamId, cursors] = args as [string, string, readonly CursorToCommit[]];
    const isCommitted = cursors.some((cursor) => partitionKey(cursor) === key && cursor.offset === offset);
    return isCommitted ? (streams.get(streamId) ?? []) : [];
  });
}

import type { OpenSessionResult, PartitionOwnership, Session } from '../../../src/ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../../src/ports/event-type-partition.ts';
import type { Offset } from '../../../src/ports/event-log.ts';
import type { StoreOperation, SubscriptionSnapshot } from '../simulated-store.ts';
import { checkCommit, mayCommit, noteAsked } from './commit-rights.ts';
import { checkCommitted, unfinishedOf } from './committed-offsets.ts';
import { checkFence } from './fences.ts';
import { checkApplied, checkGeneration, mayApply } from './generations.ts';
import { checkHandover } from './handovers.ts';
import type { InvariantsOptions } from './invariants-options.ts';
import {
  addStream,
  newSubscription,
  subscribedPartition,
  type ObservedLine,
  type ObservedSubscription,
  type StreamRules,
} from './observed-subscriptions.ts';
import { checkOwned, checkState, noteOwners, restartUnowned } from './partition-owners.ts';
import { PassedOverEvents, type ObservedLetter } from './passed-over-events.ts';
import { PublishedEvents } from './published-events.ts';
import { observeReceived } from './received-events.ts';
import { checkReported } from './reported-failures.ts';
import { checkNotReset, noteHolders, noteReset } from './resets.ts';
import { observeSent } from './sent-events.ts';
import { checkSessions } from './sessions.ts';
import type { StoreChange } from './store-change.ts';
import { checkMirror, noteLoss, noteRepeated } from './store-losses.ts';
import { unsentOf } from './strict-commits.ts';

/**
 * The invariants at every moment, whatever happens to processes, network and store. This class knows what was
 * published, sent, received and stored, and throws a `Violation` when these do not agree. It passes on what happens to
 * the files beside it, each of which checks one thing. Violations name:
 *
 * - I1: every committed event was delivered to a client, or deleted by retention, or passed over by a filter or policy
 *   (committed-offsets.ts).
 * - I2: committed offsets move back only by a reset, or by a store that lost its data (committed-offsets.ts).
 * - I4: a new owner has a new fence (fences.ts), and only the owner, or the last one while there is no other, commits
 *   (commit-rights.ts). Nothing is sent (sent-events.ts) or received (received-events.ts) of other partitions.
 * - I5: a living owner loses a partition only when it releases it, or by a reset (handovers.ts). It lives until its
 *   lease ends (leases.ts).
 * - I6: fences never become smaller (fences.ts).
 * - I7: a change of ownership for an older generation is not applied (generations.ts).
 * - I8: a stream gets events in order and passes over none (received-events.ts).
 * - I9: uncommitted events stay within the window (uncommitted-events.ts).
 * - I10: while everything works, a client that does not read delays no event of another subscription (event-delays.ts).
 * - I11: while everything works, each partition gets an owner (partition-owners.ts).
 *
 * - R1 to R5, and R7: a store that has lost its data gets back what the log had, under new fences, and what each node
 *   knows (R2: fences.ts, the others: redis/refill-checks.ts).
 * - R6: a stream that a reset should have ended does not come back (resets.ts).
 *
 * - D1 to D6: what is passed over because consumers fail with it, and its dead letters (passed-over-events.ts).
 * - D7: the search of the event that consumers fail with (failing-event-search.ts).
 * - D8: what streams report as failed (reported-failures.ts).
 * - W1 to W4: streams that wait for a slot get it in their order (waiting-streams.ts).
 *
 * I3, that what is not committed is delivered again, has no message of its own: at the end of a run, everything must be
 * delivered and committed. Some violations have no number: a wrong batch (received-events.ts), a node that sends after
 * its lease (leases.ts), a session that opens during a reset (sessions.ts), a commit of what was not sent
 * (strict-commits.ts), and a position that the log did not bring back (store-losses.ts).
 */
export class Invariants {
  readonly #options: InvariantsOptions;
  readonly #published = new PublishedEvents();
  readonly #subscriptions = new Map<string, ObservedSubscription>();
  /** What consumers failed with. */
  readonly unprocessable: PassedOverEvents;

  constructor(options: InvariantsOptions) {
    this.#options = options;
    this.unprocessable = new PassedOverEvents(options.nowMilliseconds);
  }

  addSubscription(id: string): void {
    this.#subscriptions.set(id, newSubscription(id));
  }

  // The events of the simulation.

  published(where: EventTypePartition, baseOffset: Offset, values: readonly (string | null)[]): void {
    this.#published.add(where, baseOffset, values);
  }

  /** The last event of a partition was published when there was nothing else to deliver. */
  publishedAlone(where: EventTypePartition): void {
    this.#published.lastIsAlone(where, this.#options.nowMilliseconds());
  }

  deleted(where: EventTypePartition, earliest: Offset): void {
    this.#published.deleteBefore(where, earliest);
  }

  streamOpened(subscriptionId: string, streamId: string, nodeName: string, rules: StreamRules): void {
    const openedAt = this.#options.nowMilliseconds();
    addStream(this.#subscription(subscriptionId), streamId, { rules, nodeName, openedAt });
  }

  /** A node has written a line to the connection. */
  sent(line: ObservedLine): void {
    observeSent(this.#subscription(line.subscriptionId), line, this.unprocessable, this.#options);
  }

  /** A client has received a line. */
  received(line: ObservedLine): void {
    observeReceived(this.#subscription(line.subscriptionId), line, this.#options.nowMilliseconds());
  }

  /** A letter was appended to the queue of dead letters. */
  letter(letter: ObservedLetter): void {
    const published = this.#published.partition(letter).events[letter.offset];
    this.unprocessable.letter(letter, published);
  }

  // The state of the store.

  /**
   * Compares the state of the store with the previous one.
   * @param operations Those in progress, and those that have just ended.
   * @param storeTime The monotonic time of the store. Milliseconds.
   */
  storeChanged(
    subscriptionId: string,
    after: SubscriptionSnapshot,
    operations: readonly StoreOperation[],
    storeTime: number,
  ): void {
    const subscription = this.#subscription(subscriptionId);
    const { incarnation } = after;
    const change: StoreChange = {
      before: subscription.incarnation === incarnation ? subscription.snapshot : undefined,
      after,
      operations: operations.filter((operation) => operation.arguments[0] === subscriptionId),
      storeTime,
      hasForgotten: subscription.incarnation !== incarnation && subscription.incarnation > 0,
    };
    if (change.hasForgotten) noteLoss(subscription, this.unprocessable, this.#options);
    this.#compare(subscription, change);
    subscription.snapshot = after;
    subscription.incarnation = incarnation;
    noteOwners(subscription, change, this.#options.nowMilliseconds());
  }

  /**
   * Judges a call before the store does.
   * @param storeTime The monotonic time of the store. Milliseconds.
   */
  operationBegins(operation: StoreOperation, storeTime: number): void {
    if (operation.method === 'renewLease') {
      const [nodeId, milliseconds, subscriptionIds] = operation.arguments as [string, number, (readonly string[])?];
      for (const id of subscriptionIds ?? this.#subscriptions.keys()) {
        this.#subscription(id).leases.renewed(nodeId, storeTime + milliseconds, this.#options.nowMilliseconds());
      }
    }
    if (operation.method === 'applyOwnership') operation.isAllowed = mayApply(operation);
    if (operation.method !== 'commit') return;
    const subscription = this.#subscription(String(operation.arguments[0]));
    operation.isAllowed = mayCommit(subscription, operation, storeTime);
    if (operation.isAllowed === false) return;
    operation.unsent = unsentOf(subscription, operation);
    noteAsked(subscription, operation);
  }

  // The end of a run.

  /** The partitions of a subscription with events that are neither committed nor deleted. */
  unfinished(subscriptionId: string): string[] {
    return unfinishedOf(this.#subscription(subscriptionId));
  }

  /** From now on everything works, and partitions get owners in time. */
  beginQuiet(): void {
    for (const each of this.#subscriptions.values()) restartUnowned(each, this.#options.nowMilliseconds());
  }

  /** While everything works and a stream accepts any partition, each has an owner. */
  checkOwned(subscriptionId: string, isServed: boolean): void {
    checkOwned(this.#subscription(subscriptionId), isServed, this.#options);
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

  #compare(subscription: ObservedSubscription, change: StoreChange): void {
    const { before, after, operations } = change;
    checkSessions(subscription, change, this.#options.nowMilliseconds());
    checkGeneration(change);
    noteReset(subscription, change, this.unprocessable);
    for (const ownership of after.topology.partitions) {
      const was = before?.topology.partitions.find(
        ({ eventType, partition }) => eventType === ownership.eventType && partition === ownership.partition,
      );
      this.#compareOwnership(subscription, change, was, ownership);
    }
    for (const operation of operations) {
      if (!operation.isFinished || operation.error !== undefined) continue;
      checkApplied(operation);
      checkCommit(subscription, operation);
    }
    for (const operation of operations) this.#noteSessions(subscription, operation);
    checkMirror(subscription, change, this.#options);
    for (const committed of after.committed) {
      checkCommitted(subscription, committed, change, this.unprocessable, this.#options.mayLoseCommits);
    }
  }

  #compareOwnership(
    subscription: ObservedSubscription,
    change: StoreChange,
    was: PartitionOwnership | undefined,
    now: PartitionOwnership,
  ): void {
    const key = partitionKey(now);
    const published = this.#published.partition(now);
    const partition = subscribedPartition(subscription, now, published, change.after.committed);
    checkFence(subscription, change, partition, key, was, now);
    checkState(change, now, key);
    noteHolders(partition, now, key, change);
    checkNotReset(partition, now, key);
    if (now.streamId !== null && now.streamId !== was?.streamId) noteRepeated(subscription, change, now, key);
    checkHandover(subscription, change, was, now);
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
    if (!topology.sessions.some(({ streamId }) => streamId === args[1])) return;
    checkReported(subscription, operation, this.unprocessable, this.#options.closeReason);
  }

  #subscription(id: string): ObservedSubscription {
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined) throw new Error(`There is no subscription ${id}`);
    return subscription;
  }
}

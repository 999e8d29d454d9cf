/**
 * Streaming: from the log to the lines of one open response.
 * In: stream parameters, the assigned partitions, commits. Out: pieces of lines, until the stream ends.
 * Start with `SubscriptionStream` below, the state machine of a stream. `reads.ts` fills each `partition.ts`,
 * `batches.ts` decides when a batch is due, `sender.ts` makes its line, `closing.ts` says why a stream ends.
 */

import type { Clock, Timer } from '../../clock.ts';
import { describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import { surplusStreams } from '../subscriptions/assignment.ts';
import type { Chunk } from './batch-line.ts';
import { flushDueAt } from './batches.ts';
import { closeInfo, closesImmediately, type CloseCode } from './close-reasons.ts';
import type { CommittedOffset, Coordination, CoordinationChange, Topology } from '../../ports/coordination.ts';
import { beforeFirst } from '../cursors/cursor.ts';
import type { EventLog } from '../../ports/event-log.ts';
import { AssignedPartitions } from './assigned-partitions.ts';
import type { NodeLease } from './node-lease.ts';
import type { Registry } from '../definitions/registry.ts';
import { closingDueAt, closingReason, commitsAwaitedUntil, type StreamProgress } from './closing.ts';
import type { StreamParameters } from './parameters.ts';
import { StreamPartition } from './partition.ts';
import { StreamReads } from './reads.ts';
import { StreamSender } from './sender.ts';
import { commitWithoutConsumer, openStreamSession } from './session.ts';
import { StreamWatch, type StreamWatcher } from './watch.ts';
import type { Subscription } from '../definitions/subscription.ts';

/** The services of the process that its streams need. */
export interface StreamServices {
  readonly registry: Registry;
  readonly log: EventLog;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Keeps the sessions of this process's streams alive, and decides when they may send. */
  readonly lease: NodeLease;
}

/** How often a stream that must not send checks whether it may send again. Milliseconds. */
const leaseRecheckMilliseconds = 250;

/** How often positions after deletions that were passed over are committed. Milliseconds. */
const commitWithoutConsumerMilliseconds = 5_000;

/**
 * The longest time that commit timeouts are suspended while the coordination store is unreachable. As long as the
 * longest commit timeout. Milliseconds.
 */
const outageMillisecondsMaximum = 60_000;

/**
 * One open stream of a subscription.
 *
 * It is *streaming* until something ends it. Then it is *closing*: it sends only the line that says why, while the
 * session stays open for commits of the events that were sent. Then it has *ended*: the session is gone and its
 * partitions are free. A session never outlives the client's connection, so a client that reconnects finds its slot
 * free.
 *
 * The reader pulls: no line is built before {@link next} is called, so a slow reader uses no more memory than the
 * bounded buffers. Every change (records, commits, ownership, time) leads to one method, `#advance`. It sends the due
 * lines, ends what has to end and sets the stream's only timer. Times are monotonic milliseconds.
 */
export class SubscriptionStream implements StreamWatcher {
  readonly streamId: string;
  readonly subscription: Subscription;
  /** The subscription's event types with their partition counts when the stream was opened. */
  readonly eventTypes: ReadonlyMap<string, number>;
  /** Called once, when the session is closed. */
  onEnded: (() => void) | undefined;
  readonly #services: StreamServices;
  readonly #parameters: StreamParameters;
  readonly #assigned = new AssignedPartitions();
  readonly #reads: StreamReads;
  readonly #sender: StreamSender;
  readonly #watch: StreamWatch;
  #deliveredEvents: { inc(value: number): void } | undefined;
  readonly #unwatch: () => void;
  #state: 'streaming' | 'closing' | 'ended' = 'streaming';
  #closeCode: CloseCode | undefined;
  #reader: ((chunk: Chunk | null | Promise<never>) => void) | undefined;
  /** The error that building a line failed with: the reader gets it, and nothing more. */
  #failure: { readonly error: unknown } | undefined;
  /** The last bytes, built when closing began and not sent yet. */
  #lastChunk: Chunk | undefined;
  #sessionClosed = false;
  /** Nothing may be sent for now, see {@link StreamWatch.maySend}. */
  #isSendingSuspended = false;
  readonly #endsAt: number;
  /** Since when the stream has had no partition. Counts only while it has none. */
  #idleSince: number;
  /** Since when sent events have waited for a commit; undefined when there are none. */
  #uncommittedSince: number | undefined;
  /** Since when the coordination store has been unreachable; undefined while it is reachable. */
  #unreachableSince: number | undefined;
  #nextCommitWithoutConsumerAt = 0;
  #timer: Timer | undefined;
  #timerAt = Infinity;

  private constructor(
    services: StreamServices,
    subscription: Subscription,
    eventTypes: ReadonlyMap<string, number>,
    parameters: StreamParameters,
    streamId: string,
  ) {
    this.#services = services;
    this.subscription = subscription;
    this.eventTypes = eventTypes;
    this.#parameters = parameters;
    this.streamId = streamId;
    const now = services.clock.monotonic();
    this.#endsAt = now + parameters.streamTimeoutMilliseconds;
    this.#idleSince = now;
    this.#reads = new StreamReads(services.log, services.logger, this.#assigned, () => this.#advance());
    this.#sender = new StreamSender(parameters, this.#assigned);
    this.#watch = new StreamWatch(services, this);
    services.metrics.openStreams.inc({ subscription_id: subscription.id });
    this.#unwatch = services.coordination.watch(subscription.id, (change, generation, committed) => {
      this.#onChange(change, generation, committed);
    });
  }

  /**
   * Opens a stream: its session is registered when this returns. Nothing is read or sent before {@link start}.
   * @param eventTypes The subscription's event types with their partition counts.
   * @throws CONFLICT, PRECONDITION_FAILED (see assignment.ts), and the errors of the log and the coordination
   */
  static async open(
    services: StreamServices,
    subscription: Subscription,
    eventTypes: ReadonlyMap<string, number>,
    parameters: StreamParameters,
  ): Promise<SubscriptionStream> {
    const streamId = await openStreamSession(services, subscription, eventTypes, parameters);
    try {
      return new SubscriptionStream(services, subscription, eventTypes, parameters, streamId);
    } catch (error) {
      await services.coordination.closeSession(subscription.id, streamId, 'refused');
      throw error;
    }
  }

  /** Requests partitions and begins to read. */
  start(): void {
    this.#watch.refresh();
    this.#advance();
  }

  /** Why the stream ends or has ended, in words; undefined while nothing ends it. */
  get closeReason(): string | undefined {
    return this.#closeCode === undefined ? undefined : closeInfo(this.#closeCode).debug;
  }

  /**
   * The next bytes to write, as soon as a line is due; null when the stream has ended. One caller at a time. Rejects
   * when a line cannot be built. The connection must then be closed.
   */
  next(): Promise<Chunk | null> {
    return new Promise((resolve) => {
      this.#reader = resolve;
      this.#advance();
    });
  }

  /** Ends the stream after a last line that says why. */
  close(code: CloseCode, detail = ''): void {
    this.#beginClosing(code, detail);
    this.#advance();
  }

  /**
   * The client's connection is gone: the session ends now and its partitions are free. Until another stream gets them
   * the client may still commit. Events that it does not commit are sent to that stream.
   */
  clientClosed(): void {
    if (this.#state === 'ended') return;
    this.#closeCode ??= 'client_closed';
    this.#lastChunk = undefined;
    void this.#end();
  }

  /** The one place where all changes take effect. */
  #advance(): void {
    if (this.#state === 'ended') {
      this.#deliverLast();
      return;
    }
    const now = this.#services.clock.monotonic();
    if (this.#state === 'streaming') this.#closeIfDue(now);
    if (this.#state === 'streaming') {
      this.#isSendingSuspended = !this.#watch.maySend(now);
      if (this.#reader !== undefined && !this.#isSendingSuspended) this.#deliver(now);
      this.#reads.begin(this.#parameters, now);
    }
    for (const partition of this.#assigned.removeHandedOver()) void this.#release(partition);
    this.#recheck(now);
    if (this.#state === 'closing') {
      this.#deliverLast();
      if (closesImmediately(this.#closeCode ?? 'client_closed') || now >= this.#graceEndsAt()) {
        void this.#end();
        return;
      }
    }
    this.#setTimer(now);
  }

  #deliver(now: number): void {
    if (this.#failure !== undefined) {
      this.#deliverLast();
      return;
    }
    const sentBefore = this.#sender.sentEvents;
    let bytes: Chunk | undefined;
    try {
      bytes = this.#sender.nextChunk(now);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (bytes === undefined) return;
    this.#recordSent(this.#sender.sentEvents - sentBefore, now);
    this.#resolveReader(bytes);
  }

  /** A line could not be built. The stream cannot continue: the events of that line would be missing. */
  #fail(error: unknown): void {
    this.#closeCode = 'log_error';
    this.#failure = { error };
    this.#deliverLast();
  }

  #deliverLast(): void {
    if (this.#reader === undefined) return;
    if (this.#failure !== undefined) {
      this.#resolveReader(Promise.reject(this.#failure.error));
    } else if (this.#lastChunk !== undefined) {
      const last = this.#lastChunk;
      this.#lastChunk = undefined;
      this.#resolveReader(last);
    } else if (this.#sessionClosed) {
      this.#resolveReader(null);
    }
  }

  #resolveReader(bytes: Chunk | null | Promise<never>): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.(bytes);
  }

  #recordSent(events: number, now: number): void {
    if (events === 0) return;
    this.#deliveredEvents ??= this.#services.metrics.deliveredEvents.labels({ subscription_id: this.subscription.id });
    this.#deliveredEvents.inc(events);
    if (this.#uncommittedSince !== undefined) return;
    this.#uncommittedSince = now;
    this.#watch.expectCommits(true, now);
  }

  // Changes made by others: commits, sessions, ownership. Change notifications only say that it is time to read the
  // store.

  #onChange(change: CoordinationChange, generation?: number, committed?: readonly CommittedOffset[]): void {
    if (this.#state === 'ended') return;
    if (change === 'removed') {
      this.close('subscription_deleted');
      return;
    }
    this.#watch.notify(change, generation, committed);
  }

  #recheck(now: number): void {
    this.#watch.recheck(now);
    if (now < this.#nextCommitWithoutConsumerAt || !this.#assigned.hasCommittableWithoutConsumer()) return;
    this.#nextCommitWithoutConsumerAt = now + commitWithoutConsumerMilliseconds;
    void this.#commitWithoutConsumer();
  }

  hasEnded(): boolean {
    return this.#state === 'ended';
  }

  async applyState(committed: readonly CommittedOffset[], topology: Topology | undefined): Promise<void> {
    const now = this.#services.clock.monotonic();
    this.#unreachableSince = undefined;
    if (this.#assigned.applyCommits(committed)) this.#restartCommitTimer(now);
    this.#watch.expectCommits(this.#uncommittedSince !== undefined, now);
    if (topology !== undefined) await this.#applyTopology(topology, committed);
  }

  onRefreshed(): void {
    this.#advance();
  }

  /**
   * Time in which commits are impossible does not count, up to a limit: the client may do better with another process.
   */
  onStoreUnreachable(now: number): void {
    this.#unreachableSince ??= now;
    if (now - this.#unreachableSince > outageMillisecondsMaximum) return;
    this.#restartCommitTimer(now);
    this.#idleSince = now;
    this.#assigned.setHandOverDeadline(now + this.#parameters.commitTimeoutMilliseconds);
  }

  onRefreshFailed(error: unknown): void {
    if (isLendstreamError(error, 'LOG_CLOSED')) {
      this.close('server_shutdown');
      return;
    }
    const facts = { streamId: this.streamId, subscriptionId: this.subscription.id, error: describeError(error) };
    this.#services.logger.error(facts, 'The state of a subscription cannot be read');
    this.close('coordination_error', describeError(error));
  }

  #restartCommitTimer(now: number): void {
    this.#uncommittedSince = this.#assigned.uncommittedEvents() > 0 ? now : undefined;
  }

  async #applyTopology(topology: Topology, committed: readonly CommittedOffset[]): Promise<void> {
    if (this.#state === 'ended') return;
    if (!topology.sessions.some(({ streamId }) => streamId === this.streamId)) {
      this.#beginClosing('session_lost');
      return;
    }
    const { log, clock } = this.#services;
    const owned = topology.partitions.filter(({ streamId }) => streamId === this.streamId);
    const handOverUntil = clock.monotonic() + this.#parameters.commitTimeoutMilliseconds;
    if (this.#assigned.keepOwned(owned, handOverUntil)) {
      this.#reads.stop();
      this.#updateAfterRelease();
    }
    if (topology.resetting) this.#beginClosing('cursors_reset');
    if (surplusStreams(topology).has(this.streamId)) this.#beginClosing('no_free_slots');
    const gained = this.#assigned.missing(owned);
    if (this.#state !== 'streaming' || gained.length === 0) return;
    const bounds = await log.bounds(gained.map(({ eventType, partition }) => ({ topic: eventType, partition })));
    if (this.#state === 'streaming') this.#assigned.adopt(gained, bounds, committed, clock.monotonic(), handOverUntil);
  }

  #updateAfterRelease(): void {
    const now = this.#services.clock.monotonic();
    if (this.#assigned.list.length === 0) this.#idleSince = now;
    if (this.#assigned.uncommittedEvents() === 0) this.#uncommittedSince = undefined;
  }

  async #release({ eventType, partition, fence }: StreamPartition): Promise<void> {
    const { coordination, clock, logger } = this.#services;
    this.#updateAfterRelease();
    try {
      await coordination.release(this.subscription.id, this.streamId, { eventType, partition }, fence);
    } catch (error) {
      const facts = { streamId: this.streamId, eventType, partition, error: describeError(error) };
      logger.warn(facts, 'Handing over a partition failed and is tried again');
      this.#watch.refreshSoon(clock.monotonic());
      this.#advance();
    }
  }

  #commitWithoutConsumer(): Promise<void> {
    return commitWithoutConsumer(this.#services, this.subscription.id, this.streamId, this.#assigned.list);
  }

  // The end.

  #closeIfDue(now: number): void {
    const closing = closingReason(this.#parameters, this.#progress(), now);
    if (closing !== undefined) this.#beginClosing(closing.code, closing.detail);
  }

  #progress(): StreamProgress {
    return {
      partitions: this.#assigned.list,
      sentEvents: this.#sender.sentEvents,
      uncommittedSince: this.#uncommittedSince,
      idleSince: this.#idleSince,
      endsAt: this.#endsAt,
      logClosed: this.#reads.logClosed,
    };
  }

  #beginClosing(code: CloseCode, detail = ''): void {
    if (this.#state !== 'streaming') {
      // Stop waiting for late commits if they are no longer possible.
      if (this.#state === 'closing' && closesImmediately(code)) this.#closeCode = code;
      return;
    }
    const now = this.#services.clock.monotonic();
    const sentBefore = this.#sender.sentEvents;
    const lastLinePartition = this.#assigned.list[0] ?? this.#placeholderPartition(now);
    this.#closeCode = code;
    this.#state = 'closing';
    const isFlushing = code === 'stream_timeout' && this.#watch.maySend(now);
    try {
      this.#lastChunk = this.#sender.lastChunk(lastLinePartition, closeInfo(code, detail), now, isFlushing);
    } catch (error) {
      this.#fail(error);
    }
    this.#recordSent(this.#sender.sentEvents - sentBefore, now);
    this.#reads.stop();
    for (const partition of this.#assigned.list) partition.rewind();
  }

  /** The partition whose cursor the last line of a stream without partitions carries: every line needs a cursor. */
  #placeholderPartition(now: number): StreamPartition {
    const [requested] = this.#parameters.requestedPartitions;
    const { eventType, partition } = requested ?? { eventType: this.subscription.event_types[0] ?? '', partition: 0 };
    const unowned = { state: 'unassigned', streamId: null, nextStreamId: null, fence: 0 } as const;
    return new StreamPartition({ eventType, partition, ...unowned }, beforeFirst, now);
  }

  #graceEndsAt(): number {
    return commitsAwaitedUntil(this.#parameters, this.#uncommittedSince);
  }

  /** Whether sent events were not committed in time. */
  #isCommitTimeOver(): boolean {
    return this.#uncommittedSince !== undefined && this.#services.clock.monotonic() >= this.#graceEndsAt();
  }

  async #end(): Promise<void> {
    const { coordination, logger, metrics } = this.#services;
    const reason = this.#closeCode ?? 'client_closed';
    const lateCommits = this.#isCommitTimeOver() ? 'refused' : 'accepted';
    this.#state = 'ended';
    this.#unwatch();
    this.#reads.stop();
    this.#timer?.cancel();
    this.#timer = undefined;
    try {
      await this.#commitWithoutConsumer();
      await coordination.closeSession(this.subscription.id, this.streamId, lateCommits);
    } catch (error) {
      const facts = { streamId: this.streamId, error: describeError(error) };
      logger.warn(facts, 'A session could not be closed and ends with the lease of this node');
    }
    this.#assigned.list = [];
    this.#sessionClosed = true;
    metrics.openStreams.dec({ subscription_id: this.subscription.id });
    metrics.closedStreams.inc({ reason });
    logger.info({ subscriptionId: this.subscription.id, streamId: this.streamId, reason }, 'A stream was closed');
    this.onEnded?.();
    this.#deliverLast();
  }

  // Time.

  #nextDeadline(now: number): number {
    let at = this.#watch.nextRefreshAt;
    if (this.#assigned.hasCommittableWithoutConsumer()) at = Math.min(at, this.#nextCommitWithoutConsumerAt);
    if (this.#state === 'closing') return Math.min(at, this.#graceEndsAt());
    at = Math.min(at, closingDueAt(this.#parameters, this.#progress()));
    if (this.#reads.retryAt > 0) at = Math.min(at, this.#reads.retryAt);
    if (this.#isSendingSuspended) return Math.min(at, now + leaseRecheckMilliseconds);
    if (this.#reader === undefined) return at;
    for (const { lastSentAt } of this.#assigned.list) at = Math.min(at, flushDueAt(this.#parameters, lastSentAt));
    return at;
  }

  /** Sets the only timer again, but only for an earlier time than the one it waits for. */
  #setTimer(now: number): void {
    const at = this.#nextDeadline(now);
    if (this.#timer !== undefined && this.#timerAt <= at) return;
    this.#timer?.cancel();
    // A deadline that has passed already is seen to in a later turn, and never more than once in a millisecond.
    this.#timerAt = Math.max(at, now + 1);
    this.#timer = this.#services.clock.at(this.#timerAt, () => {
      this.#timer = undefined;
      this.#advance();
    });
  }
}

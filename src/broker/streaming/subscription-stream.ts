/**
 * Streaming: from the log to the lines of one open response.
 * In: stream parameters, the assigned partitions, commits. Out: pieces of lines, until the stream ends.
 * Start with `SubscriptionStream` below, the state machine of a stream. `subscription-watch.ts` shows it what others
 * change, `read-ahead.ts` fills each `stream-partition.ts`, `batch-rules.ts` decides when a batch is due,
 * `line-sender.ts` writes its line, `end-conditions.ts` says when a stream ends, `commit-deadline.ts` how long it waits
 * for commits. `event-search.ts` finds the event that a consumer cannot process. `event-type-stream.ts` is the same
 * without a subscription.
 */

import type { Clock, Timer } from '../../clock.ts';
import { LendstreamError, describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import { surplusStreams } from '../subscriptions/stream-slots.ts';
import type { Chunk } from './chunk-builder.ts';
import { flushDueAt, sendAllowance } from './batch-rules.ts';
import { closeInfo, closesImmediately, type CloseCode } from './close-codes.ts';
import type {
  CommittedOffset,
  Coordination,
  CoordinationChange,
  PartitionOwnership,
} from '../../ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';
import { boundsByPartition } from '../../ports/partition-bounds.ts';
import { beforeFirst } from '../cursors/cursor-text.ts';
import type { EventLog, Offset, PartitionBounds } from '../../ports/event-log.ts';
import { AssignedPartitions } from './assigned-partitions.ts';
import type { NodeLease } from './node-lease.ts';
import type { Registry } from '../definitions/registry.ts';
import { commitDeadline, isCommitOverdue } from './commit-deadline.ts';
import { closingDueAt, closingReason, type StreamProgress } from './end-conditions.ts';
import type { StreamParameters } from './stream-parameters.ts';
import type { StreamPartition } from './stream-partition.ts';
import { ReadAhead } from './read-ahead.ts';
import { jsonLines, type LineFormat } from './line-format.ts';
import { chunkBytesTarget, LineSender } from './line-sender.ts';
import { SentOffsets } from './sent-offsets.ts';
import { finishOpening, openStreamSession, type WaitingStream } from './stream-session.ts';
import { commitWithoutConsumer } from './commit-without-consumer.ts';
import {
  offsetsRecheckLateMilliseconds,
  SubscriptionWatch,
  type Observation,
  type Observer,
} from './subscription-watch.ts';
import type { Subscription } from '../definitions/subscription.ts';
import { defaultStreamingLimits, type StreamingLimits } from '../definitions/streaming-limits.ts';
import { failedDeliveriesOf, policyOf, UnprocessableEvents, type DeadLetters } from './unprocessable-events.ts';

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
  /** Where events go that consumers cannot process. */
  readonly deadLetters: DeadLetters;
  /** The ids of those streams of this process that cannot read the state of their subscription at the moment. */
  readonly failingStreams: Set<string>;
  /** Makes the id of a new stream. Default: a random UUID. */
  readonly newStreamId?: () => string;
  readonly limits?: StreamingLimits;
}

/** How often a stream that must not send checks whether it may send again. Milliseconds. */
const leaseRecheckMilliseconds = 250;

/** How soon after keep-alives their reader has to come back so that nothing is looked at again. Milliseconds. */
const idleMillisecondsMaximum = 10;

/** How late a keep-alive may be, as a share of the time after which it is due. */
const keepAliveLateShare = 1 / 64;

/** How often positions after deletions that were passed over are committed. Milliseconds. */
const commitWithoutConsumerMilliseconds = 5_000;

/** How long the bounds that a stream was opened with may be used. Milliseconds. */
const openingBoundsMilliseconds = 1_000;

/**
 * The longest time that commit timeouts are suspended while the coordination store is unreachable; longer only where
 * the stream's own commit timeout is. Milliseconds.
 */
const outageMillisecondsMaximum = 60_000;

/** What the reader gets last: the last line, or the error that building a line failed with. */
type LastBytes = LastChunk | { readonly error: unknown } | 'delivered';

interface LastChunk {
  readonly chunk: Chunk;
  readonly hasEvents: boolean;
  /** With strict commits: whether the coordination store knows the positions of its lines. */
  readonly isKnown: boolean;
  /** Where the partitions were before its events. */
  readonly sentBefore: ReadonlyMap<StreamPartition, Offset> | undefined;
}

type StreamState =
  | { readonly name: 'streaming' }
  | { readonly name: 'closing'; code: CloseCode; last: LastBytes; readonly since: number }
  | { readonly name: 'ended'; readonly code: CloseCode; last: LastBytes; isSessionClosed: boolean };

/** Shared: most streams are in this state, and it has no data. */
const streaming: StreamState = { name: 'streaming' };

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
export class SubscriptionStream implements Observer {
  readonly streamId: string;
  readonly subscription: Subscription;
  /** The subscription's event types with their partition counts when the stream was opened. */
  readonly eventTypes: ReadonlyMap<string, number>;
  /** Called once, when the session is closed. */
  onEnded: (() => void) | undefined;
  readonly #services: StreamServices;
  readonly #parameters: StreamParameters;
  readonly #assigned: AssignedPartitions;
  readonly #reads: ReadAhead;
  readonly #sender: LineSender;
  readonly #watch: SubscriptionWatch;
  /** Undefined unless commits are strict. */
  readonly #sentOffsets: SentOffsets | undefined;
  /** Undefined until the stream has something to pass over, as on nearly every stream. */
  #unprocessable: UnprocessableEvents | undefined;
  #deliveredEvents: { inc(value: number): void } | undefined;
  readonly #unwatch: () => void;
  #state = streaming;
  #reader: ((chunk: Chunk | null | Promise<never>) => void) | undefined;
  /** The epoch of the process's lease during which the topology was last read. */
  #leaseEpoch = 0;
  readonly #endsAt: number;
  /** Since when the stream has had no partition. Counts only while it has none. */
  #idleSince: number;
  /** Since when sent events have waited for a commit; undefined when there are none. */
  #uncommittedSince: number | undefined;
  /** Of all partitions when the stream was opened; undefined once its first partitions began. */
  #opening: { readonly bounds: readonly PartitionBounds[]; readonly at: number } | undefined;
  /**
   * The fences under which partitions were handed over, by partition. What was read of the topology before still shows
   * them as owned, with offsets from before their last commits. Undefined until the first one.
   */
  #handedOver: Map<string, number> | undefined;
  /** How many heart-beats were seen, of a stream that counts them. */
  #heartbeats = 0;
  /** Since when the coordination store has been unreachable; undefined while it is reachable. */
  #unreachableSince: number | undefined;
  #nextCommitWithoutConsumerAt = 0;
  /** Settles when the starting offsets are stored; undefined where they were before, and once it is waited for. */
  #stored: Promise<void> | undefined;
  #timer: Timer | undefined;
  /** When keep-alives were sent, as long as nothing has happened since. Monotonic milliseconds. */
  #idleAt = Number.NEGATIVE_INFINITY;
  /** The latest time at which the timer may be over. Monotonic milliseconds. */
  #timerUntil = Infinity;

  private constructor(
    services: StreamServices,
    subscription: Subscription,
    eventTypes: ReadonlyMap<string, number>,
    parameters: StreamParameters,
    streamId: string,
    bounds: readonly PartitionBounds[],
    format: LineFormat,
  ) {
    this.#services = services;
    this.subscription = subscription;
    this.eventTypes = eventTypes;
    this.#parameters = parameters;
    this.streamId = streamId;
    this.#assigned = new AssignedPartitions([], undefined, format.frameOf);
    const now = services.clock.monotonic();
    this.#endsAt = now + parameters.streamTimeoutMilliseconds;
    this.#idleSince = now;
    this.#opening = { bounds, at: now };
    this.#reads = new ReadAhead(
      services.log,
      services.logger,
      this.#assigned,
      () => this.#advance(),
      (where, records) => this.#unprocessableEvents().keepUnreadable(where, records),
      parameters.filter,
    );
    this.#sender = new LineSender(parameters, this.#assigned, true, format);
    const countedStreamId = parameters.countsHeartbeats === true ? streamId : undefined;
    this.#watch = new SubscriptionWatch(services, subscription.id, this, countedStreamId);
    this.#sentOffsets =
      parameters.strictCommits === true ? new SentOffsets(services.coordination, subscription.id, streamId) : undefined;
    services.metrics.openStreams.inc({ subscription_id: subscription.id });
    this.#unwatch = services.coordination.watch(subscription.id, (change, generation, committed) => {
      this.#onChange(change, generation, committed);
    });
  }

  /**
   * Opens a stream: its session is registered when this returns. Nothing is read or sent before {@link start}.
   * @param eventTypes The subscription's event types with their partition counts.
   * @param waiting Where it waits for a slot, if its parameters ask for that.
   * @throws CONFLICT, PRECONDITION_FAILED (see ownership-changes.ts), and the errors of the log and the coordination
   */
  static async open(
    services: StreamServices,
    subscription: Subscription,
    eventTypes: ReadonlyMap<string, number>,
    parameters: StreamParameters,
    format: LineFormat = jsonLines,
    waiting?: WaitingStream,
  ): Promise<SubscriptionStream> {
    const opened = await openStreamSession(services, subscription, eventTypes, parameters, waiting);
    const { streamId, bounds, stored } = opened;
    return finishOpening(services.coordination, subscription.id, streamId, () => {
      const known = opened.eventTypes;
      const stream = new SubscriptionStream(services, subscription, known, parameters, streamId, bounds, format);
      stream.#stored = stored;
      return stream;
    });
  }

  /** Requests partitions and begins to read. */
  start(): void {
    this.#watch.start();
    this.#advance();
  }

  /**
   * Returns when the starting offsets of its partitions are stored: do not call {@link next} before. The first stream
   * of a subscription requests its partitions and reads meanwhile. If they cannot be stored, the stream ends.
   */
  async untilStored(): Promise<void> {
    const stored = this.#stored;
    if (stored === undefined) return;
    this.#stored = undefined;
    try {
      await stored;
    } catch (error) {
      this.close('coordination_error', describeError(error));
    }
  }

  /** How many partitions it delivers now. */
  get partitionCount(): number {
    return this.#assigned.list.length;
  }

  /** Why the stream ends or has ended, in words; undefined while nothing ends it. */
  get closeReason(): string | undefined {
    return this.#state.name === 'streaming' ? undefined : closeInfo(this.#state.code).debug;
  }

  /**
   * The next bytes to write, as soon as a line is due; null when the stream has ended. One caller at a time. Rejects
   * when a line cannot be built. The connection must then be closed.
   */
  next(): Promise<Chunk | null> {
    return new Promise((resolve) => {
      this.#reader = resolve;
      const now = this.#services.clock.monotonic();
      // Right behind keep-alives nothing is due, unless something has changed since.
      if (this.#isStreaming() && now - this.#idleAt < idleMillisecondsMaximum) this.#setTimer(now);
      else this.#advance();
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
    const state = this.#state;
    if (state.name !== 'ended') void this.#end(state.name === 'closing' ? state.code : 'client_closed', 'delivered');
  }

  /** The one place where all changes take effect. */
  #advance(): void {
    this.#idleAt = Number.NEGATIVE_INFINITY;
    if (this.#state.name === 'ended') {
      this.#deliverLast();
      return;
    }
    const now = this.#services.clock.monotonic();
    if (this.#isStreaming()) this.#closeIfDue(now);
    if (this.#isStreaming() && this.#assigned.isSearching()) this.#unprocessableEvents().begin(now);
    if (this.#isStreaming() && this.#reader !== undefined && this.#maySend(now)) this.#deliver(now);
    if (this.#isStreaming()) this.#reads.begin(this.#parameters, now, this.#isBlocked());
    for (const partition of this.#assigned.removeHandedOver()) void this.#release(partition);
    this.#watch.recheck(now, this.#uncommittedSince !== undefined);
    this.#commitPassedOver(now);
    this.#deliverLast();
    const state: StreamState = this.#state;
    if (state.name === 'closing' && (closesImmediately(state.code) || now >= this.#commitDeadline())) {
      void this.#end(state.code, state.last);
      return;
    }
    this.#setTimer(now);
  }

  /** Whether nothing can be sent now: nothing is read, or the window is full. Of interest only with a filter. */
  #isBlocked(): boolean {
    if (this.#parameters.filter === undefined) return false;
    if (this.#reader === undefined) return true;
    return sendAllowance(this.#parameters, this.#assigned.uncommittedEvents(), this.#sender.sentEvents) === 0;
  }

  #unprocessableEvents(): UnprocessableEvents {
    this.#unprocessable ??= new UnprocessableEvents(
      this.#services,
      this.subscription.id,
      this.streamId,
      this.#assigned,
      () => this.#advance(),
      this.#sentOffsets,
    );
    return this.#unprocessable;
  }

  #hasEnded(): boolean {
    return this.#state.name === 'ended';
  }

  #isStreaming(): boolean {
    return this.#state.name === 'streaming';
  }

  /**
   * Whether the stream may send. It may not while others may have taken over, nor after that before the topology was
   * read again: two streams must not deliver the same partition in turns.
   */
  #maySend(now: number): boolean {
    const { lease } = this.#services;
    return lease.isValid(now) && this.#leaseEpoch === lease.epoch;
  }

  #deliver(now: number): void {
    this.#reads.discardChanged();
    const sentBefore = this.#sender.sentEvents;
    let bytes: Chunk | undefined;
    try {
      bytes = this.#sender.nextChunk(now);
    } catch (error) {
      // The stream cannot continue: the events of the line that could not be built would be missing.
      this.#enterClosing('log_error', { error });
      return;
    }
    if (bytes === undefined) return;
    const events = this.#sender.sentEvents - sentBefore;
    // Its end may depend on their number, and a full chunk may have left some for the next one.
    if (events === 0 && this.#parameters.keepAliveLimit === 0 && bytes.length < chunkBytesTarget) this.#idleAt = now;
    this.#recordSent(events, now);
    this.#send(bytes);
  }

  #send(bytes: Chunk): void {
    if (this.#sentOffsets?.note(this.#assigned.list) !== true) this.#resolveReader(bytes);
    else void this.#sendWhenRecorded(bytes, this.#sentOffsets);
  }

  /**
   * Sends events of a stream with strict commits as soon as the store has learned their positions. Until then there is
   * no reader, so nothing else is sent. If the stream ends first, the events are lost on the way, and its last line
   * must not follow: it would carry a cursor beyond what was sent.
   */
  async #sendWhenRecorded(bytes: Chunk, sentOffsets: SentOffsets): Promise<void> {
    const { clock, logger } = this.#services;
    const reader = this.#reader;
    this.#reader = undefined;
    while (!this.#hasEnded()) {
      try {
        const isOpen = await sentOffsets.record();
        if (this.#hasEnded()) break;
        if (isOpen && this.#maySend(clock.monotonic())) {
          sentOffsets.noteLeft();
          reader?.(bytes);
          return;
        }
      } catch (error) {
        logger.debug({ streamId: this.streamId, error: describeError(error) }, 'Cannot note what is sent; retrying');
      }
      await clock.sleep(leaseRecheckMilliseconds);
    }
    const reason = 'The stream has ended before the coordination store learned what is sent.';
    const isUnread = this.#state.name === 'ended' && this.#state.code === 'client_closed';
    reader?.(isUnread ? null : Promise.reject(new LendstreamError('COORDINATION_UNAVAILABLE', reason)));
  }

  #deliverLast(): void {
    const state = this.#state;
    if (this.#reader === undefined || state.name === 'streaming') return;
    const { last } = state;
    if (last === 'delivered') {
      if (state.name === 'ended' && state.isSessionClosed) this.#resolveReader(null);
    } else if ('error' in last) {
      this.#resolveReader(Promise.reject(last.error));
    } else if (!this.#maySendLast(state, last)) {
      // Without its events the last line would carry a cursor beyond what was sent.
      if (state.name !== 'ended') return;
      state.last = 'delivered';
      this.#deliverLast();
    } else {
      state.last = 'delivered';
      this.#send(last.chunk);
    }
  }

  /**
   * Not while others may have sent the same events. After the end only positions that the store has learned while the
   * session was open: it would refuse to commit others, if commits are strict.
   */
  #maySendLast({ name }: StreamState, { hasEvents, isKnown }: LastChunk): boolean {
    if (name === 'ended' && !isKnown) return false;
    return !hasEvents || this.#maySend(this.#services.clock.monotonic());
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
    this.#uncommittedSince ??= now;
  }

  // Changes made by others: commits, sessions, ownership. Change notifications only say that it is time to read the
  // store.

  #onChange(change: CoordinationChange, generation?: number, committed?: readonly CommittedOffset[]): void {
    if (this.#state.name === 'ended') return;
    if (change === 'removed') {
      this.close('subscription_deleted');
      return;
    }
    this.#watch.notify(change, generation, committed);
  }

  async observed(observation: Observation): Promise<void> {
    if (this.#state.name === 'ended') return;
    const now = this.#services.clock.monotonic();
    if (observation.kind === 'failure') {
      this.#onReadFailed(observation.error, now);
    } else {
      this.#unreachableSince = undefined;
      const { committed, heartbeats = this.#heartbeats } = observation;
      // A stream that closes waits for its last commits: a heart-beat would hold its partitions without end.
      const isHeartbeat = heartbeats !== this.#heartbeats && this.#isStreaming();
      this.#heartbeats = heartbeats;
      if (this.#assigned.applyCommits(committed) || isHeartbeat) this.#restartCommitTimer(now);
      if (observation.kind === 'topology') await this.#applyTopology(observation);
    }
    this.#advance();
  }

  #onReadFailed(error: unknown, now: number): void {
    const { failingStreams, logger } = this.#services;
    if (isLendstreamError(error, 'LOG_CLOSED')) {
      this.#beginClosing('server_shutdown');
      return;
    }
    const facts = { streamId: this.streamId, subscriptionId: this.subscription.id, error: describeError(error) };
    if (!isLendstreamError(error) || !error.retriable) {
      logger.error(facts, 'The state of a subscription cannot be read');
      this.#beginClosing('coordination_error', describeError(error));
      return;
    }
    // Warn only once per outage: there may be thousands of streams, and each tries every second. Lines are written at
    // once, so with one for each stream the process would wait for the reader of its log.
    const level = failingStreams.size > 0 ? 'debug' : 'warn';
    logger[level](facts, 'Reading the state of a subscription failed; retrying');
    failingStreams.add(this.streamId);
    if (error.code === 'COORDINATION_UNAVAILABLE') this.#suspendTimeouts(now);
  }

  /**
   * Time in which commits are impossible does not count, up to a limit: the client may do better with another process.
   */
  #suspendTimeouts(now: number): void {
    this.#unreachableSince ??= now;
    const longest = Math.max(outageMillisecondsMaximum, this.#parameters.commitTimeoutMilliseconds);
    if (now - this.#unreachableSince > longest) return;
    this.#restartCommitTimer(now);
    this.#idleSince = now;
    this.#assigned.setHandOverDeadline(now + this.#parameters.commitTimeoutMilliseconds);
  }

  #restartCommitTimer(now: number): void {
    this.#uncommittedSince = this.#assigned.uncommittedEvents() > 0 ? now : undefined;
  }

  async #applyTopology({ topology, committed, leaseEpoch }: Observation & { kind: 'topology' }): Promise<void> {
    if (!topology.sessions.some(({ streamId }) => streamId === this.streamId)) {
      this.#beginClosing('session_lost');
      return;
    }
    const { clock, registry } = this.#services;
    const owned = topology.partitions.filter(
      (each) => each.streamId === this.streamId && each.fence > this.#handedOverUnder(each),
    );
    const handOverUntil = clock.monotonic() + this.#parameters.commitTimeoutMilliseconds;
    if (this.#assigned.keepOwned(owned, handOverUntil)) {
      this.#reads.stop();
      this.#updateAfterRelease();
    }
    if (topology.resetting) this.#beginClosing('cursors_reset');
    if (surplusStreams(topology).has(this.streamId)) this.#beginClosing('no_free_slots');
    const gained = this.#assigned.missing(owned);
    if (this.#isStreaming() && gained.length > 0) {
      const bounds = this.#boundsAtOpening(gained) ?? (await this.#boundsOf(gained));
      this.#opening = undefined;
      const hasPolicy = policyOf(registry, this.subscription.id) !== undefined;
      const now = clock.monotonic();
      if (this.#isStreaming()) this.#assigned.adopt(gained, bounds, committed, now, handOverUntil, hasPolicy);
    }
    if (!this.#isStreaming()) {
      // It only waits for the last commits, and sends nothing of what it gets meanwhile: others need not wait for that.
      for (const each of gained) if (each.nextStreamId !== null) void this.#release(each);
    }
    this.#leaseEpoch = leaseEpoch;
    this.#services.failingStreams.delete(this.streamId);
  }

  /** Those of the first partitions, if the stream gets them at once: then they need not be looked up again. */
  #boundsAtOpening(gained: readonly PartitionOwnership[]): PartitionBounds[] | undefined {
    const opening = this.#opening;
    const now = this.#services.clock.monotonic();
    if (opening === undefined || now - opening.at > openingBoundsMilliseconds) return undefined;
    const byPartition = boundsByPartition(opening.bounds);
    const found = gained.flatMap((ownership) => byPartition.get(partitionKey(ownership)) ?? []);
    return found.length === gained.length ? found : undefined;
  }

  #boundsOf(gained: readonly PartitionOwnership[]): Promise<PartitionBounds[]> {
    return this.#services.log.bounds(gained.map(({ eventType, partition }) => ({ topic: eventType, partition })));
  }

  #updateAfterRelease(): void {
    const now = this.#services.clock.monotonic();
    if (this.#assigned.list.length === 0) this.#idleSince = now;
    if (this.#assigned.uncommittedEvents() === 0) this.#uncommittedSince = undefined;
  }

  async #release({
    eventType,
    partition,
    fence,
  }: Pick<PartitionOwnership, 'eventType' | 'partition' | 'fence'>): Promise<void> {
    const { coordination, clock, logger } = this.#services;
    const key = partitionKey({ eventType, partition });
    this.#updateAfterRelease();
    this.#handedOver ??= new Map();
    this.#handedOver.set(key, fence);
    try {
      await coordination.release(this.subscription.id, this.streamId, { eventType, partition }, fence);
    } catch (error) {
      this.#handedOver.delete(key);
      const facts = { streamId: this.streamId, eventType, partition, error: describeError(error) };
      logger.warn(facts, 'Handing over a partition failed; retrying');
      this.#watch.readSoon(clock.monotonic());
      this.#advance();
    }
  }

  #handedOverUnder(partition: EventTypePartition): number {
    return this.#handedOver === undefined ? -1 : (this.#handedOver.get(partitionKey(partition)) ?? -1);
  }

  #commitPassedOver(now: number): void {
    if (now < this.#nextCommitWithoutConsumerAt || !this.#assigned.hasCommittableWithoutConsumer()) return;
    this.#nextCommitWithoutConsumerAt = now + commitWithoutConsumerMilliseconds;
    void this.#commitWithoutConsumer();
  }

  #commitWithoutConsumer(): Promise<void> {
    const { list } = this.#assigned;
    return commitWithoutConsumer(this.#services, this.subscription.id, this.streamId, list, this.#sentOffsets);
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
    const state = this.#state;
    if (state.name !== 'streaming') {
      // Stop waiting for late commits if they are no longer possible.
      if (state.name === 'closing' && closesImmediately(code)) state.code = code;
      return;
    }
    const now = this.#services.clock.monotonic();
    const sentBefore = this.#sender.sentEvents;
    const { list } = this.#assigned;
    const maySend = this.#maySend(now);
    // With strict commits the session may end before the store learns the positions of the last lines.
    const mayMove = maySend && this.#sentOffsets === undefined;
    const moved = mayMove ? list.filter(({ isMovedByFilter }) => isMovedByFilter) : [];
    const lastLines = moved.length > 0 ? moved : [list[0] ?? this.#placeholderPartition(now)];
    const isFlushing = code === 'stream_timeout' && maySend;
    const positions = isFlushing ? new Map(list.map((each) => [each, each.sentThrough])) : undefined;
    if (isFlushing) this.#reads.discardChanged();
    try {
      const chunk = this.#sender.lastChunk(lastLines, closeInfo(code, detail), now, isFlushing, mayMove);
      this.#recordSent(this.#sender.sentEvents - sentBefore, now);
      const hasEvents = this.#sender.sentEvents > sentBefore;
      const isKnown = (isFlushing ? list : lastLines).every((each) => this.#sentOffsets?.isKnown(each) ?? true);
      this.#enterClosing(code, { chunk, hasEvents, isKnown, sentBefore: positions });
    } catch (error) {
      this.#enterClosing('log_error', { error });
    }
  }

  #enterClosing(code: CloseCode, last: LastBytes): void {
    this.#state = { name: 'closing', code, last, since: this.#services.clock.monotonic() };
    this.#reads.stop();
    for (const partition of this.#assigned.list) partition.rewind();
  }

  /** The partition whose cursor the last line of a stream without partitions carries: every line needs a cursor. */
  #placeholderPartition(now: number): StreamPartition {
    const [requested] = this.#parameters.requestedPartitions;
    const { eventType, partition } = requested ?? { eventType: this.subscription.event_types[0] ?? '', partition: 0 };
    return this.#assigned.partitionOf({ eventType, partition, fence: 0 }, beforeFirst, now);
  }

  /** How long a closing stream waits for commits: never longer than a partition may wait for its hand-over. */
  #commitDeadline(): number {
    let deadline = commitDeadline(this.#parameters, this.#uncommittedSince);
    for (const { handOverUntil = Infinity } of this.#assigned.list) deadline = Math.min(deadline, handOverUntil);
    const state = this.#state;
    if (state.name !== 'closing' || state.code !== 'cursors_reset') return deadline;
    // The reset waits a second longer, and not for a commit timeout that only the subscription allows.
    const { commitTimeoutSeconds } = this.#services.limits ?? defaultStreamingLimits;
    return Math.min(deadline, state.since + commitTimeoutSeconds * 1_000);
  }

  async #end(code: CloseCode, last: LastBytes): Promise<void> {
    const { clock, coordination, logger, metrics, registry } = this.#services;
    const isOverdue = isCommitOverdue(this.#parameters, this.#uncommittedSince, clock.monotonic());
    const lateCommits = isOverdue ? 'refused' : 'accepted';
    const policy = policyOf(registry, this.subscription.id);
    const { list } = this.#assigned;
    const leftThrough = this.#leftThrough();
    const failed = failedDeliveriesOf(policy, list, this.#parameters.batchLimit, code, isOverdue, leftThrough);
    const ended: StreamState = { name: 'ended', code, last, isSessionClosed: false };
    this.#state = ended;
    this.#unwatch();
    this.#services.failingStreams.delete(this.streamId);
    this.#watch.stop();
    this.#reads.stop();
    this.#timer?.cancel();
    this.#timer = undefined;
    try {
      await this.#commitWithoutConsumer();
      await coordination.closeSession(this.subscription.id, this.streamId, lateCommits, failed);
    } catch (error) {
      const facts = { streamId: this.streamId, error: describeError(error) };
      logger.warn(facts, 'Cannot close a session; it ends with the lease of this node');
    }
    this.#assigned.clear();
    ended.isSessionClosed = true;
    metrics.openStreams.dec({ subscription_id: this.subscription.id });
    metrics.closedStreams.inc({ reason: code });
    const facts = { subscriptionId: this.subscription.id, streamId: this.streamId, reason: code };
    logger.info(facts, 'A stream was closed');
    this.onEnded?.();
    this.#deliverLast();
  }

  /** How far the reader got each partition: lines may still wait for the coordination store, or for the reader. */
  #leftThrough(): (partition: StreamPartition) => Offset {
    const waiting = this.#state.name === 'closing' ? this.#state.last : 'delivered';
    const sentBefore = waiting !== 'delivered' && 'chunk' in waiting ? waiting.sentBefore : undefined;
    return (partition) =>
      Math.min(sentBefore?.get(partition) ?? Infinity, this.#sentOffsets?.leftThrough(partition) ?? Infinity);
  }

  // Time.

  /** The next moment at which time alone changes something, apart from keep-alives. */
  #nextDeadline(now: number): number {
    let at = this.#watch.nextReadAt;
    if (this.#assigned.hasCommittableWithoutConsumer()) at = Math.min(at, this.#nextCommitWithoutConsumerAt);
    if (!this.#isStreaming()) return Math.min(at, this.#commitDeadline());
    at = Math.min(at, closingDueAt(this.#parameters, this.#progress()));
    if (this.#reads.retryAt > 0) at = Math.min(at, this.#reads.retryAt);
    if (this.#unprocessable !== undefined && this.#assigned.isSearching()) {
      at = Math.min(at, this.#unprocessable.retryAt);
    }
    const { lease } = this.#services;
    if (!lease.isValid(now)) return Math.min(at, now + leaseRecheckMilliseconds);
    // In a new lease epoch the topology is being read, or will be at the next read: what comes of it calls again.
    if (this.#leaseEpoch !== lease.epoch) return at;
    if (this.#reader === undefined) return at;
    for (const { events, lastSentAt } of this.#assigned.list) {
      if (events > 0) at = Math.min(at, flushDueAt(this.#parameters, lastSentAt));
    }
    return at;
  }

  /** When the next partition without events has to send a keep-alive; Infinity while nothing can be sent. */
  #nextKeepAlive(now: number): number {
    let at = Infinity;
    if (!this.#isStreaming() || this.#reader === undefined || !this.#maySend(now)) return at;
    for (const { events, lastSentAt } of this.#assigned.list) {
      if (events === 0) at = Math.min(at, flushDueAt(this.#parameters, lastSentAt));
    }
    return at;
  }

  /** Sets the only timer again, unless the one it waits for is early enough. */
  #setTimer(now: number): void {
    const deadline = this.#nextDeadline(now);
    const keepAliveAt = this.#nextKeepAlive(now);
    const offsetsAt = this.#watch.nextOffsetsAt;
    // Many streams send their keep-alives together, and look for commits together, if each may be a little late.
    const keepAliveLate = this.#parameters.flushMilliseconds * keepAliveLateShare;
    const isForOffsets = offsetsAt + offsetsRecheckLateMilliseconds < keepAliveAt + keepAliveLate;
    const late = isForOffsets ? offsetsRecheckLateMilliseconds : keepAliveLate;
    const lateAt = isForOffsets ? offsetsAt : keepAliveAt;
    const mayBeLate = lateAt + late <= deadline;
    const until = mayBeLate ? lateAt + late : Math.min(deadline, keepAliveAt, offsetsAt);
    if (this.#timer !== undefined && this.#timerUntil <= until) return;
    this.#timer?.cancel();
    this.#timerUntil = until;
    // A deadline that has passed already is seen to in a later turn, and never more than once in a millisecond.
    const at = Math.max(mayBeLate ? lateAt : until, now + 1);
    const onTime = (): void => {
      this.#timer = undefined;
      this.#advance();
    };
    this.#timer = this.#services.clock.at(at, onTime, mayBeLate ? late : 0);
  }
}

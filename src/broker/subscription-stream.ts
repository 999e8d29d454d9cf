import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.ts';
import { describeError, isLendstreamError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { initialisePartitions, openSession, settleOwnership, surplusStreams } from './assignment.ts';
import { ChunkBuilder, type LineInfo } from './batch-line.ts';
import { dueBatch, flushDueAt, sendAllowance, type BatchCause } from './batches.ts';
import { closeInfo, endsAtOnce, type CloseCode } from './close-reasons.ts';
import { partitionKey, type CommittedOffset, type Coordination, type CoordinationChange } from './coordination.ts';
import type { PartitionOwnership, Topology } from './coordination.ts';
import { beforeFirst } from './cursor.ts';
import type { EventLog } from './event-log.ts';
import type { Registry } from './registry.ts';
import type { StreamParameters } from './stream-parameters.ts';
import { StreamPartition } from './stream-partition.ts';
import type { Subscription } from './subscription.ts';

/** What streams need of the process they run in. */
export interface StreamServices {
  readonly registry: Registry;
  readonly log: EventLog;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** This process, whose lease keeps the sessions of its streams alive. */
  readonly nodeId: string;
}

/** How much a stream reads ahead of what it may send. Bytes over all its partitions. */
export const prefetchBytesMaximum = 1024 * 1024;

/** How far one partition reads ahead at least, however many there are. Bytes. */
const partitionPrefetchBytesMinimum = 32 * 1024;

/** How much a stream holds to fill batches larger than its prefetch; above it the largest part batch leaves early. Bytes. */
export const bufferBytesMaximum = 16 * 1024 * 1024;

/** Lines are put together into one write up to about this size; a single line may be longer. Bytes. */
const chunkBytesTarget = 256 * 1024;

/** How often committed offsets are read again while events are out, in case a hint was lost. Milliseconds. */
const offsetsRecheckMilliseconds = 1_000;

/** How often sessions and ownership are read again, in case a hint was lost. Milliseconds. */
const topologyRecheckMilliseconds = 15_000;

/** How long to wait before something that failed for the moment is tried again. Milliseconds. */
const retryMilliseconds = 1_000;

/** How often positions that passed over deletions are committed. Milliseconds. */
const passedCommitMilliseconds = 5_000;

const timerMillisecondsMaximum = 2_147_483_647;

/** Building a chunk is synchronous, so one builder serves every stream. */
const chunk = new ChunkBuilder();

/**
 * One open stream of a subscription.
 *
 * It is *streaming* until something ends it; then it is *closing*: nothing more is sent but the line that says why,
 * while the session stays for the commits of what is out; then it has *ended*: the session is gone and its partitions
 * are free. The session lives no longer than the client's connection: whoever reconnects finds its slot free.
 *
 * The reader pulls: nothing is built before {@link next} asks, so a slow reader holds no more than the bounded buffers.
 * Every change (records, commits, ownership, time) ends in one place, which sends what is due, ends what has to end
 * and sets the stream's only timer.
 */
export class SubscriptionStream {
  readonly streamId: string;
  readonly subscription: Subscription;
  /** The subscription's event types with their partition counts when the stream was opened. */
  readonly eventTypes: ReadonlyMap<string, number>;
  /** Called once, when the session is closed. */
  onEnded: (() => void) | undefined;
  readonly #services: StreamServices;
  readonly #parameters: StreamParameters;
  readonly #deliveredEvents: { inc(value: number): void };
  #state: 'streaming' | 'closing' | 'ended' = 'streaming';
  #closeCode: CloseCode | undefined;
  #partitions: StreamPartition[] = [];
  /** Where building begins, so that no partition comes first every time. */
  #firstPartition = 0;
  #reader: ((chunk: Buffer | null) => void) | undefined;
  /** What is left to say after closing began. */
  #lastChunk: Buffer | undefined;
  #sessionClosed = false;
  #started = false;
  #sentEvents = 0;
  /** Events lost to retention and not yet told. */
  #skippedEvents = 0;
  #reads = newReads();
  #refreshing = false;
  #topologyWanted = true;
  #offsetsWanted = false;
  #unwatch: () => void;
  readonly #endsAt: number;
  #idleSince: number;
  /** Since when events are out without a commit. Monotonic milliseconds, as every time here. */
  #uncommittedSince: number | undefined;
  #topologyRecheckAt: number;
  #offsetsRecheckAt = Infinity;
  #passedCommitAt = 0;
  #readRetryAt = 0;
  #timer: NodeJS.Timeout | undefined;
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
    this.#topologyRecheckAt = now + topologyRecheckMilliseconds;
    this.#deliveredEvents = services.metrics.deliveredEvents.labels({ subscription_id: subscription.id });
    services.metrics.openStreams.inc({ subscription_id: subscription.id });
    this.#unwatch = services.coordination.watch(subscription.id, (change) => this.#onChange(change));
  }

  /**
   * Opens a stream: its session is registered when this returns. Nothing flows before {@link start}.
   * @param eventTypes The subscription's event types with their partition counts.
   * @throws CONFLICT, PRECONDITION_FAILED (see assignment.ts), and what the log and the coordination throw
   */
  static async open(
    services: StreamServices,
    subscription: Subscription,
    eventTypes: ReadonlyMap<string, number>,
    parameters: StreamParameters,
  ): Promise<SubscriptionStream> {
    const { log, coordination, clock, nodeId } = services;
    await initialisePartitions(log, coordination, subscription, eventTypes);
    const streamId = randomUUID();
    const { requestedPartitions } = parameters;
    await openSession(coordination, subscription.id, { streamId, nodeId, requestedPartitions, openedAt: clock.now() });
    return new SubscriptionStream(services, subscription, eventTypes, parameters, streamId);
  }

  /** Asks for partitions and begins to read. */
  start(): void {
    this.#refresh();
    this.#advance();
  }

  /** The next bytes to write, as soon as something is due; null when the stream has ended. One caller at a time. */
  next(): Promise<Buffer | null> {
    return new Promise((resolve) => {
      this.#reader = resolve;
      this.#advance();
    });
  }

  /** Ends the stream in order, saying why. */
  close(code: CloseCode, detail = ''): void {
    this.#beginClosing(code, detail);
    this.#advance();
  }

  /** The client's connection is gone: the session ends now, and what was not committed goes to the next stream. */
  clientClosed(): void {
    if (this.#state === 'ended') return;
    this.#closeCode ??= 'client_closed';
    this.#lastChunk = undefined;
    void this.#end();
  }

  #onChange(change: CoordinationChange): void {
    if (this.#state === 'ended') return;
    if (change === 'removed') {
      this.close('subscription_deleted');
      return;
    }
    if (change === 'offsets') this.#offsetsWanted = true;
    else this.#topologyWanted = true;
    this.#refresh();
  }

  /** The one place where everything that happened takes effect. */
  #advance(): void {
    if (this.#state === 'ended') {
      this.#deliverLast();
      return;
    }
    const now = this.#services.clock.monotonic();
    if (this.#state === 'streaming') this.#closeWhenOver(now);
    if (this.#state === 'streaming') {
      if (this.#reader !== undefined) this.#deliver(now);
      for (const partition of this.#partitions) if (this.#wantsRead(partition, now)) void this.#read(partition);
    }
    this.#handOver();
    this.#recheck(now);
    if (this.#state === 'closing') {
      this.#deliverLast();
      if (this.#closingIsOver(now)) {
        void this.#end();
        return;
      }
    }
    this.#setTimer(now);
  }

  // Sending.

  #deliver(now: number): void {
    this.#fill(now, false, chunkBytesTarget);
    if (chunk.size > 0) this.#give(chunk.take());
  }

  #give(bytes: Buffer | null): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.(bytes);
  }

  #deliverLast(): void {
    if (this.#reader === undefined) return;
    if (this.#lastChunk !== undefined) {
      const last = this.#lastChunk;
      this.#lastChunk = undefined;
      this.#give(last);
    } else if (this.#sessionClosed) {
      this.#give(null);
    }
  }

  /** Puts every line that is due into the chunk, one batch of each partition in turn. */
  #fill(now: number, ending: boolean, bytesTarget: number): void {
    const rules = this.#parameters;
    const count = this.#partitions.length;
    let allowance = sendAllowance(rules, this.#uncommittedEvents(), this.#sentEvents);
    this.#noteOverflow();
    let sent = true;
    while (sent && chunk.size < bytesTarget) {
      sent = false;
      for (let turn = 0; turn < count && chunk.size < bytesTarget; turn += 1) {
        const partition = this.#partitions[(this.#firstPartition + turn) % count];
        if (partition === undefined) continue;
        if (rules.timespanMilliseconds > 0) partition.noteTimespan(rules.timespanMilliseconds);
        const open = partition.handOverUntil === undefined ? allowance : 0;
        const due = dueBatch(rules, partition, open, now, ending);
        if (due === undefined) continue;
        partition.sendInto(chunk, due.events, randomUUID(), this.#lineInfo(due.cause), now);
        partition.overflowing = false;
        if (due.events === 0) continue;
        sent = true;
        allowance -= due.events;
        this.#noteSent(due.events, now);
      }
    }
    if (count > 0) this.#firstPartition = (this.#firstPartition + 1) % count;
  }

  #noteSent(events: number, now: number): void {
    this.#sentEvents += events;
    this.#deliveredEvents.inc(events);
    if (this.#uncommittedSince !== undefined) return;
    this.#uncommittedSince = now;
    this.#offsetsRecheckAt = now + offsetsRecheckMilliseconds;
  }

  #lineInfo(cause: BatchCause): LineInfo | undefined {
    const texts: string[] = [];
    if (!this.#started) texts.push('Stream started');
    this.#started = true;
    if (this.#skippedEvents > 0) {
      texts.push(`skipped events due to retention time passed, count: ${this.#skippedEvents}`);
      this.#skippedEvents = 0;
    }
    if (cause === 'overflow') texts.push('Stream parameters are causing overflow');
    return texts.length === 0 ? undefined : { debug: texts.join('; ') };
  }

  #uncommittedEvents(): number {
    let events = 0;
    for (const { uncommitted } of this.#partitions) events += uncommitted.count;
    return events;
  }

  #bufferedBytes(): number {
    let bytes = 0;
    for (const { buffer } of this.#partitions) bytes += buffer.bytes;
    return bytes;
  }

  #noteOverflow(): void {
    if (this.#bufferedBytes() < bufferBytesMaximum) return;
    const largest = this.#partitions.reduce((left, right) => (right.buffer.bytes > left.buffer.bytes ? right : left));
    largest.overflowing = true;
  }

  // Reading.

  #wantsRead(partition: StreamPartition, now: number): boolean {
    if (partition.reading || partition.readFailure !== undefined || partition.handOverUntil !== undefined) return false;
    if (now < this.#readRetryAt) return false;
    const { buffer } = partition;
    if (buffer.bytes < this.#partitionPrefetchBytes() / 2) return true;
    const { batchLimit, uncommittedEventsMaximum } = this.#parameters;
    return buffer.events < Math.min(batchLimit, uncommittedEventsMaximum) && this.#bufferedBytes() < bufferBytesMaximum;
  }

  #partitionPrefetchBytes(): number {
    return Math.max(Math.floor(prefetchBytesMaximum / this.#partitions.length), partitionPrefetchBytesMinimum);
  }

  async #read(partition: StreamPartition): Promise<void> {
    const { log } = this.#services;
    const turn = partition.readTurn;
    partition.reading = true;
    try {
      const result = await log.read(
        { topic: partition.eventType, partition: partition.partition, offset: partition.readOffset },
        { bytesMaximum: this.#partitionPrefetchBytes(), waitMilliseconds: Infinity, signal: this.#reads.signal },
      );
      if (partition.readTurn === turn) partition.received(result);
    } catch (error) {
      if (partition.readTurn === turn) this.#readFailed(partition, error);
    }
    partition.reading = false;
    this.#advance();
  }

  #readFailed(partition: StreamPartition, error: unknown): void {
    if (this.#state !== 'streaming') return;
    if (isLendstreamError(error, 'LOG_CLOSED')) {
      this.#beginClosing('server_shutdown');
      return;
    }
    if (isLendstreamError(error, 'OFFSET_OUT_OF_RANGE')) {
      const skipped = partition.skipTo(Number(error.details['earliest']));
      this.#skippedEvents += skipped;
      if (skipped > 0) return;
    }
    const { eventType, partition: number } = partition;
    const facts = { streamId: this.streamId, eventType, partition: number, error: describeError(error) };
    if (isLendstreamError(error) && error.retriable) {
      this.#services.logger.warn(facts, 'Reading for a stream failed and is tried again');
      this.#readRetryAt = this.#services.clock.monotonic() + retryMilliseconds;
      return;
    }
    this.#services.logger.error(facts, 'Reading for a stream failed');
    partition.readFailure = `partition ${number} of ${eventType}: ${describeError(error)}`;
  }

  /** Ends every read under way; those still wanted begin again. */
  #restartReads(): void {
    this.#reads.abort();
    this.#reads = newReads();
  }

  // Ownership and commits.

  #recheck(now: number): void {
    if (now >= this.#topologyRecheckAt) this.#topologyWanted = true;
    if (now >= this.#offsetsRecheckAt) this.#offsetsWanted = true;
    if (this.#topologyWanted || this.#offsetsWanted) this.#refresh();
    if (now < this.#passedCommitAt || !this.#hasPassed()) return;
    this.#passedCommitAt = now + passedCommitMilliseconds;
    void this.#commitPassed();
  }

  #hasPassed(): boolean {
    return this.#partitions.some(({ committableWithoutConsumer }) => committableWithoutConsumer !== undefined);
  }

  /** Commits what no consumer can commit: positions behind deletions that were passed over. */
  async #commitPassed(): Promise<void> {
    const cursors = this.#partitions.flatMap(({ eventType, partition, fence, committableWithoutConsumer: offset }) =>
      offset === undefined ? [] : [{ eventType, partition, fence, offset }],
    );
    if (cursors.length === 0) return;
    try {
      await this.#services.coordination.commit(this.subscription.id, this.streamId, cursors);
    } catch (error) {
      this.#services.logger.warn(
        { streamId: this.streamId, error: describeError(error) },
        'A position without events could not be committed and is tried again',
      );
    }
  }

  #refresh(): void {
    if (!this.#refreshing) void this.#refreshUntilCurrent();
  }

  async #refreshUntilCurrent(): Promise<void> {
    this.#refreshing = true;
    try {
      while (this.#state !== 'ended' && (this.#topologyWanted || this.#offsetsWanted)) {
        if (this.#topologyWanted) await this.#refreshTopology();
        else await this.#refreshOffsets();
        this.#advance();
      }
    } catch (error) {
      this.#refreshFailed(error);
    }
    this.#refreshing = false;
  }

  async #refreshOffsets(): Promise<void> {
    const { coordination, clock } = this.#services;
    this.#offsetsWanted = false;
    this.#takeCommits(await coordination.committedOffsets(this.subscription.id));
    const now = clock.monotonic();
    this.#offsetsRecheckAt = this.#uncommittedSince === undefined ? Infinity : now + offsetsRecheckMilliseconds;
  }

  async #refreshTopology(): Promise<void> {
    const { coordination, clock } = this.#services;
    this.#topologyWanted = false;
    const now = clock.monotonic();
    if (now >= this.#topologyRecheckAt) await coordination.reapSessions(this.subscription.id);
    this.#topologyRecheckAt = now + topologyRecheckMilliseconds;
    const topology = await settleOwnership(coordination, this.subscription.id);
    // Read after the topology: what an earlier owner committed before it let go is among them.
    const committed = await coordination.committedOffsets(this.subscription.id);
    this.#takeCommits(committed);
    await this.#takeTopology(topology, committed);
  }

  #refreshFailed(error: unknown): void {
    const facts = { streamId: this.streamId, subscriptionId: this.subscription.id, error: describeError(error) };
    if (isLendstreamError(error) && error.retriable && error.code !== 'LOG_CLOSED') {
      this.#services.logger.warn(facts, 'Looking at the state of a subscription failed and is tried again');
      this.#topologyWanted = false;
      this.#offsetsWanted = false;
      this.#topologyRecheckAt = this.#services.clock.monotonic() + retryMilliseconds;
      this.#offsetsRecheckAt = Infinity;
      this.#advance();
      return;
    }
    if (this.#state !== 'ended') this.#services.logger.error(facts, 'The state of a subscription cannot be read');
    this.close('coordination_error', describeError(error));
  }

  #takeCommits(committed: readonly CommittedOffset[]): void {
    let moved = false;
    for (const { eventType, partition, offset } of committed) {
      const own = this.#partitions.find((held) => held.partition === partition && held.eventType === eventType);
      if (own?.commitThrough(offset) === true) moved = true;
    }
    if (moved) this.#restartCommitTimer();
  }

  #restartCommitTimer(): void {
    const outstanding = this.#uncommittedEvents() > 0;
    this.#uncommittedSince = outstanding ? this.#services.clock.monotonic() : undefined;
    if (!outstanding) this.#offsetsRecheckAt = Infinity;
  }

  async #takeTopology(topology: Topology, committed: readonly CommittedOffset[]): Promise<void> {
    if (this.#state === 'ended') return;
    if (!topology.sessions.some(({ streamId }) => streamId === this.streamId)) {
      this.#beginClosing('session_lost');
      return;
    }
    const owned = topology.partitions.filter(({ streamId }) => streamId === this.streamId);
    this.#dropLost(owned);
    if (topology.resetting) this.#beginClosing('cursors_reset');
    if (surplusStreams(topology).has(this.streamId)) this.#beginClosing('no_free_slots');
    if (this.#state === 'streaming') await this.#adopt(owned, committed);
  }

  /** Lets go of partitions that are somebody else's now, and stops or resumes those that change hands. */
  #dropLost(owned: readonly PartitionOwnership[]): void {
    const now = this.#services.clock.monotonic();
    const byKey = new Map(owned.map((ownership) => [partitionKey(ownership), ownership]));
    const kept = this.#partitions.filter((held) => byKey.get(partitionKey(held))?.fence === held.fence);
    let restart = kept.length < this.#partitions.length;
    if (restart) this.#keep(kept);
    for (const held of this.#partitions) {
      const leaving = byKey.get(partitionKey(held))?.state === 'reassigning';
      if (leaving && held.handOverUntil === undefined) {
        held.handOverUntil = now + this.#parameters.commitTimeoutMilliseconds;
        held.rewind();
        restart = true;
      } else if (!leaving) {
        held.handOverUntil = undefined;
      }
    }
    if (restart) this.#restartReads();
  }

  #keep(partitions: StreamPartition[]): void {
    this.#partitions = partitions;
    this.#firstPartition = 0;
    if (partitions.length === 0) this.#idleSince = this.#services.clock.monotonic();
    if (this.#uncommittedEvents() === 0) this.#restartCommitTimer();
  }

  /** Begins with partitions that became this stream's, behind what was committed or behind what retention took away. */
  async #adopt(owned: readonly PartitionOwnership[], committed: readonly CommittedOffset[]): Promise<void> {
    const held = new Set(this.#partitions.map(partitionKey));
    const gained = owned.filter((ownership) => !held.has(partitionKey(ownership)));
    if (gained.length === 0) return;
    const { log, clock } = this.#services;
    const bounds = await log.bounds(gained.map(({ eventType, partition }) => ({ topic: eventType, partition })));
    if (this.#state !== 'streaming') return;
    const offsets = new Map(committed.map((position) => [partitionKey(position), position.offset]));
    const now = clock.monotonic();
    for (const [index, ownership] of gained.entries()) {
      const position = offsets.get(partitionKey(ownership)) ?? beforeFirst;
      const start = Math.max(position, (bounds[index]?.earliest ?? 0) - 1);
      this.#skippedEvents += start - position;
      const partition = new StreamPartition(ownership, start, now);
      if (ownership.state === 'reassigning') {
        partition.handOverUntil = now + this.#parameters.commitTimeoutMilliseconds;
      }
      this.#partitions.push(partition);
    }
  }

  /** Gives partitions that change hands to their next stream as soon as all that was sent of them is committed. */
  #handOver(): void {
    const done = this.#partitions.filter(
      ({ handOverUntil, uncommitted }) => handOverUntil !== undefined && uncommitted.count === 0,
    );
    if (done.length === 0) return;
    this.#keep(this.#partitions.filter((partition) => !done.includes(partition)));
    for (const partition of done) void this.#release(partition);
  }

  async #release(held: StreamPartition): Promise<void> {
    const { coordination, clock, logger } = this.#services;
    const { eventType, partition, fence } = held;
    try {
      await coordination.release(this.subscription.id, this.streamId, { eventType, partition }, fence);
    } catch (error) {
      const facts = { streamId: this.streamId, eventType, partition, error: describeError(error) };
      logger.warn(facts, 'Handing over a partition failed and is tried again');
      this.#topologyRecheckAt = Math.min(this.#topologyRecheckAt, clock.monotonic() + retryMilliseconds);
      this.#advance();
    }
  }

  // Ending.

  #closeWhenOver(now: number): void {
    const { commitTimeoutMilliseconds, keepAliveLimit, streamLimit } = this.#parameters;
    const partitions = this.#partitions;
    if (this.#uncommittedSince !== undefined && now >= this.#uncommittedSince + commitTimeoutMilliseconds) {
      this.#beginClosing('commit_timeout');
    } else if (streamLimit > 0 && this.#sentEvents >= streamLimit && this.#uncommittedSince === undefined) {
      this.#beginClosing('stream_limit', String(streamLimit));
    } else if (now >= this.#endsAt) {
      this.#beginClosing('stream_timeout');
    } else if (partitions.some(({ handOverUntil }) => handOverUntil !== undefined && now >= handOverUntil)) {
      this.#beginClosing('handover_timeout');
    } else if (partitions.length === 0) {
      if (now >= this.#idleSince + 2 * commitTimeoutMilliseconds) this.#beginClosing('no_partitions');
    } else if (keepAliveLimit > 0 && partitions.every(({ keepAlives }) => keepAlives >= keepAliveLimit)) {
      this.#beginClosing('keep_alive_limit', String(keepAliveLimit));
    } else {
      const failed = partitions.find(({ readFailure, events }) => readFailure !== undefined && events === 0);
      if (failed !== undefined) this.#beginClosing('log_error', failed.readFailure);
    }
  }

  #beginClosing(code: CloseCode, detail = ''): void {
    if (this.#state !== 'streaming') {
      // A grace that was being waited for is over when the reason for it is gone.
      if (this.#state === 'closing' && endsAtOnce(code)) this.#closeCode = code;
      return;
    }
    this.#closeCode = code;
    const now = this.#services.clock.monotonic();
    if (code === 'stream_timeout') this.#fill(now, true, Infinity);
    this.#state = 'closing';
    const speaker = this.#partitions[0] ?? this.#anyPartition(now);
    speaker.sayInto(chunk, randomUUID(), closeInfo(code, detail));
    this.#lastChunk = chunk.take();
    this.#reads.abort();
    for (const { buffer } of this.#partitions) buffer.clear();
  }

  /** Whose cursor the last line of a stream without partitions carries: every line has one. */
  #anyPartition(now: number): StreamPartition {
    const [requested] = this.#parameters.requestedPartitions;
    const { eventType, partition } = requested ?? { eventType: this.subscription.event_types[0] ?? '', partition: 0 };
    const ownership = {
      eventType,
      partition,
      state: 'unassigned',
      streamId: null,
      nextStreamId: null,
      fence: 0,
    } as const;
    return new StreamPartition(ownership, beforeFirst, now);
  }

  #closingIsOver(now: number): boolean {
    return endsAtOnce(this.#closeCode ?? 'client_closed') || now >= this.#graceEndsAt();
  }

  /** Until when commits of what is out are waited for. */
  #graceEndsAt(): number {
    if (this.#uncommittedSince === undefined) return 0;
    return this.#uncommittedSince + this.#parameters.commitTimeoutMilliseconds;
  }

  async #end(): Promise<void> {
    const { coordination, logger, metrics } = this.#services;
    const reason = this.#closeCode ?? 'client_closed';
    this.#state = 'ended';
    this.#unwatch();
    this.#reads.abort();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.#commitPassed();
      await coordination.closeSession(this.subscription.id, this.streamId);
    } catch (error) {
      const facts = { streamId: this.streamId, error: describeError(error) };
      logger.warn(facts, 'A session could not be closed and ends with the lease of this node');
    }
    this.#partitions = [];
    this.#sessionClosed = true;
    metrics.openStreams.dec({ subscription_id: this.subscription.id });
    metrics.closedStreams.inc({ reason });
    logger.info({ subscriptionId: this.subscription.id, streamId: this.streamId, reason }, 'A stream was closed');
    this.onEnded?.();
    this.#deliverLast();
  }

  // Time.

  #nextDeadline(): number {
    let at = Math.min(this.#topologyRecheckAt, this.#offsetsRecheckAt);
    if (this.#hasPassed()) at = Math.min(at, this.#passedCommitAt);
    if (this.#state === 'closing') return Math.min(at, this.#graceEndsAt());
    const { commitTimeoutMilliseconds } = this.#parameters;
    at = Math.min(at, this.#endsAt);
    if (this.#uncommittedSince !== undefined) at = Math.min(at, this.#uncommittedSince + commitTimeoutMilliseconds);
    if (this.#partitions.length === 0) at = Math.min(at, this.#idleSince + 2 * commitTimeoutMilliseconds);
    for (const { lastSentAt, handOverUntil, reading } of this.#partitions) {
      if (handOverUntil !== undefined) at = Math.min(at, handOverUntil);
      if (this.#reader !== undefined) at = Math.min(at, flushDueAt(this.#parameters, lastSentAt));
      if (!reading && this.#readRetryAt > 0) at = Math.min(at, this.#readRetryAt);
    }
    return at;
  }

  #setTimer(now: number): void {
    if (this.#state === 'ended') return;
    const at = this.#nextDeadline();
    if (this.#timer !== undefined && this.#timerAt <= at) return;
    clearTimeout(this.#timer);
    const delay = Math.min(Math.max(Math.ceil(at - now), 1), timerMillisecondsMaximum);
    this.#timerAt = now + delay;
    this.#timer = setTimeout(SubscriptionStream.#onTimer, delay, this);
  }

  static #onTimer(this: void, stream: SubscriptionStream): void {
    stream.#timer = undefined;
    stream.#advance();
  }
}

function newReads(): AbortController {
  const reads = new AbortController();
  // One read per partition listens; there may be as many as a subscription has partitions.
  setMaxListeners(0, reads.signal);
  return reads;
}

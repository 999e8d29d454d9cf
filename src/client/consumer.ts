import { type BackOffOptions, backOffMilliseconds } from './back-off.ts';
import { after, monotonic, random, sleep } from './clock.ts';
import { Commits, partitionOf } from './commits.ts';
import type { Connection } from './connection.ts';
import { LendstreamError } from './errors.ts';
import { EventStream } from './event-stream.ts';
import type { Notice } from './notices.ts';
import { RecentEvents, recentEventsDefault } from './recent-events.ts';
import { afterStream, type AfterStream } from './stream-ends.ts';
import type { AnyEvent, Cursor, StreamBatch, StreamEndCode, StreamParameters } from './types.ts';

/** How a subscription is consumed. Everything has a default. */
export interface ConsumeOptions {
  /**
   * The parameters of its streams, as in docs/api.md and docs/consuming.md. By default batches of up to 100 events or a
   * second, a thousand events that wait for their commit, half a minute of waiting for a partition, and heart-beats.
   * `batch_limit: 1` commits each event. A `stream_limit`, `stream_timeout` or `stream_keep_alive_limit` that is given
   * here ends the loop when it is reached.
   */
  readonly stream?: StreamParameters;
  /** Stops the consumer, like {@link Consumer.stop}. */
  readonly signal?: AbortSignal;
  /**
   * How long finished batches may wait, so that one commit is for several. They never wait longer than there is
   * something else to do. Milliseconds; default 0: each batch is committed before the next one is handed out.
   */
  readonly commitMilliseconds?: number;
  /**
   * Skips events that this consumer has processed, as after a connection that broke before the commit. A number is how
   * many ids are kept for each partition; `true` is ten thousand. Default: false.
   */
  readonly skipRepeated?: boolean | number;
  /**
   * How long one batch may take. So long, heart-beats keep its partition; then the service may give it to another
   * consumer. Milliseconds, default 10 minutes; 0 sends no heart-beats.
   */
  readonly processingMilliseconds?: number;
  /** How long nothing may arrive before the connection counts as dead. Milliseconds, default 150 seconds. */
  readonly silenceMilliseconds?: number;
  /** The waits between two streams. */
  readonly backOff?: BackOffOptions;
  /** Told what the consumer does on its own, for a log. */
  readonly onNotice?: (notice: Notice) => void;
}

/** A batch of one partition. */
export interface Batch<Event> {
  /** At least one. */
  readonly events: readonly Event[];
  /** The position of its last event. */
  readonly cursor: Cursor;
  /** Aborts when the service waits for this batch no longer: what is done for it now will be done again. */
  readonly lost: AbortSignal;
  /** Commits it now. Taking the next batch does this as well; use it before a `break`. */
  commit(): Promise<void>;
}

const streamDefaults = {
  batch_limit: 100,
  batch_flush_timeout: 1,
  max_uncommitted_events: 1_000,
  wait_for_slot: 30,
  commit_heartbeat: true,
} satisfies StreamParameters;

/** What the first line of a stream says when there is nothing else to say. */
const startedText = 'Stream started';

/** The commit timeout of a stream that names none. Seconds. */
const commitTimeoutDefault = 60;

const processingMillisecondsDefault = 600_000;

/** More than twice the commit timeout, for which a stream without a partition gets nothing. Milliseconds. */
const silenceMillisecondsDefault = 150_000;

/** How long the service may take to open a stream, beside the wait for a slot. */
const responseSeconds = 60;

/** How long a consumer that stops tries to commit. Milliseconds. */
const stopMilliseconds = 10_000;

/** A stream that lasted this long was no failure to open one. Milliseconds. */
const settledMilliseconds = 10_000;

/**
 * Consumes a subscription: an endless loop over its batches, which opens the next stream whenever one ends.
 *
 * ```ts
 * for await (const { events } of lendstream.consume(subscription)) {
 *   for (const event of events) await handle(event);
 * }
 * ```
 *
 * Asking for the next batch commits the one before. A batch that the loop leaves by `break` or an error is not
 * committed, and comes again. While the loop body works, nothing is read.
 */
export class Consumer<Event = AnyEvent> implements AsyncIterable<Batch<Event>> {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #options: ConsumeOptions;
  readonly #stopping = new AbortController();
  readonly #recent: RecentEvents | undefined;
  #stream: EventStream<StreamBatch> | undefined;
  #commits: Commits | undefined;
  #isRunning = false;
  /** Streams that ended or could not be opened, since the last commit. */
  #failures = 0;
  /** Over all streams, for `stream_limit`. */
  #eventsDone = 0;
  /** By partition: what this consumer committed last, on whatever stream. */
  readonly #lastOffsets = new Map<string, string>();
  #isBlocked = false;
  #cancelFlush: (() => void) | undefined;

  constructor(connection: Connection, subscriptionId: string, options: ConsumeOptions = {}) {
    this.#connection = connection;
    this.#path = `/subscriptions/${encodeURIComponent(subscriptionId)}`;
    this.#options = options;
    const { skipRepeated = false, signal } = options;
    if (skipRepeated !== false) {
      this.#recent = new RecentEvents(skipRepeated === true ? recentEventsDefault : skipRepeated);
    }
    if (signal?.aborted === true) this.stop();
    signal?.addEventListener('abort', () => this.stop(), { once: true });
  }

  /** Bytes that were read from the connection and that no batch had that was handed out. At most a piece of it. */
  get bytesReadAhead(): number {
    return this.#stream?.bytesReadAhead ?? 0;
  }

  /** The id of the open stream; empty while there is none. */
  get streamId(): string {
    return this.#stream?.streamId ?? '';
  }

  /**
   * Ends the loop: the batch in hand is finished and committed, and no other one is handed out. The loop then ends like
   * any loop. What was not committed comes to the next consumer.
   */
  stop(): void {
    this.#stopping.abort();
  }

  /**
   * The batches.
   * @throws LendstreamError what no repetition can mend: 401, 403, 404, wrong parameters, a deleted subscription
   */
  [Symbol.asyncIterator](): AsyncGenerator<Batch<Event>, void, undefined> {
    return this.#batches();
  }

  /** The events one by one. The last event of a batch commits it: `batch_limit: 1` commits each. */
  async *events(): AsyncGenerator<Event, void, undefined> {
    for await (const { events } of this) yield* events;
  }

  async *#batches(): AsyncGenerator<Batch<Event>, void, undefined> {
    if (this.#isRunning) throw new Error('This consumer has a loop already');
    this.#isRunning = true;
    try {
      while (!this.#stopping.signal.aborted) {
        const stream = await this.#open();
        if (stream === undefined) continue;
        const openedAt = monotonic();
        let next: AfterStream = 'wait';
        try {
          next = yield* this.#batchesOf(stream);
        } finally {
          await this.#close(stream);
        }
        if (next === 'finish') return;
        if (monotonic() - openedAt > settledMilliseconds) this.#failures = 0;
        if (next === 'wait' || this.#failures > 0) await this.#wait('The stream has ended');
        // A stream that ends again at once is waited for.
        this.#failures += 1;
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** @returns undefined after a wait, when no stream could be opened */
  async #open(): Promise<EventStream<StreamBatch> | undefined> {
    const body = { ...streamDefaults, ...this.#options.stream };
    if (this.#eventsMaximum > 0) {
      body.stream_limit = this.#eventsMaximum - this.#eventsDone;
      // The service takes no larger batches than streams.
      body.batch_limit = Math.min(body.batch_limit ?? 1, body.stream_limit);
    }
    try {
      const stream = await EventStream.open<StreamBatch>(
        this.#connection,
        'POST',
        `${this.#path}/events`,
        { body },
        {
          stopped: this.#stopping.signal,
          silenceMilliseconds: this.#options.silenceMilliseconds ?? silenceMillisecondsDefault,
          openMilliseconds: ((body.wait_for_slot ?? 0) + responseSeconds) * 1_000,
        },
      );
      this.#stream = stream;
      this.#commits = new Commits(this.#connection, {
        path: this.#path,
        streamId: stream.streamId,
        commitTimeoutMilliseconds: this.#commitTimeoutMilliseconds,
        stopMilliseconds,
        stopped: this.#stopping.signal,
        onWait: ({ message }, milliseconds) => this.#notify({ kind: 'waiting', reason: message, milliseconds }),
        onCommitted: (cursors) => {
          this.#failures = 0;
          for (const cursor of cursors) this.#lastOffsets.set(partitionOf(cursor), cursor.offset);
        },
      });
      this.#notify({ kind: 'opened', streamId: stream.streamId });
      return stream;
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      if (!(error instanceof LendstreamError)) throw error;
      const isBlocked = error.status === 403 && this.#isBlocked;
      // Every partition has a stream, or the cursors are being reset.
      if (!error.isRetryable && error.status !== 409 && !isBlocked) throw error;
      this.#failures += 1;
      await this.#wait(error.message, error.retryAfterMilliseconds);
      return undefined;
    }
  }

  async *#batchesOf(stream: EventStream<StreamBatch>): AsyncGenerator<Batch<Event>, AfterStream, undefined> {
    const commits = this.#commits as Commits;
    try {
      for (;;) {
        let line = this.#stopping.signal.aborted ? undefined : stream.take();
        if (line === undefined) {
          // Before it waits, and before the end: nothing else is there to be committed with it.
          await this.#flush(commits);
          line = await stream.next();
        }
        if (commits.refusal !== undefined) return 'reopen';
        if (line === undefined) return this.#stopping.signal.aborted ? 'finish' : 'wait';
        const { cursor, events = [], info } = line;
        if (events.length > 0) yield* this.#handOut(commits, cursor, events as readonly Event[]);
        else if (this.#hasPassedOver(commits, cursor)) commits.add(cursor);
        if (info !== undefined && info.code === undefined && info.debug !== startedText) {
          this.#notify({ kind: 'info', detail: info.debug });
        }
        if (info?.code !== undefined) {
          await this.#flush(commits);
          return this.#afterEnd(info.code, info.debug);
        }
        if (this.#eventsMaximum > 0 && this.#eventsDone >= this.#eventsMaximum) return 'finish';
        if (commits.refusal !== undefined) return 'reopen';
      }
    } catch (error) {
      if (!(error instanceof LendstreamError) || !error.isRetryable) throw error;
      this.#notify({ kind: 'ended', code: 'connection_lost', detail: error.message });
      return 'wait';
    }
  }

  /** Hands out a batch, and notes that it is done when the next one is asked for. */
  async *#handOut(
    commits: Commits,
    cursor: Cursor,
    delivered: readonly Event[],
  ): AsyncGenerator<Batch<Event>, void, undefined> {
    const events = this.#withoutRepeated(cursor, delivered);
    const lost = new AbortController();
    let isCommitted = false;
    const done = (): void => {
      isCommitted = true;
      for (const event of events) this.#recent?.add(cursor, event as AnyEvent);
      commits.add(cursor);
    };
    if (events.length > 0) {
      const endHeartbeats = this.#startHeartbeats(commits, cursor, lost);
      const commit = async (): Promise<void> => {
        if (!isCommitted) done();
        await this.#flush(commits);
      };
      try {
        yield { events, cursor, lost: lost.signal, commit };
      } finally {
        endHeartbeats();
      }
    }
    if (!isCommitted) done();
    this.#eventsDone += delivered.length;
    const { commitMilliseconds = 0 } = this.#options;
    if (commitMilliseconds === 0) await this.#flush(commits);
    else this.#flushLater(commits, commitMilliseconds);
  }

  #withoutRepeated(cursor: Cursor, events: readonly Event[]): readonly Event[] {
    if (this.#recent === undefined) return events;
    const fresh = events.filter((event) => this.#recent?.has(cursor, event as AnyEvent) === false);
    if (fresh.length === events.length) return events;
    const committed = this.#lastOffsets.get(partitionOf(cursor));
    if (committed !== undefined && committed >= cursor.offset) {
      // Behind what is committed: the cursors were moved back, to have these events processed again.
      this.#recent.clear(cursor);
      return events;
    }
    this.#notify({ kind: 'repeated', events: events.length - fresh.length });
    return fresh;
  }

  #startHeartbeats(commits: Commits, cursor: Cursor, lost: AbortController): () => void {
    const { processingMilliseconds = processingMillisecondsDefault, stream = {} } = this.#options;
    if (processingMilliseconds === 0 || stream.commit_heartbeat === false) return () => {};
    const end = commits.startHeartbeats(cursor, this.#commitTimeoutMilliseconds / 3, ({ message }) => {
      this.#notify({ kind: 'refused', reason: message });
      lost.abort();
    });
    const cancel = after(processingMilliseconds, end);
    return () => {
      cancel();
      end();
    };
  }

  /** Commits after a while, unless it happens before for another reason. */
  #flushLater(commits: Commits, milliseconds: number): void {
    this.#cancelFlush ??= after(milliseconds, () => {
      this.#cancelFlush = undefined;
      // An error that ends the loop is met again by the next commit, which the loop waits for.
      commits.flush().catch(() => undefined);
    });
  }

  async #flush(commits: Commits): Promise<void> {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    const wasRefused = commits.refusal !== undefined;
    await commits.flush();
    if (!wasRefused && commits.refusal !== undefined) {
      this.#notify({ kind: 'refused', reason: commits.refusal.message });
    }
  }

  /** With filters, an empty batch whose cursor has moved is behind events that were passed over. */
  #hasPassedOver(commits: Commits, cursor: Cursor): boolean {
    const { filter } = this.#options.stream ?? {};
    const isFiltered = typeof filter === 'string' ? filter !== '' : (filter ?? []).length > 0;
    return isFiltered && commits.committed(cursor)?.offset !== cursor.offset;
  }

  #afterEnd(code: StreamEndCode, detail: string): AfterStream {
    this.#notify({ kind: 'ended', code, detail });
    // The events after the new cursors are to be processed, whether they were before or not.
    if (code === 'cursors_reset') this.#recent?.clear();
    this.#isBlocked = code === 'consumption_blocked';
    const next = afterStream(code);
    if (next === 'fail') throw new LendstreamError(404, detail, { isRetryable: false });
    if (next !== 'finish') return next;
    const { stream_limit: limit, stream_timeout: timeout, stream_keep_alive_limit: idle } = this.#options.stream ?? {};
    const given = { stream_limit: limit, stream_timeout: timeout, keep_alive_limit: idle } as Record<string, unknown>;
    return (given[code] ?? 0) === 0 ? 'reopen' : 'finish';
  }

  /** The last commits come before the end of the connection: it gives the partitions to others. */
  async #close(stream: EventStream<StreamBatch>): Promise<void> {
    try {
      if (this.#commits !== undefined) await this.#flush(this.#commits);
    } finally {
      stream.close();
      this.#stream = undefined;
      this.#commits = undefined;
    }
  }

  async #wait(reason: string, leastMilliseconds = 0): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const failures = Math.max(1, this.#failures);
    const milliseconds = backOffMilliseconds(failures, random(), this.#options.backOff, leastMilliseconds);
    this.#notify({ kind: 'waiting', reason, milliseconds });
    await sleep(milliseconds, this.#stopping.signal);
  }

  /** 0 for no limit. */
  get #eventsMaximum(): number {
    return this.#options.stream?.stream_limit ?? 0;
  }

  get #commitTimeoutMilliseconds(): number {
    const seconds = this.#options.stream?.commit_timeout ?? 0;
    return (seconds === 0 ? commitTimeoutDefault : seconds) * 1_000;
  }

  #notify(notice: Notice): void {
    this.#options.onNotice?.(notice);
  }
}

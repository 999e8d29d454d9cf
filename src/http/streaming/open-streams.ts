import type { ServerResponse } from 'node:http';
import type { CloseCode } from '../../broker/streaming/close-codes.ts';
import type { HistoryRecorder } from '../../broker/subscriptions/history-recorder.ts';
import type { SubscriptionStream } from '../../broker/streaming/subscription-stream.ts';
import { BoundedMap } from '../../bounded-map.ts';
import { LendstreamError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';

/**
 * The most streams without a subscription that a process serves at once: each costs reads that no other consumer
 * shares.
 */
export const eventTypeStreamsMaximum = 200;

/**
 * The most requests of a process that wait for a slot at the same time. Each costs a connection, as a stream does.
 */
export const waitingStreamsMaximum = 1_000;

/** The most ended streams whose reason is remembered. */
const endedReasonsMaximum = 1_000;

/**
 * The streams of subscriptions that this process serves, from the registration of their session to the end of their
 * response.
 */
export class OpenStreams {
  readonly #streams = new Set<SubscriptionStream>();
  /** Why streams ended recently: for clients that commit too late and want to know the reason. */
  readonly #endedReasons = new BoundedMap<string, string>(endedReasonsMaximum);
  #closing: CloseCode | undefined;
  /** Those that wait for a slot. */
  readonly #waiting = new Set<AbortController>();
  #drainWaiters: (() => void)[] = [];
  readonly #activity: HistoryRecorder | undefined;
  readonly #metrics: Pick<Metrics, 'waitingStreams'>;

  /** @param activity Records why streams ended, for people to read later. */
  constructor(metrics: Pick<Metrics, 'waitingStreams'>, activity?: HistoryRecorder) {
    this.#metrics = metrics;
    this.#activity = activity;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** How many partitions all of them deliver. */
  get partitionCount(): number {
    let count = 0;
    for (const stream of this.#streams) count += stream.partitionCount;
    return count;
  }

  /** @throws OVERLOADED after {@link closeAll} */
  checkAccepting(): void {
    if (this.#closing !== undefined) throw shuttingDown();
  }

  /**
   * Opens a stream that may have to wait for a slot.
   * @param open Its signal is aborted when the client goes, or the process stops.
   * @returns undefined when the client has gone
   * @throws OVERLOADED when {@link waitingStreamsMaximum} wait already, and what `open` throws
   */
  async whileWaiting<Stream>(
    response: ServerResponse,
    open: (signal: AbortSignal) => Promise<Stream>,
  ): Promise<Stream | undefined> {
    if (this.#waiting.size >= waitingStreamsMaximum) {
      throw new LendstreamError('OVERLOADED', 'Too many requests wait for a slot on this process.');
    }
    const waiting = new AbortController();
    const onClose = (): void => waiting.abort(new LendstreamError('REQUEST_TIMEOUT', 'The client is gone.'));
    this.#waiting.add(waiting);
    this.#metrics.waitingStreams.inc();
    response.on('close', onClose);
    if (response.destroyed) onClose();
    try {
      return await open(waiting.signal);
    } catch (error) {
      if (response.destroyed) return undefined;
      throw error;
    } finally {
      response.off('close', onClose);
      this.#waiting.delete(waiting);
      this.#metrics.waitingStreams.dec();
    }
  }

  add(stream: SubscriptionStream): void {
    this.#streams.add(stream);
    if (this.#closing !== undefined) stream.close(this.#closing);
  }

  delete(stream: SubscriptionStream): void {
    this.#streams.delete(stream);
    this.#recordEnd(stream);
    if (this.#streams.size > 0) return;
    for (const resolve of this.#drainWaiters) resolve();
    this.#drainWaiters = [];
  }

  /** Why a stream of this process ended, in words; undefined when it has not ended, or ended too long ago. */
  endedReason(streamId: string): string | undefined {
    return this.#endedReasons.get(streamId);
  }

  closeWhere(condition: (stream: SubscriptionStream) => boolean, code: CloseCode): void {
    for (const stream of this.#streams) if (condition(stream)) stream.close(code);
  }

  /**
   * Ends every stream with its last line and accepts no more. Resolves when all responses are finished. A client that
   * does not read can delay this by a few seconds (see subscription-events.ts).
   */
  closeAll(code: CloseCode = 'server_shutdown'): Promise<void> {
    this.#closing = code;
    for (const waiting of this.#waiting) waiting.abort(shuttingDown());
    this.closeWhere(() => true, code);
    if (this.#streams.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drainWaiters.push(resolve));
  }

  #recordEnd({ streamId, closeReason, subscription }: SubscriptionStream): void {
    if (closeReason === undefined) return;
    this.#activity?.recordEndedStream(subscription.id, streamId, closeReason);
    this.#endedReasons.set(streamId, closeReason);
  }
}

function shuttingDown(): LendstreamError {
  return new LendstreamError('OVERLOADED', 'The server is shutting down, open the stream on another one.');
}

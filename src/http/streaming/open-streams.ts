import type { CloseCode } from '../../broker/streaming/close-codes.ts';
import type { HistoryRecorder } from '../../broker/subscriptions/history-recorder.ts';
import type { SubscriptionStream } from '../../broker/streaming/subscription-stream.ts';
import { BoundedMap } from '../../bounded-map.ts';
import { LendstreamError } from '../../errors.ts';

/**
 * The most streams without a subscription that a process serves at once: each costs reads that no other consumer
 * shares.
 */
export const eventTypeStreamsMaximum = 200;

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
  #drainWaiters: (() => void)[] = [];
  readonly #activity: HistoryRecorder | undefined;

  /** @param activity Records why streams ended, for people to read later. */
  constructor(activity?: HistoryRecorder) {
    this.#activity = activity;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** @throws OVERLOADED after {@link closeAll} */
  checkAccepting(): void {
    if (this.#closing !== undefined) {
      throw new LendstreamError('OVERLOADED', 'The server is shutting down, open the stream on another one.');
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

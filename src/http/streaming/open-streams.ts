import type { CloseCode } from '../../broker/streaming/close-reasons.ts';
import type { HistoryNotes } from '../../broker/subscriptions/activity.ts';
import type { SubscriptionStream } from '../../broker/streaming/subscription-stream.ts';
import { LendstreamError } from '../../errors.ts';

/** Of how many ended streams the reason is remembered. */
const endedReasonsMaximum = 1_000;

/** The streams that this process serves, from the registration of their session to the end of their answer. */
export class OpenStreams {
  readonly #streams = new Set<SubscriptionStream>();
  /** Of streams that ended lately, oldest first: for clients that commit too late and want to know why. */
  readonly #endedReasons = new Map<string, string>();
  #closing: CloseCode | undefined;
  #emptied: (() => void)[] = [];
  readonly #history: HistoryNotes | undefined;

  /** @param history Where people may read later why streams ended. */
  constructor(history?: HistoryNotes) {
    this.#history = history;
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
    this.#remember(stream);
    if (this.#streams.size > 0) return;
    for (const resolve of this.#emptied) resolve();
    this.#emptied = [];
  }

  /** Why a stream of this process ended, in words; undefined when it did not, or too long ago. */
  endedReason(streamId: string): string | undefined {
    return this.#endedReasons.get(streamId);
  }

  closeWhere(condition: (stream: SubscriptionStream) => boolean, code: CloseCode): void {
    for (const stream of this.#streams) if (condition(stream)) stream.close(code);
  }

  /**
   * Ends every stream with its last line and takes no more. Resolves when all answers are finished, which a reader that
   * does not read can delay by a few seconds (see subscription-events.ts).
   */
  closeAll(code: CloseCode = 'server_shutdown'): Promise<void> {
    this.#closing = code;
    this.closeWhere(() => true, code);
    if (this.#streams.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#emptied.push(resolve));
  }

  #remember({ streamId, closeReason, subscription }: SubscriptionStream): void {
    if (closeReason === undefined) return;
    this.#history?.ended(subscription.id, streamId, closeReason);
    this.#endedReasons.set(streamId, closeReason);
    if (this.#endedReasons.size <= endedReasonsMaximum) return;
    for (const oldest of this.#endedReasons.keys()) {
      this.#endedReasons.delete(oldest);
      return;
    }
  }
}

import { describeError } from '../../errors.ts';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { SubscriptionCursor } from './commits.ts';
import {
  endedStreamsMaximum,
  partitionKey,
  type Coordination,
  type EndedStream,
  type LastCommit,
  type SubscriptionHistory,
} from '../../ports/coordination.ts';

/** How long notes may wait before they are stored: commits come by the thousand. Milliseconds. */
const rememberAfterMilliseconds = 5_000;

/**
 * The most subscriptions with pending notes. Beyond that, for example while the store is down, the oldest are dropped.
 */
const waitingSubscriptionsMaximum = 10_000;

interface Notes {
  readonly commits: Map<string, LastCommit>;
  /** Newest first. */
  readonly endedStreams: EndedStream[];
}

export interface HistoryNotesOptions {
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Notes what happens to subscriptions in this process, for their history. Noting costs next to nothing; the notes are
 * stored together a moment later, or when the history is read.
 */
export class HistoryNotes {
  readonly #options: HistoryNotesOptions;
  readonly #waiting = new Map<string, Notes>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HistoryNotesOptions) {
    this.#options = options;
  }

  committed(subscriptionId: string, cursors: readonly SubscriptionCursor[]): void {
    const { commits } = this.#notes(subscriptionId);
    const committedAt = this.#options.clock.now();
    for (const { event_type: eventType, partition: named, offset } of cursors) {
      const partition = Number(named);
      commits.set(partitionKey({ eventType, partition }), { eventType, partition, offset, committedAt });
    }
  }

  ended(subscriptionId: string, streamId: string, reason: string): void {
    const { endedStreams } = this.#notes(subscriptionId);
    endedStreams.unshift({ streamId, reason, endedAt: this.#options.clock.now() });
    endedStreams.splice(endedStreamsMaximum);
  }

  /**
   * The stored history of a subscription, including what this process has just noted.
   * @throws COORDINATION_UNAVAILABLE
   */
  async of(subscriptionId: string): Promise<SubscriptionHistory & { readonly since: number }> {
    await this.#remember(subscriptionId);
    return this.#options.coordination.history(subscriptionId);
  }

  /** Stores all pending notes, as far as the store accepts them. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#rememberAll();
  }

  #notes(subscriptionId: string): Notes {
    const known = this.#waiting.get(subscriptionId);
    if (known !== undefined) return known;
    const notes = { commits: new Map<string, LastCommit>(), endedStreams: [] };
    this.#waiting.set(subscriptionId, notes);
    if (this.#waiting.size > waitingSubscriptionsMaximum) {
      const [oldest] = this.#waiting.keys();
      if (oldest !== undefined) this.#waiting.delete(oldest);
    }
    this.#timer ??= setTimeout(() => void this.#rememberAll(), rememberAfterMilliseconds).unref();
    return notes;
  }

  async #rememberAll(): Promise<void> {
    this.#timer = undefined;
    const ids = [...this.#waiting.keys()];
    const answers = await Promise.allSettled(ids.map((subscriptionId) => this.#remember(subscriptionId)));
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (failed === undefined) return;
    const error = describeError(failed.reason);
    this.#options.logger.debug({ error }, 'Some of the history of subscriptions is lost');
  }

  async #remember(subscriptionId: string): Promise<void> {
    const notes = this.#waiting.get(subscriptionId);
    if (notes === undefined) return;
    this.#waiting.delete(subscriptionId);
    const news = { lastCommits: [...notes.commits.values()], endedStreams: notes.endedStreams };
    await this.#options.coordination.remember(subscriptionId, news);
  }
}

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

/** How long what happened may wait to be remembered: commits come by the thousand. Milliseconds. */
const rememberAfterMilliseconds = 5_000;

/** Of how many subscriptions something may wait; beyond it, as when the store is away, the oldest are given up. */
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
 * What happens to subscriptions in this process, for their history. Noting costs next to nothing; what was noted is
 * handed on together a moment later, or when somebody asks.
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
   * What is remembered of a subscription, what this process has just noted included.
   * @throws COORDINATION_UNAVAILABLE
   */
  async of(subscriptionId: string): Promise<SubscriptionHistory & { readonly since: number }> {
    await this.#remember(subscriptionId);
    return this.#options.coordination.history(subscriptionId);
  }

  /** Hands everything on, as far as the store takes it. */
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

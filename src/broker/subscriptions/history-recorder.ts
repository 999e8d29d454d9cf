import { describeError } from '../../errors.ts';
import { after, type Clock, type Timer } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { SubscriptionCursor } from './commits.ts';
import {
  endedStreamsMaximum,
  type Coordination,
  type EndedStream,
  type LastCommit,
  type SubscriptionHistory,
} from '../../ports/coordination.ts';
import { partitionKey } from '../../ports/event-type-partition.ts';

/** How long activity may wait before they are stored: commits come by the thousand. Milliseconds. */
const storeAfterMilliseconds = 5_000;

/**
 * The most subscriptions with pending activity. Beyond that, for example while the store is down, the oldest are
 * dropped.
 */
const pendingSubscriptionsMaximum = 10_000;

interface PendingActivity {
  readonly commits: Map<string, LastCommit>;
  /** Newest first. */
  readonly endedStreams: EndedStream[];
}

export interface HistoryRecorderOptions {
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Notes what happens to subscriptions in this process, for their history. Noting costs next to nothing; the notes are
 * stored together a moment later, or when the history is read.
 */
export class HistoryRecorder {
  readonly #options: HistoryRecorderOptions;
  readonly #pending = new Map<string, PendingActivity>();
  #timer: Timer | undefined;

  constructor(options: HistoryRecorderOptions) {
    this.#options = options;
  }

  recordCommits(subscriptionId: string, cursors: readonly SubscriptionCursor[]): void {
    const { commits } = this.#pendingActivity(subscriptionId);
    const committedAt = this.#options.clock.now();
    for (const { event_type: eventType, partition: partitionText, offset } of cursors) {
      const partition = Number(partitionText);
      commits.set(partitionKey({ eventType, partition }), { eventType, partition, offset, committedAt });
    }
  }

  recordEndedStream(subscriptionId: string, streamId: string, reason: string): void {
    const { endedStreams } = this.#pendingActivity(subscriptionId);
    endedStreams.unshift({ streamId, reason, endedAt: this.#options.clock.now() });
    endedStreams.splice(endedStreamsMaximum);
  }

  /**
   * The stored history of a subscription, including what this process has just noted.
   * @throws COORDINATION_UNAVAILABLE
   */
  async historyOf(subscriptionId: string): Promise<SubscriptionHistory & { readonly since: number }> {
    await this.#store(subscriptionId);
    return this.#options.coordination.history(subscriptionId);
  }

  /** Stores all pending activity, as far as the store accepts them. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#storeAll();
  }

  #pendingActivity(subscriptionId: string): PendingActivity {
    const known = this.#pending.get(subscriptionId);
    if (known !== undefined) return known;
    const activity = { commits: new Map<string, LastCommit>(), endedStreams: [] };
    this.#pending.set(subscriptionId, activity);
    if (this.#pending.size > pendingSubscriptionsMaximum) {
      const [oldest] = this.#pending.keys();
      if (oldest !== undefined) this.#pending.delete(oldest);
    }
    this.#timer ??= after(this.#options.clock, storeAfterMilliseconds, () => void this.#storeAll());
    return activity;
  }

  async #storeAll(): Promise<void> {
    this.#timer = undefined;
    const ids = [...this.#pending.keys()];
    const results = await Promise.allSettled(ids.map((subscriptionId) => this.#store(subscriptionId)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed === undefined) return;
    const error = describeError(failed.reason);
    this.#options.logger.debug({ error }, 'Some of the history of subscriptions is lost');
  }

  async #store(subscriptionId: string): Promise<void> {
    const activity = this.#pending.get(subscriptionId);
    if (activity === undefined) return;
    this.#pending.delete(subscriptionId);
    const history = { lastCommits: [...activity.commits.values()], endedStreams: activity.endedStreams };
    await this.#options.coordination.recordHistory(subscriptionId, history);
  }
}

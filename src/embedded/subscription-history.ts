import { endedStreamsMaximum, type LastCommit, type SubscriptionHistory } from '../ports/coordination.ts';
import { partitionKey } from '../ports/event-type-partition.ts';

/** The most subscriptions with a history. Beyond it, the ones that were idle longest are dropped. */
const subscriptionsMaximum = 10_000;

interface HistoryEntry {
  readonly commits: Map<string, LastCommit>;
  endedStreams: SubscriptionHistory['endedStreams'];
}

/** The last commits and the last streams of subscriptions, in memory. A restart loses them. */
export class SubscriptionHistories {
  readonly #since: number;
  /** In order of activity, the latest last. */
  readonly #subscriptions = new Map<string, HistoryEntry>();

  /** @param since When recording began. Milliseconds since the epoch. */
  constructor(since: number) {
    this.#since = since;
  }

  add(subscriptionId: string, { lastCommits, endedStreams }: SubscriptionHistory): void {
    const entry = this.#subscriptions.get(subscriptionId) ?? { commits: new Map(), endedStreams: [] };
    for (const commit of lastCommits) entry.commits.set(partitionKey(commit), commit);
    entry.endedStreams = [...endedStreams, ...entry.endedStreams].slice(0, endedStreamsMaximum);
    this.#subscriptions.delete(subscriptionId);
    this.#subscriptions.set(subscriptionId, entry);
    if (this.#subscriptions.size <= subscriptionsMaximum) return;
    const [oldest] = this.#subscriptions.keys();
    if (oldest !== undefined) this.#subscriptions.delete(oldest);
  }

  of(subscriptionId: string): SubscriptionHistory & { readonly since: number } {
    const { commits, endedStreams = [] } = this.#subscriptions.get(subscriptionId) ?? {};
    return { since: this.#since, lastCommits: [...(commits?.values() ?? [])], endedStreams };
  }

  forget(subscriptionId: string): void {
    this.#subscriptions.delete(subscriptionId);
  }
}

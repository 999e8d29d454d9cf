import type { SubscriptionCursor } from '../broker/commits.ts';
import type { Clock } from '../clock.ts';
import type { Schemas } from '../contract.ts';

/** How many ended streams of a subscription are remembered. */
const endedStreamsMaximum = 10;

/** Of how many subscriptions anything is remembered; those that did something lately stay. */
const subscriptionsMaximum = 10_000;

/** A stream that has ended; the reason is in the words of its last line. */
export type EndedStream = Schemas['SubscriptionStreams']['ended'][number];

/** What was committed last in a partition, be it behind what was committed before. */
export type LastCommit = Schemas['SubscriptionStreams']['last_commits'][number];

interface Remembered {
  /** By event type and partition; times are milliseconds since the epoch. */
  readonly commits: Map<string, { readonly cursor: SubscriptionCursor; readonly at: number }>;
  /** Newest first. */
  ended: readonly (Omit<EndedStream, 'ended_at'> & { readonly at: number })[];
}

/**
 * What this process saw of subscriptions since it started: the last commits that it took and the last streams that it
 * served to their end. For people who wonder why nothing arrives; nothing is decided from it, and a restart forgets it.
 */
export class StreamHistory {
  /** When this process began to remember. Milliseconds since the epoch. */
  readonly since: number;
  readonly #clock: Clock;
  /** Those that did something lately come last. */
  readonly #subscriptions = new Map<string, Remembered>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.since = clock.now();
  }

  committed(subscriptionId: string, cursors: readonly SubscriptionCursor[]): void {
    const { commits } = this.#remembered(subscriptionId);
    const at = this.#clock.now();
    for (const cursor of cursors) commits.set(`${cursor.event_type}:${cursor.partition}`, { cursor, at });
  }

  ended(subscriptionId: string, streamId: string, reason: string): void {
    const remembered = this.#remembered(subscriptionId);
    const ended = { stream_id: streamId, reason, at: this.#clock.now() };
    remembered.ended = [ended, ...remembered.ended].slice(0, endedStreamsMaximum);
  }

  /** Newest first. */
  endedStreams(subscriptionId: string): EndedStream[] {
    const { ended = [] } = this.#subscriptions.get(subscriptionId) ?? {};
    return ended.map(({ at, stream_id, reason }) => ({ stream_id, ended_at: new Date(at).toISOString(), reason }));
  }

  /** One for each partition that was committed. */
  lastCommits(subscriptionId: string): LastCommit[] {
    const { commits } = this.#subscriptions.get(subscriptionId) ?? {};
    return [...(commits?.values() ?? [])].map(({ cursor: { event_type, partition, offset }, at }) => ({
      event_type,
      partition,
      offset,
      committed_at: new Date(at).toISOString(),
    }));
  }

  forget(subscriptionId: string): void {
    this.#subscriptions.delete(subscriptionId);
  }

  #remembered(subscriptionId: string): Remembered {
    const remembered = this.#subscriptions.get(subscriptionId) ?? { commits: new Map(), ended: [] };
    this.#subscriptions.delete(subscriptionId);
    this.#subscriptions.set(subscriptionId, remembered);
    if (this.#subscriptions.size > subscriptionsMaximum) {
      const [oldest] = this.#subscriptions.keys();
      if (oldest !== undefined) this.#subscriptions.delete(oldest);
    }
    return remembered;
  }
}

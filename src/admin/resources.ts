import { call, send } from './api.ts';

/** What the service answers, as far as this page shows it. */

export interface EventType {
  readonly name: string;
  readonly owning_application: string;
  readonly category: string;
  readonly enrichment_strategies: readonly string[];
  readonly partition_strategy: string;
  readonly partition_key_fields: readonly string[];
  readonly compatibility_mode: string;
  readonly cleanup_policy: string;
  readonly schema: {
    readonly type: string;
    readonly schema: string;
    readonly version: string;
    readonly created_at: string;
  };
  readonly default_statistic: Readonly<Record<string, number>> | null;
  readonly options: { readonly retention_time: number };
  readonly created_at: string;
  readonly updated_at: string;
}

export interface PartitionBounds {
  readonly partition: string;
  readonly oldest_available_offset: string;
  readonly newest_available_offset: string;
}

export interface Subscription {
  readonly id: string;
  readonly owning_application: string;
  readonly consumer_group: string;
  readonly event_types: readonly string[];
  readonly read_from: string;
  readonly created_at: string;
}

export interface PartitionStatistics {
  readonly partition: string;
  readonly state: string;
  readonly unconsumed_events?: number;
  readonly consumer_lag_seconds?: number;
  readonly stream_id: string;
}

export interface EventTypeStatistics {
  readonly event_type: string;
  readonly partitions: readonly PartitionStatistics[];
}

export interface SubscriptionStreams {
  readonly items: readonly {
    readonly stream_id: string;
    readonly node_id: string;
    readonly opened_at: string;
    readonly assignment_type: string;
    readonly partitions: readonly { readonly event_type: string; readonly partition: string; readonly state: string }[];
  }[];
  readonly observed_since: string;
  readonly last_commits: readonly {
    readonly event_type: string;
    readonly partition: string;
    readonly offset: string;
    readonly committed_at: string;
  }[];
  readonly ended: readonly { readonly stream_id: string; readonly ended_at: string; readonly reason: string }[];
}

export interface Toggle {
  readonly name: string;
  readonly enabled: boolean;
  readonly switchedAt: string | null;
}

/** How many subscriptions the page asks for at once: the most that one answer may have. */
const subscriptionsAtOnce = 1_000;

export function listEventTypes(signal: AbortSignal): Promise<EventType[]> {
  return call('GET', '/event-types', undefined, { signal });
}

export async function listSubscriptions(signal: AbortSignal): Promise<readonly Subscription[]> {
  const all: Subscription[] = [];
  for (;;) {
    const path = `/subscriptions?limit=${subscriptionsAtOnce}&offset=${all.length}`;
    const { items } = await call<{ items: Subscription[] }>('GET', path, undefined, { signal });
    all.push(...items);
    if (items.length < subscriptionsAtOnce) return all;
  }
}

/** A lag of one subscription and event type, as the metrics have it. */
export interface Waiting {
  readonly subscriptionId: string;
  readonly eventType: string;
  readonly events: number;
}

const waitingPattern = /^lendstream_subscription_unconsumed_events\{([^}]*)\} (\S+)$/gm;

/** How many events wait for each subscription that was ever streamed: one answer for all of them. */
export async function listWaiting(signal: AbortSignal): Promise<Waiting[]> {
  const text = await (await send('GET', '/metrics', undefined, { signal })).text();
  return [...text.matchAll(waitingPattern)].map(([, labels = '', value = '0']) => ({
    subscriptionId: labelOf(labels, 'subscription_id'),
    eventType: labelOf(labels, 'event_type'),
    events: Number(value),
  }));
}

function labelOf(labels: string, name: string): string {
  return new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
}

/** Event types of the service itself have their schemas and rights from it. */
export function isOfService({ owning_application: owner }: EventType): boolean {
  return owner === 'lendstream';
}

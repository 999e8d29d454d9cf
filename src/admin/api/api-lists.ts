import type { Responses, Schemas } from '../../contract.ts';
import { callUnlessUnchanged, send } from './api.ts';

/** How many subscriptions the page requests at once: the maximum of one response. */
const subscriptionsAtOnce = 1_000;

export function listEventTypes(signal: AbortSignal): Promise<Responses['listEventTypes']> {
  return callUnlessUnchanged('/event-types', signal);
}

export async function listSubscriptions(signal: AbortSignal): Promise<readonly Schemas['Subscription'][]> {
  const all: Schemas['Subscription'][] = [];
  for (;;) {
    const path = `/subscriptions?limit=${subscriptionsAtOnce}&offset=${all.length}`;
    const { items } = await callUnlessUnchanged<Responses['listSubscriptions']>(path, signal);
    all.push(...items);
    if (items.length < subscriptionsAtOnce) return all;
  }
}

/** The lag of one subscription and event type, as in the metrics. */
export interface UnconsumedEvents {
  readonly subscriptionId: string;
  readonly eventType: string;
  readonly events: number;
}

const unconsumedPattern = /^lendstream_subscription_unconsumed_events\{([^}]*)\} (\S+)$/gm;

/** The number of unconsumed events of each subscription that was ever streamed: one response for all of them. */
export async function listUnconsumedEvents(signal: AbortSignal): Promise<UnconsumedEvents[]> {
  const headers = { Accept: 'text/plain' };
  const text = await (await send('GET', '/metrics', undefined, { signal, headers })).text();
  return [...text.matchAll(unconsumedPattern)].map(([, labels = '', value = '0']) => ({
    subscriptionId: labelOf(labels, 'subscription_id'),
    eventType: labelOf(labels, 'event_type'),
    events: Number(value),
  }));
}

function labelOf(labels: string, name: string): string {
  return new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
}

/** The service itself determines the schemas and rights of its event types. */
export function isOfService({ owning_application: owner }: Schemas['EventType']): boolean {
  return owner === 'lendstream';
}

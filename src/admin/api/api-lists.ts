import type { Responses, Schemas } from '../../contract.ts';
import { callUnlessUnchanged } from './api.ts';

/** How many subscriptions the page requests at once: the maximum of one response. */
const subscriptionsAtOnce = 1_000;

/** All subscriptions, for choosing one. @throws ApiError */
export async function listSubscriptions(signal: AbortSignal): Promise<readonly Schemas['Subscription'][]> {
  const all: Schemas['Subscription'][] = [];
  for (;;) {
    const path = `/subscriptions?limit=${subscriptionsAtOnce}&offset=${all.length}`;
    const { items } = await callUnlessUnchanged<Responses['listSubscriptions']>(path, signal);
    all.push(...items);
    if (items.length < subscriptionsAtOnce) return all;
  }
}

/** The path of a list with a query; what is empty is left out. */
export function listPath(path: string, query: Readonly<Record<string, string | number>>): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== '');
  return `${path}?${new URLSearchParams(parameters.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** The service itself determines the schemas and rights of its event types. */
export function isOfService({ owning_application: owner }: Schemas['EventType']): boolean {
  return owner === 'lendstream';
}

import { LendstreamError } from '../../errors.ts';
import type { DefinitionIndex } from './definition-views.ts';
import type { Registry } from './registry.ts';
import type { Subscription } from './subscription.ts';

/** Subscriptions by each of the event types that they name. */
export const subscriptionsByEventType: DefinitionIndex<Subscription> = {
  kind: 'subscription',
  keysOf: ({ event_types: eventTypes }) => eventTypes,
};

/**
 * The subscription with this id, which another process may have created a moment ago.
 * @throws NOT_FOUND, LOG_UNAVAILABLE when what others stored cannot be read in time
 */
export async function findSubscription(registry: Registry, id: string): Promise<Subscription> {
  return existing(id, await registry.find<Subscription>('subscription', id));
}

/**
 * The subscription with this id, as far as this process knows the registry.
 * @throws NOT_FOUND
 */
export function knownSubscription(registry: Registry, id: string): Subscription {
  return existing(id, registry.get<Subscription>('subscription', id));
}

/** @throws NOT_FOUND */
function existing(id: string, subscription: Subscription | undefined): Subscription {
  if (subscription === undefined) {
    throw new LendstreamError('NOT_FOUND', `Subscription with id "${id}" does not exist`);
  }
  return subscription;
}

import { v5 as uuidV5 } from 'uuid';
import { LendstreamError } from '../../errors.ts';
import type { Registry } from './registry.ts';

/** A subscription as stored and as the API shows it (snake_case is the API's). */
export interface Subscription {
  readonly owning_application: string;
  /** Sorted, without repeats. */
  readonly event_types: readonly string[];
  readonly consumer_group: string;
  readonly read_from: 'begin' | 'end' | 'cursors';
  readonly initial_cursors: readonly InitialCursor[];
  readonly authorization: Readonly<Record<string, unknown>> | null;
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface InitialCursor {
  readonly event_type: string;
  readonly partition: string;
  readonly offset: string;
}

const subscriptionNamespace = '6f1d3a52-6a0c-5d0e-9f3b-2c1f6f0a9b7e';

/**
 * The id of the subscription with this identity. It is the same on every node and after every restart, so creating the
 * subscription twice gives one subscription.
 */
export function subscriptionId(
  owningApplication: string,
  eventTypes: readonly string[],
  consumerGroup: string,
): string {
  const identity = JSON.stringify([owningApplication, [...new Set(eventTypes)].sort(), consumerGroup]);
  return uuidV5(identity, subscriptionNamespace);
}

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

import { v5 as uuidV5 } from 'uuid';

const subscriptionNamespace = '6f1d3a52-6a0c-5d0e-9f3b-2c1f6f0a9b7e';

/** The consumer group of a subscription that names none. */
export const consumerGroupDefault = 'default';

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

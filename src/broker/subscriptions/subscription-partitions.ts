import { LendstreamError } from '../../errors.ts';
import type { EventTypePartition } from '../../ports/event-type-partition.ts';
import type { EventTypeRecord } from '../definitions/event-type.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Subscription } from '../definitions/subscription.ts';

/**
 * The subscription's event types with the number of partitions each has now.
 * @throws NOT_FOUND when one of them is no longer defined
 */
export function partitionCounts(registry: Registry, subscription: Subscription): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of subscription.event_types) {
    const record = registry.get<EventTypeRecord>('event-type', name);
    if (record === undefined) throw new LendstreamError('NOT_FOUND', `EventType "${name}" does not exist.`);
    counts.set(name, record.partitionCount);
  }
  return counts;
}

/** By event type, then partition. An event type that is no longer defined has none. */
export function partitionsOfSubscription(registry: Registry, subscription: Subscription): EventTypePartition[] {
  return subscription.event_types.flatMap((eventType) => partitionsOfEventType(registry, eventType));
}

/** By number. An event type that is not defined has none. */
export function partitionsOfEventType(registry: Registry, eventType: string): EventTypePartition[] {
  const count = registry.get<EventTypeRecord>('event-type', eventType)?.partitionCount ?? 0;
  return Array.from({ length: count }, (_, partition) => ({ eventType, partition }));
}

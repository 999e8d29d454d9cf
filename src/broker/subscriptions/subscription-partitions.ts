import { LendstreamError } from '../../errors.ts';
import { parsePartition } from '../cursors/cursor-text.ts';
import type { EventTypePartition } from '../../ports/event-type-partition.ts';
import type { EventTypeRecord } from '../definitions/event-type.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Subscription } from '../definitions/subscription.ts';

/**
 * The subscription's event types with the number of partitions each has now.
 * @throws NOT_FOUND when one of them is no longer defined
 */
export function partitionCounts(registry: Registry, subscription: Subscription): ReadonlyMap<string, number> {
  const { event_types: names } = subscription;
  const [first] = names;
  if (first !== undefined && names.length === 1) return countsOfOne(first, definedEventType(registry, first));
  const counts = new Map<string, number>();
  for (const name of subscription.event_types) {
    counts.set(name, definedEventType(registry, name).partitionCount);
  }
  return counts;
}

function definedEventType(registry: Registry, name: string): EventTypeRecord {
  const record = registry.get<EventTypeRecord>('event-type', name);
  if (record === undefined) throw new LendstreamError('NOT_FOUND', `EventType "${name}" does not exist.`);
  return record;
}

/** Open streams keep these maps, and most subscriptions have one event type: their streams share the map of it. */
const countsByRecord = new WeakMap<EventTypeRecord, ReadonlyMap<string, number>>();

function countsOfOne(name: string, record: EventTypeRecord): ReadonlyMap<string, number> {
  let counts = countsByRecord.get(record);
  if (counts === undefined) countsByRecord.set(record, (counts = new Map([[name, record.partitionCount]])));
  return counts;
}

/**
 * The same. Finds also partitions that another process may have added a moment ago.
 * @param named What a request names, unchecked: objects with `event_type` and `partition`. Those that do not exist
 *   after all make no difference.
 * @throws as {@link partitionCounts}, LOG_UNAVAILABLE when what others stored cannot be read in time
 */
export async function partitionCountsWith(
  registry: Registry,
  subscription: Subscription,
  named: readonly unknown[],
): Promise<ReadonlyMap<string, number>> {
  const find = (): ReadonlyMap<string, number> | undefined => knownPartitionCountsWith(registry, subscription, named);
  return find() ?? (await registry.findWith(find)) ?? partitionCounts(registry, subscription);
}

/** The same, as far as this process knows; undefined when something named may have been added a moment ago. */
export function knownPartitionCountsWith(
  registry: Registry,
  subscription: Subscription,
  named: readonly unknown[],
): ReadonlyMap<string, number> | undefined {
  const counts = partitionCounts(registry, subscription);
  for (const item of named) {
    const { event_type: eventType, partition } = (item ?? {}) as { event_type?: unknown; partition?: unknown };
    const number = parsePartition(String(partition));
    if (typeof eventType !== 'string' || number === undefined) continue;
    if (number >= (counts.get(eventType) ?? Infinity)) return undefined;
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

export interface EventTypePartition {
  readonly eventType: string;
  readonly partition: number;
}

/** The map key of a partition: each partition has exactly one. */
export function partitionKey({ eventType, partition }: EventTypePartition): string {
  return `${eventType}:${partition}`;
}

export function isSamePartition(left: EventTypePartition, right: EventTypePartition | undefined): boolean {
  return left.partition === right?.partition && left.eventType === right.eventType;
}

/** Compares by event type, then partition: the order of every list of partitions. */
export function comparePartitions(left: EventTypePartition, right: EventTypePartition): number {
  if (left.eventType !== right.eventType) return left.eventType < right.eventType ? -1 : 1;
  return left.partition - right.partition;
}

/** A partition as the API's messages write it. `partition` may be any text: it is shown as given. */
export function describePartition(eventType: string, partition: string | number): string {
  return `EventTypePartition{eventType='${eventType}', partition='${partition}'}`;
}

/** Partitions as the API's messages list them. */
export function describePartitions(partitions: readonly EventTypePartition[]): string {
  return [...partitions]
    .sort(comparePartitions)
    .map(({ eventType, partition }) => describePartition(eventType, partition))
    .join(', ');
}

/** Parses a partition key: the inverse of {@link partitionKey}. */
export function parsePartitionKey(key: string): EventTypePartition {
  const colon = key.lastIndexOf(':');
  return { eventType: key.slice(0, colon), partition: Number(key.slice(colon + 1)) };
}

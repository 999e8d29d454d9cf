import { accountsTopic } from '../lending-format/lending-topics.ts';
import type { BoundsOptions, EventLog, PartitionBounds } from '../ports/event-log.ts';

/**
 * What the log has of each partition of the changelog at this moment.
 * @throws UNKNOWN_TOPIC_OR_PARTITION when there is no changelog, and the errors of the log
 */
export function changelogBounds(
  log: EventLog,
  partitionCount: number,
  options?: BoundsOptions,
): Promise<PartitionBounds[]> {
  return log.bounds(
    Array.from({ length: partitionCount }, (_, partition) => ({ topic: accountsTopic, partition })),
    options,
  );
}

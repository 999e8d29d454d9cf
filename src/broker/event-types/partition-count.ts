import type { DefaultStatistic } from '../definitions/event-type.ts';

/** Most partitions of an admin's event type, whatever parallelism it asks for. The service's own may have more. */
export const partitionsPerEventTypeMaximum = 8;

/** How many partitions an admin's event type is created with. */
export function partitionCountFor(statistic: DefaultStatistic | null): number {
  if (statistic === null) return 1;
  return Math.min(partitionsPerEventTypeMaximum, Math.max(statistic.read_parallelism, statistic.write_parallelism));
}

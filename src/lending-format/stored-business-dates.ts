import type { Registry } from '../broker/definitions/registry.ts';
import { registryKey, registryTopic } from '../broker/definitions/registry.ts';
import type { PartitionRecords } from '../ports/event-log.ts';
import { businessDateAfter } from '../lending/business-days/day-commands.ts';
import type { LocalDate } from '../lending/terms.ts';

/** The last day that was closed for the accounts of one partition, as the registry keeps it. */
interface ClosedDayRecord {
  readonly businessDate: LocalDate;
}

const kind = 'closed-day';

/** The last day that was closed for the accounts of a partition; undefined when none was. */
export function closedDayOf(registry: Registry, partition: number): LocalDate | undefined {
  return registry.get<ClosedDayRecord>(kind, String(partition))?.businessDate;
}

/** The business date that the accounts of all partitions have reached; null before the first end of a day. */
export function reachedBusinessDate(registry: Registry, partitionCount: number): LocalDate | null {
  let earliest: LocalDate | undefined;
  for (let partition = 0; partition < partitionCount; partition += 1) {
    const closed = closedDayOf(registry, partition);
    if (closed === undefined) return null;
    if (earliest === undefined || closed < earliest) earliest = closed;
  }
  return earliest === undefined ? null : businessDateAfter(earliest);
}

/** The registry record of a closed day, to be committed together with the outcome of the command that closed it. */
export function closedDayRecord(partition: number, businessDate: LocalDate): PartitionRecords {
  const record: ClosedDayRecord = { businessDate };
  const key = registryKey(kind, String(partition));
  return { topic: registryTopic, partition: 0, records: [{ key, value: Buffer.from(JSON.stringify(record)) }] };
}

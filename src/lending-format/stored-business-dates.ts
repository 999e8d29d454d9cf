import type { Registry } from '../broker/definitions/registry.ts';
import type { RegistryKind } from '../broker/definitions/registry-kind.ts';
import { registryKey, registryTopic } from '../broker/definitions/registry.ts';
import type { PartitionRecords } from '../ports/event-log.ts';
import { businessDateAfter } from '../lending/business-days/day-commands.ts';
import { type WorkingCalendar, defaultOrganization } from '../lending/organization.ts';
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

/**
 * Resolves when this process knows every day that is closed: the business date that is read then is not older.
 * @throws LOG_UNAVAILABLE when what others stored cannot be read in time
 */
export async function awaitClosedDays(registry: Registry): Promise<void> {
  await registry.catchUp();
}

/** The registry record of a closed day, to be committed together with the outcome of the command that closed it. */
export function closedDayRecord(partition: number, businessDate: LocalDate): PartitionRecords {
  return recordOfPartition(kind, partition, { businessDate } satisfies ClosedDayRecord);
}

const calendarKind = 'followed-calendar';

/** The working days, with the number of changes that made them. */
export interface NumberedCalendar extends WorkingCalendar {
  readonly changes: number;
}

/** The calendar that the accounts of a partition follow. */
export interface FollowedCalendar extends NumberedCalendar {
  /** Whether some of them may follow another one: moving their rows failed, or is not done yet. */
  readonly isIncomplete: boolean;
}

interface FollowedCalendarRecord extends WorkingCalendar {
  /** Absent in records from before changes were counted. */
  readonly changes?: number;
  readonly isIncomplete?: true;
}

/**
 * The calendar that the accounts of a partition follow: the one in force when the last look for rows to move was done.
 * Before the first, that of an organization whose admin has set nothing.
 */
export function followedCalendarOf(registry: Registry, partition: number): FollowedCalendar {
  const record = registry.get<FollowedCalendarRecord>(calendarKind, String(partition));
  return {
    ...calendarOf(record ?? defaultOrganization),
    changes: record?.changes ?? 0,
    isIncomplete: record?.isIncomplete === true,
  };
}

/** The days on which an organization is closed, without anything else of it. */
export function calendarOf({ nonWorkingDays, holidays }: WorkingCalendar): WorkingCalendar {
  return { nonWorkingDays, holidays };
}

/** Whether both close on the same days, for the same holidays. */
export function sameCalendar(one: WorkingCalendar, other: WorkingCalendar): boolean {
  return JSON.stringify(calendarOf(one)) === JSON.stringify(calendarOf(other));
}

/** The registry record of a followed calendar, to be committed with the last row that it moves. */
export function followedCalendarRecord(
  partition: number,
  { changes, isIncomplete, ...calendar }: FollowedCalendar,
): PartitionRecords {
  return recordOfPartition(calendarKind, partition, {
    ...calendarOf(calendar),
    changes,
    ...(isIncomplete && { isIncomplete }),
  } satisfies FollowedCalendarRecord);
}

function recordOfPartition(ofKind: RegistryKind, partition: number, record: object): PartitionRecords {
  const key = registryKey(ofKind, String(partition));
  return { topic: registryTopic, partition: 0, records: [{ key, value: Buffer.from(JSON.stringify(record)) }] };
}

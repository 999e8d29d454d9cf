import type { Registry } from '../broker/definitions/registry.ts';
import { toTimestamp, type Clock } from '../clock.ts';
import { addDays } from '../lending/dates.ts';
import { dayOf } from '../lending/instants.ts';
import { type Organization, defaultOrganization } from '../lending/organization.ts';
import type { LocalDate } from '../lending/terms.ts';
import type { Schemas } from '../contract.ts';
import type { OrganizationContact } from './payloads/organization-payload.ts';
import { type NumberedCalendar, calendarOf, reachedBusinessDate, sameCalendar } from './stored-business-dates.ts';

/** The organization as the registry keeps it: what its admin has set. */
export interface OrganizationRecord extends Partial<Organization> {
  readonly contact?: OrganizationContact;
  /** How often its working days were changed. Absent: never, or before this was counted. */
  readonly calendarChanges?: number;
  /** RFC 3339. */
  readonly creationDate: string;
  readonly lastModifiedDate: string;
}

/** There is one organization, and this is the name of its record. */
const recordName = 'setup';

/** The organization as this process sees it now. What its admin has not set is as in {@link defaultOrganization}. */
export function readOrganization(registry: Registry): Organization {
  const record = organizationRecord(registry);
  if (record === undefined) return defaultOrganization;
  const { contact: _contact, calendarChanges: _changes, ...others } = record;
  const { creationDate: _creation, lastModifiedDate: _modification, ...fields } = others;
  return { ...defaultOrganization, ...fields };
}

/** The working days as this process sees them now, and how often they were changed before. */
export function readCalendar(registry: Registry): NumberedCalendar {
  return { ...calendarOf(readOrganization(registry)), changes: organizationRecord(registry)?.calendarChanges ?? 0 };
}

/** The organization's record; undefined when its admin has set nothing. */
export function organizationRecord(registry: Registry): OrganizationRecord | undefined {
  return registry.get<OrganizationRecord>('organization', recordName);
}

/** What a request changes of the organization. */
export type OrganizationChanges = Partial<Organization> & Pick<OrganizationRecord, 'contact'>;

/**
 * Changes the organization durably and returns when this process sees it. A change begins from the newest state.
 * @param changesOf What to set, from the state that the change begins from. It must not wait for anything.
 * @param now Milliseconds since the epoch.
 * @throws CONFLICT when another request has changed it at the same time, what `changesOf` throws, and the errors of the
 *   log
 */
export async function changeOrganization(
  registry: Registry,
  changesOf: (organization: Organization) => OrganizationChanges,
  now: number,
): Promise<void> {
  await registry.catchUp();
  const before = organizationRecord(registry);
  const revision = registry.revise('organization', recordName);
  const time = toTimestamp(now);
  const organization = readOrganization(registry);
  const changes = changesOf(organization);
  const isCalendarSame = sameCalendar(organization, { ...organization, ...changes });
  await revision.put({
    creationDate: time,
    ...before,
    ...changes,
    ...(isCalendarSame ? {} : { calendarChanges: (before?.calendarChanges ?? 0) + 1 }),
    lastModifiedDate: time,
  } satisfies OrganizationRecord);
}

/** The organization as the API shows it: the setup without the calendar. */
export function viewOrganization(registry: Registry): OrganizationView {
  const { institutionName, timeZoneID, currencyCode, dateFormat, dateTimeFormat, decimalSeparator } =
    readOrganization(registry);
  const record = organizationRecord(registry);
  return {
    institutionName,
    timeZoneID,
    currency: currencyCode,
    dateFormat,
    dateTimeFormat,
    decimalSeparator,
    ...record?.contact,
    ...(record === undefined ? {} : { creationDate: record.creationDate, lastModifiedDate: record.lastModifiedDate }),
  };
}

type OrganizationView = Schemas['OrganizationSetup'];

/** What tells business dates: of the registry, the zone of the organization and the days that were closed. */
export interface BusinessDates {
  readonly registry: Registry;
  readonly clock: Clock;
  /** The partitions of accounts. */
  readonly partitionCount: number;
}

/** The day that is over most recently where the organization is. */
export function lastDayOver({ registry, clock }: Pick<BusinessDates, 'registry' | 'clock'>): LocalDate {
  return addDays(dayOf(clock.now(), readOrganization(registry).timeZoneID), -1);
}

/**
 * The business date: the day after the last one that was closed for every partition of accounts. Before the first end
 * of a day it is today.
 */
export function businessDateOf({ registry, clock, partitionCount }: BusinessDates): LocalDate {
  return reachedBusinessDate(registry, partitionCount) ?? dayOf(clock.now(), readOrganization(registry).timeZoneID);
}

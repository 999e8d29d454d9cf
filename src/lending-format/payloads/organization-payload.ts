import { type Holiday, type Organization, type Weekday, weekdays } from '../../lending/organization.ts';
import type { Refusal } from '../../lending/refusals.ts';
import type { ExactJson } from '../exact-json.ts';
import { type Address, readAddress } from './address-payload.ts';
import { FieldReader, present } from './field-reader.ts';

/** How to reach the institution. No rule reads it. */
export interface OrganizationContact {
  readonly address?: Address;
  readonly emailAddress?: string;
  readonly phoneNumber?: string;
}

/** What a request sets of the organization, or why it cannot. */
export type OrganizationPayload =
  | { readonly changes: OrganizationSettings }
  | { readonly refusals: readonly Refusal[] };

/** The settings of the organization, all but its calendar. An absent zone or currency stays as it is. */
export interface OrganizationSettings
  extends
    Pick<Organization, 'institutionName' | 'dateFormat' | 'dateTimeFormat' | 'decimalSeparator'>,
    Partial<Pick<Organization, 'timeZoneID' | 'currencyCode'>> {
  readonly contact: OrganizationContact;
}

/** Reads the whole setup of an organization. When it was made and changed may be sent back and means nothing. */
export function readOrganizationSetup(body: ExactJson): OrganizationPayload {
  const refusals: Refusal[] = [];
  const reader = new FieldReader(body, refusals);
  reader.ignore('creationDate', 'lastModifiedDate');
  const changes: OrganizationSettings = {
    institutionName: reader.require('institutionName', reader.text('institutionName')) ?? '',
    dateFormat: reader.require('dateFormat', reader.text('dateFormat')) ?? '',
    dateTimeFormat: reader.require('dateTimeFormat', reader.text('dateTimeFormat')) ?? '',
    decimalSeparator:
      reader.require('decimalSeparator', reader.choice('decimalSeparator', ['POINT', 'COMMA'])) ?? 'POINT',
    ...present({ timeZoneID: readTimeZone(reader), currencyCode: readCurrencyCode(reader) }),
    contact: present({
      ...(reader.has('address') ? { address: readAddress(reader.object('address')) } : {}),
      emailAddress: reader.text('emailAddress'),
      phoneNumber: reader.text('phoneNumber'),
    }),
  };
  reader.refuseUnknown();
  return refusals.length > 0 ? { refusals } : { changes };
}

function readTimeZone(reader: FieldReader): string | undefined {
  const zone = reader.text('timeZoneID');
  if (zone !== undefined && !isTimeZone(zone)) reader.refuse('timeZoneID');
  return zone;
}

/** Whether this process knows the zone. One that is only an offset is not a place whose clocks change. */
function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== '';
  } catch {
    return false;
  }
}

function readCurrencyCode(reader: FieldReader): string | undefined {
  const code = reader.text('currency');
  if (code !== undefined && !/^[A-Z]{3}$/.test(code)) reader.refuse('currency');
  return code;
}

/** Holidays that a request sets, or why it cannot. */
export type HolidaysPayload = { readonly holidays: readonly Holiday[] } | { readonly refusals: readonly Refusal[] };

/**
 * Reads `{"holidays":[{id, name, date, isAnnuallyRecurring}]}`. A holiday without an id gets the next one.
 * @param before The holidays that the request replaces: their ids are not given to others.
 */
export function readHolidays(body: ExactJson, before: readonly Holiday[]): HolidaysPayload {
  const refusals: Refusal[] = [];
  const reader = new FieldReader(body, refusals);
  const read = reader.objects('holidays').map((holiday) => {
    holiday.ignore('encodedKey', 'creationDate');
    return {
      reader: holiday,
      id: holiday.count('id'),
      name: holiday.require('name', holiday.text('name')) ?? '',
      date: holiday.require('date', holiday.date('date')) ?? '',
      isAnnuallyRecurring: holiday.flag('isAnnuallyRecurring') ?? false,
    };
  });
  // An empty list is a list; a missing one would remove all holidays by mistake.
  if (!Array.isArray(body['holidays'])) reader.refuse('holidays');
  reader.refuseUnknown();
  const ids = read.flatMap(({ id }) => (id === undefined ? [] : [id]));
  for (const [index, { reader: holiday, id }] of read.entries()) {
    if (id !== undefined && (id === 0 || read.findIndex((other) => other.id === id) < index)) holiday.refuse('id');
  }
  if (refusals.length > 0) return { refusals };
  let lastId = Math.max(0, ...ids, ...before.map(({ id }) => id));
  const holidays = read.map(({ id, name, date, isAnnuallyRecurring }): Holiday => {
    if (id === undefined) lastId += 1;
    return { id: id ?? lastId, name, date, isAnnuallyRecurring };
  });
  return { holidays: holidays.sort((one, other) => (one.date < other.date ? -1 : one.date > other.date ? 1 : 0)) };
}

/** Non-working days that a request sets, or why it cannot. */
export type NonWorkingDaysPayload =
  | { readonly nonWorkingDays: readonly Weekday[] }
  | { readonly refusals: readonly Refusal[] };

/** Reads `{"nonWorkingDays":["SATURDAY","SUNDAY"]}`. At least one day of a week is a working day. */
export function readNonWorkingDays(body: ExactJson): NonWorkingDaysPayload {
  const refusals: Refusal[] = [];
  const reader = new FieldReader(body, refusals);
  const days = reader.require('nonWorkingDays', reader.choices('nonWorkingDays', weekdays)) ?? [];
  if (days.length === weekdays.length) reader.refuse('nonWorkingDays');
  reader.refuseUnknown();
  if (refusals.length > 0) return { refusals };
  return { nonWorkingDays: weekdays.filter((day) => days.includes(day)) };
}

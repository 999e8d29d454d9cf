import type { LocalDate } from './terms.ts';

/** The days of a week, from Monday. */
export const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const;
export type Weekday = (typeof weekdays)[number];

/** A day on which the institution is closed. */
export interface Holiday {
  /** A number that no other holiday of the organization has, from 1. */
  readonly id: number;
  readonly name: string;
  /** The day; of a holiday that recurs, the first one. */
  readonly date: LocalDate;
  /** Whether the same day of the same month is a holiday in every year. */
  readonly isAnnuallyRecurring: boolean;
}

/** The days on which the institution is closed. */
export interface WorkingCalendar {
  /** The days of every week on which it is closed, from Monday. */
  readonly nonWorkingDays: readonly Weekday[];
  /** In the order of their days. */
  readonly holidays: readonly Holiday[];
}

/** The institution that lends: in which zone its days begin, in which currency it counts, and when it is closed. */
export interface Organization extends WorkingCalendar {
  readonly institutionName: string;
  /** The name of a time zone, such as Europe/Berlin: a business day begins and ends at its midnight. */
  readonly timeZoneID: string;
  /** Three capital letters. */
  readonly currencyCode: string;
  /** How programs should show days and times to people. The service itself never uses it. */
  readonly dateFormat: string;
  readonly dateTimeFormat: string;
  readonly decimalSeparator: 'POINT' | 'COMMA';
}

/** The encodedKey of the administrator, who is every client: the service knows no other user. */
export const administratorKey = '8a0b6a5c4d3e51f0a1b2c3d4e5f60718';
export const administratorUsername = 'admin';

/** The organization of a service whose admin has set nothing. */
export const defaultOrganization: Organization = {
  institutionName: 'Lendstream',
  timeZoneID: 'UTC',
  currencyCode: 'EUR',
  dateFormat: 'dd-MM-yyyy',
  dateTimeFormat: 'dd-MM-yyyy HH:mm:ss',
  decimalSeparator: 'POINT',
  nonWorkingDays: ['SATURDAY', 'SUNDAY'],
  holidays: [],
};

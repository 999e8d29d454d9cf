import { Router } from 'express';
import type { Responses } from '../../contract.ts';
import type { DueQuery } from '../../accounts/queries/searches.ts';
import { businessDateAfter } from '../../lending/business-days/day-commands.ts';
import type { LocalDate } from '../../lending/terms.ts';
import { closedDayOf } from '../../lending-format/stored-business-dates.ts';
import { lastDayOver, readOrganization } from '../../lending-format/stored-organization.ts';
import { nextRun } from '../../worker/end-of-day-schedule.ts';
import { lendingMethodNotAllowed } from '../edge/lending-errors.ts';
import type { BusinessDayServices } from './business-days.ts';
import { refuseUnknownParameters } from './lending-parameters.ts';

export interface EndOfDayProgressServices extends BusinessDayServices {
  /** The cron expression by which this process closes days; null when it does not. */
  readonly endOfDaySchedule: string | null;
}

/** How far the end of a day is, and what the next one will do. */
export function createEndOfDayProgressRouter(services: EndOfDayProgressServices): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/organization/endOfDay')
    .get(async (request, response) => {
      refuseUnknownParameters(request);
      response.json((await readProgress(services)) satisfies Responses['getEndOfDay']);
    })
    .all(lendingMethodNotAllowed('GET'));
  return router;
}

async function readProgress(services: EndOfDayProgressServices): Promise<Responses['getEndOfDay']> {
  const { accounts, registry, partitionCount } = services;
  // Accounts are counted after the closed days are read: an account that a closed day has done is not among them.
  const closedDays = Array.from({ length: partitionCount }, (_, partition) => closedDayOf(registry, partition));
  const businessDate = dayToCloseNext(closedDays, lastDayOver(services));
  const due = closedDays.map((_, partition): DueQuery => ({ partition, date: businessDateAfter(businessDate) }));
  const behind = closedDays.map((day, partition): DueQuery => ({
    partition,
    // Before the first end of a day no account is behind: every date comes after the empty text.
    date: day === undefined ? '' : businessDateAfter(day),
  }));
  const counts = await accounts.search((searches) => searches.countDue([...due, ...behind]));
  const partitions = closedDays.map((closedDay, partition) => ({
    partition,
    ...(closedDay === undefined ? {} : { closedDay }),
    accountsDue: counts[partition] ?? 0,
    accountsBehind: counts[partitionCount + partition] ?? 0,
  }));
  const schedule = scheduleOf(services);
  return { businessDate, partitions, ...(schedule === undefined ? {} : { schedule }) };
}

/** The last day that is over; once it is closed for every partition, the first that is not. */
function dayToCloseNext(closedDays: readonly (LocalDate | undefined)[], lastOver: LocalDate): LocalDate {
  let next: LocalDate | undefined;
  for (const day of closedDays) {
    if (day === undefined) return lastOver;
    const following = businessDateAfter(day);
    if (next === undefined || following < next) next = following;
  }
  return next !== undefined && next > lastOver ? next : lastOver;
}

function scheduleOf(services: EndOfDayProgressServices): Responses['getEndOfDay']['schedule'] {
  const { endOfDaySchedule: expression, registry, clock } = services;
  if (expression === null) return undefined;
  const next = nextRun(expression, readOrganization(registry).timeZoneID, clock.now());
  return { expression, ...(next === null ? {} : { nextRun: new Date(next).toISOString() }) };
}

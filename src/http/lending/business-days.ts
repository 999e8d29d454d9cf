import { Router, type Request } from 'express';
import type { Responses } from '../../contract.ts';
import { after } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import { isLocalDate } from '../../lending/dates.ts';
import type { LocalDate } from '../../lending/terms.ts';
import { readExactObject } from '../../lending-format/exact-json.ts';
import { writeEndOfDay } from '../../lending-format/command-format.ts';
import type { CommandOutcome } from '../../lending-format/checkpoint.ts';
import { loanCommandsTopic } from '../../lending-format/lending-topics.ts';
import { awaitClosedDays } from '../../lending-format/stored-business-dates.ts';
import { businessDateOf, lastDayOver } from '../../lending-format/stored-organization.ts';
import { readBody } from '../edge/request-body.ts';
import {
  LendingErrors,
  invalidParameter,
  lendingMethodNotAllowed,
  malformedBody,
  requestError,
} from '../edge/lending-errors.ts';
import type { LendingServices } from './services.ts';

/** The largest body of the end of a day. Bytes. */
const bodyBytesMaximum = 1_024;

/** The longest time that a request waits for the end of a day, which continues after the response. Seconds. */
const waitSeconds = 30;

/** The `published_by` of the commands that close days. */
const publisherName = 'end-of-day';

export type BusinessDayServices = LendingServices;

/** The business date, and the end of a day by hand. */
export function createBusinessDaysRouter(services: BusinessDayServices): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/organization/businessDate')
    .get((_request, response) => {
      response.json({ businessDate: businessDateOf(services) } satisfies Responses['getBusinessDate']);
    })
    .all(lendingMethodNotAllowed('GET'));
  router
    .route('/organization\\:endOfDay')
    .post(async (request, response) => {
      const businessDate = (await readBusinessDate(request)) ?? lastDayOver(services);
      if (businessDate > lastDayOver(services)) throw invalidParameter('businessDate');
      const isClosed = await closeBusinessDay(services, businessDate);
      const body = { businessDate, status: isClosed ? 'CLOSED' : 'PENDING' } as const;
      response.status(isClosed ? 200 : 202).json(body satisfies Responses['endOfDay']);
    })
    .all(lendingMethodNotAllowed('POST'));
  return router;
}

/**
 * Closes a day for every partition of accounts, and the days before it that were missed.
 * @returns whether it is done; if not, it continues
 * @throws LendingErrors when a partition refused or could not close it, and the errors of the log
 */
export async function closeBusinessDay(services: BusinessDayServices, businessDate: LocalDate): Promise<boolean> {
  const { accounts, clock, partitionCount } = services;
  const waiting = new AbortController();
  const timer = after(clock, waitSeconds * 1_000, () => waiting.abort());
  try {
    const outcomes = Array.from({ length: partitionCount }, (_, partition) => {
      const event = writeEndOfDay(partition, businessDate, clock.now());
      const outcome = accounts.outcomeOf(event.eid, waiting.signal);
      outcome.catch(() => {});
      return { event, outcome };
    });
    for (const { event } of outcomes) {
      await services.publisher.publishPrepared(loanCommandsTopic, event, {
        flowId: event.eid,
        publishedBy: publisherName,
      });
    }
    const results = await Promise.all(outcomes.map(({ outcome }) => outcome));
    for (const result of results) if (result !== undefined) requireClosed(result);
    // The business date that is read after the response is that of the response.
    await awaitClosedDays(services.registry);
    return results.every((result) => result !== undefined);
  } finally {
    timer.cancel();
    waiting.abort();
  }
}

function requireClosed({ errors, reason }: CommandOutcome): void {
  if (reason !== undefined) throw new LendingErrors('INTERNAL', [requestError('INTERNAL_ERROR', reason)]);
  if (errors !== undefined && errors.length > 0) throw new LendingErrors('MALFORMED_REQUEST', errors);
}

/** @throws LendingErrors 400 for a body that is not `{}` or `{"businessDate": "2026-11-22"}` */
async function readBusinessDate(request: Request): Promise<LocalDate | undefined> {
  const text = (await readBody(request, bodyBytesMaximum)).toString('utf8');
  if (text.trim() === '') return undefined;
  let body: Record<string, unknown>;
  try {
    body = readExactObject(text);
  } catch (error) {
    throw malformedBody(describeError(error));
  }
  const { businessDate, ...others } = body;
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalidParameter(other);
  if (businessDate === undefined || businessDate === null) return undefined;
  if (typeof businessDate !== 'string' || !isLocalDate(businessDate)) throw invalidParameter('businessDate');
  return businessDate;
}

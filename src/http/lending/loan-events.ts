import { Router } from 'express';
import type { EventLog } from '../../ports/event-log.ts';
import { readLoanEvents } from '../../lending-format/loan-event-search.ts';
import { lendingMethodNotAllowed, loanNotFound } from '../edge/lending-errors.ts';
import { refuseUnknownParameters } from './lending-parameters.ts';
import type { LendingServices } from './services.ts';

export interface LoanEventsServices extends LendingServices {
  readonly log: EventLog;
  /** Partitions of the lending event types. */
  readonly partitionCount: number;
  /** How much of the log one response may read. Bytes; the default of `readLoanEvents` when absent. */
  readonly scannedBytesMaximum?: number;
}

/**
 * GET /loans/{id}/events: the published events of one loan that the log still holds, in the loan's order, each as its
 * consumers got it.
 */
export function createLoanEventsRouter(services: LoanEventsServices): Router {
  const { log, partitionCount, scannedBytesMaximum, accounts } = services;
  const router = Router({ caseSensitive: true });
  router
    .route('/loans/:loanAccountId/events')
    .get(async (request, response) => {
      refuseUnknownParameters(request);
      const loanAccountId = await accounts.loanId(request.params.loanAccountId);
      if (loanAccountId === undefined) throw loanNotFound();
      const { events, complete } = await readLoanEvents(log, loanAccountId, partitionCount, scannedBytesMaximum);
      response.type('json').send(`{"items":[${events.join(',')}],"complete":${complete}}`);
    })
    .all(lendingMethodNotAllowed('GET'));
  return router;
}

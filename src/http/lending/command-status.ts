import { Router } from 'express';
import type { Responses, Schemas } from '../../contract.ts';
import type { CommandOutcome } from '../../lending-format/checkpoint.ts';
import { lendingMethodNotAllowed, requestError, resourceNotFound } from '../edge/lending-errors.ts';
import type { LendingServices } from './services.ts';

/** When to ask again for a command that is not decided yet. Seconds. */
const pendingRetrySeconds = 1;

/**
 * GET /commands/{id}: the outcome of a command that its request did not wait for, as long as this process remembers it.
 */
export function createCommandsRouter({ accounts }: LendingServices): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/commands/:commandId')
    .get(async (request, response) => {
      const commandId = request.params.commandId.toLowerCase();
      if (accounts.pendingCommandDigest(commandId) !== undefined) {
        response.set('Retry-After', String(pendingRetrySeconds));
        response.json({ commandId, status: 'PENDING' } satisfies Responses['getCommand']);
        return;
      }
      const outcome = await accounts.recentOutcome(commandId);
      if (outcome === undefined) throw resourceNotFound('commandId');
      const { loanAccountId, loanProductId, transactionKey, reason } = outcome;
      const errors = reason === undefined ? outcome.errors : [requestError('INTERNAL_ERROR', reason)];
      response.json({
        commandId,
        status: statusOf(outcome),
        ...(loanAccountId === undefined ? {} : { loanAccountId }),
        ...(loanProductId === undefined ? {} : { loanProductId }),
        ...(transactionKey === undefined ? {} : { transactionEncodedKey: transactionKey }),
        ...(errors === undefined ? {} : { errors }),
      } satisfies Responses['getCommand']);
    })
    .all(lendingMethodNotAllowed('GET'));
  return router;
}

/** The status of a command, whether it was done now or before. */
export function statusOf({ outcome, errors }: CommandOutcome): Exclude<Schemas['CommandStatus']['status'], 'PENDING'> {
  if (outcome === 'dead_letter') return 'FAILED';
  return outcome === 'refused' || (errors !== undefined && errors.length > 0) ? 'REFUSED' : 'COMMITTED';
}

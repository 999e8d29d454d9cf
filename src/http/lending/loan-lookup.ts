import type { Request, Router } from 'express';
import { LendstreamError } from '../../errors.ts';
import { isAccountOrProductId } from '../../lending-format/command-format.ts';
import type { CommandOutcome } from '../../lending-format/checkpoint.ts';
import { loanNotFound } from '../edge/lending-errors.ts';
import type { LendingServices } from './services.ts';

/**
 * A client that got the result of a command on one node may use it on another at once. A loan or transaction in the
 * path that this node does not know is looked up again after catching up; one that it knows costs nothing.
 */
export function catchUpOnMissingLoans(router: Router, { view }: LendingServices): void {
  router.param('loanAccountId', async (_request, _response, next, idOrKey: string) => {
    if (view.loanId(idOrKey) === undefined) await view.catchUpOnMiss();
    next();
  });
  router.param('transactionId', async (_request, _response, next, idOrKey: string) => {
    if (view.loanIdOfTransaction(idOrKey) === undefined) await view.catchUpOnMiss();
    next();
  });
}

/** The loan that the path names by id or encodedKey, as the changelog has it. @throws LendingErrors 404 */
export function existingLoan({ view }: LendingServices, request: Request): string {
  const loan = view.find(String(request.params['loanAccountId']));
  if (loan === undefined) throw loanNotFound();
  return loan;
}

/**
 * The id of the loan that the path names by id or encodedKey. One that this view does not know may have been opened on
 * another node a moment ago, so the worker decides whether it exists.
 * @throws LendingErrors 404 for a text that cannot be an id
 */
export function loanIdOfPath({ view }: LendingServices, request: Request): string {
  const idOrKey = String(request.params['loanAccountId']);
  const id = view.loanId(idOrKey) ?? idOrKey;
  if (!isAccountOrProductId(id)) throw loanNotFound();
  return id;
}

/** The loan of a command that was committed, as the changelog has it. */
export function loanAfter({ view }: LendingServices, { commandId, loanAccountId }: CommandOutcome): string {
  const loan = loanAccountId === undefined ? undefined : view.find(loanAccountId);
  if (loan === undefined) throw new LendstreamError('INTERNAL', `Command ${commandId} left no loan to return.`);
  return loan;
}

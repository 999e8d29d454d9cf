import type { Request } from 'express';
import { LendstreamError } from '../errors.ts';
import { isAccountOrProductId } from '../worker/command-format.ts';
import type { CommandOutcome } from '../worker/fence.ts';
import { loanNotFound } from './lending-errors.ts';
import type { LendingServices } from './lending-services.ts';

/** The loan that the path names by id or encodedKey, as the changelog has it. @throws LendingErrors 404 */
export function existingLoan({ view }: LendingServices, request: Request): string {
  const loan = view.find(String(request.params['loanAccountId']));
  if (loan === undefined) throw loanNotFound();
  return loan;
}

/**
 * The id of the loan that the path names by id or encodedKey. One that this view does not know may have been opened on
 * another node a moment ago: the worker decides whether it is there.
 * @throws LendingErrors 404 for what cannot be an id
 */
export function loanOfPath({ view }: LendingServices, request: Request): string {
  const idOrKey = String(request.params['loanAccountId']);
  const id = view.loanId(idOrKey) ?? idOrKey;
  if (!isAccountOrProductId(id)) throw loanNotFound();
  return id;
}

/** The loan of a command that was committed, as the changelog has it. */
export function loanAfter({ view }: LendingServices, { commandId, loanAccountId }: CommandOutcome): string {
  const loan = loanAccountId === undefined ? undefined : view.find(loanAccountId);
  if (loan === undefined) throw new LendstreamError('INTERNAL', `Command ${commandId} left no loan to answer with.`);
  return loan;
}

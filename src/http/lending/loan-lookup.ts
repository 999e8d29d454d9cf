import type { Request } from 'express';
import { LendstreamError } from '../../errors.ts';
import { isAccountOrProductId } from '../../lending-format/command-format.ts';
import type { CommandOutcome } from '../../lending-format/checkpoint.ts';
import { loanNotFound } from '../edge/lending-errors.ts';
import type { LendingServices } from './services.ts';

/** The loan that the path names by id or encodedKey, as the changelog has it. @throws LendingErrors 404 */
export async function existingLoan({ view }: LendingServices, request: Request): Promise<string> {
  const loan = await view.find(String(request.params['loanAccountId']));
  if (loan === undefined) throw loanNotFound();
  return loan;
}

/** The same loan with its id. @throws LendingErrors 404 */
export async function identifiedLoan(
  { view }: LendingServices,
  request: Request,
): Promise<{ readonly id: string; readonly text: string }> {
  const id = await view.loanId(String(request.params['loanAccountId']));
  const text = id === undefined ? undefined : view.accountText(id);
  if (id === undefined || text === undefined) throw loanNotFound();
  return { id, text };
}

/**
 * The id of the loan that the path names by id or encodedKey. One that this view does not know may have been opened on
 * another node a moment ago, so the worker decides whether it exists.
 * @throws LendingErrors 404 for a text that cannot be an id
 */
export async function loanIdOfPath({ view }: LendingServices, request: Request): Promise<string> {
  const idOrKey = String(request.params['loanAccountId']);
  const id = (await view.loanId(idOrKey)) ?? idOrKey;
  if (!isAccountOrProductId(id)) throw loanNotFound();
  return id;
}

/** The loan of a command that was committed, as the changelog has it. */
export async function loanAfter(
  { view }: LendingServices,
  { commandId, loanAccountId }: CommandOutcome,
): Promise<string> {
  const loan = loanAccountId === undefined ? undefined : await view.find(loanAccountId);
  if (loan === undefined) throw new LendstreamError('INTERNAL', `Command ${commandId} left no loan to return.`);
  return loan;
}

import type { Request } from 'express';
import { LendstreamError } from '../../errors.ts';
import { isAccountOrProductId } from '../../lending-format/payloads/id-forms.ts';
import type { CommandOutcome } from '../../lending-format/checkpoint.ts';
import { loanNotFound } from '../edge/lending-errors.ts';
import type { LendingServices } from './services.ts';

type FoundLoan = NonNullable<Awaited<ReturnType<LendingServices['accounts']['find']>>>;

/** The loan that the path names by id or encodedKey. @throws LendingErrors 404 */
export async function existingLoan({ accounts }: LendingServices, request: Request): Promise<FoundLoan> {
  const loan = await accounts.find(String(request.params['loanAccountId']));
  if (loan === undefined) throw loanNotFound();
  return loan;
}

/**
 * The id of the loan that the path names by id or encodedKey. One that this copy does not know may have been opened on
 * another node a moment ago, so the worker decides whether it exists.
 * @throws LendingErrors 404 for a text that cannot be an id
 */
export async function loanIdOfPath({ accounts }: LendingServices, request: Request): Promise<string> {
  const idOrKey = String(request.params['loanAccountId']);
  const id = (await accounts.loanId(idOrKey)) ?? idOrKey;
  if (!isAccountOrProductId(id)) throw loanNotFound();
  return id;
}

/** The loan of a command that was committed. */
export async function loanAfter(
  { accounts }: LendingServices,
  { commandId, loanAccountId }: CommandOutcome,
): Promise<FoundLoan> {
  const loan = loanAccountId === undefined ? undefined : await accounts.find(loanAccountId);
  if (loan === undefined) throw new LendstreamError('INTERNAL', `Command ${commandId} left no loan to return.`);
  return loan;
}

import { type ExactJson } from '../../lending-format/exact-json.ts';
import { prepareCommand } from '../../lending-format/command-format.ts';
import { idFromPattern } from '../../lending-format/id-patterns.ts';
import { findProduct } from '../../lending-format/stored-products.ts';
import type { LendingServices } from './services.ts';

/** How many ids are tried until one is free. */
const attemptsMaximum = 20;

/**
 * The id of an account that is opened without one, in the form that its product asks for. The same command gets the
 * same id again, so that it is recognised when it is repeated.
 * @returns undefined when the product asks for none, or there is no such product
 */
export async function newLoanId(
  { accounts, registry }: LendingServices,
  payload: ExactJson,
  commandId: string,
): Promise<string | undefined> {
  const { productTypeKey } = payload;
  const product = typeof productTypeKey === 'string' ? await findProduct(registry, productTypeKey) : undefined;
  if (product?.newAccountSettings.idGeneratorType !== 'RANDOM_PATTERN') return undefined;
  for (let attempt = 0; attempt < attemptsMaximum; attempt += 1) {
    const loanAccountId = idFromPattern(product.newAccountSettings.idPattern, `${commandId}/${attempt}`);
    if (accounts.accountText(loanAccountId) === undefined) return loanAccountId;
    const command = { commandId, type: 'CREATE_LOAN', loanAccountId, payload, receivedAt: 0 } as const;
    const recorded = await accounts.recordedCommand(commandId);
    if (recorded?.digest === prepareCommand(command).envelope.digest) return loanAccountId;
  }
  return undefined;
}

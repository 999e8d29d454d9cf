import { AccountsCopy, type AccountsCopyOptions } from '../../../src/accounts/accounts-copy.ts';

/** Opens a copy of accounts, and returns it when it has all that the log had. A copy that fails before is closed. */
export async function openFilledCopy(options: AccountsCopyOptions): Promise<AccountsCopy> {
  const accounts = await AccountsCopy.open(options);
  try {
    await accounts.fill();
  } catch (error) {
    await accounts.close();
    throw error;
  }
  return accounts;
}

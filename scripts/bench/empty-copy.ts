import type { AccountsForWorker } from '../../src/accounts/accounts-for-worker.ts';

/** A copy of accounts that has none, and takes each commit without storing it. */
export const emptyCopy: AccountsForWorker = {
  accountText: () => undefined,
  loanOf: () => {
    throw new Error('There is no account yet');
  },
  loansDueBy: () => [],
  loansWithRowsDue: () => [],
  lastDueDate: () => null,
  hasAccountProduct: () => false,
  hasLoansOf: () => false,
  hasExternalId: () => false,
  transactionText: () => undefined,
  commandText: () => undefined,
  commandsDecidedUpTo: () => [],
  checkpointPosition: () => null,
  decidedAheadTo: () => null,
  catchUpPartition: () => Promise.resolve(0),
  holdBack: () => () => {},
  applyOwnCommit: () => true,
};

import type { LoanTransaction, PostedTransactions } from '../../src/lending/loan.ts';

/**
 * The transactions of an account, as a command finds them.
 * @param ownKeyOf The key of the transaction that a command posts itself, as the worker derives it.
 */
export function postedAmong(
  transactions: readonly LoanTransaction[],
  ownKeyOf?: (commandId: string) => string,
): PostedTransactions {
  return {
    find: (keyOrId) => transactions.find(({ encodedKey, id }) => encodedKey === keyOrId || id === keyOrId),
    // Where its key is not known: a command posts its own transaction between those it takes back and those it posts
    // again, as many of each. One that posts several and takes none back is known by the last of them.
    postedBy: (id) => {
      if (ownKeyOf !== undefined) return transactions.find(({ encodedKey }) => encodedKey === ownKeyOf(id));
      const posted = transactions.filter(({ commandId }) => commandId === id);
      const takesBack = posted[0]?.originalTransactionKey !== null;
      return takesBack ? posted[(posted.length - 1) / 2] : posted.at(-1);
    },
    hasExternalId: (id) =>
      transactions.some(
        ({ externalId, adjustmentTransactionKey }) => externalId === id && adjustmentTransactionKey === null,
      ),
  };
}

/** The transactions after a command, in the order they were posted. A changed one takes the place of its old state. */
export function withChanged(
  transactions: readonly LoanTransaction[],
  changed: readonly LoanTransaction[],
): readonly LoanTransaction[] {
  const changedByKey = new Map(changed.map((transaction) => [transaction.encodedKey, transaction]));
  const known = new Set(transactions.map(({ encodedKey }) => encodedKey));
  return [
    ...transactions.map((transaction) => changedByKey.get(transaction.encodedKey) ?? transaction),
    ...changed.filter(({ encodedKey }) => !known.has(encodedKey)),
  ];
}

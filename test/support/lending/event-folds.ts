type Json = Record<string, unknown>;

/** What a consumer knows of a loan from its events alone. Each function takes events of one type in their sequence. */

/** The installments as GET /loans/{id}/schedule shows them, from the schedule events. */
export function foldSchedule(events: readonly Json[]): Json[] {
  const rows = new Map<string, Json>();
  for (const event of events) {
    for (const key of event['removedInstallmentKeys'] as string[]) rows.delete(key);
    for (const row of event['changedInstallments'] as Json[]) rows.set(String(row['encodedKey']), row);
  }
  return [...rows.values()].sort((a, b) => Number(a['number']) - Number(b['number']));
}

/** The transactions as GET /loans/{id}/transactions shows them, from the transaction events. */
export function foldTransactions(events: readonly Json[]): Json[] {
  const transactions = new Map<string, Json>();
  for (const event of events) {
    const transaction = event['transaction'] as Json;
    const adjustmentTransactionKey = String(transaction['encodedKey']);
    const originalKey = String(transaction['originalTransactionKey']);
    const original = transactions.get(originalKey);
    if (original !== undefined) transactions.set(originalKey, { ...original, adjustmentTransactionKey });
    transactions.set(adjustmentTransactionKey, transaction);
  }
  return [...transactions.values()];
}

/** Each balance as the sum of its changes, in hundredths, so that they add up exactly. Zero balances are left out. */
export function foldBalanceChanges(events: readonly Json[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { type, amount } of events.flatMap((event) => event['changes'] as { type: string; amount: number }[])) {
    sums[type] = (sums[type] ?? 0) + inHundredths(amount);
  }
  return withoutZeros(sums);
}

/** Balances in hundredths. Zero balances are left out. */
export function balancesInHundredths(balances: Json): Record<string, number> {
  return withoutZeros(
    Object.fromEntries(Object.entries(balances).map(([name, amount]) => [name, inHundredths(Number(amount))])),
  );
}

function inHundredths(amount: number): number {
  return Math.round(amount * 100);
}

function withoutZeros(sums: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0));
}

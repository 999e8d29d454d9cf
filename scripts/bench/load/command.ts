import { randomUUID } from 'node:crypto';

/**
 * Posts fee commands as a producer does, in batches to the command event type, and waits until the worker has decided
 * the last of them. Prints commands per second, from the first post to the last outcome.
 */
interface Settings {
  readonly url: string;
  readonly loans: readonly string[];
  readonly commandsPerLoan: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const commandsPerRequest = 100;

const commands = Array.from({ length: settings.commandsPerLoan }, () =>
  settings.loans.map((loanAccountId) => ({
    metadata: { eid: randomUUID(), occurred_at: new Date().toISOString() },
    type: 'APPLY_FEE',
    loanAccountId,
    payload: { amount: 0.01, installmentNumber: 4 },
  })),
).flat();

async function post(batch: readonly object[]): Promise<void> {
  const response = await fetch(`${settings.url}/event-types/lendstream.loan-commands/events`, {
    method: 'POST',
    body: JSON.stringify(batch),
  });
  if (response.status !== 200) throw new Error(`Commands were answered ${response.status} ${await response.text()}`);
}

async function feesOf(loan: string): Promise<number> {
  const response = await fetch(`${settings.url}/loans/${loan}/balances`);
  return ((await response.json()) as { feesBalance: number }).feesBalance;
}

const begin = performance.now();
for (let start = 0; start < commands.length; start += commandsPerRequest * 4) {
  const requests = [0, 1, 2, 3].map((turn) => start + turn * commandsPerRequest);
  await Promise.all(
    requests
      .map((from) => commands.slice(from, from + commandsPerRequest))
      .filter((batch) => batch.length > 0)
      .map(post),
  );
}
const expected = settings.commandsPerLoan / 100;
for (const loan of settings.loans) {
  while (Math.abs((await feesOf(loan)) - expected) > 0.001) await new Promise((resolve) => setTimeout(resolve, 5));
}
console.log(JSON.stringify({ commandsPerSecond: (commands.length * 1000) / (performance.now() - begin) }));
process.exit(0);

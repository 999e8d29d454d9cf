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

/** @throws Error when the command was refused: then nothing was measured */
async function isCommitted(commandId: string): Promise<boolean> {
  const response = await fetch(`${settings.url}/commands/${commandId}`);
  const { status } = (await response.json()) as { readonly status?: string };
  if (response.ok && status !== 'COMMITTED' && status !== 'PENDING') throw new Error(`A command is ${status}`);
  return status === 'COMMITTED';
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
for (const { metadata } of commands.slice(-settings.loans.length)) {
  while (!(await isCommitted(metadata.eid))) await new Promise((resolve) => setTimeout(resolve, 2));
}
console.log(JSON.stringify({ commandsPerSecond: (commands.length * 1000) / (performance.now() - begin) }));
process.exit(0);

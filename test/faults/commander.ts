import { randomUUID } from 'node:crypto';
import { commandIdOf } from '../../src/http/lending/idempotency-key.ts';
import {
  detailOf,
  jsonOf,
  runLoad,
  send,
  type TextResponse,
  type LoadProcess,
  type LoadSettings,
} from './load-process.ts';
import { randomNumbers } from '../support/random-numbers.ts';

/**
 * Posts loan commands: loans are opened, approved and disbursed, charged and repaid, alternating with a repayment that
 * has to be refused. Each command has an Idempotency-Key and is sent, to any node, until it has a final response. Some
 * are then published again as events, bypassing everything that stores responses: only the worker can recognise them.
 */
export interface CommanderSettings extends LoadSettings {
  readonly product: string;
  /** Borrowers at work, each with one loan and one request at a time. */
  readonly borrowers: number;
  /** Between two commands of a borrower. Milliseconds. */
  readonly pauseMilliseconds: number;
}

/** The maximum number of commands of a loan after its disbursement. */
const commandsPerLoanMaximum = 12;
const retryMilliseconds = 400;
/** One in this many commands is published again. */
const repeatEvery = 8;
const loanAmount = 1_000;

interface Command {
  readonly type: string;
  readonly path: string;
  readonly body: object;
}

type Load = LoadProcess<CommanderSettings>;

async function borrow(load: Load, index: number): Promise<void> {
  const random = randomNumbers(load.settings.seed + index);
  for (let loans = 1; !load.isDraining(); loans += 1) {
    const loan = `${load.settings.name}-${index}-${loans}`;
    const { product } = load.settings;
    const opening: Command[] = [
      { type: 'CREATE_LOAN', path: '/loans', body: { id: loan, productTypeKey: product, loanAmount } },
      { type: 'CHANGE_STATE', path: `/loans/${loan}:changeState`, body: { action: 'APPROVE' } },
      { type: 'DISBURSE', path: `/loans/${loan}/disbursement-transactions`, body: {} },
    ];
    const length = 1 + Math.floor(random() * commandsPerLoanMaximum);
    const life = Array.from({ length }, () => servicing(loan, random));
    for (const command of [...opening, ...life]) {
      if (load.isDraining()) return;
      await order(load, loan, command, Math.floor(random() * load.settings.nodes.length), random() < 1 / repeatEvery);
      await load.pause(load.settings.pauseMilliseconds);
    }
  }
}

/** A fee, a repayment, or one of more than is owed. Together they never exceed the loan. */
function servicing(loan: string, random: () => number): Command {
  const choice = random();
  const cents = 100 + Math.floor(random() * 4_000);
  if (choice < 0.3) {
    return {
      type: 'APPLY_FEE',
      path: `/loans/${loan}/fee-transactions`,
      body: { amount: Math.ceil(cents / 10) / 100, installmentNumber: 1 },
    };
  }
  const amount = choice < 0.9 ? cents / 100 : loanAmount * 100;
  return { type: 'REPAY', path: `/loans/${loan}/repayment-transactions`, body: { amount } };
}

/** Sends a command until it has a final response, or until the process has to end: then its outcome stays unknown. */
async function order(
  load: Load,
  loan: string,
  { type, path, body }: Command,
  firstNode: number,
  isRepeated: boolean,
): Promise<void> {
  const { history, settings } = load;
  const key = randomUUID();
  const command = commandIdOf(key, path);
  for (let attempt = 1; !load.isStopping(); attempt += 1) {
    const node = settings.nodes[(firstNode + attempt) % settings.nodes.length];
    if (node === undefined) throw new Error('A commander needs nodes');
    history.record({ kind: 'command posted', command, loan, type, attempt });
    const response = await send(node, 'POST', path, body, { 'Idempotency-Key': key, Prefer: 'wait=4' });
    const outcome = outcomeOf(response);
    const transaction = outcome === 'committed' && path.endsWith('-transactions') ? keyOf(response) : undefined;
    history.record({
      kind: 'command answered',
      command,
      outcome,
      ...(transaction === undefined ? {} : { transaction }),
      ...(outcome === 'committed' ? {} : { detail: detailOf(response) }),
    });
    if (outcome !== 'unknown') {
      if (!isRepeated) return;
      const metadata = { eid: randomUUID(), occurred_at: new Date().toISOString() };
      const event = { metadata, commandId: command, type, loanAccountId: loan, payload: body };
      await send(node, 'POST', '/event-types/lendstream.loan-commands/events', [event]);
      return;
    }
    await load.pause(retryMilliseconds);
  }
}

function outcomeOf(response: TextResponse | { readonly noAnswer: string }): 'committed' | 'refused' | 'unknown' {
  if ('noAnswer' in response) return 'unknown';
  if (response.status === 200 || response.status === 201) return 'committed';
  // 202 and 409: the same command is in progress.
  return response.status === 400 || response.status === 404 ? 'refused' : 'unknown';
}

function keyOf(response: TextResponse | { readonly noAnswer: string }): string | undefined {
  const body = 'text' in response ? (jsonOf(response.text) as { encodedKey?: string } | undefined) : undefined;
  return body?.encodedKey;
}

await runLoad<CommanderSettings>(async (load) => {
  await Promise.all(Array.from({ length: load.settings.borrowers }, (_, index) => borrow(load, index)));
});

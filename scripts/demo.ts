import { Lendstream } from 'lendstream/client';
import { annuityProduct } from '../src/admin/example-product.ts';
import { flag, optionsOf } from './command-line.ts';

/**
 * The main flow against the running service, reported line by line: an event type of its own, a loan product, three
 * loans from application to repayment, a toggle switched in between, and what a consumer sees of all this.
 */
const { keep } = optionsOf('demo', { keep: flag });

const url = process.env['LENDSTREAM_URL'] ?? `http://127.0.0.1:${process.env['PORT'] ?? '8080'}`;
/** Every run has its own names, so that the demo can be shown again on the same data. */
const run = Date.now().toString(36);

type Json = Record<string, unknown>;

function print(text: string): void {
  console.log(text);
}

function chapter(title: string): void {
  print(`\n${title}`);
}

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Json> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status === 400 && text.includes('errorReason')) return JSON.parse(text) as Json;
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Json);
}

/** An amount as people write it. */
function money(amount: unknown): string {
  return Number(amount).toFixed(2);
}

/** One line for one event, from a consumer's point of view. */
function describe(event: Json): string {
  const metadata = event['metadata'] as Json;
  const loan = (event['loanAccountId'] as string | undefined) ?? '';
  const number = event['sequence'] === undefined ? '' : `#${event['sequence'] as number}`;
  const line = (text: string): string => `  ${loan.padEnd(18)}${number.padStart(4)}  ${text}`;
  switch (metadata['event_type']) {
    case 'loan_transaction_posted':
      return line(`${String(event['name'])} ${money((event['transaction'] as Json)['amount'])}`);
    case 'loan_state_changed':
      return line(`${String(event['name'])}, now ${String(event['accountState'])}`);
    case 'loan_fee_event':
      return line(`fee ${String(event['feeEvent']).toLowerCase()} ${money(event['amount'])}`);
    case 'loan_balance_changed': {
      const balances = event['balances'] as Json;
      const fees = 'scheduledFeesBalance' in balances ? 'scheduledFeesBalance' : 'feesBalance';
      return line(
        `balances: principal ${money(balances['principalBalance'])}, interest ${money(balances['interestBalance'])}, ` +
          `${fees} ${money(balances[fees])}`,
      );
    }
    case 'loan_schedule_changed': {
      const { count, nextDueDate, totalDue } = event['summary'] as Json;
      const next = typeof nextDueDate === 'string' ? `, next due ${nextDueDate.slice(0, 10)}` : '';
      return line(
        `schedule (${String(event['reason']).toLowerCase()}): ${String(count)} rows${next}, due ${money(totalDue)}`,
      );
    }
    case 'command_rejected':
      return line(`refused: ${(event['errors'] as Json[]).map(({ errorReason }) => errorReason).join(', ')}`);
    default:
      return `  ${String(metadata['event_type'])}: ${String(event['greeting'])}`;
  }
}

/** The pause between two looks at what the consumer has not received yet. Milliseconds. */
const pollMilliseconds = 20;

/** What to remove at the end, as paths, in this order: what a demo leaves is waited for in vain, and raises alerts. */
const created: string[] = [];

/** Removes the subscription and the event type. Loans and their product stay: they are never deleted. */
async function cleanUp(): Promise<void> {
  for (const path of created.splice(0)) await call('DELETE', path);
}

async function demonstrate(): Promise<void> {
  const greetings = `demo.greeting-${run}`;
  chapter(`1. A new event type, ${greetings}`);
  await call('POST', '/event-types', {
    name: greetings,
    owning_application: 'demo',
    category: 'business',
    enrichment_strategies: ['metadata_enrichment'],
    schema: {
      type: 'json_schema',
      schema: JSON.stringify({ type: 'object', properties: { greeting: { type: 'string' } }, required: ['greeting'] }),
    },
  });
  created.push(`/event-types/${greetings}`);

  chapter('2. A subscription to it and to the lending events; indented lines are what its consumer receives');
  const subscription = await call('POST', '/subscriptions', {
    owning_application: 'demo',
    consumer_group: run,
    event_types: [
      greetings,
      'loan_transaction_posted',
      'loan_fee_event',
      'loan_balance_changed',
      'loan_schedule_changed',
      'loan_state_changed',
      'command_rejected',
    ],
    read_from: 'end',
  });
  created.unshift(`/subscriptions/${String(subscription['id'])}`);
  const consumer = new Lendstream({ url }).consume<Json>(String(subscription['id']), {
    stream: { batch_limit: 1 },
  });
  let received = 0;
  let fresh: Json[] = [];
  const consuming = (async () => {
    for await (const event of consumer.events()) {
      received += 1;
      fresh.push(event);
    }
  })();
  // A failure is reported by the code that awaits it; a demo that is stopped ends first.
  consuming.catch(() => {});
  /** Whether the consumer has every partition, and has received and committed everything in them. */
  const hasCaughtUp = async (): Promise<boolean> => {
    const { items } = (await call('GET', `/subscriptions/${String(subscription['id'])}/stats`)) as { items: Json[] };
    return items
      .flatMap((item) => item['partitions'] as Json[])
      .every((partition) => partition['state'] === 'assigned' && partition['unconsumed_events'] === 0);
  };
  const printReceived = async (): Promise<void> => {
    while (!(await hasCaughtUp())) await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
    // Each event type has its own order. The sequence number puts a loan's events of all types into one order.
    fresh.sort((a, b) => Number(a['sequence'] ?? 0) - Number(b['sequence'] ?? 0));
    for (const event of fresh) print(describe(event));
    fresh = [];
  };
  await printReceived();

  await call('POST', `/event-types/${greetings}/events`, [
    { metadata: { eid: crypto.randomUUID(), occurred_at: new Date().toISOString() }, greeting: 'good morning' },
  ]);
  await printReceived();

  const product = `annuity-${run}`;
  chapter(`3. A loan product, ${product}: four months at ten percent a month`);
  await call('POST', '/loanproducts', annuityProduct(product));

  const loans = [1000, 2500, 400].map((amount, index) => ({ id: `loan-${run}-${index + 1}`, amount }));
  const [first] = loans;
  if (first === undefined) throw new Error('There is no loan');
  for (const { id, amount } of loans) {
    chapter(`4. ${id}: applied for, approved, ${money(amount)} disbursed`);
    await call('POST', '/loans', { id, productTypeKey: product, loanAmount: amount });
    await call('POST', `/loans/${id}:changeState`, { action: 'APPROVE' });
    await call('POST', `/loans/${id}/disbursement-transactions`, {});
    await printReceived();
  }

  chapter(`5. ${first.id}: a fee of 50.00, then 315.47 repaid`);
  await call('POST', `/loans/${first.id}/fee-transactions`, { amount: 50, installmentNumber: 1 });
  await call('POST', `/loans/${first.id}/repayment-transactions`, { amount: 315.47 });
  await printReceived();

  chapter('6. An admin switches ALLOW_NON_SCHEDULED_FEES on: the fee balances have other names from the next event on');
  await call('PUT', '/toggles/ALLOW_NON_SCHEDULED_FEES', { enabled: true });
  await call('POST', `/loans/${first.id}/repayment-transactions`, { amount: 100 });
  await printReceived();

  chapter('7. A repayment of more than is owed is refused, and nothing changes');
  const refused = await call('POST', `/loans/${first.id}/repayment-transactions`, { amount: 99_999 });
  print(`response: ${JSON.stringify(refused)}`);
  await printReceived();

  await call('PUT', '/toggles/ALLOW_NON_SCHEDULED_FEES', { enabled: false });
  chapter(`The schedule of ${first.id}, as GET /loans/${first.id}/schedule has it`);
  const { installments } = (await call('GET', `/loans/${first.id}/schedule`)) as { installments: Json[] };
  print('  number  due         state             principal paid       interest  paid       fee       paid');
  for (const row of installments) {
    const cells = ['principal', 'interest', 'fee'].map((element) => {
      const { expected, paid } = (row[element] as { amount: Json }).amount;
      return `${money(expected).padEnd(9)} ${money(paid).padEnd(8)}`;
    });
    print(
      `  ${String(row['number']).padEnd(8)}${String(row['dueDate']).slice(0, 10)}  ${String(row['state']).padEnd(18)}${cells.join('  ')}`,
    );
  }
  print(`\nLook at it in a browser: ${url}/admin/loans/${first.id}`);
  if (!keep) print('The subscription and the event type of this run are removed; --keep keeps them.');
  print(`\n${received} events received and committed, in order per loan, none twice.`);
  consumer.stop();
  await consuming;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    print(`\n${keep ? 'Stopped.' : 'Stopped: the subscription and the event type of this run are being removed.'}`);
    const removed = keep ? Promise.resolve() : cleanUp();
    void removed.catch(() => {}).finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  });
}

try {
  try {
    await demonstrate();
  } finally {
    if (!keep) await cleanUp();
  }
} catch (error) {
  const refusedConnection = (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED';
  console.error(
    refusedConnection
      ? `lendstream: nothing answers at ${url}. Start the service first: scripts/start`
      : `lendstream: ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exitCode = 1;
}

/** Takes a loan from its application to its first payment by commands, and follows its balances. */
import { ExactNumber, isEventOf, Lendstream, type LendingEvent, type LoanCommand } from 'lendstream/client';

const lendstream = new Lendstream({ url: process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080' });
const loanAccountId = 'client-loan-1';

/** Sends a command and waits for its outcome. @param traceparent The place in a trace that its events have too. */
async function run(command: LoanCommand, traceparent?: string): Promise<void> {
  const { status, errors = [] } = await lendstream.commands.run(command, { traceparent });
  console.log(`${command.type}: ${status}`, ...errors.map(({ errorReason }) => errorReason));
}

const { id } = await lendstream.subscribe({
  owning_application: 'ledger',
  event_types: ['loan_balance_changed'],
  read_from: 'begin',
});

await run({
  type: 'CREATE_PRODUCT',
  loanProductId: 'client-product',
  payload: { id: 'client-product', name: 'Four months', type: 'FIXED_TERM_LOAN', currency: { code: 'EUR' } },
});
// A number whose digits matter, as a text or from another program.
const loanAmount = new ExactNumber('1000.00');
const scheduleSettings = { repaymentInstallments: 4, repaymentPeriodCount: 1, repaymentPeriodUnit: 'MONTHS' } as const;
const payload = { productTypeKey: 'client-product', loanAmount, scheduleSettings };
await run({ type: 'CREATE_LOAN', loanAccountId, payload });
await run({ type: 'CHANGE_STATE', loanAccountId, payload: { action: 'APPROVE' } });
await run({ type: 'DISBURSE', loanAccountId });
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
await run({ type: 'REPAY', loanAccountId, payload: { amount: 250.5 } }, traceparent);
await run({ type: 'REPAY', loanAccountId, payload: { amount: 99_999 } });

const consumer = lendstream.consume<LendingEvent>(id, { stream: { stream_keep_alive_limit: 1 } });
for await (const event of consumer.events()) {
  // TypeScript knows the fields of each lending event.
  if (!isEventOf('loan_balance_changed', event) || event.loanAccountId !== loanAccountId) continue;
  const trace = event.metadata.span_ctx?.['traceparent'] ?? 'no trace';
  console.log(`${event.transactionType}: principal of ${String(event.balances.principalBalance)} is left, ${trace}`);
}

import { newId, now, timestamp } from '../../client/clock.ts';
import type { Requests } from '../../contract.ts';
import { annuityProduct } from '../example-product.ts';
import { call } from '../api/api.ts';

/** The demo data, created through the public API. Every run uses new names. */

const greetingSchema = {
  type: 'object',
  properties: { greeting: { type: 'string', minLength: 1 }, language: { type: 'string' } },
  required: ['greeting'],
};

const greetings = [
  ['good morning', 'en'],
  ['god morgon', 'sv'],
  ['bom dia', 'pt'],
  ['guten Morgen', 'de'],
] as const;

/**
 * Creates an event type with events, a subscription, a loan product and three loans, of which one was repaid in part.
 * @param onStep Called before each step.
 * @throws ApiError
 */
export async function loadDemoData(onStep: (step: string) => void): Promise<void> {
  const run = now().toString(36);
  const eventType = `demo.greeting-${run}`;
  onStep('Defining an event type …');
  await call('POST', '/event-types', {
    name: eventType,
    owning_application: 'demo',
    category: 'business',
    enrichment_strategies: ['metadata_enrichment'],
    schema: { type: 'json_schema', schema: JSON.stringify(greetingSchema, null, 2) },
    default_statistic: { messages_per_minute: 60, message_size: 200, read_parallelism: 2, write_parallelism: 2 },
  } satisfies Requests['createEventType']);
  onStep('Subscribing to it and to the lending events …');
  await call('POST', '/subscriptions', {
    owning_application: 'demo',
    consumer_group: run,
    event_types: [eventType, 'loan_balance_changed', 'loan_schedule_changed', 'loan_transaction_posted'],
    read_from: 'begin',
  } satisfies Requests['createSubscription']);
  onStep('Publishing events …');
  await call(
    'POST',
    `/event-types/${eventType}/events`,
    greetings.map(([greeting, language]) => ({
      metadata: { eid: newId(), occurred_at: timestamp() },
      greeting,
      language,
    })) satisfies Requests['publishEvents'],
  );
  onStep('Creating a loan product …');
  const product = `annuity-${run}`;
  await call('POST', '/loanproducts', annuityProduct(product));
  const loans = [1000, 2500, 400].map((amount, index) => ({ id: `loan-${run}-${index + 1}`, amount }));
  for (const { id, amount } of loans) {
    onStep(`Opening, approving and disbursing ${id} …`);
    const opening = { id, productTypeKey: product, loanAmount: amount } satisfies Requests['createLoan'];
    await call('POST', '/loans', opening);
    await call('POST', `/loans/${id}:changeState`, { action: 'APPROVE' } satisfies Requests['changeLoanState']);
    await call('POST', `/loans/${id}/disbursement-transactions`, {});
  }
  const [first] = loans;
  if (first === undefined) return;
  onStep(`Charging a fee on ${first.id} and repaying a part …`);
  const fee = { amount: 50, installmentNumber: 1 } satisfies Requests['applyFee'];
  await call('POST', `/loans/${first.id}/fee-transactions`, fee);
  const repayment = { amount: 315.47 } satisfies Requests['repayLoan'];
  await call('POST', `/loans/${first.id}/repayment-transactions`, repayment);
}

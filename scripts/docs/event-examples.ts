import { parse } from 'lossless-json';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { toggleNames } from '../../src/lending/toggle-names.ts';
import { lendingEventTypeNames, type LendingEventTypeName } from '../../src/lending-format/lending-topics.ts';

/**
 * One event of each lending type with all toggles off and one with all on. They come from a loan that takes the same
 * course twice. docs/events.md shows them.
 */
export interface EventExample {
  readonly eventType: LendingEventTypeName;
  readonly toggles: 'off' | 'on';
  /** As a consumer receives it; numbers keep their digits. */
  readonly event: Readonly<Record<string, unknown>>;
}

/** Which event of its type is shown: the one with this value in this field. */
const chosen: Readonly<Record<LendingEventTypeName, readonly [field: string, value: string | null]>> = {
  loan_transaction_posted: ['name', 'loan_repayment'],
  loan_fee_event: ['feeEvent', 'APPLIED'],
  loan_balance_changed: ['transactionType', 'REPAYMENT'],
  loan_schedule_changed: ['reason', 'REPAID'],
  loan_account_changed: ['transactionType', null],
  loan_state_changed: ['name', 'loan_approved'],
  command_rejected: ['commandType', 'REPAY'],
  business_day_closed: ['businessDate', '2026-03-31'],
};

/**
 * Runs the loans and returns one example per event type and toggle setting.
 * @param url A service with empty data.
 */
export async function recordEventExamples(url: string): Promise<EventExample[]> {
  const call = async (method: string, path: string, body: unknown): Promise<string> => {
    const response = await fetch(`${url}${path}`, { method, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok && response.status !== 400) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  };
  await call('POST', '/loanproducts', annuityProduct('two-months', 2));
  for (const toggles of ['off', 'on'] as const) {
    for (const name of toggleNames) await call('PUT', `/toggles/${name}`, { enabled: toggles === 'on' });
    const loan = `/loans/${loanOf(toggles)}`;
    await call('POST', '/loans', { id: loanOf(toggles), productTypeKey: 'two-months', loanAmount: 1000 });
    await call('POST', `${loan}:changeState`, { action: 'APPROVE' });
    await call('POST', `${loan}/disbursement-transactions`, { valueDate: '2026-03-01' });
    await call('POST', `${loan}/fee-transactions`, { amount: 50, installmentNumber: 1, valueDate: '2026-03-10' });
    await call('POST', `${loan}/repayment-transactions`, { amount: 200, valueDate: '2026-04-01' });
    await call('POST', `${loan}/repayment-transactions`, { amount: 99_999, valueDate: '2026-04-02' });
    await call('PATCH', loan, [{ op: 'ADD', path: '/_risk/score', value: 7 }]);
  }
  await call('POST', '/organization:endOfDay', { businessDate: '2026-03-31' });
  const events = await readEverything(url, call);
  return lendingEventTypeNames.flatMap((eventType) =>
    togglesOf(eventType).map((toggles): EventExample => {
      const [field, value] = chosen[eventType];
      const event = events.find(
        (candidate) =>
          (candidate['metadata'] as Record<string, unknown>)['event_type'] === eventType &&
          (candidate['loanAccountId'] ?? loanOf(toggles)) === loanOf(toggles) &&
          candidate[field] === value,
      );
      if (event === undefined) throw new Error(`No ${eventType} has ${field} ${value}`);
      return { eventType, toggles, event };
    }),
  );
}

/** The toggles under which an event is shown: no toggle changes those about a day or an account. */
export function togglesOf(eventType: LendingEventTypeName): readonly ('off' | 'on')[] {
  return eventType === 'business_day_closed' || eventType === 'loan_account_changed' ? ['off'] : ['off', 'on'];
}

function loanOf(toggles: 'off' | 'on'): string {
  return `loan-toggles-${toggles}`;
}

/** All lending events, from a stream without commits. The service ends it after the commit timeout, 2 seconds. */
async function readEverything(
  url: string,
  call: (method: string, path: string, body: unknown) => Promise<string>,
): Promise<Record<string, unknown>[]> {
  const subscription = JSON.parse(
    await call('POST', '/subscriptions', {
      owning_application: 'docs',
      event_types: lendingEventTypeNames,
      read_from: 'begin',
    }),
  ) as { id: string };
  const rules = 'batch_limit=1000&batch_flush_timeout=1&max_uncommitted_events=10000&commit_timeout=2';
  const response = await fetch(`${url}/subscriptions/${subscription.id}/events?${rules}`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  return lines.flatMap((line) => (parse(line) as { events?: Record<string, unknown>[] }).events ?? []);
}

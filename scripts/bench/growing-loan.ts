import { randomUUID } from 'node:crypto';
import type { MeasuredService } from './measured-service.ts';
import { against, type Report } from './report.ts';
import { figure } from './statistics.ts';

/** What a command costs on a loan with a long past, against the same command on a young loan. */

const pastTransactions = 10_000;
const youngTransactions = 10;
const commandsPerRequest = 200;
/** The old loan may take 1.3 times as long. */
const speedRatioMinimum = 0.77;
const pollMilliseconds = 2;

interface LoanUnderLoad {
  readonly id: string;
  /** How many transactions it has, which the id of the next one follows from. */
  transactions: number;
}

type Command = readonly [type: string, payload: object];

/** Pairs of commands, the second of which takes back what the first did to the balances. */
const pairs: Readonly<Record<string, (loan: LoanUnderLoad) => readonly [Command, Command]>> = {
  'fees and repayments': () => [fee, ['REPAY', { amount: 0.01, valueDate }]],
  'fees and adjustments': (loan) => [fee, adjustmentAfter(loan)],
  'pay-offs and adjustments': (loan) => [['REPAY', { amount: loanAmount, valueDate }], adjustmentAfter(loan)],
};

const valueDate = '2026-01-12';
const loanAmount = 100_000;
const fee: Command = ['APPLY_FEE', { amount: 0.01, installmentNumber: 1, valueDate }];

function adjustmentAfter({ id, transactions }: LoanUnderLoad): Command {
  return ['ADJUST_TRANSACTION', { transactionId: `${id}-${transactions + 1}` }];
}

/** Prints for each pair of commands the speed on the old loan as a share of the speed on the young one. */
export async function measureGrowth(report: Report, service: MeasuredService, scale: number): Promise<void> {
  const past = Math.max(youngTransactions, Math.ceil(pastTransactions * scale));
  report.begin(`Loans that grow: commands on one with ${figure(past)} transactions against one with ten`);
  const product = `bench-growth-${Date.now()}`;
  await service.call('POST', '/loanproducts', {
    id: product,
    name: 'Growth',
    type: 'FIXED_TERM_LOAN',
    currency: { code: 'EUR' },
    interestSettings: { interestRate: { defaultValue: 0 } },
    scheduleSettings: { numInstallments: { defaultValue: 12 } },
    feesSettings: { allowArbitraryFees: true },
  });
  const old = await openLoan(service, product, `${product}-old`);
  const young = await openLoan(service, product, `${product}-young`);
  const age = pairs['fees and repayments'] ?? (() => [fee, fee]);
  while (old.transactions < past) await post(service, old, age, Math.min(commandsPerRequest, past - old.transactions));
  for (const [name, pair] of Object.entries(pairs)) {
    const turns = await report.inTurns(
      () => post(service, old, pair, commandsPerRequest),
      async () => {
        // The young loan stays young: each turn has its own.
        const fresh = await openLoan(service, product, `${young.id}-${randomUUID().slice(0, 8)}`);
        await post(service, fresh, age, youngTransactions);
        return post(service, fresh, pair, commandsPerRequest);
      },
    );
    report.printRatio({
      name: `${name}: ${figure(past)} transactions / ${youngTransactions}`,
      ratios: turns.ratios,
      atLeast: speedRatioMinimum,
      figures: against(turns, 'commands/s'),
    });
  }
}

async function openLoan(service: MeasuredService, productTypeKey: string, id: string): Promise<LoanUnderLoad> {
  await service.call('POST', '/loans', { id, productTypeKey, loanAmount });
  await service.call('POST', `/loans/${id}:changeState`, { action: 'APPROVE' });
  await service.call('POST', `/loans/${id}/disbursement-transactions`, { valueDate });
  return { id, transactions: 1 };
}

/** Posts commands to one loan in one request. @returns commands decided per second */
async function post(
  service: MeasuredService,
  loan: LoanUnderLoad,
  pair: (loan: LoanUnderLoad) => readonly [Command, Command],
  count: number,
): Promise<number> {
  const events: object[] = [];
  let lastId = '';
  while (events.length < count) {
    for (const [type, payload] of pair(loan)) {
      lastId = randomUUID();
      const metadata = { eid: lastId, occurred_at: new Date().toISOString() };
      events.push({ metadata, commandId: lastId, type, loanAccountId: loan.id, payload });
    }
    loan.transactions += 2;
  }
  const begin = performance.now();
  await service.call('POST', '/event-types/lendstream.loan-commands/events', events);
  while (!(await isCommitted(service, lastId))) await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
  return (events.length * 1_000) / (performance.now() - begin);
}

/** @throws Error when the command was refused: then the others changed nothing either */
async function isCommitted(service: MeasuredService, commandId: string): Promise<boolean> {
  const response = await fetch(`${service.url}/commands/${commandId}`);
  if (response.status === 404) return false;
  const { status, errors } = (await response.json()) as { readonly status: string; readonly errors?: unknown };
  if (status !== 'COMMITTED' && status !== 'PENDING') throw new Error(`${status}: ${JSON.stringify(errors)}`);
  return status === 'COMMITTED';
}

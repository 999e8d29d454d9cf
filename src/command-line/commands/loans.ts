import { type Command, type CommandInput, exitCodes } from '../command.ts';

/** The fields that are shown of an account. */
interface Loan {
  readonly id: string;
  readonly accountState: string;
  readonly accountHolderKey?: string;
  readonly loanName?: string;
  readonly loanAmount?: unknown;
  readonly currency?: { readonly code?: string };
  readonly balances?: Readonly<Record<string, unknown>>;
  readonly creationDate?: string;
}

/** The most that one page of accounts has. */
const pageLimit = 1_000;
const loansDefault = 50;

export const loansCommand: Command = {
  name: 'loans',
  parameters: '[<loan>]',
  wordsMinimum: 0,
  wordsMaximum: 1,
  summary: 'the loans, or the balances, the schedule or the events of one',
  options: {
    state: { value: 'STATE', summary: 'only loans in this state, such as ACTIVE' },
    product: { value: 'PRODUCT', summary: 'only loans of this product, by its id or encodedKey' },
    holder: { value: 'HOLDER', summary: 'only loans of this account holder' },
    limit: { value: 'N', summary: `at most N loans; default ${loansDefault}` },
    schedule: { summary: 'of one loan, its installments' },
    events: { summary: 'of one loan, its events in their order' },
  },
  async run(input) {
    const [id] = input.words;
    if (id === undefined) await showLoans(input);
    else if (input.has('schedule')) await showSchedule(input, id);
    else if (input.has('events')) await showEvents(input, id);
    else await showLoan(input, id);
    return exitCodes.done;
  },
};

async function showLoans({ lendstream, output, isJson, text, wholeNumber }: CommandInput): Promise<void> {
  const wanted = wholeNumber('limit', 1) ?? loansDefault;
  const loans: Loan[] = [];
  while (loans.length < wanted) {
    const limit = Math.min(pageLimit, wanted - loans.length);
    const query = {
      accountState: text('state'),
      productTypeKey: text('product'),
      accountHolderId: text('holder'),
      limit,
      offset: loans.length,
    };
    const page = (await lendstream.get('/loans', { query })) as readonly Loan[];
    loans.push(...page);
    if (page.length < limit) break;
  }
  if (loans.length === wanted) output.message(`there may be more than these ${wanted} loans: see --limit`);
  if (isJson) for (const each of loans) await output.json(each);
  else {
    await output.table(loans, {
      loan: (each) => each.id,
      state: (each) => each.accountState,
      name: (each) => each.loanName,
      amount: (each) => each.loanAmount,
      currency: (each) => each.currency?.code,
      principal: (each) => each.balances?.['principalBalance'],
      created: (each) => each.creationDate,
    });
  }
}

async function showLoan({ lendstream, output, isJson }: CommandInput, id: string): Promise<void> {
  const loan = (await lendstream.get(`/loans/${encodeURIComponent(id)}`)) as Loan;
  if (isJson) {
    await output.json(loan);
    return;
  }
  const balances = Object.entries(loan.balances ?? {}).map(([name, amount]) => ({ name, amount }));
  await output.line(`${loan.id}: ${loan.accountState}`);
  await output.table(balances, { balance: (each) => each.name, amount: (each) => each.amount });
}

interface Installment {
  readonly number: unknown;
  readonly dueDate: string;
  readonly state: string;
  readonly [portion: string]: unknown;
}

async function showSchedule({ lendstream, output, isJson }: CommandInput, id: string): Promise<void> {
  const { installments } = (await lendstream.get(`/loans/${encodeURIComponent(id)}/schedule`)) as {
    readonly installments: readonly Installment[];
  };
  if (isJson) {
    for (const each of installments) await output.json(each);
    return;
  }
  await output.table(installments, {
    number: (each) => each.number,
    due: (each) => each.dueDate.slice(0, 10),
    state: (each) => each.state,
    principal: (each) => amountOf(each['principal'], 'expected'),
    paid: (each) => amountOf(each['principal'], 'paid'),
    interest: (each) => amountOf(each['interest'], 'expected'),
    'interest paid': (each) => amountOf(each['interest'], 'paid'),
    fee: (each) => amountOf(each['fee'], 'expected'),
    'fee paid': (each) => amountOf(each['fee'], 'paid'),
  });
}

function amountOf(portion: unknown, which: string): unknown {
  return (portion as { readonly amount?: Readonly<Record<string, unknown>> } | undefined)?.amount?.[which];
}

async function showEvents({ lendstream, output, isJson }: CommandInput, id: string): Promise<void> {
  const found = (await lendstream.get(`/loans/${encodeURIComponent(id)}/events`)) as {
    readonly items: readonly LoanEvent[];
    readonly complete: boolean;
  };
  if (!found.complete) output.message('the log was too long to find all of its events');
  if (isJson) for (const each of found.items) await output.json(each);
  else {
    await output.table(found.items, {
      sequence: (each) => each.sequence,
      'event type': (each) => each.metadata?.event_type,
      name: (each) => each.name ?? each.reason ?? each.feeEvent,
      time: (each) => each.creationDate,
      transaction: (each) => each.transactionType,
    });
  }
}

interface LoanEvent {
  readonly sequence?: unknown;
  readonly name?: string;
  readonly reason?: string;
  readonly feeEvent?: string;
  readonly creationDate?: string;
  readonly transactionType?: string | null;
  readonly metadata?: { readonly event_type?: string };
}

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { timestamp } from '../../../client/clock.ts';
import type { Responses } from '../../../contract.ts';
import { useAddressQuery } from '../../address-query.ts';
import { callExactPage, type Exact } from '../../api/api.ts';
import { useLoaded } from '../../api/queries.ts';
import { CommandEditor } from '../../commands/command-editor.tsx';
import { loanCommandKinds, type CommandKind, type LoanFacts } from '../../commands/command-kinds.ts';
import { formattedPayload } from '../../commands/payload-text.ts';
import { sumAmounts } from '../../decimals.ts';
import { Skeleton } from '../skeleton.tsx';
import type { Loan } from './state.tsx';

/** The transactions that an example may act on: the first ones of a loan. */
const transactionsMaximum = 1_000;

/** What is asked for when nothing is due. */
const someAmount = '100.00';

/** Sends any command to a loan. The address has which one. */
export function LoanCommands({ loan }: { loan: Loan }): JSX.Element {
  const query = useAddressQuery();
  const address = `/loans/${encodeURIComponent(loan.id)}/transactions?limit=${transactionsMaximum}`;
  const transactions = useLoaded(address, (signal) =>
    callExactPage<Responses['listTransactions'][number]>('GET', address, undefined, { signal }),
  );
  const usualFirst = usualKinds(loan)[0] ?? loanCommandKinds[0];
  // What was sent is shown on, although another command is usual after it.
  const [first] = useState(usualFirst);
  if (transactions.isLoading) return <Skeleton rows={6} />;
  const facts = factsOf(loan, transactions.data?.items ?? [], query.get('transaction'));
  const usual = usualKinds(loan);
  const others = loanCommandKinds.filter((kind) => !usual.includes(kind));
  const kind = loanCommandKinds.find(({ type }) => type === query.get('command')) ?? first;
  if (kind === undefined) return <></>;
  const options = (kinds: readonly CommandKind[]): JSX.Element[] =>
    kinds.map(({ type, title }) => (
      <option key={type} value={type} selected={type === kind.type}>
        {title} ({type})
      </option>
    ));
  return (
    <CommandEditor
      key={`${loan.id} ${kind.type} ${query.get('transaction')}`}
      type={kind.type}
      subject={{ loanAccountId: loan.id }}
      example={formattedPayload(kind.example(facts))}
      action="Send"
      question={`Send ${kind.type} to ${loan.id}?`}
      effect={kind.effect}
    >
      <label class="field">
        <span>Command</span>
        <select
          value={kind.type}
          onChange={(event) => query.set({ command: event.currentTarget.value, transaction: '' }, { replace: true })}
        >
          {usual.length === 0 ? null : <optgroup label="Usual in this state">{options(usual)}</optgroup>}
          <optgroup label="Others">{options(others)}</optgroup>
        </select>
      </label>
    </CommandEditor>
  );
}

function usualKinds({ accountState, accountSubState }: Loan): readonly CommandKind[] {
  return loanCommandKinds.filter(({ usualIn }) =>
    usualIn.some((state) => state === accountState || state === accountSubState),
  );
}

type Transaction = Exact<Responses['listTransactions'][number]>;

function factsOf(loan: Loan, transactions: readonly Transaction[], transactionKey: string): LoanFacts {
  const due = Object.entries(loan.balances ?? {}).flatMap(([name, amount]) =>
    name.endsWith('Due') && typeof amount === 'string' ? [amount] : [],
  );
  const amountDue = sumAmounts(due);
  const disbursement = transactions.find(({ type }) => type === 'DISBURSEMENT');
  return {
    state: loan.accountState,
    amountDue: Number(amountDue) > 0 ? amountDue : someAmount,
    today: timestamp().slice(0, 10),
    productTypeKey: loan.productTypeKey,
    transactionKey: transactionKey === '' ? (transactions.at(-1)?.encodedKey ?? '') : transactionKey,
    disbursementKey: disbursement?.encodedKey ?? '',
  };
}

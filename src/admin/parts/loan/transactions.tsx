import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import { useListState } from '../../address-query.ts';
import { callExactPage, type Exact } from '../../api/api.ts';
import { sentence } from '../../api/error-words.ts';
import { formatAmount } from '../../formats.ts';
import { useLoaded } from '../../api/queries.ts';
import { path } from '../../navigation.ts';
import { CopyButton } from '../copy-button.tsx';
import { Link } from '../link.tsx';
import { Pager } from '../lists/pager.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { Table } from '../lists/table.tsx';
import { Time } from '../time.tsx';

const refreshMilliseconds = 3_000;
const rowsPerPage = 25;

type Transaction = Exact<Responses['listTransactions']>[number];

const elements = [
  ['Principal', 'principalAmount'],
  ['Interest', 'interestAmount'],
  ['Fees', 'feesAmount'],
  ['Penalties', 'penaltyAmount'],
] as const;

/** The transactions of a loan, with the elements that each one changed and the balance after it. */
export function LoanTransactions({ id }: { id: string }): JSX.Element {
  const { page, setPage } = useListState();
  const address = `/loans/${encodeURIComponent(id)}/transactions?limit=${rowsPerPage}&offset=${page * rowsPerPage}&paginationDetails=ON`;
  const transactions = useLoaded(
    address,
    (signal) => callExactPage<Responses['listTransactions'][number]>('GET', address, undefined, { signal }),
    refreshMilliseconds,
    { keepsPrevious: true },
  );
  return (
    <section class="panel flush" aria-label="Transactions">
      <Problem error={transactions.error} what="The transactions cannot be shown." />
      {transactions.isLoading ? <Skeleton rows={5} /> : null}
      {transactions.data === undefined ? null : transactions.data.total === 0 ? (
        <p class="muted">No transactions yet. The first one is the disbursement.</p>
      ) : (
        <Table
          label="Transactions, oldest first"
          rows={transactions.data.items}
          keyOf={({ encodedKey }) => encodedKey}
          columns={[
            {
              name: 'Transaction',
              cell: (transaction) => (
                <details class="inline">
                  <summary>
                    {sentence(transaction.type)}
                    {isAdjusted(transaction) ? <span class="tag warn">adjusted</span> : null}
                  </summary>
                  <div class="actions">
                    <CopyButton text={transaction.id} what="the id" isNamed />
                    {isAdjusted(transaction) || transaction.type.endsWith('_ADJUSTMENT') ? null : (
                      <Link
                        to={`${path('loans', id, 'commands')}?command=ADJUST_TRANSACTION&transaction=${transaction.encodedKey}`}
                        class="button"
                      >
                        Undo it
                      </Link>
                    )}
                  </div>
                  <pre>{transactions.data?.shown[transactions.data.items.indexOf(transaction)]}</pre>
                </details>
              ),
            },
            { name: 'Value date', keyword: true, cell: ({ valueDate }) => valueDate.slice(0, 10) },
            { name: 'Booked', keyword: true, cell: ({ creationDate }) => <Time at={creationDate} still /> },
            { name: 'Amount', numeric: true, cell: ({ amount }) => formatAmount(amount) },
            ...elements.map(([name, field]) => ({
              name,
              numeric: true,
              cell: ({ affectedAmounts }: Transaction) =>
                Number(affectedAmounts[field]) === 0 ? (
                  <span class="muted">—</span>
                ) : (
                  formatAmount(affectedAmounts[field])
                ),
            })),
            {
              name: 'Balance after',
              numeric: true,
              cell: ({ accountBalances }) => formatAmount(accountBalances.totalBalance),
            },
          ]}
        />
      )}
      <Pager page={page} rowsPerPage={rowsPerPage} total={transactions.data?.total ?? 0} onPageChange={setPage} />
    </section>
  );
}

function isAdjusted(transaction: Transaction): boolean {
  return 'adjustmentTransactionKey' in transaction && !transaction.type.endsWith('_ADJUSTMENT');
}

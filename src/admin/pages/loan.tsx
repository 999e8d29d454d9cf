import type { JSX } from 'preact';
import type { Responses } from '../../contract.ts';
import { callExact, type Exact } from '../api/api.ts';
import { formatAmount } from '../formats.ts';
import { path } from '../navigation.ts';
import { useLoaded } from '../api/queries.ts';
import { Id } from '../parts/id.tsx';
import { Link } from '../parts/link.tsx';
import { LoanBalances } from '../parts/loan/balances.tsx';
import { LoanCommands } from '../parts/loan/commands.tsx';
import { LoanEvents } from '../parts/loan/events.tsx';
import { LoanSchedule } from '../parts/loan/schedule.tsx';
import { LoanTransactions } from '../parts/loan/transactions.tsx';
import { LoanState } from '../parts/loan/state.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Tabs, type Views } from '../parts/tabs.tsx';
import { Time } from '../parts/time.tsx';
import { loadProducts } from './products.tsx';

const refreshMilliseconds = 3_000;

const views: Views = [
  [undefined, 'Balances'],
  ['schedule', 'Schedule'],
  ['transactions', 'Transactions'],
  ['events', 'Events'],
  ['commands', 'Commands'],
];

/** One loan: its balances, its schedule, its transactions and its events, and commands for it. */
export function LoanPage({ id, view }: { id: string; view: string | undefined }): JSX.Element {
  const loaded = useLoaded(
    `loan ${id}`,
    (signal) => callExact<Responses['getLoan']>(`/loans/${encodeURIComponent(id)}`, { signal }),
    refreshMilliseconds,
  );
  const isMissing = loaded.error?.status === 404;
  const loan = isMissing ? undefined : loaded.data;
  if (!views.some(([step]) => step === view)) return <NotFound />;
  return (
    <>
      <PageTitle title={loan?.id ?? id} isThing={loan !== undefined}>
        {loan === undefined ? null : (
          <>
            <LoanState loan={loan} />
            {view === 'commands' ? null : (
              <Link to={path('loans', id, 'commands')} class="button primary">
                Send a command
              </Link>
            )}
          </>
        )}
      </PageTitle>
      {isMissing ? (
        <>
          <p class="problem" role="alert">
            There is no loan “{id}”.
          </p>
          <p>
            <Link to="/loans">All loans</Link>
          </p>
        </>
      ) : (
        <>
          <Problem error={loaded.error} what="The loan cannot be shown, or is out of date." />
          {loaded.isLoading ? <Skeleton rows={3} /> : null}
          {loan === undefined ? null : <Account loan={loan} />}
          <Tabs label="Views of the loan" at={['loans', id]} views={views} view={view} />
          {view === undefined ? <LoanBalances id={id} /> : null}
          {view === 'schedule' ? <LoanSchedule id={id} /> : null}
          {view === 'transactions' ? <LoanTransactions id={id} /> : null}
          {view === 'events' ? <LoanEvents id={id} /> : null}
          {view === 'commands' && loan !== undefined ? <LoanCommands loan={loan} /> : null}
        </>
      )}
    </>
  );
}

function Account({ loan }: { loan: Exact<Responses['getLoan']> }): JSX.Element {
  const { loanAmount, currency, creationDate, productTypeKey, loanName, encodedKey, accountHolderKey } = loan;
  const products = useLoaded('products', loadProducts);
  const product = products.data?.items.find((each) => each.encodedKey === productTypeKey);
  return (
    <section class="panel" aria-label="Account">
      <dl class="wide">
        <dt>Amount</dt>
        <dd>
          {formatAmount(loanAmount)} {currency.code}
        </dd>
        <dt>Name</dt>
        <dd>{loanName}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={creationDate} />
        </dd>
        <dt>Product</dt>
        <dd>
          {product === undefined ? (
            <Id id={productTypeKey} what="the product key" />
          ) : (
            <Link to={path('products', product.id)}>{product.name}</Link>
          )}
        </dd>
        {accountHolderKey === undefined ? null : (
          <>
            <dt>Holder</dt>
            <dd>
              <Link to={`${path('loans')}?holder=${encodeURIComponent(accountHolderKey)}`}>{accountHolderKey}</Link>
            </dd>
          </>
        )}
        <dt>Encoded key</dt>
        <dd>
          <Id id={encodedKey} what="the encoded key" />
        </dd>
      </dl>
    </section>
  );
}

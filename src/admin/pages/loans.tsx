import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses } from '../../contract.ts';
import { ApiError, apiErrorOf, callExact, send, type Exact } from '../api.ts';
import { useLoaded } from '../polling.ts';
import { BusinessDayPanel } from '../parts/business-day.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Pager } from '../parts/pager.tsx';
import { Problem } from '../parts/problem.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { Link, navigate, path } from '../route.tsx';
import { LoanState } from '../parts/loan-state.tsx';

const rowsPerPage = 25;
const refreshMilliseconds = 5_000;

const states = ['PARTIAL_APPLICATION', 'PENDING_APPROVAL', 'APPROVED', 'ACTIVE', 'ACTIVE_IN_ARREARS', 'CLOSED'];

export type Loan = Exact<Responses['getLoan']>;

/** Finding a loan: by its id, or among the newest. */
export function LoansPage(): JSX.Element {
  const [state, setState] = useState('');
  const [page, setPage] = useState(0);
  const filter = state === '' ? '' : `&accountState=${state}`;
  const query = `/loans?sortBy=creationDate:DESC&limit=${rowsPerPage + 1}&offset=${page * rowsPerPage}${filter}`;
  const loans = useLoaded(query, (signal) => callExact<Responses['listLoans']>(query, { signal }), refreshMilliseconds);
  const rows = loans.data?.slice(0, rowsPerPage) ?? [];
  const hasNext = (loans.data?.length ?? 0) > rowsPerPage;
  return (
    <>
      <PageTitle title="Loans" />
      <BusinessDayPanel onClosed={loans.reload} />
      <div class="toolbar">
        <FindLoan />
        <label class="field">
          <span>State</span>
          <select
            value={state}
            onChange={(event) => {
              setState(event.currentTarget.value);
              setPage(0);
            }}
          >
            <option value="">all</option>
            {states.map((name) => (
              <option key={name} value={name}>
                {name.replaceAll('_', ' ').toLowerCase()}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Problem error={loans.error} what="The loans cannot be shown." />
      {loans.data === undefined && loans.error === undefined ? <p class="muted">Loading …</p> : null}
      {loans.data === undefined ? null : (
        <section class="panel flush" aria-label="Loans">
          {rows.length === 0 ? (
            <p class="muted">
              {state === ''
                ? 'No loans yet. Open one with POST /loans, or publish a command that does.'
                : 'No loan is in this state.'}
            </p>
          ) : (
            <Table
              label="Loans, newest first"
              rows={rows}
              keyOf={({ encodedKey }) => encodedKey}
              columns={[
                { name: 'Loan', cell: ({ id }) => <Link to={path('loans', id)}>{id}</Link> },
                { name: 'State', cell: (loan) => <LoanState loan={loan} /> },
                {
                  name: 'Amount',
                  numeric: true,
                  cell: ({ loanAmount, currency }) => `${loanAmount} ${currency.code}`,
                },
                { name: 'Created', cell: ({ creationDate }) => <Time at={creationDate} /> },
              ]}
            />
          )}
          <Pager page={page} isLast={!hasNext} onPageChange={setPage} previousLabel="Newer" nextLabel="Older" />
        </section>
      )}
    </>
  );
}

/** Opens the loan with an id or encodedKey, or reports that there is none. */
function FindLoan(): JSX.Element {
  const [wanted, setWanted] = useState('');
  const [missing, setMissing] = useState('');
  const [error, setError] = useState<ApiError>();
  const find = async (): Promise<void> => {
    setMissing('');
    setError(undefined);
    try {
      await send('GET', `/loans/${encodeURIComponent(wanted.trim())}`);
      navigate(path('loans', wanted.trim()));
    } catch (failure) {
      if (failure instanceof ApiError && failure.status === 404) setMissing(wanted.trim());
      else setError(apiErrorOf(failure));
    }
  };
  return (
    <form
      class="field"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (wanted.trim() !== '') void find();
      }}
    >
      <label htmlFor="find-loan" class="muted">
        Id or encoded key of a loan
      </label>
      <div class="joined">
        <input
          id="find-loan"
          value={wanted}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={missing !== ''}
          aria-describedby="find-loan-problem"
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
        <button>Find</button>
      </div>
      <div id="find-loan-problem" role="alert" class="wrong">
        {missing === '' ? null : `There is no loan “${missing}”.`}
      </div>
      <Problem error={error} />
    </form>
  );
}

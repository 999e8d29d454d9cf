import type { JSX } from 'preact';
import type { Requests, Responses } from '../../contract.ts';
import { useAddressQuery, useListState } from '../address-query.ts';
import { callExactPage } from '../api/api.ts';
import { listPath } from '../api/api-lists.ts';
import { formatAmount } from '../formats.ts';
import { path } from '../navigation.ts';
import { queries, useLoaded } from '../api/queries.ts';
import { BusinessDayPanel } from '../parts/business-day.tsx';
import { DemoDataButton } from '../parts/demo-data-button.tsx';
import { Link } from '../parts/link.tsx';
import { LoanState, type Loan } from '../parts/loan/state.tsx';
import { LongName } from '../parts/long-name.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Pager } from '../parts/lists/pager.tsx';
import { Problem } from '../parts/problem.tsx';
import { SearchField } from '../parts/lists/search-field.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { columnId, Table, type Column } from '../parts/lists/table.tsx';
import { Time } from '../parts/time.tsx';
import { useSettled } from '../settled.ts';
import { loadProducts } from './products.tsx';

const rowsPerPage = 25;
const refreshMilliseconds = 5_000;

const states = ['PARTIAL_APPLICATION', 'PENDING_APPROVAL', 'APPROVED', 'ACTIVE', 'ACTIVE_IN_ARREARS', 'CLOSED'];

type Criterion = NonNullable<NonNullable<Requests['searchLoans']>['filterCriteria']>[number];

const keyPattern = /^[0-9a-f]{32}$/;

const columns: readonly Column<Loan>[] = [
  {
    name: 'Loan',
    cell: ({ id }) => (
      <Link to={path('loans', id)}>
        <LongName name={id} />
      </Link>
    ),
    sortField: 'id',
  },
  {
    name: 'State',
    cell: (loan) => <LoanState loan={loan} />,
    sortField: 'accountState',
  },
  { name: 'Name', cell: ({ loanName }) => loanName },
  {
    name: 'Amount',
    numeric: true,
    cell: ({ loanAmount, currency }) => `${formatAmount(loanAmount)} ${currency.code}`,
    sortField: 'loanAmount',
  },
  {
    name: 'Created',
    keyword: true,
    cell: ({ creationDate }) => <Time at={creationDate} still />,
    sortField: 'creationDate',
  },
];

/** Finding a loan, by its id, state, product and holder. */
export function LoansPage(): JSX.Element {
  const list = useListState();
  const query = useAddressQuery();
  const [state, product, holder] = [query.get('state'), query.get('product'), query.get('holder')];
  const products = useLoaded('products', loadProducts);
  const criteria: Criterion[] = [];
  const words = useSettled(list.search.trim());
  const isKey = keyPattern.test(words);
  if (isKey) criteria.push({ field: 'encodedKey', operator: 'EQUALS', value: words });
  if (state !== '') criteria.push({ field: 'accountState', operator: 'EQUALS', value: state });
  if (holder !== '') criteria.push({ field: 'accountHolderKey', operator: 'EQUALS', value: holder });
  if (product !== '') {
    const key = products.data?.items.find(({ id }) => id === product)?.encodedKey;
    criteria.push({ field: 'productTypeKey', operator: 'EQUALS', value: key ?? product });
  }
  const search = {
    filterCriteria: criteria,
    sortingCriteria: {
      field: columns.find(({ name }) => columnId(name) === list.order?.column)?.sortField ?? 'creationDate',
      order: list.order === undefined || list.order.descending ? 'DESC' : 'ASC',
    },
  } satisfies Requests['searchLoans'];
  const address = listPath('/loans:search', {
    limit: rowsPerPage,
    offset: list.page * rowsPerPage,
    paginationDetails: 'ON',
    q: isKey ? '' : words,
  });
  const loans = useLoaded(
    `loans ${address} ${JSON.stringify(search)}`,
    (signal) => callExactPage<Responses['getLoan']>('POST', address, search, { signal }),
    refreshMilliseconds,
    { keepsPrevious: true },
  );
  const filter = (name: string) => (value: string) => query.set({ [name]: value, page: '' }, { replace: true });
  const isFiltered = criteria.length > 0 || words !== '';
  return (
    <>
      <PageTitle title="Loans">
        <Link to="/loans/+new" class="button primary">
          Open a loan
        </Link>
      </PageTitle>
      <div class="toolbar">
        <SearchField label="Part of an id, or encoded key" value={list.search} onInput={list.setSearch} />
        <Choice
          label="State"
          value={state}
          onChange={filter('state')}
          options={states.map((name) => [name, name.replaceAll('_', ' ').toLowerCase()])}
        />
        <Choice
          label="Product"
          value={product}
          onChange={filter('product')}
          options={(products.data?.items ?? []).map(({ id, name }) => [id, `${name} (${id})`])}
        />
        <SearchField label="Key of the holder" value={holder} onInput={filter('holder')} />
      </div>
      <Problem error={loans.error} what="The loans cannot be shown." />
      {loans.isLoading ? <Skeleton rows={10} /> : null}
      {loans.data === undefined ? null : (
        <section class="panel flush" aria-label="Loans" aria-busy={loans.isPrevious}>
          {loans.data.total > 0 ? (
            <Table
              label="Loans"
              rows={loans.data.items}
              keyOf={({ encodedKey }) => encodedKey}
              order={list.order}
              onOrder={list.setOrder}
              isOrdered
              columns={columns}
            />
          ) : isFiltered ? (
            <p class="muted">{words === '' ? 'No loan matches.' : `No loan has “${words}” in its id.`}</p>
          ) : (
            <div class="empty inset">
              <p>
                No loans yet. <Link to="/loans/+new">Open the first one</Link>, or use <code>POST /loans</code>.
              </p>
              <DemoDataButton />
            </div>
          )}
          <Pager page={list.page} rowsPerPage={rowsPerPage} total={loans.data.total} onPageChange={list.setPage} />
        </section>
      )}
      <BusinessDayPanel onClosed={() => void queries.invalidateQueries()} />
    </>
  );
}

interface ChoiceProperties {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly (readonly [value: string, text: string])[];
}

/** A filter with a few values. */
function Choice({ label, value, onChange, options }: ChoiceProperties): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">all</option>
        {options.map(([each, text]) => (
          <option key={each} value={each} selected={each === value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

import type { JSX } from 'preact';
import type { Responses } from '../../contract.ts';
import { callExactPage, type Exact, type ListPage } from '../api/api.ts';
import { path } from '../navigation.ts';
import { useLoaded } from '../api/queries.ts';
import { DemoDataButton } from '../parts/demo-data-button.tsx';
import { Link } from '../parts/link.tsx';
import { LongName } from '../parts/long-name.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { SearchableList } from '../parts/lists/searchable-list.tsx';
import { Skeleton } from '../parts/skeleton.tsx';

const rowsPerPage = 25;

/** The most products that are listed. */
const productsMaximum = 1_000;

type Product = Exact<Responses['getLoanProduct']>;

/** All loan products. */
export function ProductsPage(): JSX.Element {
  const products = useLoaded('products', loadProducts);
  const rows = products.data?.items ?? [];
  return (
    <>
      <PageTitle title="Products">
        <Link to="/products/+new" class="button primary">
          Create a product
        </Link>
      </PageTitle>
      <Problem error={products.error} what="The products cannot be shown." />
      {products.isLoading ? <Skeleton rows={6} /> : null}
      {products.data?.total === 0 ? (
        <section class="panel empty">
          <h2>No loan products yet</h2>
          <p>
            A loan is opened under a product. <Link to="/products/+new">Create the first one</Link>, or use{' '}
            <code>POST /loanproducts</code>.
          </p>
          <DemoDataButton />
        </section>
      ) : null}
      {rows.length === 0 ? null : (
        <SearchableList
          label="Loan products"
          searchLabel="Search by id, name, type or key"
          rows={rows}
          rowsPerPage={rowsPerPage}
          keyOf={({ encodedKey }) => encodedKey}
          textsOf={({ id, name, type, encodedKey }) => [id, name, type, encodedKey]}
          nothingFound={(words) => `No product matches “${words}”.`}
          columns={[
            {
              name: 'Product',
              cell: ({ id, name }) => (
                <Link to={path('products', id)}>
                  <LongName name={name} />
                </Link>
              ),
              sortValue: ({ name }) => name,
            },
            { name: 'Id', cell: ({ id }) => <LongName name={id} />, sortValue: ({ id }) => id },
            {
              name: 'Type',
              cell: ({ type }) => type.replaceAll('_', ' ').toLowerCase(),
              sortValue: ({ type }) => type,
            },
            {
              name: 'State',
              keyword: true,
              cell: ({ state }) => <ProductState state={state} />,
              sortValue: ({ state }) => state,
            },
            { name: 'Currency', keyword: true, cell: ({ currency }) => currency.code },
            {
              name: 'Loans',
              keyword: true,
              cell: ({ id }) => <Link to={`${path('loans')}?product=${encodeURIComponent(id)}`}>its loans</Link>,
            },
          ]}
        />
      )}
    </>
  );
}

export function ProductState({ state }: { state: string }): JSX.Element {
  return <span class={state === 'ACTIVE' ? 'tag good' : 'tag'}>{state.toLowerCase()}</span>;
}

/** All products, for this page and for choosing one. */
export function loadProducts(signal: AbortSignal): Promise<ListPage<Product>> {
  const address = `/loanproducts?sortBy=name:ASC&limit=${productsMaximum}&paginationDetails=ON`;
  return callExactPage<Responses['getLoanProduct']>('GET', address, undefined, { signal });
}

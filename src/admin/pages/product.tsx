import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses } from '../../contract.ts';
import { apiErrorOf, call, exactly, getText, type Exact } from '../api/api.ts';
import { queries, useLoaded } from '../api/queries.ts';
import { formattedPayload } from '../commands/payload-text.ts';
import { formatAmount } from '../formats.ts';
import { navigate, path } from '../navigation.ts';
import { Confirm } from '../parts/confirm.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Id } from '../parts/id.tsx';
import { Link } from '../parts/link.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Time } from '../parts/time.tsx';
import { EditProductPage, NewProductPage } from './product-form.tsx';
import { ProductState } from './products.tsx';

type Product = Exact<Responses['getLoanProduct']>;

/** One loan product, or the form of one. */
export function ProductPage({ id, view }: { id: string; view: string | undefined }): JSX.Element {
  // No product can have this id: ids begin with a letter or a digit.
  if (id === '+new' && view === undefined) return <NewProductPage />;
  if (view === 'edit') return <EditProductPage id={id} />;
  return view === undefined ? <Definition id={id} /> : <NotFound />;
}

function Definition({ id }: { id: string }): JSX.Element {
  const address = `/loanproducts/${encodeURIComponent(id)}`;
  const loaded = useLoaded(address, async (signal) => {
    const text = await getText(address, { signal });
    return { product: exactly<Responses['getLoanProduct']>(text), shown: formattedPayload(text) };
  });
  const [dialog, setDialog] = useState<'switch' | 'delete'>();
  const isMissing = loaded.error?.status === 404;
  if (loaded.data === undefined || isMissing) {
    return (
      <>
        <PageTitle title={id} />
        <Problem
          error={loaded.error}
          what={isMissing ? `There is no product “${id}”.` : 'The product cannot be shown.'}
        />
        {loaded.isLoading ? (
          <Skeleton rows={8} />
        ) : (
          <p>
            <Link to="/products">All products</Link>
          </p>
        )}
      </>
    );
  }
  const { product, shown } = loaded.data;
  const isActive = product.state === 'ACTIVE';
  return (
    <>
      <PageTitle title={product.name} isThing>
        <ProductState state={product.state} />
        {isActive ? (
          <Link to={`/loans/+new?product=${encodeURIComponent(product.id)}`} class="button primary">
            Open a loan
          </Link>
        ) : null}
        <Link to={path('products', product.id, 'edit')} class="button">
          Edit
        </Link>
        <Link to={`/products/+new?from=${encodeURIComponent(product.id)}`} class="button">
          Clone
        </Link>
        <button onClick={() => setDialog('switch')}>{isActive ? 'Deactivate' : 'Activate'}</button>
        <button class="danger" onClick={() => setDialog('delete')}>
          Delete
        </button>
      </PageTitle>
      <Problem error={loaded.error} what="This may be out of date." />
      <div class="columns">
        <Summary product={product} />
        <div class="panel">
          <div class="title">
            <h2 id="product-json">All settings</h2>
            <CopyButton text={shown} what="the product" />
          </div>
          <pre tabIndex={0} role="region" aria-labelledby="product-json">
            {shown}
          </pre>
        </div>
      </div>
      {dialog === 'switch' ? (
        <Confirm
          title={`${isActive ? 'Deactivate' : 'Activate'} ${product.id}?`}
          action={isActive ? 'Deactivate' : 'Activate'}
          onClose={() => setDialog(undefined)}
          onConfirm={async () => {
            const state = isActive ? 'INACTIVE' : 'ACTIVE';
            await call('PATCH', address, [{ op: 'REPLACE', path: '/state', value: state }]);
            setDialog(undefined);
            await queries.invalidateQueries();
          }}
        >
          <p>
            {isActive
              ? 'No loan can be opened under it any more. Loans that exist go on.'
              : 'Loans can be opened under it again.'}
          </p>
        </Confirm>
      ) : null}
      {dialog === 'delete' ? (
        <Confirm
          title={`Delete ${product.id}?`}
          action="Delete"
          dangerous
          onClose={() => setDialog(undefined)}
          onConfirm={async () => {
            try {
              await call('DELETE', address);
            } catch (failure) {
              // After a lost response it is unknown whether it is deleted. The second request then finds nothing.
              if (apiErrorOf(failure).status !== 404) throw failure;
            }
            void queries.invalidateQueries();
            navigate('/products');
          }}
        >
          <p>Only a product without loans can be deleted. Its id can be used again.</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** What people ask of a product first. */
function Summary({ product }: { product: Product }): JSX.Element {
  const { scheduleSettings: schedule, interestSettings: interest, loanAmountSettings: amount } = product;
  const rate = interest?.indexRateSettings;
  const interestRate = rangeText(rate?.interestRate);
  const frequency = rate?.interestChargeFrequency ? `, ${inWords(rate.interestChargeFrequency)}` : '';
  const unit = inWords(schedule?.repaymentPeriodUnit ?? '');
  const count = schedule?.defaultRepaymentPeriodCount ?? '1';
  const period = unit === '' ? undefined : count === '1' ? unit.replace(/s$/, '') : `${count} ${unit}`;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Type', inWords(product.type)],
    ['Currency', product.currency.code],
    ['Loan amount', rangeText(amount?.loanAmount)],
    ['Interest rate', interestRate === undefined ? undefined : `${interestRate} %${frequency}`],
    ['Installments', rangeText(schedule?.numInstallments)],
    ['Due every', period],
  ];
  return (
    <section class="panel" aria-label="Product">
      <dl>
        <dt>Id</dt>
        <dd>
          <Id id={product.id} what="the id" />
        </dd>
        {rows.map(([name, value]) =>
          value === undefined ? null : (
            <>
              <dt key={name}>{name}</dt>
              <dd>{value}</dd>
            </>
          ),
        )}
        <dt>Created</dt>
        <dd>
          <Time at={product.creationDate} />
        </dd>
        <dt>Changed</dt>
        <dd>
          <Time at={product.lastModifiedDate} />
        </dd>
        <dt>Encoded key</dt>
        <dd>
          <Id id={product.encodedKey} what="the encoded key" />
        </dd>
        <dt>Loans</dt>
        <dd>
          <Link to={`${path('loans')}?product=${encodeURIComponent(product.id)}`}>its loans</Link>
        </dd>
      </dl>
    </section>
  );
}

interface Range {
  readonly defaultValue?: string | null;
  readonly minValue?: string | null;
  readonly maxValue?: string | null;
}

function rangeText(range: Range | null | undefined): string | undefined {
  const { defaultValue, minValue, maxValue } = range ?? {};
  const bounds = [
    minValue === undefined || minValue === null ? '' : `at least ${formatAmount(minValue)}`,
    maxValue === undefined || maxValue === null ? '' : `at most ${formatAmount(maxValue)}`,
  ].filter(Boolean);
  const value = defaultValue === undefined || defaultValue === null ? '' : formatAmount(defaultValue);
  const text = [value, ...bounds].filter(Boolean).join(', ');
  return text === '' ? undefined : text;
}

function inWords(constant: string): string {
  return constant.replaceAll('_', ' ').toLowerCase();
}

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { now } from '../../client/clock.ts';
import { useAddressQuery } from '../address-query.ts';
import { useLoaded } from '../api/queries.ts';
import { CommandEditor } from '../commands/command-editor.tsx';
import { formattedPayload } from '../commands/payload-text.ts';
import { navigate, path } from '../navigation.ts';
import { Field } from '../parts/field.tsx';
import { Link } from '../parts/link.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { loadProducts } from './products.tsx';

/** Opens a loan under a product. */
export function NewLoanPage(): JSX.Element {
  const wanted = useAddressQuery().get('product');
  const [id, setId] = useState(() => `loan-${now().toString(36)}`);
  const products = useLoaded('products', loadProducts);
  const active = (products.data?.items ?? []).filter(({ state }) => state === 'ACTIVE');
  const product = active.find((each) => each.id === wanted)?.id ?? active[0]?.id ?? '';
  return (
    <>
      <PageTitle title="Open a loan" />
      <Problem error={products.error} what="The products cannot be shown." />
      {products.isLoading ? <Skeleton rows={8} /> : null}
      {products.data === undefined ? null : product === '' ? (
        <section class="panel empty">
          <p>
            A loan is opened under an active product, and there is none. <Link to="/products/+new">Create one</Link>{' '}
            first.
          </p>
        </section>
      ) : (
        <CommandEditor
          type="CREATE_LOAN"
          subject={{ loanAccountId: id.trim() }}
          example={formattedPayload(`{"productTypeKey": ${JSON.stringify(product)}, "loanAmount": 1000.00}`)}
          action="Open the loan"
          question={`Open the loan ${id.trim()}?`}
          effect="A new account, which is approved and paid out with further commands."
          choices={{ productTypeKey: active.map((each) => [each.id, `${each.name} (${each.id})`]) }}
          onDone={() => navigate(path('loans', id.trim()))}
        >
          <Field label="Id" value={id} onInput={setId} hint="Letters, digits, dots, dashes and underscores" />
        </CommandEditor>
      )}
    </>
  );
}

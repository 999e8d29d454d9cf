import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAddressQuery } from '../address-query.ts';
import { getText } from '../api/api.ts';
import { useLoaded } from '../api/queries.ts';
import { CommandEditor } from '../commands/command-editor.tsx';
import { formattedPayload, withoutMembers } from '../commands/payload-text.ts';
import { annuityProduct } from '../example-product.ts';
import { navigate, path } from '../navigation.ts';
import { Field } from '../parts/field.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';

/** What a copy of a product does not take over from it. */
const ownMembers = ['id', 'encodedKey', 'version', 'creationDate', 'lastModifiedDate'];

/** Creates a loan product, from an example or like another one. */
export function NewProductPage(): JSX.Element {
  const from = useAddressQuery().get('from');
  const [id, setId] = useState(from === '' ? 'annuity' : `${from}-copy`);
  const template = useLoaded(`product template ${from}`, async (signal) => {
    const { id: _id, ...example } = annuityProduct(from);
    if (from === '') return JSON.stringify(example);
    return withoutMembers(await getText(`/loanproducts/${encodeURIComponent(from)}`, { signal }), ownMembers);
  });
  return (
    <>
      <PageTitle title={from === '' ? 'Create a product' : 'Clone a product'} />
      <Problem error={template.error} what="The product cannot be cloned." />
      {template.isLoading ? <Skeleton rows={8} /> : null}
      {template.data === undefined ? null : (
        <CommandEditor
          type="CREATE_PRODUCT"
          subject={{ loanProductId: id.trim() }}
          example={formattedPayload(template.data)}
          action="Create"
          question={`Create the product ${id.trim()}?`}
          effect="Loans can be opened under it while it is active."
          onDone={() => navigate(path('products', id.trim()))}
        >
          <Field label="Id" value={id} onInput={setId} hint="Letters, digits, dots, dashes and underscores" />
        </CommandEditor>
      )}
    </>
  );
}

/** Changes a loan product. */
export function EditProductPage({ id }: { id: string }): JSX.Element {
  const product = useLoaded(`edit product ${id}`, (signal) =>
    getText(`/loanproducts/${encodeURIComponent(id)}`, { signal }),
  );
  return (
    <>
      <PageTitle title={`Edit ${id}`} />
      <Problem error={product.error} what="The product cannot be edited." />
      {product.isLoading ? <Skeleton rows={8} /> : null}
      {product.data === undefined ? null : (
        <CommandEditor
          type="UPDATE_PRODUCT"
          subject={{ loanProductId: id }}
          example={formattedPayload(product.data)}
          action="Save"
          question={`Change the product ${id}?`}
          effect="Loans that exist keep what they have. It is refused if the product was changed since you opened it."
          onDone={() => navigate(path('products', id))}
        />
      )}
    </>
  );
}

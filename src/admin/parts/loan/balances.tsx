import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import { call, callExact } from '../../api/api.ts';
import { sumAmounts } from '../../decimals.ts';
import { formatAmount } from '../../formats.ts';
import { useLoaded } from '../../api/queries.ts';
import { FieldName } from '../field-name.tsx';
import { Link } from '../link.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { Table } from '../lists/table.tsx';

const refreshMilliseconds = 3_000;

const figures = ['Due', 'Paid', 'Balance'] as const;

/** An element of a loan with its figures; a figure that the loan does not have is undefined. */
interface Element {
  /** As in the names of its fields, such as `scheduledFees`. */
  readonly base: string;
  readonly title: string;
  readonly Due: string | undefined;
  readonly Paid: string | undefined;
  readonly Balance: string | undefined;
  readonly fields: readonly string[];
}

/** The balances of a loan: a row for each element, with what is due, paid and outstanding. */
export function LoanBalances({ id }: { id: string }): JSX.Element {
  const balances = useLoaded(
    `balances ${id}`,
    (signal) => callExact<Responses['getLoanBalances']>(`/loans/${encodeURIComponent(id)}/balances`, { signal }),
    refreshMilliseconds,
  );
  const toggles = useLoaded(
    'toggles',
    (signal) => call<Responses['listToggles']>('GET', '/toggles', undefined, { signal }),
    refreshMilliseconds,
  );
  const on = (toggles.data ?? []).filter(({ enabled }) => enabled).map(({ name }) => name);
  const amounts = Object.entries(balances.data ?? {}).filter((entry): entry is [string, string] => {
    return typeof entry[1] === 'string';
  });
  const elements = elementsOf(amounts);
  const cell = (amount: string | undefined): JSX.Element | string =>
    amount === undefined ? <span class="muted">—</span> : formatAmount(amount);
  return (
    <section class="panel flush" aria-label="Balances">
      <Problem error={balances.error ?? toggles.error} what="The balances cannot be shown." />
      {balances.isLoading ? <Skeleton rows={5} /> : null}
      {balances.data === undefined ? null : (
        <Table
          label="Balances"
          rows={elements}
          keyOf={({ base }) => base}
          columns={[
            {
              name: 'Element',
              cell: ({ title, fields }) => (
                <>
                  {title}
                  <div class="field-names">
                    {fields.map((name) => (
                      <FieldName key={name} name={name} muted />
                    ))}
                  </div>
                </>
              ),
            },
            { name: 'Due', numeric: true, cell: ({ Due }) => cell(Due) },
            { name: 'Paid', numeric: true, cell: ({ Paid }) => cell(Paid) },
            { name: 'Outstanding', numeric: true, cell: ({ Balance }) => cell(Balance) },
          ]}
          footer={
            <tr>
              <td data-name="Element">
                <div>Total</div>
              </td>
              {figures.map((figure) => (
                <td key={figure} class="number" data-name={figure === 'Balance' ? 'Outstanding' : figure}>
                  <div>{formatAmount(sumAmounts(elements.map((element) => element[figure] ?? '0')))}</div>
                </td>
              ))}
            </tr>
          }
        />
      )}
      <p class="muted">
        {toggles.data === undefined
          ? ''
          : on.length === 0
            ? 'Field names with all toggles off. '
            : `Field names with ${on.join(', ')} on. `}
        <Link to="/toggles">Toggles</Link>
      </p>
    </section>
  );
}

/** The rows of the balances, from fields such as `principalDue`. */
function elementsOf(amounts: readonly (readonly [string, string])[]): Element[] {
  const elements = new Map<string, Element>();
  for (const [field, amount] of amounts) {
    const [, base = field, figure = 'Balance'] = /^(.+?)(Due|Paid|Balance)(?:Balance)?$/.exec(field) ?? [];
    const element = elements.get(base) ?? {
      base,
      title: titleOf(base),
      Due: undefined,
      Paid: undefined,
      Balance: undefined,
      fields: [],
    };
    elements.set(base, { ...element, [figure]: amount, fields: [...element.fields, field] });
  }
  return [...elements.values()];
}

function titleOf(base: string): string {
  const words = base.replaceAll(/(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

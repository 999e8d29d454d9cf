import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import { callExact, type Exact } from '../../api/api.ts';
import { sumAmounts } from '../../decimals.ts';
import { formatAmount } from '../../formats.ts';
import { useLoaded } from '../../api/queries.ts';
import type { Series } from '../../chart-drawing.ts';
import { Chart } from '../chart.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { Table } from '../lists/table.tsx';

const refreshMilliseconds = 3_000;

type Installment = Exact<Responses['getLoanSchedule']>['installments'][number];

const elements = ['principal', 'interest', 'fee', 'penalty'] as const;
const titles = { principal: 'Principal', interest: 'Interest', fee: 'Fees', penalty: 'Penalties' } as const;

/** The installments of a loan with their totals, and a picture of them. */
export function LoanSchedule({ id }: { id: string }): JSX.Element {
  const schedule = useLoaded(
    `schedule ${id}`,
    (signal) => callExact<Responses['getLoanSchedule']>(`/loans/${encodeURIComponent(id)}/schedule`, { signal }),
    refreshMilliseconds,
  );
  const rows = schedule.data?.installments ?? [];
  const cell = (expected: string, paid: string): JSX.Element => (
    <>
      {formatAmount(expected)}
      {Number(paid) === 0 ? null : <div class="muted">{formatAmount(paid)} paid</div>}
    </>
  );
  const total = (installment: Installment, figure: 'expected' | 'paid'): string =>
    sumAmounts(elements.map((element) => installment[element].amount[figure]));
  const sum = (element: (typeof elements)[number], figure: 'expected' | 'paid'): string =>
    sumAmounts(rows.map((installment) => installment[element].amount[figure]));
  const sumOfAll = (figure: 'expected' | 'paid'): string => sumAmounts(rows.map((row) => total(row, figure)));
  return (
    <>
      <Problem error={schedule.error} what="The schedule cannot be shown." />
      {schedule.isLoading ? <Skeleton rows={8} /> : null}
      {rows.length < 2 ? null : (
        <section class="panel" aria-labelledby="schedule-chart">
          <h2 id="schedule-chart">Installments and remaining principal over time</h2>
          <Chart
            label={`Principal falls from ${formatAmount(sum('principal', 'expected'))} to 0 over ${rows.length} installments; the table below has the numbers.`}
            times={rows.map(({ dueDate }) => Date.parse(dueDate) / 1_000)}
            series={seriesOf(rows)}
          />
        </section>
      )}
      {schedule.data === undefined ? null : (
        <section class="panel flush" aria-label="Schedule">
          {rows.length === 0 ? (
            <p class="muted">No schedule yet. It is created when the loan is disbursed.</p>
          ) : (
            <Table
              label="Installments"
              rows={rows}
              keyOf={({ encodedKey }) => encodedKey}
              columns={[
                { name: 'Number', cell: ({ number }) => number },
                { name: 'Due', keyword: true, cell: ({ dueDate }) => dueDate.slice(0, 10) },
                {
                  name: 'State',
                  cell: ({ state }) => (
                    <span class={state === 'PAID' ? 'tag good' : state === 'LATE' ? 'tag bad' : 'tag'}>
                      {state.replaceAll('_', ' ').toLowerCase()}
                    </span>
                  ),
                },
                ...elements.map((element) => ({
                  name: titles[element],
                  numeric: true,
                  cell: (installment: Installment) =>
                    cell(installment[element].amount.expected, installment[element].amount.paid),
                })),
                {
                  name: 'Total',
                  numeric: true,
                  cell: (installment) => cell(total(installment, 'expected'), total(installment, 'paid')),
                },
              ]}
              footer={
                <tr>
                  <td colSpan={3} data-name="Total">
                    <div>Total of {rows.length} installments</div>
                  </td>
                  {elements.map((element) => (
                    <td key={element} class="number" data-name={titles[element]}>
                      <div>{cell(sum(element, 'expected'), sum(element, 'paid'))}</div>
                    </td>
                  ))}
                  <td class="number" data-name="Total">
                    <div>{cell(sumOfAll('expected'), sumOfAll('paid'))}</div>
                  </td>
                </tr>
              }
            />
          )}
        </section>
      )}
    </>
  );
}

/** What each installment asks for, and the principal that remains after it. A picture needs no exact numbers. */
function seriesOf(rows: readonly Installment[]): readonly Series[] {
  const amounts = (element: (typeof elements)[number]): number[] =>
    rows.map((installment) => Number(installment[element].amount.expected));
  const principal = amounts('principal');
  const others = rows.map((_, index) => (amounts('fee')[index] ?? 0) + (amounts('penalty')[index] ?? 0));
  let remaining = principal.reduce((sum, amount) => sum + amount, 0);
  return [
    { name: 'Principal', kind: 'bar', values: principal },
    { name: 'Interest', kind: 'bar', values: amounts('interest') },
    ...(others.some((amount) => amount > 0)
      ? [{ name: 'Fees and penalties', kind: 'bar' as const, values: others }]
      : []),
    { name: 'Remaining principal', kind: 'line', values: principal.map((amount) => (remaining -= amount)) },
  ];
}

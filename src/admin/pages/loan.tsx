import type { JSX } from 'preact';
import type { Responses } from '../../contract.ts';
import { call, callExact, exactly, getText, type Exact } from '../api.ts';
import { sentence } from '../error-words.ts';
import { parseToShow, shownJson } from '../exact-numbers.ts';
import { useLoaded } from '../polling.ts';
import { FieldName } from '../parts/field-name.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { Link, path } from '../route.tsx';
import { LoanState } from '../parts/loan-state.tsx';

const refreshMilliseconds = 3_000;

type Installment = Exact<Responses['getLoanSchedule']>['installments'][number];

/** The schemas do not describe its metadata: every published event has it. */
type LoanEvent = Exact<Responses['listLoanEvents']>['items'][number] & {
  readonly metadata: { readonly eid: string; readonly event_type: string; readonly occurred_at: string };
};

const views = [
  [undefined, 'Balances'],
  ['schedule', 'Schedule'],
  ['events', 'Events'],
] as const;

/** One loan: its balances, its schedule and its events. */
export function LoanPage({ id, view }: { id: string; view: string | undefined }): JSX.Element {
  const loan = useLoaded(
    `loan ${id}`,
    (signal) => callExact<Responses['getLoan']>(`/loans/${encodeURIComponent(id)}`, { signal }),
    refreshMilliseconds,
  );
  if (loan.data === undefined) {
    return (
      <>
        <PageTitle title={id} />
        {loan.error?.status === 404 ? (
          <p class="problem" role="alert">
            There is no loan “{id}”.
          </p>
        ) : (
          <Problem error={loan.error} what="The loan cannot be shown." />
        )}
        <p>
          <Link to="/loans">All loans</Link>
        </p>
      </>
    );
  }
  const { loanAmount, currency, creationDate, productTypeKey, loanName, encodedKey } = loan.data;
  return (
    <>
      <PageTitle title={loan.data.id}>
        <LoanState loan={loan.data} />
      </PageTitle>
      <Problem error={loan.error} what="This may be out of date." />
      <section class="panel" aria-label="Account">
        <dl>
          <dt>Amount</dt>
          <dd>
            {loanAmount} {currency.code}
          </dd>
          <dt>Name</dt>
          <dd>{loanName}</dd>
          <dt>Created</dt>
          <dd>
            <Time at={creationDate} />
          </dd>
          <dt>Product key</dt>
          <dd class="mono">{productTypeKey}</dd>
          <dt>Encoded key</dt>
          <dd class="mono">{encodedKey}</dd>
        </dl>
      </section>
      <nav class="tabs" aria-label="Views of the loan">
        {views.map(([step, name]) => (
          <Link
            key={name}
            to={step === undefined ? path('loans', id) : path('loans', id, step)}
            current={view === step}
          >
            {name}
          </Link>
        ))}
      </nav>
      {view === 'schedule' ? <Schedule id={id} /> : view === 'events' ? <Events id={id} /> : <Balances id={id} />}
    </>
  );
}

function Balances({ id }: { id: string }): JSX.Element {
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
  const rows = Object.entries(balances.data ?? {}).filter((entry): entry is [string, string] => {
    return typeof entry[1] === 'string';
  });
  return (
    <section class="panel flush" aria-label="Balances">
      <p class="muted">
        {toggles.data === undefined
          ? ''
          : on.length === 0
            ? 'Field names with all toggles off. '
            : `Field names with ${on.join(', ')} on. `}
        <Link to="/toggles">Toggles</Link>
      </p>
      <Problem error={balances.error ?? toggles.error} what="The balances cannot be shown." />
      <Table
        label="Balances"
        rows={rows}
        keyOf={([name]) => name}
        columns={[
          { name: 'Balance', cell: ([name]) => <FieldName name={name} /> },
          { name: 'Amount', numeric: true, cell: ([, amount]) => amount },
        ]}
      />
    </section>
  );
}

function Schedule({ id }: { id: string }): JSX.Element {
  const schedule = useLoaded(
    `schedule ${id}`,
    (signal) => callExact<Responses['getLoanSchedule']>(`/loans/${encodeURIComponent(id)}/schedule`, { signal }),
    refreshMilliseconds,
  );
  const rows = schedule.data?.installments ?? [];
  const cell = ({ amount }: Installment['principal']): JSX.Element => (
    <>
      {amount.expected}
      {Number(amount.paid) === 0 ? null : <div class="muted">{amount.paid} paid</div>}
    </>
  );
  return (
    <section class="panel flush" aria-label="Schedule">
      <Problem error={schedule.error} what="The schedule cannot be shown." />
      {schedule.data !== undefined && rows.length === 0 ? (
        <p class="muted">No schedule yet. It is created when the loan is disbursed.</p>
      ) : (
        <Table
          label="Installments"
          rows={rows}
          keyOf={({ encodedKey }) => encodedKey}
          columns={[
            { name: 'Number', cell: ({ number }) => number },
            { name: 'Due', cell: ({ dueDate }) => dueDate.slice(0, 10) },
            {
              name: 'State',
              cell: ({ state }) => (
                <span class={state === 'PAID' ? 'tag good' : state === 'LATE' ? 'tag bad' : 'tag'}>
                  {state.replaceAll('_', ' ').toLowerCase()}
                </span>
              ),
            },
            { name: 'Principal', numeric: true, cell: ({ principal }) => cell(principal) },
            { name: 'Interest', numeric: true, cell: ({ interest }) => cell(interest) },
            { name: 'Fees', numeric: true, cell: ({ fee }) => cell(fee) },
            { name: 'Penalties', numeric: true, cell: ({ penalty }) => cell(penalty) },
          ]}
        />
      )}
    </section>
  );
}

function Events({ id }: { id: string }): JSX.Element {
  const events = useLoaded(
    `events ${id}`,
    async (signal) => {
      const text = await getText(`/loans/${encodeURIComponent(id)}/events`, { signal });
      const { items } = parseToShow(text) as { items: unknown[] };
      return { ...exactly<Responses['listLoanEvents']>(text), shown: items.map((item) => shownJson(item, 2)) };
    },
    refreshMilliseconds,
  );
  const items = (events.data?.items ?? []) as readonly LoanEvent[];
  const firstSequence = Number(items.map(sequenceOf).find((sequence) => sequence !== undefined) ?? 1);
  return (
    <section class="panel flush" aria-label="Events">
      <Problem error={events.error} what="The events cannot be shown." />
      {events.data === undefined && events.error === undefined ? <p class="muted">Loading …</p> : null}
      {firstSequence > 1 ? (
        <p class="muted">
          {events.data?.complete === false
            ? `Events 1 to ${firstSequence - 1} are too far back to be searched here.`
            : `Events 1 to ${firstSequence - 1} have expired: their retention time is over.`}
        </p>
      ) : null}
      {events.data !== undefined && items.length === 0 ? (
        <p class="muted">No event of this loan is available any more.</p>
      ) : null}
      <ol class="events">
        {items.map((event, index) => (
          <li key={event.metadata.eid}>
            <details>
              <summary>
                <span class="muted sequence">{sequenceOf(event) === undefined ? '—' : `#${sequenceOf(event)}`}</span>
                <span class="grow">{describe(event)}</span>
                <code>{event.metadata.event_type}</code>
                <Time at={event.metadata.occurred_at} />
              </summary>
              <pre>{events.data?.shown[index]}</pre>
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Its position among the events of the loan; a refused command has none. */
function sequenceOf(event: LoanEvent): string | undefined {
  return 'sequence' in event ? event.sequence : undefined;
}

function describe(event: LoanEvent): string {
  if ('transaction' in event) return `${sentence(event.name)}, ${event.transaction.amount}`;
  if ('feeEvent' in event) return `Fee ${event.feeEvent.toLowerCase()}, ${event.amount}`;
  if ('changes' in event) return `Balances changed (${event.changes.length})`;
  if ('changedInstallments' in event) return `Schedule changed: ${sentence(event.reason).toLowerCase()}`;
  if ('accountState' in event) return `${sentence(event.name)}, now ${sentence(event.accountState).toLowerCase()}`;
  if ('account' in event) return 'Account changed';
  return `Refused: ${event.errors.map(({ errorReason }) => sentence(errorReason).toLowerCase()).join(', ')}`;
}

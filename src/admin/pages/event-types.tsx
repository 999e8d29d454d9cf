import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Responses } from '../../contract.ts';
import { type ApiError, apiErrorOf, call } from '../api.ts';
import { loadDemoData } from '../demo-data.ts';
import { useLoaded } from '../polling.ts';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { SearchableList } from '../parts/searchable-list.tsx';
import { Table } from '../parts/table.tsx';
import { isOfService, listEventTypes, listUnconsumedEvents } from '../api-lists.ts';
import { Link, path } from '../route.tsx';

/** Event types on one page of the list: each needs a separate request for its partitions. */
const rowsPerPage = 25;

const refreshMilliseconds = 5_000;

/** All event types: the first page. */
export function EventTypesPage(): JSX.Element {
  const types = useLoaded('event-types', listEventTypes, refreshMilliseconds);
  const isEmpty = types.data !== undefined && types.data.every(isOfService);
  return (
    <>
      <PageTitle title="Event types">
        <Link to="/event-types/+new" class="button primary">
          Define an event type
        </Link>
      </PageTitle>
      <Problem error={types.error} what="The event types cannot be shown." />
      {isEmpty ? <EmptySystem onDone={types.reload} /> : null}
      {types.data === undefined ? (
        types.error === undefined ? (
          <p class="muted">Loading …</p>
        ) : null
      ) : (
        <SearchableList
          label="Event types"
          searchLabel="Search by name or owner"
          // The user's own types come first; those of the service are always the same.
          rows={[...types.data.filter((type) => !isOfService(type)), ...types.data.filter(isOfService)]}
          rowsPerPage={rowsPerPage}
          textsOf={({ name, owning_application: owner }) => [name, owner]}
          nothingFound={(words) => `No event type matches “${words}”.`}
        >
          {(rows) => <TypeTable rows={rows} />}
        </SearchableList>
      )}
    </>
  );
}

function TypeTable({ rows }: { rows: Responses['listEventTypes'] }): JSX.Element {
  const key = rows.map(({ name }) => name).join(' ');
  const partitions = useLoaded(
    key,
    async (signal) =>
      new Map(
        await Promise.all(
          rows.map(async ({ name }) => {
            const bounds = await call<Responses['listPartitions']>(
              'GET',
              `/event-types/${encodeURIComponent(name)}/partitions`,
              undefined,
              { signal },
            );
            return [name, bounds.length] as const;
          }),
        ),
      ),
  );
  const unconsumed = useLoaded('waiting', listUnconsumedEvents, refreshMilliseconds);
  const unconsumedText = (name: string): string => {
    const ofType = (unconsumed.data ?? []).filter(({ eventType }) => eventType === name);
    if (unconsumed.data === undefined) return '';
    if (ofType.length === 0) return 'no consumer';
    return ofType.reduce((sum, { events }) => sum + events, 0).toLocaleString();
  };
  return (
    <>
      <Problem error={partitions.error ?? unconsumed.error} what="Some numbers cannot be shown." />
      <Table
        label="Event types"
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          {
            name: 'Name',
            cell: ({ name }) => <Link to={path('event-types', name)}>{name}</Link>,
          },
          { name: 'Owner', cell: ({ owning_application: owner }) => owner },
          { name: 'Category', cell: ({ category }) => category },
          { name: 'Schema', cell: ({ schema }) => schema.version },
          { name: 'Partitions', numeric: true, cell: ({ name }) => partitions.data?.get(name) ?? '' },
          {
            name: 'Lag (events)',
            numeric: true,
            cell: ({ name }) => {
              const text = unconsumedText(name);
              return text === 'no consumer' ? <span class="muted">{text}</span> : text;
            },
          },
        ]}
      />
    </>
  );
}

/** The hint of a system without user-defined event types: what to do first. */
function EmptySystem({ onDone }: { onDone: () => void }): JSX.Element {
  const [step, setStep] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const [isUnmounted, setIsUnmounted] = useState(false);
  useEffect(() => () => setIsUnmounted(true), []);
  const load = async (): Promise<void> => {
    setError(undefined);
    try {
      await loadDemoData(setStep);
      onDone();
    } catch (failure) {
      setError(apiErrorOf(failure));
    }
    if (!isUnmounted) setStep(undefined);
  };
  return (
    <section class="panel">
      <h2>No event types of your own yet</h2>
      <div class="empty">
        <p>
          Producers publish events of a type, and a subscription names the types it wants, so define an event type
          first. The event types below are built in: the service publishes the events of loans to them.
        </p>
        <div class="actions">
          <Link to="/event-types/+new" class="button primary">
            Define the first one
          </Link>
          <button disabled={step !== undefined} onClick={() => void load()}>
            Load demo data
          </button>
        </div>
        <p role="status" class="muted">
          {step ?? 'The demo data is an event type with events, a subscription, a loan product and three loans.'}
        </p>
        <Problem error={error} what="The demo data was loaded only in part." />
      </div>
    </section>
  );
}

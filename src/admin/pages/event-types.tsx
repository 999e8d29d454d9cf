import type { JSX } from 'preact';
import type { Responses } from '../../contract.ts';
import { useListState } from '../address-query.ts';
import { call } from '../api/api.ts';
import { isOfService, listEventTypes, listUnconsumedEvents } from '../api/api-lists.ts';
import { formatCount } from '../formats.ts';
import { path } from '../navigation.ts';
import { useLoaded } from '../api/queries.ts';
import { DemoDataButton } from '../parts/demo-data-button.tsx';
import { Link } from '../parts/link.tsx';
import { LongName } from '../parts/long-name.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { SearchableList } from '../parts/searchable-list.tsx';
import { Skeleton } from '../parts/skeleton.tsx';

/** Event types on one page of the list: each needs a separate request for its partitions. */
const rowsPerPage = 25;

const refreshMilliseconds = 5_000;

type EventType = Responses['listEventTypes'][number];

/** A row of the list, with what its columns are sorted by. */
interface TypeRow {
  readonly type: EventType;
  /** Undefined while it is not known, and when no subscription reads it. */
  readonly unconsumedEvents: number | undefined;
}

/** All event types. */
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
      {isEmpty ? <EmptySystem /> : null}
      {types.isLoading ? <Skeleton rows={10} /> : null}
      {types.data === undefined ? null : <TypeList types={types.data} />}
    </>
  );
}

function TypeList({ types }: { types: readonly EventType[] }): JSX.Element {
  const unconsumed = useLoaded('unconsumed-events', listUnconsumedEvents, refreshMilliseconds);
  const ofType = new Map<string, number>();
  for (const { eventType, events } of unconsumed.data ?? []) {
    ofType.set(eventType, (ofType.get(eventType) ?? 0) + events);
  }
  const { order } = useListState();
  // The user's own types come first, unless the list is sorted: those of the service are always the same.
  const ordered =
    order === undefined ? [...types.filter((type) => !isOfService(type)), ...types.filter(isOfService)] : types;
  const rows = ordered.map((type): TypeRow => ({ type, unconsumedEvents: ofType.get(type.name) }));
  return (
    <>
      <Problem error={unconsumed.error} what="Some numbers cannot be shown." />
      <SearchableList
        label="Event types"
        searchLabel="Search by name or owner"
        rows={rows}
        rowsPerPage={rowsPerPage}
        keyOf={({ type }) => type.name}
        textsOf={({ type }) => [type.name, type.owning_application]}
        nothingFound={(words) => `No event type matches “${words}”.`}
        columns={[
          {
            name: 'Name',
            cell: ({ type: { name } }) => (
              <Link to={path('event-types', name)}>
                <LongName name={name} />
              </Link>
            ),
            sortValue: ({ type }) => type.name,
          },
          {
            name: 'Owner',
            cell: ({ type }) => <LongName name={type.owning_application} />,
            sortValue: ({ type }) => type.owning_application,
          },
          {
            name: 'Category',
            cell: ({ type }) => type.category,
            keyword: true,
            sortValue: ({ type }) => type.category,
          },
          {
            name: 'Schema',
            cell: ({ type }) => type.schema.version,
            keyword: true,
          },
          { name: 'Partitions', numeric: true, cell: ({ type }) => <PartitionCount name={type.name} /> },
          {
            name: 'Lag (events)',
            numeric: true,
            cell: ({ unconsumedEvents: events }) =>
              unconsumed.data === undefined ? (
                ''
              ) : events === undefined ? (
                <span class="muted">no consumer</span>
              ) : (
                formatCount(events)
              ),
            sortValue: ({ unconsumedEvents }) => unconsumedEvents ?? -1,
          },
        ]}
      />
    </>
  );
}

/** The number of partitions of a type that is shown: it changes rarely, so it is requested once. */
function PartitionCount({ name }: { name: string }): JSX.Element {
  const address = `/event-types/${encodeURIComponent(name)}/partitions`;
  const partitions = useLoaded(address, (signal) =>
    call<Responses['listPartitions']>('GET', address, undefined, { signal }),
  );
  return <>{partitions.data?.length ?? ''}</>;
}

/** The hint of a system without user-defined event types: what to do first. */
function EmptySystem(): JSX.Element {
  return (
    <section class="panel">
      <h2>No event types of your own yet</h2>
      <div class="empty">
        <p>
          Producers publish events of a type, and a subscription names the types it wants, so define an event type
          first. The event types below are built in: the service publishes the events of loans to them.
        </p>
        <Link to="/event-types/+new" class="button primary">
          Define the first one
        </Link>
        <DemoDataButton />
      </div>
    </section>
  );
}

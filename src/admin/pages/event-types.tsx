import type { JSX } from 'preact';
import type { Responses } from '../../contract.ts';
import { isOfService } from '../api/api-lists.ts';
import { formatCount } from '../formats.ts';
import { path } from '../navigation.ts';
import { DemoDataButton } from '../parts/demo-data-button.tsx';
import { Link } from '../parts/link.tsx';
import { LongName } from '../parts/long-name.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { ServerListView, useServerList } from '../parts/lists/server-list.tsx';
import type { Column } from '../parts/lists/table.tsx';

type EventType = Responses['listEventTypes'][number];

const columns: readonly Column<EventType>[] = [
  {
    name: 'Name',
    cell: ({ name }) => (
      <Link to={path('event-types', name)}>
        <LongName name={name} />
      </Link>
    ),
    sortField: 'name',
  },
  {
    name: 'Owner',
    cell: ({ owning_application: owner }) => <LongName name={owner} />,
    sortField: 'owning_application',
  },
  { name: 'Category', cell: ({ category }) => category, keyword: true, sortField: 'category' },
  { name: 'Schema', cell: ({ schema }) => schema.version, keyword: true },
  { name: 'Partitions', numeric: true, cell: ({ lag }) => lag?.partitions ?? '' },
  {
    name: 'Consumers',
    numeric: true,
    cell: ({ name, lag }) => <ConsumerCount name={name} count={lag?.subscriptions ?? 0} />,
  },
  {
    name: 'Lag (events)',
    numeric: true,
    cell: ({ lag }) => {
      const events = lag?.unconsumed_events ?? null;
      return events === null ? <span class="muted">—</span> : formatCount(events);
    },
    sortField: 'unconsumed_events',
  },
];

/** All event types. */
export function EventTypesPage(): JSX.Element {
  // The user's own types come first: those of the service are always the same.
  const list = useServerList<EventType>({
    path: '/event-types',
    query: { show_lag: 'true' },
    usualSort: 'built_in',
    columns,
  });
  const { state, loaded } = list;
  const isWhole = state.search === '' && state.order === undefined && state.page === 0;
  return (
    <>
      <PageTitle title="Event types">
        <Link to="/event-types/+new" class="button primary">
          Define an event type
        </Link>
      </PageTitle>
      {isWhole && loaded.data?.items.every(isOfService) === true ? <EmptySystem /> : null}
      <ServerListView
        list={list}
        label="Event types"
        searchLabel="Search by name or owner"
        keyOf={({ name }) => name}
        nothingFound={(words) => `No event type matches “${words}”.`}
        what="The event types cannot be shown."
      />
    </>
  );
}

function ConsumerCount({ name, count }: { name: string; count: number }): JSX.Element {
  if (count === 0) return <span class="muted">none</span>;
  return <Link to={path('event-types', name, 'consumers')}>{formatCount(count)}</Link>;
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

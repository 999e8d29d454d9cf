import type { JSX } from 'preact';
import type { Schemas } from '../../contract.ts';
import { useAddressQuery } from '../address-query.ts';
import { formatCount } from '../formats.ts';
import { DemoDataButton } from '../parts/demo-data-button.tsx';
import { Link } from '../parts/link.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { ServerListView, useServerList } from '../parts/lists/server-list.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { SubscriptionLink } from '../parts/subscription/subscription-name.tsx';
import type { Column } from '../parts/lists/table.tsx';
import { Time } from '../parts/time.tsx';

/** How many event types of a subscription are named in its row. */
const typesShown = 3;

type Subscription = Schemas['Subscription'];

const columns: readonly Column<Subscription>[] = [
  {
    name: 'Owner and group',
    cell: (subscription) => <SubscriptionLink id={subscription.id} subscription={subscription} />,
    sortField: 'owning_application',
  },
  { name: 'Event types', cell: ({ event_types: types }) => <TypeNames types={types} /> },
  {
    name: 'Created',
    cell: ({ created_at: at }) => <Time at={at} still />,
    sortField: 'created_at',
    keyword: true,
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
  {
    name: 'Last hour',
    cell: ({ lag }) => {
      const history = lag?.history;
      return history === undefined ? null : (
        <Sparkline
          values={history.unconsumed_events}
          what="Lag in events"
          intervalSeconds={history.interval_seconds}
          isSmall
        />
      );
    },
  },
];

/** All subscriptions with their lag. */
export function SubscriptionsPage(): JSX.Element {
  const query = useAddressQuery();
  const type = query.get('event_type');
  const list = useServerList<Subscription>({
    path: '/subscriptions',
    query: { show_lag: 'true', show_lag_history: 'true', event_type: type },
    usualSort: '-created_at',
    columns,
  });
  return (
    <>
      <PageTitle title="Subscriptions">
        <Link to="/subscriptions/+new" class="button primary">
          Create a subscription
        </Link>
      </PageTitle>
      {type === '' ? null : (
        <p class="filter-note">
          Only those with the event type <strong>{type}</strong>{' '}
          <button class="quiet" onClick={() => query.set({ event_type: '', page: '' })}>
            Show all
          </button>
        </p>
      )}
      {list.isEmpty && type === '' ? (
        <section class="panel empty">
          <h2>No subscriptions yet</h2>
          <p>
            A consumer creates its own with <code>POST /subscriptions</code> and names the event types it wants. These
            must be <Link to="/event-types">defined</Link> first.
          </p>
          <DemoDataButton />
        </section>
      ) : (
        <ServerListView
          list={list}
          label="Subscriptions"
          searchLabel="Search by owner, group, event type or id"
          keyOf={({ id }) => id}
          nothingFound={(words) => (words === '' ? 'No subscription has it.' : `No subscription matches “${words}”.`)}
          what="The subscriptions cannot be shown."
        />
      )}
    </>
  );
}

/** The event types of a subscription: a few of them, or all when the user asks for them. */
function TypeNames({ types }: { types: readonly string[] }): JSX.Element {
  if (types.length <= typesShown) return <>{types.join(', ')}</>;
  return (
    <details class="inline">
      <summary>{formatCount(types.length)} types</summary>
      {types.join(', ')}
    </details>
  );
}

import type { JSX } from 'preact';
import type { Schemas } from '../../contract.ts';
import { useAddressQuery } from '../address-query.ts';
import { listSubscriptions, listUnconsumedEvents } from '../api/api-lists.ts';
import { formatCount } from '../formats.ts';
import { useLoaded } from '../api/queries.ts';
import { DemoDataButton } from '../parts/demo-data-button.tsx';
import { Link } from '../parts/link.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { SearchableList } from '../parts/searchable-list.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { SubscriptionLink, subscriptionName } from '../parts/subscription/subscription-name.tsx';
import { Time } from '../parts/time.tsx';

const refreshMilliseconds = 5_000;
const rowsPerPage = 25;

/** How many event types of a subscription are named in its row. */
const typesShown = 3;

/** A row of the list, with what its columns are sorted by. */
interface SubscriptionRow {
  readonly subscription: Schemas['Subscription'];
  /** Undefined while it is not known, and before its first stream. */
  readonly unconsumedEvents: number | undefined;
}

/** All subscriptions with their lag. */
export function SubscriptionsPage(): JSX.Element {
  const subscriptions = useLoaded('subscriptions', listSubscriptions, refreshMilliseconds);
  return (
    <>
      <PageTitle title="Subscriptions">
        <Link to="/subscriptions/+new" class="button primary">
          Create a subscription
        </Link>
      </PageTitle>
      <Problem error={subscriptions.error} what="The subscriptions cannot be shown in full." />
      {subscriptions.isLoading ? <Skeleton rows={10} /> : null}
      {subscriptions.data?.length === 0 ? (
        <section class="panel empty">
          <h2>No subscriptions yet</h2>
          <p>
            A consumer creates its own with <code>POST /subscriptions</code> and names the event types it wants. These
            must be <Link to="/event-types">defined</Link> first.
          </p>
          <DemoDataButton />
        </section>
      ) : null}
      {subscriptions.data === undefined || subscriptions.data.length === 0 ? null : (
        <SubscriptionList subscriptions={subscriptions.data} />
      )}
    </>
  );
}

function SubscriptionList({ subscriptions }: { subscriptions: readonly Schemas['Subscription'][] }): JSX.Element {
  const unconsumed = useLoaded('unconsumed-events', listUnconsumedEvents, refreshMilliseconds);
  const query = useAddressQuery();
  const wantedType = query.get('event_type');
  const ofSubscription = new Map<string, number>();
  for (const { subscriptionId, events } of unconsumed.data ?? []) {
    ofSubscription.set(subscriptionId, (ofSubscription.get(subscriptionId) ?? 0) + events);
  }
  const rows = subscriptions
    .filter(({ event_types: types }) => wantedType === '' || types.includes(wantedType))
    .map((subscription): SubscriptionRow => ({
      subscription,
      unconsumedEvents: ofSubscription.get(subscription.id),
    }));
  return (
    <>
      <Problem error={unconsumed.error} what="Some numbers cannot be shown." />
      {wantedType === '' ? null : (
        <p class="filter-note">
          Only those with the event type <strong>{wantedType}</strong>{' '}
          <button class="quiet" onClick={() => query.set({ event_type: '' })}>
            Show all
          </button>
        </p>
      )}
      <SearchableList
        label="Subscriptions, newest first"
        searchLabel="Search by owner, group, event type or id"
        rows={rows}
        rowsPerPage={rowsPerPage}
        keyOf={({ subscription }) => subscription.id}
        textsOf={({ subscription }) => [subscription.id, subscriptionName(subscription), ...subscription.event_types]}
        nothingFound={(words) => `No subscription matches “${words}”.`}
        columns={[
          {
            name: 'Owner and group',
            cell: ({ subscription }) => <SubscriptionLink id={subscription.id} subscription={subscription} />,
            sortValue: ({ subscription }) => subscriptionName(subscription),
          },
          {
            name: 'Event types',
            cell: ({ subscription: { event_types: types } }) => <TypeNames types={types} />,
            sortValue: ({ subscription }) => subscription.event_types.join(' '),
          },
          {
            name: 'Created',
            cell: ({ subscription }) => <Time at={subscription.created_at} still />,
            sortValue: ({ subscription }) => subscription.created_at,
            keyword: true,
          },
          {
            name: 'Lag (events)',
            numeric: true,
            cell: ({ unconsumedEvents: events }) =>
              unconsumed.data === undefined ? (
                ''
              ) : events === undefined ? (
                <span class="muted">—</span>
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

/** The event types of a subscription: a few of them, or all when the user asks for them. */
export function TypeNames({ types }: { types: readonly string[] }): JSX.Element {
  if (types.length <= typesShown) return <>{types.join(', ')}</>;
  return (
    <details class="inline">
      <summary>{formatCount(types.length)} types</summary>
      {types.join(', ')}
    </details>
  );
}

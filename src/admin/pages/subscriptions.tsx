import type { JSX } from 'preact';
import type { Schemas } from '../../contract.ts';
import { useLoaded } from '../polling.ts';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { SearchableList } from '../parts/searchable-list.tsx';
import { Table } from '../parts/table.tsx';
import { listSubscriptions, listUnconsumedEvents } from '../api-lists.ts';
import { Link, path } from '../route.tsx';

const refreshMilliseconds = 3_000;
const rowsPerPage = 50;

/** All subscriptions with their lag. */
export function SubscriptionsPage(): JSX.Element {
  const subscriptions = useLoaded('subscriptions', listSubscriptions, refreshMilliseconds);
  const unconsumed = useLoaded('waiting', listUnconsumedEvents, refreshMilliseconds);
  const unconsumedText = ({ id }: Schemas['Subscription']): JSX.Element | string => {
    if (unconsumed.data === undefined) return '';
    const ofIt = unconsumed.data.filter(({ subscriptionId }) => subscriptionId === id);
    if (ofIt.length === 0) return <span class="muted">never streamed</span>;
    return ofIt.reduce((sum, { events }) => sum + events, 0).toLocaleString();
  };
  return (
    <>
      <PageTitle title="Subscriptions" />
      <Problem error={subscriptions.error ?? unconsumed.error} what="The subscriptions cannot be shown in full." />
      {subscriptions.data === undefined && subscriptions.error === undefined ? <p class="muted">Loading …</p> : null}
      {subscriptions.data?.length === 0 ? (
        <section class="panel empty">
          <h2>No subscriptions yet</h2>
          <p>
            A consumer creates its own with <code>POST /subscriptions</code> and names the event types it wants. These
            must be <Link to="/event-types">defined</Link> first.
          </p>
        </section>
      ) : null}
      {subscriptions.data === undefined || subscriptions.data.length === 0 ? null : (
        <SearchableList
          label="Subscriptions"
          searchLabel="Search by owner, group, event type or id"
          rows={subscriptions.data}
          rowsPerPage={rowsPerPage}
          textsOf={({ id, owning_application: owner, consumer_group: group, event_types: types }) => [
            id,
            owner,
            group,
            ...types,
          ]}
          nothingFound={(words) => `No subscription matches “${words}”.`}
        >
          {(rows) => (
            <Table
              label="Subscriptions, newest first"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: 'Owner and group',
                  cell: ({ id, owning_application: owner, consumer_group: group }) => (
                    <Link to={path('subscriptions', id)}>
                      {owner} / {group}
                    </Link>
                  ),
                },
                { name: 'Event types', cell: ({ event_types: types }) => types.join(', ') },
                { name: 'Lag (events)', numeric: true, cell: unconsumedText },
              ]}
            />
          )}
        </SearchableList>
      )}
    </>
  );
}

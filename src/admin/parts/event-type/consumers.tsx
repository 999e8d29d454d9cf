import type { JSX } from 'preact';
import type { Responses, Schemas } from '../../../contract.ts';
import { useListState } from '../../address-query.ts';
import { callUnlessUnchanged } from '../../api/api.ts';
import { listUnconsumedEvents } from '../../api/api-lists.ts';
import { formatCount } from '../../formats.ts';
import { useLoaded } from '../../api/queries.ts';
import { Pager } from '../pager.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { SubscriptionLink, subscriptionName } from '../subscription/subscription-name.tsx';
import { Table } from '../table.tsx';

const refreshMilliseconds = 5_000;
const rowsPerPage = 25;

interface ConsumerRow {
  readonly subscription: Schemas['Subscription'];
  readonly unconsumedEvents: number | undefined;
}

/** The subscriptions that read an event type, with their lag on it. */
export function TypeConsumers({ name }: { name: string }): JSX.Element {
  const address = `/subscriptions?event_type=${encodeURIComponent(name)}&limit=1000`;
  const list = useListState();
  const readers = useLoaded(
    address,
    (signal) => callUnlessUnchanged<Responses['listSubscriptions']>(address, signal),
    refreshMilliseconds,
  );
  const unconsumed = useLoaded('unconsumed-events', listUnconsumedEvents, refreshMilliseconds);
  const ofSubscription = new Map(
    (unconsumed.data ?? [])
      .filter(({ eventType }) => eventType === name)
      .map(({ subscriptionId, events }) => [subscriptionId, events]),
  );
  const rows = (readers.data?.items ?? []).map((subscription): ConsumerRow => ({
    subscription,
    unconsumedEvents: ofSubscription.get(subscription.id),
  }));
  return (
    <section class="panel flush" aria-label="Consumers">
      <Problem error={readers.error ?? unconsumed.error} what="The consumers cannot be shown in full." />
      {readers.isLoading ? <Skeleton rows={4} /> : null}
      {readers.data === undefined ? null : rows.length === 0 ? (
        <p class="muted">No subscription reads this event type.</p>
      ) : (
        <Table
          label="Subscriptions of this event type"
          rows={rows}
          keyOf={({ subscription }) => subscription.id}
          order={list.order}
          onOrder={list.setOrder}
          paging={{ page: list.page, rowsPerPage }}
          columns={[
            {
              name: 'Owner and group',
              cell: ({ subscription }) => <SubscriptionLink id={subscription.id} subscription={subscription} />,
              sortValue: ({ subscription }) => subscriptionName(subscription),
            },
            {
              name: 'Other event types',
              numeric: true,
              cell: ({ subscription }) => formatCount(subscription.event_types.length - 1),
              sortValue: ({ subscription }) => subscription.event_types.length,
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
      )}
      <Pager page={list.page} rowsPerPage={rowsPerPage} total={rows.length} onPageChange={list.setPage} />
    </section>
  );
}

import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import { useListState } from '../../address-query.ts';
import { call } from '../../api/api.ts';
import { formatCount } from '../../formats.ts';
import { useLoaded } from '../../api/queries.ts';
import { Pager } from '../lists/pager.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { SubscriptionLink, subscriptionName } from '../subscription/subscription-name.tsx';
import { Table } from '../lists/table.tsx';

const refreshMilliseconds = 5_000;
const rowsPerPage = 25;

/** The subscriptions that read an event type, with their lag on it. */
export function TypeConsumers({ name }: { name: string }): JSX.Element {
  const address = `/event-types/${encodeURIComponent(name)}/consumers`;
  const list = useListState();
  const consumers = useLoaded(
    address,
    (signal) => call<Responses['listEventTypeConsumers']>('GET', address, undefined, { signal }),
    refreshMilliseconds,
  );
  const { items = [], total = 0 } = consumers.data ?? {};
  return (
    <section class="panel flush" aria-label="Consumers">
      <Problem error={consumers.error} what="The consumers cannot be shown." />
      {consumers.isLoading ? <Skeleton rows={4} /> : null}
      {consumers.data === undefined ? null : items.length === 0 ? (
        <p class="muted">No subscription reads this event type.</p>
      ) : (
        <Table
          label="Subscriptions of this event type"
          rows={items}
          keyOf={({ subscription_id: id }) => id}
          order={list.order}
          onOrder={list.setOrder}
          paging={{ page: list.page, rowsPerPage }}
          columns={[
            {
              name: 'Owner and group',
              cell: (consumer) => <SubscriptionLink id={consumer.subscription_id} subscription={consumer} />,
              sortValue: subscriptionName,
            },
            {
              name: 'Lag (events)',
              numeric: true,
              cell: ({ unconsumed_events: events }) =>
                events === null ? <span class="muted">—</span> : formatCount(events),
              sortValue: ({ unconsumed_events: events }) => events ?? -1,
            },
          ]}
        />
      )}
      <Pager page={list.page} rowsPerPage={rowsPerPage} total={total} onPageChange={list.setPage} />
    </section>
  );
}

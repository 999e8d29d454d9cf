import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import { call } from '../../api/api.ts';
import { formatCount } from '../../formats.ts';
import { useLoaded } from '../../api/queries.ts';
import { path } from '../../navigation.ts';
import { Link } from '../link.tsx';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { Table } from '../lists/table.tsx';
import { Time } from '../time.tsx';

const refreshMilliseconds = 5_000;

/** Who published the latest events of an event type. */
export function TypePublishers({ name }: { name: string }): JSX.Element {
  const address = `/event-types/${encodeURIComponent(name)}/publishers`;
  const publishers = useLoaded(
    address,
    (signal) => call<Responses['listPublishers']>('GET', address, undefined, { signal }),
    refreshMilliseconds,
  );
  const { items = [], events = 0, ended_by: endedBy } = publishers.data ?? {};
  return (
    <section class="panel flush" aria-label="Publishers">
      <Problem error={publishers.error} what="The publishers cannot be shown." />
      {publishers.isLoading ? <Skeleton rows={3} /> : null}
      {publishers.data === undefined ? null : items.length === 0 ? (
        <p class="muted">No event is there any more that could tell.</p>
      ) : (
        <Table
          label="Publishers of the latest events, the latest first"
          rows={items}
          keyOf={({ published_by: publisher }) => publisher ?? ''}
          columns={[
            {
              name: 'Publisher',
              cell: ({ published_by: publisher }) => publisher ?? <span class="muted">not named</span>,
            },
            { name: 'Events', numeric: true, cell: ({ events: count }) => formatCount(count) },
            { name: 'Last published', keyword: true, cell: ({ last_published_at: at }) => <Time at={at} /> },
            {
              name: 'Last flow id',
              cell: ({ last_flow_id: flowId }) =>
                flowId === null ? (
                  <span class="muted">—</span>
                ) : (
                  <Link to={`${path('event-types', name, 'events')}?flow_id=${encodeURIComponent(flowId)}`}>
                    {flowId}
                  </Link>
                ),
            },
          ]}
        />
      )}
      {publishers.data === undefined || events === 0 ? null : (
        <p class="muted">
          {endedBy !== 'end'
            ? `Of the latest ${formatCount(events)} events.`
            : events === 1
              ? 'Of the only event that is there.'
              : `Of all ${formatCount(events)} events that are there.`}
        </p>
      )}
    </section>
  );
}

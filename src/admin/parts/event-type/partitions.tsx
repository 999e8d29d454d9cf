import type { JSX } from 'preact';
import type { Responses } from '../../../contract.ts';
import { call } from '../../api/api.ts';
import { formatCount } from '../../formats.ts';
import { useLoaded } from '../../api/queries.ts';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { Table } from '../lists/table.tsx';

const refreshMilliseconds = 3_000;

/** The partitions of an event type, with the range of the events that can be read. */
export function TypePartitions({ name }: { name: string }): JSX.Element {
  const address = `/event-types/${encodeURIComponent(name)}/partitions`;
  const partitions = useLoaded(
    `${address} with counts`,
    async (signal) => {
      const bounds = await call<Responses['listPartitions']>('GET', address, undefined, { signal });
      const begins = bounds.map(({ partition }) => ({ partition, offset: 'BEGIN' }));
      return call<Responses['measureCursorLag']>(
        'POST',
        `/event-types/${encodeURIComponent(name)}/cursors-lag`,
        begins,
        {
          signal,
        },
      );
    },
    refreshMilliseconds,
  );
  return (
    <section class="panel flush" aria-label="Partitions">
      <Problem error={partitions.error} what="The partitions cannot be shown." />
      {partitions.isLoading ? <Skeleton rows={4} /> : null}
      {partitions.data === undefined ? null : (
        <Table
          label="Partitions"
          rows={partitions.data}
          keyOf={({ partition }) => partition}
          columns={[
            { name: 'Partition', cell: ({ partition }) => partition },
            {
              name: 'Events to read',
              numeric: true,
              cell: ({ unconsumed_events: events }) => (events === undefined ? '' : formatCount(events)),
            },
            {
              name: 'Oldest offset',
              numeric: true,
              cell: ({ oldest_available_offset: offset }) => <code>{offset}</code>,
            },
            {
              name: 'Newest offset',
              numeric: true,
              cell: ({ newest_available_offset: offset }) => <code>{offset}</code>,
            },
          ]}
        />
      )}
    </section>
  );
}

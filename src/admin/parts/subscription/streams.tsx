import type { JSX } from 'preact';
import type { Schemas } from '../../../contract.ts';
import { formatCount } from '../../formats.ts';
import { Id } from '../id.tsx';
import { Table } from '../lists/table.tsx';
import { Time } from '../time.tsx';

type SubscriptionStreams = Schemas['SubscriptionStreams'];

/** The event types of a stream that are named in its row. */
const typesShown = 3;

export function OpenStreams({ streams }: { streams: SubscriptionStreams }): JSX.Element {
  return (
    <section class="panel flush" aria-label="Open streams">
      <h2>Open streams</h2>
      {streams.items.length === 0 ? (
        <p class="muted">No stream is open.</p>
      ) : (
        <Table
          label="Open streams"
          rows={streams.items}
          keyOf={({ stream_id: streamId }) => streamId}
          columns={[
            { name: 'Stream', cell: ({ stream_id: streamId }) => <Id id={streamId} what="the stream id" /> },
            { name: 'Since', keyword: true, cell: ({ opened_at: at }) => <Time at={at} still /> },
            {
              name: 'Partitions',
              cell: ({ partitions }) =>
                partitions.length === 0 ? 'none yet' : <AssignedPartitions partitions={partitions} />,
            },
            {
              name: 'Assignment',
              cell: ({ assignment_type: type }) => (type === 'direct' ? 'chosen by the client' : 'automatic'),
            },
          ]}
        />
      )}
    </section>
  );
}

/** The assigned partitions of a stream: a line for each event type, or their number when there are many. */
function AssignedPartitions({ partitions }: Pick<SubscriptionStreams['items'][number], 'partitions'>): JSX.Element {
  const types = [...new Set(partitions.map(({ event_type: type }) => type))];
  const numbers = (wanted: string): string =>
    partitions.flatMap(({ event_type: type, partition }) => (type === wanted ? [partition] : [])).join(', ');
  const lines = types.map((type) => (
    <div key={type}>
      {type}: {numbers(type)}
    </div>
  ));
  if (types.length <= typesShown) return <>{lines}</>;
  return (
    <details class="inline">
      <summary>
        {formatCount(partitions.length)} of {formatCount(types.length)} types
      </summary>
      {lines}
    </details>
  );
}

export function EndedStreams({ streams }: { streams: SubscriptionStreams }): JSX.Element {
  return (
    <section class="panel flush" aria-label="Ended streams">
      <h2>Why the last stream ended</h2>
      {streams.ended.length === 0 ? (
        <p class="muted">No stream has ended.</p>
      ) : (
        <Table
          label="Ended streams, latest first"
          rows={streams.ended}
          keyOf={({ stream_id: streamId }) => streamId}
          columns={[
            { name: 'Reason', cell: ({ reason }) => reason },
            { name: 'When', keyword: true, cell: ({ ended_at: at }) => <Time at={at} still /> },
            { name: 'Stream', cell: ({ stream_id: streamId }) => <Id id={streamId} what="the stream id" /> },
          ]}
        />
      )}
      <p class="muted">
        Commits and ended streams are recorded since <Time at={streams.observed_since} />.
      </p>
    </section>
  );
}

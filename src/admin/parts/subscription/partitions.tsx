import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses, Schemas } from '../../../contract.ts';
import { formatCount, formatDuration } from '../../formats.ts';
import { path } from '../../navigation.ts';
import { Link } from '../link.tsx';
import { Table } from '../lists/table.tsx';
import { Time } from '../time.tsx';

export type TypeStatistics = Schemas['EventTypeStatistics'][number];
type PartitionStatistics = TypeStatistics['partitions'][number];

/** So many event types are all open in the beginning; of more, only the one with the largest lag. */
const typesOpen = 3;

/** The unconsumed events of an event type; 0 before its first stream. */
export function lagOf({ partitions }: TypeStatistics): number {
  return partitions.reduce((sum, { unconsumed_events: events = 0 }) => sum + events, 0);
}

interface SubscriptionPartitionsProperties {
  readonly statistics: readonly TypeStatistics[];
  readonly streams: Schemas['SubscriptionStreams'];
  readonly cursors: Responses['listCursors']['items'];
}

/** The event types of a subscription with their partitions, the largest lag first. */
export function SubscriptionPartitions({
  statistics,
  streams,
  cursors,
}: SubscriptionPartitionsProperties): JSX.Element {
  const ordered = statistics.toSorted((left, right) => lagOf(right) - lagOf(left));
  // As they are in the beginning: what a user opens or closes stays so while the lag changes.
  const [open] = useState(() => ordered.slice(0, ordered.length <= typesOpen ? typesOpen : 1).map(nameOf));
  return (
    <section class="panel flush" aria-label="Partitions">
      <h2>{statistics.length === 1 ? 'Partitions' : `Partitions of ${formatCount(statistics.length)} event types`}</h2>
      {ordered.map((each) => (
        <details key={each.event_type} class="group" open={open.includes(each.event_type)}>
          <summary>
            <span class="grow">{each.event_type}</span>
            <span class="muted">
              {each.partitions.length === 1 ? '1 partition' : `${formatCount(each.partitions.length)} partitions`}
            </span>
            <span class="lag">{lagText(each)}</span>
          </summary>
          <PartitionTable statistics={each} streams={streams} cursors={cursors} />
        </details>
      ))}
    </section>
  );
}

function nameOf({ event_type: type }: TypeStatistics): string {
  return type;
}

function lagText(statistics: TypeStatistics): string {
  return `lag ${formatCount(lagOf(statistics))}`;
}

interface PartitionTableProperties extends Omit<SubscriptionPartitionsProperties, 'statistics'> {
  readonly statistics: TypeStatistics;
}

function PartitionTable({ statistics, streams, cursors }: PartitionTableProperties): JSX.Element {
  const { event_type: type, partitions } = statistics;
  const isOf = (each: { readonly event_type: string; readonly partition: string }, partition: string): boolean =>
    each.event_type === type && each.partition === partition;
  const committed = ({ partition }: PartitionStatistics): JSX.Element => {
    const cursor = cursors.find((each) => isOf(each, partition));
    return cursor === undefined ? <span class="muted">none yet</span> : <code>{cursor.offset}</code>;
  };
  const lastCommit = ({ partition }: PartitionStatistics): JSX.Element => {
    const commit = streams.last_commits.find((each) => isOf(each, partition));
    return commit === undefined ? <span class="muted">none seen</span> : <Time at={commit.committed_at} still />;
  };
  return (
    <>
      <p class="muted">
        <Link to={path('event-types', type)}>Open the event type</Link>
      </p>
      <Table
        label={`Partitions of ${type}`}
        rows={partitions}
        keyOf={({ partition }) => partition}
        columns={[
          { name: 'Partition', cell: ({ partition }) => partition },
          {
            name: 'State',
            cell: ({ state }) => <span class={state === 'assigned' ? 'tag good' : 'tag'}>{state}</span>,
          },
          {
            name: 'Lag (events)',
            numeric: true,
            cell: ({ unconsumed_events: events }) =>
              events === undefined ? <span class="muted">—</span> : formatCount(events),
          },
          {
            name: 'Oldest unconsumed',
            numeric: true,
            cell: ({ consumer_lag_seconds: seconds, unconsumed_events: events }) =>
              seconds === undefined || events === 0 ? <span class="muted">—</span> : formatDuration(seconds),
          },
          { name: 'Committed offset', cell: committed },
          {
            name: 'Stream',
            cell: ({ stream_id: streamId }) =>
              streamId === '' ? <span class="muted">none</span> : <code title={streamId}>{streamId.slice(0, 8)}…</code>,
          },
          { name: 'Last commit', keyword: true, cell: lastCommit },
        ]}
      />
    </>
  );
}

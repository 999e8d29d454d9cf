import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses, Schemas } from '../../contract.ts';
import { call } from '../api.ts';
import { useLoaded } from '../polling.ts';
import { Confirm } from '../parts/confirm.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { Link, navigate, path } from '../route.tsx';

const refreshMilliseconds = 2_000;

type EventTypeStatistics = Schemas['EventTypeStatistics'][number];
type SubscriptionStreams = Schemas['SubscriptionStreams'];

/** One subscription: its lag, its open streams, and why the last stream ended. */
export function SubscriptionPage({ id }: { id: string }): JSX.Element {
  const address = `/subscriptions/${encodeURIComponent(id)}`;
  const loaded = useLoaded(
    `subscription ${id}`,
    async (signal) => {
      const [subscription, { items: statistics }, streams] = await Promise.all([
        call<Responses['getSubscription']>('GET', address, undefined, { signal }),
        call<Responses['getSubscriptionStatistics']>('GET', `${address}/stats?show_time_lag=true`, undefined, {
          signal,
        }),
        call<Responses['listSubscriptionStreams']>('GET', `${address}/streams`, undefined, { signal }),
      ]);
      return { subscription, statistics, streams };
    },
    refreshMilliseconds,
  );
  const [isConfirming, setIsConfirming] = useState(false);
  if (loaded.data === undefined || loaded.error?.status === 404) {
    return (
      <>
        <PageTitle title="Subscription" />
        {loaded.error === undefined ? <p class="muted">Loading …</p> : null}
        <Problem error={loaded.error} what="The subscription cannot be shown." />
        <p>
          <Link to="/subscriptions">All subscriptions</Link>
        </p>
      </>
    );
  }
  const { subscription, statistics, streams } = loaded.data;
  const title = `${subscription.owning_application} / ${subscription.consumer_group}`;
  return (
    <>
      <PageTitle title={title}>
        <button class="danger" onClick={() => setIsConfirming(true)}>
          Delete
        </button>
      </PageTitle>
      <Problem error={loaded.error} what="This may be out of date." />
      <section class="panel" aria-label="Definition">
        <dl>
          <dt>Id</dt>
          <dd class="mono">{subscription.id}</dd>
          <dt>Reads from</dt>
          <dd>{subscription.read_from}</dd>
          <dt>Created</dt>
          <dd>
            <Time at={subscription.created_at} />
          </dd>
        </dl>
      </section>
      <OpenStreams streams={streams} />
      {statistics.map((ofType) => (
        <Partitions key={ofType.event_type} statistics={ofType} streams={streams} />
      ))}
      <EndedStreams streams={streams} />
      {isConfirming ? (
        <Confirm
          title={`Delete ${title}?`}
          action="Delete"
          dangerous
          onClose={() => setIsConfirming(false)}
          onConfirm={async () => {
            await call('DELETE', address);
            navigate('/subscriptions');
          }}
        >
          <p>
            Its committed offsets are deleted, and{' '}
            {streams.items.length === 0 ? 'it has no open streams' : `its ${streams.items.length} open streams end`}. A
            new subscription with the same name does not resume from them. The events stay.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

function OpenStreams({ streams }: { streams: SubscriptionStreams }): JSX.Element {
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
            { name: 'Stream', cell: ({ stream_id: streamId }) => <code>{streamId}</code> },
            { name: 'Since', cell: ({ opened_at: at }) => <Time at={at} /> },
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

/** The assigned partitions of a stream: a line for each event type. */
function AssignedPartitions({ partitions }: Pick<SubscriptionStreams['items'][number], 'partitions'>): JSX.Element {
  const types = [...new Set(partitions.map(({ event_type: type }) => type))];
  const numbers = (wanted: string): string =>
    partitions.flatMap(({ event_type: type, partition }) => (type === wanted ? [partition] : [])).join(', ');
  return (
    <>
      {types.map((type) => (
        <div key={type}>
          {type}: {numbers(type)}
        </div>
      ))}
    </>
  );
}

interface PartitionsProperties {
  readonly statistics: EventTypeStatistics;
  readonly streams: SubscriptionStreams;
}

function Partitions({ statistics, streams }: PartitionsProperties): JSX.Element {
  const { event_type: type, partitions } = statistics;
  const lastCommit = ({ partition }: EventTypeStatistics['partitions'][number]): JSX.Element => {
    const commit = streams.last_commits.find((each) => each.event_type === type && each.partition === partition);
    return commit === undefined ? <span class="muted">none seen</span> : <Time at={commit.committed_at} />;
  };
  return (
    <section class="panel flush" aria-label={`Partitions of ${type}`}>
      <h2>
        <Link to={path('event-types', type)}>{type}</Link>
      </h2>
      <Table
        label={`Partitions of ${type}`}
        even
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
              events === undefined ? <span class="muted">never streamed</span> : events.toLocaleString(),
          },
          {
            name: 'Oldest unconsumed',
            numeric: true,
            cell: ({ consumer_lag_seconds: seconds, unconsumed_events: events }) =>
              seconds === undefined || events === 0 ? <span class="muted">—</span> : duration(seconds),
          },
          {
            name: 'Stream',
            cell: ({ stream_id: streamId }) =>
              streamId === '' ? <span class="muted">none</span> : <code title={streamId}>{streamId.slice(0, 8)}…</code>,
          },
          { name: 'Last commit', cell: lastCommit },
        ]}
      />
    </section>
  );
}

function EndedStreams({ streams }: { streams: SubscriptionStreams }): JSX.Element {
  const [last] = streams.ended;
  return (
    <section class="panel flush" aria-label="Ended streams">
      <h2>Why the last stream ended</h2>
      {last === undefined ? (
        <p class="muted">No stream has ended.</p>
      ) : (
        <Table
          label="Ended streams, latest first"
          rows={streams.ended}
          keyOf={({ stream_id: streamId }) => streamId}
          columns={[
            { name: 'Reason', cell: ({ reason }) => reason },
            { name: 'When', cell: ({ ended_at: at }) => <Time at={at} /> },
            { name: 'Stream', cell: ({ stream_id: streamId }) => <code>{streamId}</code> },
          ]}
        />
      )}
      <p class="muted">
        Commits and ended streams are recorded since <Time at={streams.observed_since} />.
      </p>
    </section>
  );
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

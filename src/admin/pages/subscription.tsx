import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses, Schemas } from '../../contract.ts';
import { call } from '../api/api.ts';
import { formatCount, formatDuration } from '../formats.ts';
import { navigate } from '../navigation.ts';
import { queries, useLoaded } from '../api/queries.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Id } from '../parts/id.tsx';
import { Link } from '../parts/link.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { SubscriptionForm } from '../parts/subscription/form.tsx';
import { MoveCursors } from '../parts/subscription/move-cursors.tsx';
import { LagHistory } from '../parts/subscription/lag-history.tsx';
import { lagOf, SubscriptionPartitions, type TypeStatistics } from '../parts/subscription/partitions.tsx';
import { EndedStreams, OpenStreams } from '../parts/subscription/streams.tsx';
import { Tiles } from '../parts/tiles.tsx';
import { Time } from '../parts/time.tsx';
import { subscriptionName } from '../parts/subscription/subscription-name.tsx';

const refreshMilliseconds = 2_000;

/** One subscription: its lag, its open streams, and why the last stream ended. */
export function SubscriptionPage({ id, view }: { id: string; view: string | undefined }): JSX.Element {
  if (view !== undefined) return <NotFound />;
  // No subscription can have this id: ids are UUIDs.
  return id === '+new' ? <SubscriptionForm /> : <Subscription id={id} />;
}

function Subscription({ id }: { id: string }): JSX.Element {
  const address = `/subscriptions/${encodeURIComponent(id)}`;
  const loaded = useLoaded(
    `subscription ${id}`,
    async (signal) => {
      const options = { signal };
      const [subscription, { items: statistics }, streams, { items: cursors }, history] = await Promise.all([
        call<Responses['getSubscription']>('GET', address, undefined, options),
        call<Responses['getSubscriptionStatistics']>('GET', `${address}/stats?show_time_lag=true`, undefined, options),
        call<Responses['listSubscriptionStreams']>('GET', `${address}/streams`, undefined, options),
        call<Responses['listCursors']>('GET', `${address}/cursors`, undefined, options),
        call<Responses['getLagHistory']>('GET', `${address}/lag-history`, undefined, options),
      ]);
      return { subscription, statistics, streams, cursors, history };
    },
    refreshMilliseconds,
  );
  const [dialog, setDialog] = useState<'delete' | 'move'>();
  if (loaded.data === undefined || loaded.error?.status === 404) {
    return (
      <>
        <PageTitle title="Subscription" />
        {loaded.isLoading ? <Skeleton rows={8} /> : null}
        <Problem error={loaded.error} what="The subscription cannot be shown." />
        {loaded.error === undefined ? null : (
          <p>
            <Link to="/subscriptions">All subscriptions</Link>
          </p>
        )}
      </>
    );
  }
  const { subscription, statistics, streams, cursors, history } = loaded.data;
  const title = subscriptionName(subscription);
  return (
    <>
      <PageTitle title={title} isThing>
        <button onClick={() => setDialog('move')}>Move cursors</button>
        <Link to={`/subscriptions/+new?from=${encodeURIComponent(id)}`} class="button">
          Clone
        </Link>
        <button class="danger" onClick={() => setDialog('delete')}>
          Delete
        </button>
      </PageTitle>
      <Problem error={loaded.error} what="This may be out of date." />
      <Summary statistics={statistics} streams={streams} isStreamed={cursors.length > 0} />
      <LagHistory history={history} />
      <SubscriptionPartitions statistics={statistics} streams={streams} cursors={cursors} />
      <OpenStreams streams={streams} />
      <EndedStreams streams={streams} />
      <Definition subscription={subscription} />
      {dialog === 'move' ? (
        <MoveCursors
          subscription={subscription}
          onClose={() => setDialog(undefined)}
          onMoved={() => {
            setDialog(undefined);
            loaded.reload();
          }}
        />
      ) : null}
      {dialog === 'delete' ? (
        <Confirm
          title={`Delete ${title}?`}
          action="Delete"
          dangerous
          onClose={() => setDialog(undefined)}
          onConfirm={async () => {
            await call('DELETE', address);
            void queries.invalidateQueries();
            navigate('/subscriptions');
          }}
        >
          <p>
            Its committed offsets are deleted, and{' '}
            {streams.items.length === 0
              ? 'it has no open streams'
              : `its ${formatCount(streams.items.length)} open streams end`}
            . A new subscription with the same name does not resume from them. The events stay.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

interface SummaryProperties {
  readonly statistics: readonly TypeStatistics[];
  readonly streams: Schemas['SubscriptionStreams'];
  /** Whether a stream or a reset has fixed where it begins. */
  readonly isStreamed: boolean;
}

/** The lag in one line: how much, where most, and how old. */
function Summary({ statistics, streams, isStreamed }: SummaryProperties): JSX.Element {
  const partitions = statistics.flatMap(({ event_type: type, partitions }) =>
    partitions.map((partition) => ({ ...partition, type })),
  );
  const total = statistics.reduce((sum, each) => sum + lagOf(each), 0);
  const [worst] = partitions
    .filter(({ unconsumed_events: events = 0 }) => events > 0)
    .toSorted((left, right) => (right.unconsumed_events ?? 0) - (left.unconsumed_events ?? 0));
  const oldest = Math.max(
    0,
    ...partitions
      .filter(({ unconsumed_events: events = 0 }) => events > 0)
      .map(({ consumer_lag_seconds: seconds = 0 }) => seconds),
  );
  return (
    <Tiles
      label="Summary"
      tiles={[
        {
          name: 'Lag (events)',
          value: formatCount(total),
          ...(isStreamed ? {} : { note: 'never streamed' }),
        },
        {
          name: 'Worst partition',
          value: worst === undefined ? '—' : formatCount(worst.unconsumed_events ?? 0),
          ...(worst === undefined ? {} : { note: `${worst.type}, partition ${worst.partition}` }),
        },
        { name: 'Oldest unconsumed', value: total === 0 ? '—' : formatDuration(oldest) },
        { name: 'Open streams', value: formatCount(streams.items.length) },
      ]}
    />
  );
}

function Definition({ subscription }: { subscription: Schemas['Subscription'] }): JSX.Element {
  const notes = [...Object.entries(subscription.labels), ...Object.entries(subscription.annotations)];
  return (
    <section class="panel" aria-label="Definition">
      <h2>Definition</h2>
      <dl>
        <dt>Id</dt>
        <dd>
          <Id id={subscription.id} what="the id" />
        </dd>
        <dt>Reads from</dt>
        <dd>{subscription.read_from}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={subscription.created_at} />
        </dd>
        {notes.map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

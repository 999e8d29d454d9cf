import type { ComponentChildren, JSX } from 'preact';
import type { Responses } from '../../contract.ts';
import { call } from '../api/api.ts';
import { useLoaded } from '../api/queries.ts';
import { formatBytes, formatCount, formatSeconds } from '../formats.ts';
import { path } from '../navigation.ts';
import { DemoDataButton } from '../parts/demo-data-button.tsx';
import { Link } from '../parts/link.tsx';
import { LongName } from '../parts/long-name.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

const refreshMilliseconds = 10_000;

/** Less free space than this share of the disk is a reason to act. */
const freeShareMinimum = 0.1;

/** The description leaves open what is null where it is not known. */
interface LargestLags {
  readonly unconsumed_events: number;
  readonly subscriptions: number;
  readonly largest: readonly {
    readonly subscription_id: string;
    readonly owning_application: string;
    readonly consumer_group: string;
    readonly unconsumed_events: number;
  }[];
}

interface Disk {
  readonly free_bytes: number;
  readonly total_bytes: number;
}

interface Overview extends Omit<Responses['getOverview'], 'lags' | 'process'> {
  readonly process: Omit<Responses['getOverview']['process'], 'disk'> & { readonly disk: Disk | null };
  readonly lags: LargestLags | null;
}

/** How the service does, and what needs attention: the first page. */
export function OverviewPage(): JSX.Element {
  const overview = useLoaded(
    'overview',
    (signal) => call<Overview>('GET', '/overview', undefined, { signal }),
    refreshMilliseconds,
  );
  const { data } = overview;
  return (
    <>
      <PageTitle title="Overview">{data === undefined ? null : <State process={data.process} />}</PageTitle>
      <Problem
        error={overview.error}
        what={data === undefined ? 'The overview cannot be shown.' : 'This may be out of date.'}
      />
      {overview.isLoading ? <Skeleton rows={10} /> : null}
      {data === undefined ? null : (
        <>
          <Numbers overview={data} />
          <div class="columns">
            <Lags lags={data.lags} />
            <Process process={data.process} />
          </div>
        </>
      )}
    </>
  );
}

function State({ process: { parts } }: { process: Overview['process'] }): JSX.Element {
  const notReady = parts.filter(({ ready }) => !ready);
  if (notReady.length === 0) return <span class="tag good">ready</span>;
  return <span class="tag bad">not ready: {notReady.map(({ name }) => name).join(', ')}</span>;
}

function Numbers({ overview: { history, lags, dead_letters: deadLetters } }: { overview: Overview }): JSX.Element {
  const latest = <Value,>(values: readonly Value[]): Value | undefined => values.at(-1);
  const rate = (values: readonly number[]): string => {
    const value = latest(values);
    return value === undefined ? '—' : formatCount(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));
  };
  const duration = (values: readonly (number | null)[]): string => {
    const value = values.findLast((each) => each !== null);
    return value === undefined || value === null ? '—' : formatSeconds(value);
  };
  return (
    <section class="tiles" aria-label="Numbers of the last hour">
      <Number name="Published per second" value={rate(history.published_per_second)} to="/event-types">
        <Sparkline values={history.published_per_second} what="Events published per second" />
      </Number>
      <Number name="Delivered per second" value={rate(history.delivered_per_second)} to="/subscriptions">
        <Sparkline values={history.delivered_per_second} what="Events delivered per second" />
      </Number>
      <Number
        name="Lag (events)"
        value={lags === null ? '—' : formatCount(lags.unconsumed_events)}
        note={lags === null ? 'not known' : `of ${formatCount(lags.subscriptions)} subscriptions`}
        to="/subscriptions?sort=-lag-events"
      />
      <Number name="Open streams" value={rate(history.open_streams)} to="/subscriptions">
        <Sparkline values={history.open_streams} what="Open streams" />
      </Number>
      <Number name="Commands decided per second" value={rate(history.commands_decided_per_second)} to="/loans">
        <Sparkline values={history.commands_decided_per_second} what="Loan commands decided per second" />
      </Number>
      <Number
        name="Commands waiting"
        value={rate(history.commands_waiting)}
        to={`${path('event-types', 'lendstream.loan-commands')}/events`}
      >
        <Sparkline values={history.commands_waiting} what="Loan commands waiting" />
      </Number>
      <Number name="Publishing, 99th percentile" value={duration(history.publish_p99_seconds)} to="/event-types">
        <Sparkline values={history.publish_p99_seconds} what="Seconds to publish" />
      </Number>
      <Number name="Commits, 99th percentile" value={duration(history.commit_p99_seconds)} to="/subscriptions">
        <Sparkline values={history.commit_p99_seconds} what="Seconds to commit" />
      </Number>
      <Number
        name="Dead letters of commands"
        value={deadLetters.commands === null ? '—' : formatCount(deadLetters.commands)}
        isBad={(deadLetters.commands ?? 0) > 0}
        to={`${path('event-types', 'lendstream.loan-commands')}/dead-letters`}
      />
      <Number
        name="Dead letters of consumers"
        value={deadLetters.subscriptions === null ? '—' : formatCount(deadLetters.subscriptions)}
        isBad={(deadLetters.subscriptions ?? 0) > 0}
        to={`${path('event-types', 'nakadi.dead.letter.queue')}/dead-letters`}
      />
    </section>
  );
}

interface NumberProperties {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  /** It needs attention. */
  readonly isBad?: boolean;
  /** The page about it. */
  readonly to: string;
  readonly children?: ComponentChildren;
}

function Number({ name, value, note, isBad = false, to, children }: NumberProperties): JSX.Element {
  return (
    <div class={isBad ? 'panel tile is-bad' : 'panel tile'}>
      <Link to={to}>{name}</Link>
      <strong>{value}</strong>
      {note === undefined ? null : <small class="muted">{note}</small>}
      {children}
    </div>
  );
}

function Lags({ lags }: { lags: Overview['lags'] }): JSX.Element {
  return (
    <section class="panel flush" aria-label="Largest lags">
      <h2>Largest lags</h2>
      {lags === null ? (
        <p class="muted">Not known at the moment.</p>
      ) : lags.subscriptions === 0 ? (
        <div class="empty inset">
          <p>No subscriptions yet.</p>
          <DemoDataButton />
        </div>
      ) : lags.largest.length === 0 ? (
        <p class="muted">Every subscription has consumed all of its events.</p>
      ) : (
        <Table
          label="Largest lags"
          rows={lags.largest}
          keyOf={({ subscription_id: id }) => id}
          columns={[
            {
              name: 'Owner and group',
              cell: ({ subscription_id: id, owning_application: owner, consumer_group: group }) => (
                <Link to={path('subscriptions', id)}>
                  <LongName name={`${owner} / ${group}`} />
                </Link>
              ),
            },
            {
              name: 'Lag (events)',
              numeric: true,
              cell: ({ unconsumed_events: events }) => formatCount(events),
            },
          ]}
        />
      )}
    </section>
  );
}

function Process({ process }: { process: Overview['process'] }): JSX.Element {
  const { disk } = process;
  const isFull = disk !== null && disk.free_bytes < disk.total_bytes * freeShareMinimum;
  return (
    <section class="panel" aria-label="Process">
      <h2>This process</h2>
      <dl>
        <dt>Node</dt>
        <dd>{process.node_id}</dd>
        <dt>Roles</dt>
        <dd>{process.roles.join(', ')}</dd>
        <dt>Version</dt>
        <dd>{process.version}</dd>
        <dt>Started</dt>
        <dd>
          <Time at={process.started_at} />
        </dd>
        {disk === null ? null : (
          <>
            <dt>Disk</dt>
            <dd>
              {formatBytes(disk.free_bytes)} of {formatBytes(disk.total_bytes)} free{' '}
              {isFull ? <span class="tag bad">nearly full</span> : null}
            </dd>
          </>
        )}
        {process.parts
          .filter(({ ready }) => !ready)
          .map(({ name, reason }) => (
            <>
              <dt key={name}>{name}</dt>
              <dd>
                <span class="tag bad">not ready</span> {reason}
              </dd>
            </>
          ))}
      </dl>
      <p class="muted">Rates, times and this box are of the process that answered; lags and dead letters are of all.</p>
    </section>
  );
}

import type { ComponentChildren, JSX } from 'preact';
import type { Responses } from '../../contract.ts';
import { call } from '../api/api.ts';
import { useLoaded } from '../api/queries.ts';
import { formatBytes, formatCount, formatDuration, formatSeconds } from '../formats.ts';
import { path } from '../navigation.ts';
import { DemoDataButton } from '../parts/demo-data-button.tsx';
import { Id } from '../parts/id.tsx';
import { Link } from '../parts/link.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { NodesTable, type Nodes } from '../parts/nodes-table.tsx';
import { SubscriptionLink } from '../parts/subscription/subscription-name.tsx';
import { Table } from '../parts/lists/table.tsx';

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

interface Overview extends Omit<Responses['getOverview'], 'lags' | 'process' | 'nodes'> {
  readonly process: Omit<Responses['getOverview']['process'], 'disk'> & { readonly disk: Disk | null };
  readonly lags: LargestLags | null;
  readonly nodes: Nodes | null;
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
          <NodesTable nodes={data.nodes} answering={data.process.node_id} />
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

function Numbers({ overview }: { overview: Overview }): JSX.Element {
  const { history, lags, dead_letters: deadLetters, process } = overview;
  return (
    <section class="tiles" aria-label="Numbers of the last hour">
      <Rate
        name="Published per second"
        values={history.published_per_second}
        to="/event-types"
        what="Events published per second"
      />
      <Rate
        name="Delivered per second"
        values={history.delivered_per_second}
        to="/subscriptions"
        what="Events delivered per second"
      />
      <Number
        name="Lag (events)"
        value={lags === null ? '—' : formatCount(lags.unconsumed_events)}
        note={lags === null ? 'not known' : subscriptionsText(lags.subscriptions)}
        to="/subscriptions?sort=-lag-events"
      >
        <Sparkline values={history.unconsumed_events} what="Lag in events" />
      </Number>
      <Rate name="Open streams" values={history.open_streams} to="/subscriptions" what="Open streams" />
      <Rate
        name="Commands decided per second"
        values={history.commands_decided_per_second}
        to="/loans"
        what="Loan commands decided per second"
      />
      <Rate
        name="Commands waiting"
        values={history.commands_waiting}
        to={`${path('event-types', 'lendstream.loan-commands')}/events`}
        what="Loan commands waiting"
      />
      <Duration
        name="Publishing, 99th percentile"
        values={history.publish_p99_seconds}
        to="/event-types"
        what="Seconds to publish"
      />
      <Duration
        name="Commits, 99th percentile"
        values={history.commit_p99_seconds}
        to="/subscriptions"
        what="Seconds to commit"
      />
      {process.disk === null ? null : (
        <DiskUsed disk={process.disk} values={history.disk_used_bytes} intervalSeconds={history.interval_seconds} />
      )}
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

function subscriptionsText(count: number): string {
  return count === 1 ? 'of 1 subscription' : `of ${formatCount(count)} subscriptions`;
}

interface NumberProperties {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  /** It needs attention. */
  readonly isBad?: boolean;
  /** It takes two columns. */
  readonly isDouble?: boolean;
  /** The page about it, if there is one. */
  readonly to?: string;
  readonly children?: ComponentChildren;
}

interface HistoryProperties<Value> extends Pick<NumberProperties, 'name' | 'to'> {
  /** Of the last hour. */
  readonly values: readonly Value[];
  /** The content of the sparkline, for users who cannot see it. */
  readonly what: string;
}

interface DiskUsedProperties {
  readonly disk: Disk;
  /** Bytes of the last hour. */
  readonly values: readonly (number | null)[];
  readonly intervalSeconds: number;
}

/** How full the disk is, and how fast it fills; the picture is as high as the disk is large. */
function DiskUsed({ disk, values, intervalSeconds }: DiskUsedProperties): JSX.Element {
  const used = disk.total_bytes - disk.free_bytes;
  const before = values.find((value) => value !== null) ?? used;
  const sign = used < before ? '−' : '+';
  const span = formatDuration(values.length * intervalSeconds);
  const change = values.length === 0 ? '' : `, ${sign}${formatBytes(Math.abs(used - before))} in ${span}`;
  return (
    <Number
      name="Disk used"
      value={formatBytes(used)}
      note={`of ${formatBytes(disk.total_bytes)}${change}`}
      isBad={isNearlyFull(disk)}
      isDouble
    >
      <Sparkline values={values} what="Disk used" top={disk.total_bytes} format={formatBytes} />
    </Number>
  );
}

function isNearlyFull({ free_bytes: free, total_bytes: total }: Disk): boolean {
  return free < total * freeShareMinimum;
}

/** The latest of several numbers, above all of them. */
function Rate({ values, what, ...tile }: HistoryProperties<number>): JSX.Element {
  const value = values.at(-1);
  const text = value === undefined ? '—' : formatCount(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));
  return (
    <Number {...tile} value={text}>
      <Sparkline values={values} what={what} />
    </Number>
  );
}

/** The latest of several times that is known, above all of them. Seconds. */
function Duration({ values, what, ...tile }: HistoryProperties<number | null>): JSX.Element {
  const value = values.findLast((each) => each !== null) ?? null;
  return (
    <Number {...tile} value={value === null ? '—' : formatSeconds(value)}>
      <Sparkline values={values} what={what} />
    </Number>
  );
}

function Number({ name, value, note, isBad = false, isDouble = false, to, children }: NumberProperties): JSX.Element {
  return (
    <div class={`panel tile${isBad ? ' is-bad' : ''}${isDouble ? ' is-double' : ''}`}>
      {to === undefined ? <span class="muted">{name}</span> : <Link to={to}>{name}</Link>}
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
              cell: (lag) => <SubscriptionLink id={lag.subscription_id} subscription={lag} />,
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
  return (
    <section class="panel" aria-label="Process">
      <h2>This process</h2>
      <dl>
        <dt>Id</dt>
        <dd>
          <Id id={process.node_id} what="id of the process" />
        </dd>
        {disk === null ? null : (
          <>
            <dt>Disk</dt>
            <dd>
              {formatBytes(disk.free_bytes)} of {formatBytes(disk.total_bytes)} free{' '}
              {isNearlyFull(disk) ? <span class="tag bad">nearly full</span> : null}
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
      <p class="muted">
        Rates, times and this box are of the process that answered; lags, nodes and dead letters are of all.
      </p>
    </section>
  );
}

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses } from '../../contract.ts';
import { callUnlessUnchanged } from '../api/api.ts';
import { isOfService } from '../api/api-lists.ts';
import { path } from '../navigation.ts';
import { useLoaded } from '../api/queries.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { TypeConsumers } from '../parts/event-type/consumers.tsx';
import { DeleteType } from '../parts/event-type/deletion.tsx';
import { TypePartitions } from '../parts/event-type/partitions.tsx';
import { TypePublishers } from '../parts/event-type/publishers.tsx';
import { TypeVersions } from '../parts/event-type/versions.tsx';
import { Explorer } from '../explorer/explorer.tsx';
import { Link } from '../parts/link.tsx';
import { NotFound } from '../parts/not-found.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Tabs, type Views } from '../parts/tabs.tsx';
import { Time } from '../parts/time.tsx';
import { TryEvent } from '../parts/event-type/try-event.tsx';

const views: Views = [
  [undefined, 'Definition'],
  ['events', 'Events'],
  ['try', 'Try an event'],
  ['versions', 'Versions'],
  ['consumers', 'Consumers'],
  ['publishers', 'Publishers'],
  ['partitions', 'Partitions'],
];

/** The queues of dead letters, by the event type that they belong to. */
const queuesOf: Readonly<Record<string, string>> = {
  'lendstream.loan-commands': '/dead-letters/commands',
  'nakadi.dead.letter.queue': '/dead-letters/subscriptions',
};

function viewsOf(name: string): Views {
  return queuesOf[name] === undefined ? views : [...views, ['dead-letters', 'Dead letters']];
}

/** One event type: its definition, its events, and who reads them. */
export function EventTypePage({ name, view }: { name: string; view: string | undefined }): JSX.Element {
  const address = `/event-types/${encodeURIComponent(name)}`;
  const loaded = useLoaded(address, (signal) => callUnlessUnchanged<Responses['getEventType']>(address, signal));
  const type = loaded.error?.status === 404 ? undefined : loaded.data;
  const [isDeleting, setIsDeleting] = useState(false);
  if (!viewsOf(name).some(([step]) => step === view)) return <NotFound />;
  return (
    <>
      <PageTitle title={name} isThing={type !== undefined}>
        {type === undefined ? null : isOfService(type) ? (
          <span class="tag">built in</span>
        ) : (
          <>
            <Link to={path('event-types', name, 'edit')} class="button">
              Edit
            </Link>
            <button class="danger" onClick={() => setIsDeleting(true)}>
              Delete
            </button>
          </>
        )}
      </PageTitle>
      <Problem
        error={loaded.error}
        what={type === undefined ? 'The event type cannot be shown.' : 'This may be out of date.'}
      />
      {type === undefined && loaded.error !== undefined ? (
        <p>
          <Link to="/event-types">All event types</Link>
        </p>
      ) : (
        <>
          <Tabs label="Views of the event type" at={['event-types', name]} views={viewsOf(name)} view={view} />
          {type === undefined ? <Skeleton rows={8} /> : <View type={type} view={view} />}
        </>
      )}
      {isDeleting ? <DeleteType name={name} onClose={() => setIsDeleting(false)} /> : null}
    </>
  );
}

function View({ type, view }: { type: Responses['getEventType']; view: string | undefined }): JSX.Element {
  const { name, schema } = type;
  switch (view) {
    case 'events':
      return <Explorer name={name} />;
    case 'try':
      return (
        <section class="panel" aria-label="Try an event">
          <p class="muted">Checks an event against schema version {schema.version}, as publishing does.</p>
          <TryEvent subject={name} type={type} canPublish />
        </section>
      );
    case 'dead-letters':
      return <DeadLetters of={name} />;
    case 'versions':
      return <TypeVersions name={name} />;
    case 'consumers':
      return <TypeConsumers name={name} />;
    case 'publishers':
      return <TypePublishers name={name} />;
    case 'partitions':
      return <TypePartitions name={name} />;
    case undefined:
    default:
      return <Definition type={type} />;
  }
}

/** What could not be decided or consumed, with the reasons, and what was done about it. */
function DeadLetters({ of }: { of: string }): JSX.Element {
  const queue = queuesOf[of] ?? '';
  return (
    <>
      <p class="muted">
        {queue.endsWith('/commands')
          ? 'Commands that could not be read or decided, each with the reason. One can be sent again.'
          : 'Events that a consumer could not process. To send one again, move the cursors of its subscription before it.'}
      </p>
      <Explorer name={queue} />
    </>
  );
}

function Definition({ type }: { type: Responses['getEventType'] }): JSX.Element {
  const rows: readonly (readonly [string, string])[] = [
    ['Owner', type.owning_application],
    ['Category', type.category],
    ['Compatibility', type.compatibility_mode],
    [
      'Partitioned',
      type.partition_strategy === 'hash' ? `by ${type.partition_key_fields.join(', ')}` : type.partition_strategy,
    ],
    ['Cleanup', type.cleanup_policy],
    ['Retention', `${type.options.retention_time / 3_600_000} h`],
  ];
  const notes = [...Object.entries(type.labels ?? {}), ...Object.entries(type.annotations ?? {})];
  const schema = pretty(type.schema.schema);
  return (
    <div class="columns">
      <section class="panel" aria-label="Properties">
        <dl>
          {rows.map(([name, value]) => (
            <>
              <dt key={name}>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
          <dt>Created</dt>
          <dd>
            <Time at={type.created_at} />
          </dd>
          <dt>Changed</dt>
          <dd>
            <Time at={type.updated_at} />
          </dd>
          {notes.map(([name, value]) => (
            <>
              <dt key={name}>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      </section>
      <div class="panel">
        <div class="title">
          <h2 id="schema-title">Schema {type.schema.version}</h2>
          <CopyButton text={schema} what="the schema" />
        </div>
        <pre tabIndex={0} role="region" aria-labelledby="schema-title">
          {schema}
        </pre>
      </div>
    </div>
  );
}

function pretty(text: string): string {
  try {
    // A schema with line breaks is shown as its author wrote it.
    return text.includes('\n') ? text : JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses } from '../../contract.ts';
import { call } from '../api.ts';
import { shownJson } from '../exact-numbers.ts';
import { useLiveEvents, type LiveEvent } from '../live-events.ts';
import { useLoaded } from '../polling.ts';
import { Confirm } from '../parts/confirm.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import { TryEvent } from '../parts/try-event.tsx';
import { isOfService } from '../api-lists.ts';
import { Link, navigate, path } from '../route.tsx';

const views = [
  [undefined, 'Definition'],
  ['try', 'Try an event'],
  ['events', 'Latest events'],
] as const;

/** One event type: its definition, examples of its events, and live events. */
export function EventTypePage({ name, view }: { name: string; view: string | undefined }): JSX.Element {
  const address = `/event-types/${encodeURIComponent(name)}`;
  const type = useLoaded(address, (signal) => call<Responses['getEventType']>('GET', address, undefined, { signal }));
  const [isConfirming, setIsConfirming] = useState(false);
  if (type.data === undefined) {
    return (
      <>
        <PageTitle title={name} />
        {type.error === undefined ? <p class="muted">Loading …</p> : null}
        <Problem error={type.error} what="The event type cannot be shown." />
        <p>
          <Link to="/event-types">All event types</Link>
        </p>
      </>
    );
  }
  return (
    <>
      <PageTitle title={name}>
        {isOfService(type.data) ? (
          <span class="tag">built in</span>
        ) : (
          <>
            <Link to={path('event-types', name, 'edit')} class="button">
              Edit
            </Link>
            <button class="danger" onClick={() => setIsConfirming(true)}>
              Delete
            </button>
          </>
        )}
      </PageTitle>
      <Problem error={type.error} what="This may be out of date." />
      <nav class="tabs" aria-label="Views of the event type">
        {views.map(([step, title]) => (
          <Link
            key={title}
            to={step === undefined ? path('event-types', name) : path('event-types', name, step)}
            current={view === step}
          >
            {title}
          </Link>
        ))}
      </nav>
      {view === 'events' ? (
        <LatestEvents name={name} />
      ) : view === 'try' ? (
        <section class="panel" aria-label="Try an event">
          <p class="muted">
            Checks an event against schema version {type.data.schema.version}, as publishing does. Nothing is published.
          </p>
          <TryEvent subject={name} type={type.data} />
        </section>
      ) : (
        <Definition type={type.data} />
      )}
      {isConfirming ? (
        <Confirm
          title={`Delete ${name}?`}
          action="Delete"
          dangerous
          onClose={() => setIsConfirming(false)}
          onConfirm={async () => {
            await call('DELETE', address);
            navigate('/event-types');
          }}
        >
          <p>Its events are deleted with it. That cannot be undone.</p>
        </Confirm>
      ) : null}
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
        </dl>
      </section>
      <div class="panel">
        <h2 id="schema-title">Schema {type.schema.version}</h2>
        <pre tabIndex={0} role="region" aria-labelledby="schema-title">
          {pretty(type.schema.schema)}
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

function LatestEvents({ name }: { name: string }): JSX.Element {
  const [paused, setPaused] = useState(false);
  const { partitions, isLive, error } = useLiveEvents(name, paused);
  const [state, tone] = paused ? ['paused', 'warn'] : isLive ? ['live', 'good live'] : ['not connected', 'warn'];
  return (
    <>
      <div class="title">
        <span class={`tag ${tone}`} role="status">
          {state}
        </span>
        <button onClick={() => setPaused(!paused)} aria-pressed={paused}>
          {paused ? 'Resume' : 'Pause'}
        </button>
      </div>
      <Problem error={error} what="The events cannot be shown." />
      {partitions === undefined && error === undefined ? <p class="muted">Loading …</p> : null}
      {[...(partitions ?? [])]
        .toSorted(([left], [right]) => Number(left) - Number(right))
        .map(([partition, events]) => (
          <section key={partition} class="panel flush" aria-label={`Partition ${partition}`}>
            <h2>Partition {partition}</h2>
            {events.length === 0 ? <p class="muted">No events yet.</p> : null}
            <ol class="events" reversed>
              {events.map((event) => (
                <EventRow key={event.key} event={event} />
              ))}
            </ol>
          </section>
        ))}
    </>
  );
}

function EventRow({ event }: { event: LiveEvent }): JSX.Element {
  const { metadata, ...body } = event.value;
  const { occurred_at: occurredAt } = (metadata ?? {}) as { occurred_at?: string };
  const text = shownJson(body);
  return (
    <li>
      <details>
        <summary>
          <code class="grow">{text.length > 160 ? `${text.slice(0, 160)}…` : text}</code>
          {occurredAt === undefined ? null : <Time at={occurredAt} />}
        </summary>
        <pre>{shownJson(event.value, 2)}</pre>
      </details>
    </li>
  );
}

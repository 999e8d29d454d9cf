import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { shownJson } from '../../exact-numbers.ts';
import { useLiveEvents, type LiveEvent } from '../../api/live-events.ts';
import { Problem } from '../problem.tsx';
import { Skeleton } from '../skeleton.tsx';
import { Time } from '../time.tsx';

export function LatestEvents({ name }: { name: string }): JSX.Element {
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
      {partitions === undefined && error === undefined ? <Skeleton rows={8} /> : null}
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
          {occurredAt === undefined ? null : <Time at={occurredAt} still />}
        </summary>
        <pre>{shownJson(event.value, 2)}</pre>
      </details>
    </li>
  );
}

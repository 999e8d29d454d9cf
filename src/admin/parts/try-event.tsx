import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Answers } from '../../contract.ts';
import { ApiError, call } from '../api.ts';
import { newEventId } from '../demo-data.ts';
import { lineOfPointer, readJsonText, type LineFinding } from '../json-lines.ts';
import { CodeEditor } from './code-editor.tsx';
import { Problem } from './problem.tsx';

/** How long after the last key the service is asked. */
const pauseMilliseconds = 300;

interface TryEventProperties {
  /** The name of an event type, or a definition that is not saved yet. */
  readonly subject: string | object;
  readonly type: { readonly category: string; readonly name: string };
}

type EventCheck = Answers['checkEventType'];

/** Holds an event against a schema as one types, without publishing it. */
export function TryEvent({ subject, type }: TryEventProperties): JSX.Element {
  const [text, setText] = useState(() => exampleEvent(type));
  const [answer, setAnswer] = useState<{ asked: string; check?: EventCheck; error?: ApiError }>();
  const json = readJsonText(text);
  const asked = json.fault === undefined ? JSON.stringify([subject, JSON.parse(text) as unknown]) : '';
  useEffect(() => {
    if (asked === '') return undefined;
    const stop = new AbortController();
    const [eventType, event] = JSON.parse(asked) as [string | object, unknown];
    const timer = setTimeout(() => {
      call<EventCheck>('POST', '/registry/event-type-checks', { event_type: eventType, event }, { signal: stop.signal })
        .then((check) => setAnswer({ asked, check }))
        .catch((error: unknown) => {
          if (error instanceof ApiError && !stop.signal.aborted) setAnswer({ asked, error });
        });
    }, pauseMilliseconds);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [asked]);
  const check = answer?.asked === asked ? answer.check : undefined;
  const findings: LineFinding[] =
    json.fault !== undefined
      ? [json.fault]
      : (check?.event?.violations ?? []).map(({ pointer, message }) => ({
          line: lineOfPointer(json, pointer),
          message: pointer === '#' ? message : `${pointer}: ${message}`,
        }));
  return (
    <>
      <CodeEditor label="Event" value={text} onInput={setText} findings={findings} linesMaximum={20} />
      <Problem error={answer?.asked === asked ? answer.error : undefined} />
      <div role="status">{verdictOf(json.fault !== undefined, check)}</div>
    </>
  );
}

function verdictOf(isNoJson: boolean, check: EventCheck | undefined): JSX.Element {
  if (isNoJson) return <p class="verdict">This is not JSON yet.</p>;
  if (check === undefined) return <p class="verdict waiting">Checking …</p>;
  if (check.event === null) {
    return <p class="verdict waiting">An event can be tried as soon as the definition is valid.</p>;
  }
  return check.event.valid ? (
    <p class="verdict good">The schema lets this event through.</p>
  ) : (
    <p class="verdict">Publishing this event would be refused.</p>
  );
}

function exampleEvent({ category, name }: TryEventProperties['type']): string {
  const metadata = { eid: newEventId(), occurred_at: new Date().toISOString() };
  const event =
    category === 'undefined'
      ? {}
      : category === 'data'
        ? { data_type: name, data_op: 'C', data: {}, metadata }
        : { metadata };
  return JSON.stringify(event, null, 2);
}

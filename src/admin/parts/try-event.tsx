import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses } from '../../contract.ts';
import { newEventId } from '../event-id.ts';
import { useEventTypeCheck } from '../event-type-check.ts';
import { lineOfPointer, readJsonText, type LineFinding } from '../json-line-numbers.ts';
import { CodeEditor } from './code-editor.tsx';
import { Problem } from './problem.tsx';

interface TryEventProperties {
  /** The name of an event type, or a definition that is not saved yet. */
  readonly subject: string | object;
  readonly type: { readonly category: string; readonly name: string };
}

type EventCheck = Responses['checkEventType'];

/** Validates an event against a schema as the user types, without publishing it. */
export function TryEvent({ subject, type }: TryEventProperties): JSX.Element {
  const [text, setText] = useState(() => exampleEvent(type));
  const json = readJsonText(text);
  const body = json.fault === undefined ? { event_type: subject, event: JSON.parse(text) as unknown } : undefined;
  const { outcome: check, error } = useEventTypeCheck(body);
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
      <Problem error={error} what="Validation is not available." />
      <div role="status">{error === undefined ? outcomeText(json.fault !== undefined, check) : null}</div>
    </>
  );
}

function outcomeText(isNoJson: boolean, check: EventCheck | undefined): JSX.Element {
  if (isNoJson) return <p class="verdict">This is not valid JSON yet.</p>;
  if (check === undefined) return <p class="verdict waiting">Checking …</p>;
  if (check.event === null) {
    return <p class="verdict waiting">An event can be tried as soon as the definition is valid.</p>;
  }
  return check.event.valid ? (
    <p class="verdict good">Valid: the schema accepts this event.</p>
  ) : (
    <p class="verdict">Publishing would reject this event.</p>
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

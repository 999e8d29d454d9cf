import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses } from '../../../contract.ts';
import { call, JsonText } from '../../api/api.ts';
import { exampleEvent } from '../../examples/example-event.ts';
import { useEventTypeCheck } from '../../api/event-type-check.ts';
import { newId } from '../../../client/clock.ts';
import { lineOfPointer, readJsonText, type LineFinding } from '../../json-line-numbers.ts';
import { CodeEditor } from '../code-editor.tsx';
import { Confirm } from '../confirm.tsx';
import { Problem } from '../problem.tsx';

interface TryEventProperties {
  /** The name of an event type, or a definition that is not saved yet. */
  readonly subject: string | object;
  readonly type: { readonly category: string; readonly name: string; readonly schema: { readonly schema: string } };
  /** Whether the event can also be published: the event type exists. */
  readonly canPublish?: boolean;
}

type EventCheck = Responses['checkEventType'];

/** Validates an event against a schema as the user types. Begins with an event that fits the schema. */
export function TryEvent({ subject, type, canPublish = false }: TryEventProperties): JSX.Element {
  const [text, setText] = useState(() => exampleText(type));
  const [isConfirming, setIsConfirming] = useState(false);
  const [published, setPublished] = useState('');
  const json = readJsonText(text);
  const { outcome: check, error } = useEventTypeCheck(
    json.fault === undefined ? new JsonText(`{"event_type":${JSON.stringify(subject)},"event":${text}}`) : undefined,
  );
  const findings: LineFinding[] =
    json.fault !== undefined
      ? [json.fault]
      : (check?.event?.violations ?? []).map(({ pointer, message }) => ({
          line: lineOfPointer(json, pointer),
          message: pointer === '#' ? message : `${pointer}: ${message}`,
        }));
  const isValid = check?.event?.valid === true;
  return (
    <>
      <CodeEditor label="Event" value={text} onInput={setText} findings={findings} linesMaximum={24} />
      <Problem error={error} what="Validation is not available." />
      <div role="status">{error === undefined ? outcomeText(json.fault !== undefined, check) : null}</div>
      <div class="actions">
        {canPublish ? (
          <button type="button" class="primary" disabled={!isValid} onClick={() => setIsConfirming(true)}>
            Publish
          </button>
        ) : null}
        <button type="button" onClick={() => setText(exampleText(type))}>
          New example
        </button>
        <span role="status" class="done">
          {published}
        </span>
      </div>
      {isConfirming ? (
        <Confirm
          title={`Publish to ${type.name}?`}
          action="Publish"
          onClose={() => setIsConfirming(false)}
          onConfirm={async () => {
            await call('POST', `/event-types/${encodeURIComponent(type.name)}/events`, new JsonText(`[${text}]`));
            setIsConfirming(false);
            setPublished('Published.');
            setText(withNewId(text));
          }}
        >
          <p>All consumers of this event type receive the event. It cannot be taken back.</p>
        </Confirm>
      ) : null}
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

function exampleText(type: TryEventProperties['type']): string {
  return JSON.stringify(exampleEvent(type), null, 2);
}

/** The next event is another one: its eid is new, what the user wrote stays. */
function withNewId(text: string): string {
  return text.replace(/("eid"\s*:\s*")[^"]*"/, `$1${newId()}"`);
}

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, apiErrorOf, JsonText } from '../api/api.ts';
import { useEventTypeCheck, type CheckResult } from '../api/event-type-check.ts';
import { queries, useLoaded } from '../api/queries.ts';
import { curl } from '../curl.ts';
import { newId } from '../../client/clock.ts';
import { lineOfPointer, readJsonText, type LineFinding } from '../json-line-numbers.ts';
import { CodeEditor } from '../parts/code-editor.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import type { Options } from '../parts/field.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { forgetUnsaved, useUnsaved } from '../unsaved-work.ts';
import { CommandResult } from './command-result.tsx';
import { PayloadForm } from './payload-form.tsx';
import {
  commandJson,
  commandsPath,
  commandsType,
  outcomeOf,
  publishCommand,
  type CommandOutcome,
  type CommandSubject,
} from './send-command.ts';

interface CommandEditorProperties {
  readonly type: string;
  readonly subject: CommandSubject;
  /** The payload in the beginning, and to go back to. JSON. */
  readonly example: string;
  /** The text of the button. */
  readonly action: string;
  /** What is asked before it is sent. */
  readonly question: string;
  /** What it changes, said before it is sent. */
  readonly effect: string;
  readonly choices?: Readonly<Record<string, Options>>;
  /** Above the fields, such as the choice of the command. */
  readonly children?: ComponentChildren;
  /** After it was done. Without it, the outcome and the events are shown. */
  readonly onDone?: (outcome: CommandOutcome) => void;
}

/** How far a command that was sent is. */
type Progress = 'publishing' | 'undecided' | CommandOutcome;

/** The fields of a command, its JSON, what the service says of it, and sending it. */
export function CommandEditor(properties: CommandEditorProperties): JSX.Element {
  const { type, subject, action, question, effect, choices, children, onDone } = properties;
  // What it is made from may change meanwhile.
  const [example] = useState(properties.example);
  const [payload, setPayload] = useState(example);
  const [id, setId] = useState(newId);
  const [isConfirming, setIsConfirming] = useState(false);
  const [progress, setProgress] = useState<Progress>();
  const [error, setError] = useState<ApiError>();
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const schema = useLoaded('command-schema', async () => (await import('./command-schema.ts')).commandSchema);
  const json = readJsonText(payload);
  const command = json.fault === undefined ? commandJson(id, type, subject, payload) : undefined;
  const checked = useEventTypeCheck(
    json.fault === undefined
      ? new JsonText(`{"event_type":"${commandsType}","event":${checkedCommand(type, subject, payload)}}`)
      : undefined,
  );
  // A key may have the right to a command, and not to check it before.
  const isUnchecked = checked.error?.status === 403;
  const isValid = checked.outcome?.event?.valid === true || (isUnchecked && json.fault === undefined);
  useUnsaved(payload !== example && progress === undefined);
  const write = (text: string): void => {
    setPayload(text);
    setProgress(undefined);
    setError(undefined);
    // Under the id of a command that may be stored, another one would be left out.
    if (error !== undefined) setId(newId());
  };
  const violations = (checked.outcome?.event?.violations ?? []).map(({ pointer, message }) => ({
    pointer: pointer.replace(/^#\/payload/, '#'),
    message: message.replace(/^#\/payload/, '#'),
  }));
  const findings: LineFinding[] =
    json.fault !== undefined
      ? [json.fault]
      : violations.map(({ pointer, message }) => ({
          line: lineOfPointer(json, pointer),
          message: pointer === '#' ? message : `${pointer.slice(2)}: ${message}`,
        }));
  const waitForOutcome = async (): Promise<void> => {
    setProgress('publishing');
    const outcome = await outcomeOf(id, leaving.current.signal);
    setProgress(outcome ?? 'undecided');
    if (outcome === undefined) return;
    // What is sent next is another command.
    setId(newId());
    forgetUnsaved();
    await queries.invalidateQueries();
    if (outcome.status === 'COMMITTED') onDone?.(outcome);
  };
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      if (leaving.current.signal.aborted) return;
      setProgress(undefined);
      setError(apiErrorOf(failure));
    }
  };
  return (
    <>
      <form
        class="columns"
        onSubmit={(event) => {
          event.preventDefault();
          if (isValid) setIsConfirming(true);
        }}
      >
        <section class="panel" aria-label="Fields">
          {children}
          <p class="muted">{effect}</p>
          {schema.data === undefined ? (
            <Skeleton rows={4} />
          ) : (
            <PayloadForm
              schema={schema.data}
              type={type}
              payload={json.fault === undefined ? payload : undefined}
              onInput={write}
              wrong={new Map(violations.map(({ pointer, message }) => [pointer, message]))}
              {...(choices === undefined ? {} : { choices })}
            />
          )}
        </section>
        <section class="panel" aria-label="JSON">
          <CodeEditor label="Payload" value={payload} onInput={write} findings={findings} linesMaximum={32} />
          <Problem error={isUnchecked ? undefined : checked.error} what="Validation is not available." />
          <div role="status">
            {checked.error === undefined || json.fault !== undefined
              ? verdict(json.fault !== undefined, checked)
              : isUnchecked
                ? uncheckedVerdict
                : null}
          </div>
          <Problem
            error={error}
            what={
              isUnknown(error)
                ? 'It is not known whether the command was stored. Sending it again is safe: it takes effect once.'
                : 'The command was not stored.'
            }
          />
          {progress === 'publishing' ? <p class="verdict waiting">Sent. Waiting for the outcome …</p> : null}
          {progress === 'undecided' ? (
            <div class="verdict waiting">
              <p>It is stored and not decided yet: other commands may be before it, or no worker runs.</p>
              <button type="button" onClick={() => void attempt(waitForOutcome)}>
                Look again
              </button>
            </div>
          ) : null}
          <div class="actions">
            <button class="primary" disabled={!isValid || progress === 'publishing' || progress === 'undecided'}>
              {isUnknown(error) ? 'Send again' : action}
            </button>
            <button type="button" disabled={payload === example} onClick={() => write(example)}>
              Reset
            </button>
            {command === undefined ? null : (
              <CopyButton text={curl('POST', commandsPath, new JsonText(`[${command}]`))} what="as curl" isNamed />
            )}
          </div>
        </section>
      </form>
      {typeof progress === 'object' ? <CommandResult outcome={progress} type={type} subject={subject} /> : null}
      {isConfirming && command !== undefined ? (
        <Confirm
          title={question}
          action={action}
          onClose={() => setIsConfirming(false)}
          onConfirm={() => {
            setIsConfirming(false);
            void attempt(async () => {
              setProgress('publishing');
              await publishCommand(command);
              await waitForOutcome();
            });
          }}
        >
          <p>{effect} Consumers of the lending events receive what changes.</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** The command as it is checked: under an id that stays, so that the same content is checked once. */
function checkedCommand(type: string, subject: CommandSubject, payload: string): string {
  const metadata = { eid: '00000000-0000-4000-8000-000000000000', occurred_at: '2026-01-01T00:00:00Z' };
  return `${JSON.stringify({ metadata, type, ...subject }).slice(0, -1)},"payload":${payload}}`;
}

/** Whether a request may have taken effect although it failed. */
function isUnknown(error: ApiError | undefined): boolean {
  return error !== undefined && (error.status === 0 || error.status >= 500);
}

const uncheckedVerdict = (
  <p class="verdict waiting">Your key may not check commands before: the form is checked when it is sent.</p>
);

function verdict(isNoJson: boolean, { outcome }: CheckResult): JSX.Element {
  if (isNoJson) return <p class="verdict">This is not valid JSON yet.</p>;
  if (outcome === undefined) return <p class="verdict waiting">Checking …</p>;
  return outcome.event?.valid === true ? (
    <p class="verdict good">The form is valid. The rules of lending decide when it is sent.</p>
  ) : (
    <p class="verdict">The service would not store this command.</p>
  );
}

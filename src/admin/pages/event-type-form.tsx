import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Responses, Schemas } from '../../contract.ts';
import { type ApiError, apiErrorOf, call } from '../api/api.ts';
import { useEventTypeCheck } from '../api/event-type-check.ts';
import { findingsOf, readJsonText, type LineFinding } from '../json-line-numbers.ts';
import { navigate, path } from '../navigation.ts';
import { queries, useLoaded } from '../api/queries.ts';
import { CodeEditor } from '../parts/code-editor.tsx';
import { Field, SelectField, type Options } from '../parts/field.tsx';
import { Link } from '../parts/link.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Problem } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { TryEvent } from '../parts/event-type/try-event.tsx';
import { forgetUnsaved, useUnsaved } from '../unsaved-work.ts';

const millisecondsPerHour = 3_600_000;

/** The content of the form, field by field. */
interface Draft {
  readonly name: string;
  readonly owner: string;
  readonly category: string;
  readonly compatibility: string;
  readonly strategy: string;
  readonly keyFields: string;
  readonly partitions: string;
  readonly cleanup: string;
  readonly retentionHours: string;
  readonly schema: string;
}

const newDraft: Draft = {
  name: '',
  owner: '',
  category: 'business',
  compatibility: 'forward',
  strategy: 'random',
  keyFields: '',
  partitions: '1',
  cleanup: 'delete',
  retentionHours: '48',
  schema: '{\n  "type": "object",\n  "properties": {\n  },\n  "required": []\n}',
};

type EventType = Schemas['EventType'];
type CheckOutcome = Responses['checkEventType'];

/** The form to define an event type, or to change the one with this name. */
export function EventTypeFormPage({ name }: { name?: string }): JSX.Element {
  const address = `/event-types/${encodeURIComponent(name ?? '')}`;
  const current = useLoaded(`edit ${name ?? ''}`, (signal) =>
    name === undefined ? Promise.resolve(null) : call<Responses['getEventType']>('GET', address, undefined, { signal }),
  );
  const title = name === undefined ? 'Define an event type' : `Edit ${name}`;
  return (
    <>
      <PageTitle title={title} />
      <Problem error={current.error} what="The event type cannot be edited." />
      {current.isLoading ? <Skeleton rows={10} /> : null}
      {current.data === undefined ? null : <EventTypeForm current={current.data} />}
    </>
  );
}

function draftOf(type: EventType): Draft {
  return {
    name: type.name,
    owner: type.owning_application,
    category: type.category,
    compatibility: type.compatibility_mode,
    strategy: type.partition_strategy,
    keyFields: type.partition_key_fields.join(', '),
    partitions: '',
    cleanup: type.cleanup_policy,
    retentionHours: String(type.options.retention_time / millisecondsPerHour),
    schema: type.schema.schema,
  };
}

/** The definition to send; fields of an event type that the form does not show stay unchanged. */
function definitionOf(draft: Draft, current: EventType | null): Record<string, unknown> {
  const partitions = Number(draft.partitions);
  const statistic =
    current === null && partitions > 1
      ? {
          default_statistic: {
            messages_per_minute: 60,
            message_size: 1_000,
            read_parallelism: partitions,
            write_parallelism: partitions,
          },
        }
      : {};
  return {
    ...current,
    name: draft.name.trim(),
    owning_application: draft.owner.trim() === '' ? null : draft.owner.trim(),
    category: draft.category,
    enrichment_strategies: draft.category === 'undefined' ? [] : ['metadata_enrichment'],
    compatibility_mode: draft.compatibility,
    partition_strategy: draft.strategy,
    partition_key_fields: draft.keyFields
      .split(',')
      .map((field) => field.trim())
      .filter(Boolean),
    cleanup_policy: draft.cleanup,
    options: { retention_time: Math.round(Number(draft.retentionHours) * millisecondsPerHour) },
    schema: { type: 'json_schema', schema: draft.schema },
    ...statistic,
  };
}

/** The fields with a choice, with their names in the API. */
const choices = {
  category: {
    label: 'Category',
    field: 'category',
    options: [
      ['business', 'business: something happened'],
      ['data', 'data: a record changed'],
      ['undefined', 'undefined: no metadata'],
    ],
  },
  compatibility: {
    label: 'Compatibility',
    field: 'compatibility_mode',
    options: [
      ['forward', 'forward: old consumers keep working'],
      ['compatible', 'compatible: only additions'],
      ['none', 'none: any change'],
    ],
  },
  strategy: {
    label: 'Partitioning',
    field: 'partition_strategy',
    options: [
      ['random', 'random'],
      ['hash', 'hash: ordered by key'],
      ['user_defined', 'user defined: set in each event'],
    ],
  },
  partitions: {
    label: 'Partitions',
    field: 'default_statistic',
    options: Array.from({ length: 8 }, (_, index) => [String(index + 1), String(index + 1)]),
  },
  cleanup: {
    label: 'Cleanup',
    field: 'cleanup_policy',
    options: [
      ['delete', 'delete: by age'],
      ['compact', 'compact: the latest of each key'],
      ['compact_and_delete', 'compact and delete'],
    ],
  },
} satisfies Partial<
  Record<keyof Draft, { readonly label: string; readonly field: keyof EventType; readonly options: Options }>
>;

function EventTypeForm({ current }: { current: EventType | null }): JSX.Element {
  const [draft, setDraft] = useState<Draft>(() => (current === null ? newDraft : draftOf(current)));
  const [unchanged] = useState(() => JSON.stringify(draft));
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [trying, setTrying] = useState(false);
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState<ApiError>();
  const definition = definitionOf(draft, current);
  const json = readJsonText(draft.schema);
  const checked = useEventTypeCheck(json.fault === undefined ? { event_type: definition } : undefined);
  const { outcome } = checked;
  useUnsaved(unchanged !== JSON.stringify(draft));
  const set = (field: keyof Draft) => (value: string) => {
    setDraft((before) => ({ ...before, [field]: value }));
    setTouched((before) => new Set(before).add(field));
    setError(undefined);
  };
  /** Findings about a field are shown once it was filled in, or after an attempt to save. */
  const wrong = (field: string, draftField: keyof Draft): string | undefined =>
    touched.has(draftField) || error !== undefined
      ? outcome?.violations
          .find((violation) => violation.field === field)
          ?.message.replace('must not be null', 'must be filled in')
      : undefined;
  const choose = (name: keyof typeof choices): JSX.Element => {
    const { label, field, options } = choices[name];
    return (
      <SelectField label={label} value={draft[name]} onInput={set(name)} wrong={wrong(field, name)} options={options} />
    );
  };
  const save = async (): Promise<void> => {
    setSaving(true);
    setError(undefined);
    try {
      if (current === null) await call('POST', '/event-types', definition);
      else await call('PUT', `/event-types/${encodeURIComponent(current.name)}`, definition);
      forgetUnsaved();
      void queries.invalidateQueries();
      navigate(path('event-types', String(definition['name'])));
    } catch (failure) {
      setError(apiErrorOf(failure));
      setSaving(false);
    }
  };
  const schemaFindings: readonly LineFinding[] =
    json.fault !== undefined
      ? [{ ...json.fault, message: `Invalid JSON: ${json.fault.message}` }]
      : outcome?.valid === false && outcome.violations.length === 0 && isAboutSchema(outcome)
        ? findingsOf(json, outcome.detail ?? '')
        : [];
  return (
    <form
      class="columns"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <section class="panel" aria-label="Properties">
        <Field
          label="Name"
          value={draft.name}
          onInput={set('name')}
          wrong={wrong('name', 'name')}
          hint={
            current === null
              ? 'Words separated by dots, for example accounting.booking-made'
              : 'The name cannot be changed.'
          }
          readOnly={current !== null}
        />
        <Field
          label="Owning application"
          value={draft.owner}
          onInput={set('owner')}
          wrong={wrong('owning_application', 'owner')}
        />
        {choose('category')}
        {choose('compatibility')}
        {choose('strategy')}
        {draft.strategy === 'hash' ? (
          <Field
            label="Key fields"
            value={draft.keyFields}
            onInput={set('keyFields')}
            wrong={wrong('partition_key_fields', 'keyFields')}
            hint="Separated by commas; dots for nested fields"
          />
        ) : null}
        {current === null ? choose('partitions') : null}
        {choose('cleanup')}
        <Field
          label="Retention in hours"
          value={draft.retentionHours}
          onInput={set('retentionHours')}
          wrong={hoursWrong(wrong('options.retention_time', 'retentionHours'))}
          hint="3 to 96"
        />
      </section>
      <section class="panel" aria-label="Schema">
        <CodeEditor
          label="JSON Schema"
          value={draft.schema}
          onInput={set('schema')}
          findings={schemaFindings}
          linesMinimum={14}
        />
        <div role="status">
          {checked.error === undefined ? (
            <CheckOutcomeView
              current={current}
              isJson={json.fault === undefined}
              outcome={outcome}
              isSubmitted={error !== undefined}
              findings={schemaFindings}
            />
          ) : null}
        </div>
        <Problem error={checked.error} what="Validation is not available." />
        <Problem
          error={error?.lines.join('\n') === outcome?.detail && schemaFindings.length > 0 ? undefined : error}
          what="The event type was not saved."
        />
        <div class="actions">
          <button
            class={outcome?.valid === false ? undefined : 'primary'}
            disabled={saving || json.fault !== undefined}
          >
            {current === null ? 'Create' : 'Save'}
          </button>
          <Link to={current === null ? '/event-types' : path('event-types', current.name)} class="button">
            Cancel
          </Link>
          <button
            type="button"
            disabled={json.fault !== undefined}
            onClick={() => set('schema')(formatted(draft.schema))}
          >
            Format
          </button>
          <button type="button" aria-expanded={trying} onClick={() => setTrying(!trying)}>
            Try an event
          </button>
        </div>
        {trying ? (
          <TryEvent
            subject={definition}
            type={{ name: draft.name, category: draft.category, schema: { schema: draft.schema } }}
          />
        ) : null}
      </section>
    </form>
  );
}

/** The same JSON over several lines. */
function formatted(text: string): string {
  return JSON.stringify(JSON.parse(text), null, 2);
}

/** Whether a refusal is about the schema, and not about something else that must not change. */
function isAboutSchema({ detail }: CheckOutcome): boolean {
  return detail !== null && /schema/i.test(detail);
}

function hoursWrong(message: string | undefined): string | undefined {
  return message === undefined ? undefined : 'must be 3 to 96 hours';
}

interface CheckOutcomeViewProperties {
  readonly current: EventType | null;
  readonly isJson: boolean;
  readonly outcome: CheckOutcome | undefined;
  /** After an attempt to save, fields that were never filled in are named too. */
  readonly isSubmitted: boolean;
  /** The findings that are already shown at the lines of the schema. */
  readonly findings: readonly LineFinding[];
}

function CheckOutcomeView({
  current,
  isJson,
  outcome,
  isSubmitted,
  findings,
}: CheckOutcomeViewProperties): JSX.Element {
  if (!isJson) return <p class="verdict">The schema is not valid JSON yet.</p>;
  if (outcome === undefined) return <p class="verdict waiting">Checking …</p>;
  if (current === null && outcome.current_version !== null) {
    return <p class="verdict">An event type with this name already exists.</p>;
  }
  if (!outcome.valid) {
    if (outcome.violations.length > 0 && !isSubmitted) {
      return <p class="verdict waiting">These fields are missing or invalid: {fieldsOf(outcome)}.</p>;
    }
    return (
      <p class="verdict">
        {current === null ? 'This definition cannot be created.' : 'This change cannot be saved.'}{' '}
        {reasonOf(outcome, findings)}
      </p>
    );
  }
  if (current === null) return <p class="verdict good">Valid: creates schema version {outcome.version}.</p>;
  if (outcome.version === current.schema.version) {
    return <p class="verdict good">The schema stays at version {outcome.version}.</p>;
  }
  return (
    <div class="verdict good">
      <p>
        Compatible ({current.compatibility_mode}): the schema gets version {outcome.version}.
      </p>
      <ul>
        {outcome.changes.map(({ kind, pointer, message }) => (
          <li key={`${pointer} ${message}`}>
            <code>{pointer}</code> {message} ({kind})
          </li>
        ))}
      </ul>
    </div>
  );
}

function reasonOf(outcome: CheckOutcome, findings: readonly LineFinding[]): string {
  if (outcome.violations.length > 0) return `Check these fields: ${fieldsOf(outcome)}.`;
  if (findings.length === 0) return outcome.detail ?? '';
  return `Check line ${[...new Set(findings.map(({ line }) => line))].join(', ')} of the schema.`;
}

function fieldsOf({ violations }: CheckOutcome): string {
  return [...new Set(violations.map(({ field }) => field.replaceAll('_', ' ')))].join(', ');
}

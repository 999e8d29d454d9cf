import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Field, SelectField, type Options } from '../parts/field.tsx';
import { fieldGroupsOf, type CommandField } from './command-fields.ts';
import { fieldText, withFieldText } from './payload-text.ts';

interface PayloadFormProperties {
  /** The schema of all commands. */
  readonly schema: string;
  readonly type: string;
  /** JSON; undefined while it is not valid. */
  readonly payload: string | undefined;
  readonly onInput: (payload: string) => void;
  /** What is wrong with a field, by its JSON pointer. */
  readonly wrong: ReadonlyMap<string, string>;
  /** Values to choose from, by the name of a field. */
  readonly choices?: Readonly<Record<string, Options>>;
}

/** The fields of a payload. It is the same content as in the editor beside it. */
export function PayloadForm({
  schema,
  type,
  payload,
  onInput,
  wrong,
  choices = {},
}: PayloadFormProperties): JSX.Element {
  const groups = useMemo(() => fieldGroupsOf(schema, type), [schema, type]);
  const control = (field: CommandField): JSX.Element => {
    const name = field.path.join('/');
    const options = choices[name] ?? field.options.map((option) => [option, choiceText(option)] as const);
    const properties = {
      label: field.isRequired ? `${field.label} (required)` : field.label,
      value: payload === undefined ? '' : fieldText(payload, field),
      onInput: (content: string) => {
        if (payload !== undefined) onInput(withFieldText(payload, field, content.trim()));
      },
      wrong: wrong.get(`#/${name}`),
      ...(field.hint === undefined ? {} : { hint: field.hint }),
    };
    return options.length > 0 ? (
      <SelectField key={name} {...properties} options={[['', '—'], ...options]} />
    ) : (
      <Field key={name} {...properties} {...(field.kind === 'day' ? { placeholder: 'YYYY-MM-DD' } : {})} />
    );
  };
  if (groups.length === 0) return <p class="muted">This command needs no fields.</p>;
  return (
    <fieldset class="payload" disabled={payload === undefined}>
      <legend class="unseen">Fields</legend>
      {groups.map(({ title, fields }) =>
        title === '' ? (
          <div key="" class="fields">
            {fields.map(control)}
          </div>
        ) : (
          <details key={title} class="inline">
            <summary>{title}</summary>
            <div class="fields">{fields.map(control)}</div>
          </details>
        ),
      )}
    </fieldset>
  );
}

function choiceText(option: string): string {
  if (option === 'true') return 'yes';
  return option === 'false' ? 'no' : option.replaceAll('_', ' ').toLowerCase();
}

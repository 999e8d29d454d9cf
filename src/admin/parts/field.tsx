import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProperties {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** The error of the field. */
  readonly wrong?: string | undefined;
  readonly hint?: string;
}

/** The attributes that connect the control with its name, its hint and its error. */
interface ControlProperties {
  readonly id: string;
  readonly value: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
}

/** A control with its name, a hint, and its error. */
function LabelledField({
  label,
  value,
  wrong,
  hint,
  control,
}: Omit<FieldProperties, 'onInput'> & {
  readonly control: (properties: ControlProperties) => JSX.Element;
}): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id} class="muted">
        {label}
      </label>
      {control({ id, value, 'aria-invalid': wrong !== undefined, 'aria-describedby': `${id}-note` })}
      <small id={`${id}-note`}>
        {wrong === undefined ? null : <span class="wrong">{wrong}. </span>}
        {hint}
      </small>
    </div>
  );
}

/** A line of text. */
export function Field({
  onInput,
  readOnly = false,
  placeholder,
  ...field
}: FieldProperties & { readonly readOnly?: boolean; readonly placeholder?: string }): JSX.Element {
  return (
    <LabelledField
      {...field}
      control={(control) => (
        <input
          {...control}
          autocomplete="off"
          spellcheck={false}
          placeholder={placeholder}
          readOnly={readOnly}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    />
  );
}

/** A time to the minute, in the time zone of the user. */
export function TimeField({ onInput, ...field }: FieldProperties): JSX.Element {
  return (
    <LabelledField
      {...field}
      control={(control) => (
        <input {...control} type="datetime-local" onInput={(event) => onInput(event.currentTarget.value)} />
      )}
    />
  );
}

/** The choices: the value that is sent, and its label. */
export type Options = readonly (readonly [value: string, text: string])[];

/** A choice among a few values. */
export function SelectField({
  onInput,
  options,
  ...field
}: FieldProperties & { readonly options: Options }): JSX.Element {
  return (
    <LabelledField
      {...field}
      control={(control) => (
        <select {...control} onChange={(event) => onInput(event.currentTarget.value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    />
  );
}

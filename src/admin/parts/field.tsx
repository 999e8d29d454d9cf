import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProperties {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** What is wrong with it. */
  readonly wrong?: string | undefined;
  readonly hint?: string;
}

/** What the control itself needs, to belong to its name and to what is said of it. */
interface ControlProperties {
  readonly id: string;
  readonly value: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
}

/** A control with its name, a hint, and what is wrong with it. */
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
      <small id={`${id}-note`} class={wrong === undefined ? undefined : 'wrong'}>
        {wrong ?? hint}
      </small>
    </div>
  );
}

/** A line of text. */
export function Field({
  onInput,
  readOnly = false,
  ...field
}: FieldProperties & { readonly readOnly?: boolean }): JSX.Element {
  return (
    <LabelledField
      {...field}
      control={(control) => (
        <input
          {...control}
          autocomplete="off"
          spellcheck={false}
          readOnly={readOnly}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    />
  );
}

/** What can be chosen: what is sent, and how it is called. */
export type Options = readonly (readonly [value: string, text: string])[];

/** A choice of a few. */
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

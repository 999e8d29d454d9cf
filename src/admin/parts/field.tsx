import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProperties {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** What is wrong with it. */
  readonly wrong?: string | undefined;
  readonly hint?: string;
  readonly readOnly?: boolean;
}

/** A line of text with its name, a hint, and what is wrong with it. */
export function Field({ label, value, onInput, wrong, hint, readOnly = false }: FieldProperties): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id} class="muted">
        {label}
      </label>
      <input
        id={id}
        value={value}
        autocomplete="off"
        spellcheck={false}
        readOnly={readOnly}
        aria-invalid={wrong !== undefined}
        aria-describedby={`${id}-note`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <small id={`${id}-note`} class={wrong === undefined ? undefined : 'wrong'}>
        {wrong ?? hint}
      </small>
    </div>
  );
}

interface SelectProperties extends Pick<FieldProperties, 'label' | 'value' | 'onInput' | 'wrong'> {
  readonly options: readonly (readonly [value: string, text: string])[];
}

export function SelectField({ label, value, onInput, wrong, options }: SelectProperties): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id} class="muted">
        {label}
      </label>
      <select
        id={id}
        value={value}
        aria-invalid={wrong !== undefined}
        aria-describedby={`${id}-note`}
        onChange={(event) => onInput(event.currentTarget.value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
      {wrong === undefined ? null : (
        <small id={`${id}-note`} class="wrong">
          {wrong}
        </small>
      )}
    </div>
  );
}

import type { JSX } from 'preact';

interface SearchFieldProperties {
  readonly label: string;
  readonly value: string;
  readonly onInput: (words: string) => void;
}

/** A field that filters what is below it. */
export function SearchField({ label, value, onInput }: SearchFieldProperties): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="search"
        value={value}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}

import type { JSX } from 'preact';

/** Columns that every event type has, with their names in the address. */
const general = [
  ['time', 'Time'],
  ['position', 'Partition and offset'],
  ['key', 'Key'],
  ['event', 'Event'],
] as const;

interface ColumnChoiceProperties {
  /** The fields of the events that are shown. */
  readonly fields: readonly string[];
  readonly chosen: readonly string[];
  readonly onChoose: (columns: readonly string[]) => void;
}

/** Chooses the columns of the list, among them fields of its events. */
export function ColumnChoice({ fields, chosen, onChoose }: ColumnChoiceProperties): JSX.Element {
  const options: readonly (readonly [string, string])[] = [
    ...general,
    ...fields.map((field) => [field, field] as const),
  ];
  return (
    <details class="menu">
      <summary class="button">Columns</summary>
      <div class="choices" role="group" aria-label="Columns">
        {options.map(([column, title]) => (
          <label key={column} class="choice">
            <input
              type="checkbox"
              checked={chosen.includes(column)}
              onChange={(event) =>
                onChoose(
                  event.currentTarget.checked
                    ? [...chosen, column]
                    : // A list without columns would show nothing at all.
                      chosen.length > 1
                      ? chosen.filter((each) => each !== column)
                      : chosen,
                )
              }
            />
            <span>{title}</span>
          </label>
        ))}
      </div>
    </details>
  );
}

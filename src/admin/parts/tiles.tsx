import type { JSX } from 'preact';

export interface Tile {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  /** Below the value, such as its course. */
  readonly picture?: JSX.Element;
}

/** A few numbers that are read first. */
export function Tiles({ label, tiles }: { label: string; tiles: readonly Tile[] }): JSX.Element {
  return (
    <section class="tiles" aria-label={label}>
      {tiles.map(({ name, value, note, picture }) => (
        <div key={name} class="panel tile">
          <span class="muted">{name}</span>
          <strong>{value}</strong>
          {note === undefined ? null : <small class="muted">{note}</small>}
          {picture}
        </div>
      ))}
    </section>
  );
}

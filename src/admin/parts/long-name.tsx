import type { JSX } from 'preact';

/** Shorter names are shown whole, on several lines where they have to be. */
const lengthMaximum = 44;
const endLength = 16;

/** A name that is cut in its middle when it is long; its tooltip is the whole name. */
export function LongName({ name }: { name: string }): JSX.Element {
  if (name.length <= lengthMaximum) return <>{name}</>;
  return (
    <span class="long-name" title={name}>
      <span class="unseen">{name}</span>
      <span aria-hidden="true">{name.slice(0, -endLength)}</span>
      <span aria-hidden="true">{name.slice(-endLength)}</span>
    </span>
  );
}

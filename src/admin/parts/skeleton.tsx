import type { JSX } from 'preact';

/** The shape of what is being loaded, so that nothing jumps once it is there. */
export function Skeleton({ rows = 5 }: { rows?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">Loading …</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} class="bone" />
      ))}
    </div>
  );
}

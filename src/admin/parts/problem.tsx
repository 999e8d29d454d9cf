import type { JSX } from 'preact';
import type { ApiError } from '../api.ts';

/** What went wrong, in the words of the service, where it went wrong. */
export function Problem({ error, what }: { error: ApiError | undefined; what?: string }): JSX.Element | null {
  if (error === undefined) return null;
  return (
    <div class="problem" role="alert">
      {what === undefined ? null : <strong>{what}</strong>}
      {error.lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}

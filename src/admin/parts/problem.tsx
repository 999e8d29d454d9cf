import type { JSX } from 'preact';
import type { ApiError } from '../api/api.ts';

/** An error with the message of the service, shown where it happened. */
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

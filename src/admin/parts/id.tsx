import type { JSX } from 'preact';
import { CopyButton } from './copy-button.tsx';

/** An id, with a button that copies it. */
export function Id({ id, what }: { id: string; what: string }): JSX.Element {
  return (
    <span class="copyable">
      <code>{id}</code>
      <CopyButton text={id} what={what} />
    </span>
  );
}

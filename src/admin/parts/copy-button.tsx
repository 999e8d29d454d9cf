import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { after } from '../../client/clock.ts';
import { copyText } from '../clipboard.ts';

const doneMilliseconds = 1_500;

interface CopyButtonProperties {
  readonly text: string;
  /** What is copied, for the name of the button. */
  readonly what: string;
  /** Shows the name, instead of a sign. */
  readonly isNamed?: boolean;
}

/** Copies a text, such as an id. */
export function CopyButton({ text, what, isNamed = false }: CopyButtonProperties): JSX.Element {
  const [isDone, setIsDone] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setIsDone(true);
    after(doneMilliseconds, () => setIsDone(false));
  };
  return (
    <button
      type="button"
      class={isNamed ? undefined : 'icon'}
      title={`Copy ${what}`}
      aria-label={isDone ? `Copied ${what}` : `Copy ${what}`}
      onClick={() => void copy()}
    >
      {isNamed ? isDone ? 'Copied' : `Copy ${what}` : <CopyIcon isDone={isDone} />}
    </button>
  );
}

/** Two sheets, or a check mark. */
function CopyIcon({ isDone }: { isDone: boolean }): JSX.Element {
  return (
    <svg
      width="14"
      height="14"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      aria-hidden="true"
    >
      {isDone ? (
        <path d="M3 8.5l3.5 3.5L13 4.5" />
      ) : (
        <>
          <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
          <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
        </>
      )}
    </svg>
  );
}

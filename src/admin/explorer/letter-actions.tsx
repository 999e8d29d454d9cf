import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api/api.ts';
import { Confirm } from '../parts/confirm.tsx';
import type { FoundEvent } from './found-events.ts';

interface LetterActionsProperties {
  /** The path of the queue of dead letters. */
  readonly queue: string;
  readonly letter: NonNullable<FoundEvent['letter']>;
  readonly onChange: () => void;
}

/** Sends a dead letter again, where that is possible, or marks it as dealt with. */
export function LetterActions({ queue, letter, onChange }: LetterActionsProperties): JSX.Element {
  const [isSending, setIsSending] = useState(false);
  const [isMarking, setIsMarking] = useState(false);
  const address = `${queue}/${encodeURIComponent(letter.id)}`;
  const isOpen = letter.dealtWith === '';
  return (
    <>
      {queue.endsWith('/commands') ? (
        <button type="button" onClick={() => setIsSending(true)}>
          Send again
        </button>
      ) : null}
      <button type="button" onClick={() => setIsMarking(true)}>
        {isOpen ? 'Mark as dealt with' : 'Open again'}
      </button>
      {isSending ? (
        <Confirm
          title="Send this command again?"
          action="Send again"
          onClose={() => setIsSending(false)}
          onConfirm={async () => {
            await call('POST', `${address}/deliveries`);
            setIsSending(false);
            onChange();
          }}
        >
          <p>It is decided once more. Its id makes it take effect only once. The letter is marked as sent again.</p>
        </Confirm>
      ) : null}
      {isMarking ? (
        <Confirm
          title={isOpen ? 'Mark as dealt with?' : 'Open this letter again?'}
          action={isOpen ? 'Mark' : 'Open again'}
          onClose={() => setIsMarking(false)}
          onConfirm={async () => {
            await call('PUT', address, { dealt_with: isOpen });
            setIsMarking(false);
            onChange();
          }}
        >
          <p>The letter stays where it is, until its retention time is over.</p>
        </Confirm>
      ) : null}
    </>
  );
}

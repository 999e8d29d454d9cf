import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, apiErrorOf } from '../api/api.ts';
import { Problem } from './problem.tsx';

interface ConfirmProperties {
  readonly title: string;
  readonly action: string;
  readonly dangerous?: boolean;
  /** Something stands in the way: only cancelling is possible. */
  readonly isBlocked?: boolean;
  /** What is shown while the action takes its time. */
  readonly waiting?: string;
  /** Wide enough for a table. */
  readonly isWide?: boolean;
  readonly onConfirm: () => Promise<void> | void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Asks before an action that affects others. Escape and Cancel change nothing. */
export function Confirm(properties: ConfirmProperties): JSX.Element {
  const {
    title,
    action,
    dangerous,
    isBlocked = false,
    isWide = false,
    waiting,
    onConfirm,
    onClose,
    children,
  } = properties;
  const dialog = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
    } catch (failure) {
      setError(apiErrorOf(failure));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} class={isWide ? 'is-wide' : undefined} aria-labelledby="confirm-title" onClose={onClose}>
      <h2 id="confirm-title">{title}</h2>
      {children}
      <Problem error={error} />
      <p role="status" class="muted">
        {busy ? (waiting ?? '') : ''}
      </p>
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={dangerous === true ? 'danger' : 'primary'}
          disabled={busy || isBlocked}
          onClick={() => void confirm()}
        >
          {action}
        </button>
      </div>
    </dialog>
  );
}

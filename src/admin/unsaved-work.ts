import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** Work on a page that is lost when the user leaves it. */

let isUnsaved = false;

/** A way to leave a page with unsaved work. The user has to be asked first. */
export interface Departure {
  readonly leave: () => void;
}

export const departure = signal<Departure | undefined>(undefined);

/** While there is work on the page, leaving it asks first; the browser asks before the tab is closed. */
export function useUnsaved(unsaved: boolean): void {
  // In the layout effect, not after the next painting, so that a user who leaves right after a change is asked too.
  useLayoutEffect(() => {
    if (!unsaved) return undefined;
    isUnsaved = true;
    const keep = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', keep);
    return () => {
      isUnsaved = false;
      window.removeEventListener('beforeunload', keep);
    };
  }, [unsaved]);
}

export function hasUnsaved(): boolean {
  return isUnsaved;
}

/** The work was saved, or is no longer wanted. */
export function forgetUnsaved(): void {
  isUnsaved = false;
}

/**
 * Whether the user may leave the page now. If not, a question is shown.
 * @param leave Leaves the page after the user agreed.
 */
export function mayLeave(leave: () => void): boolean {
  if (!isUnsaved) return true;
  departure.value = {
    leave() {
      forgetUnsaved();
      leave();
    },
  };
  return false;
}

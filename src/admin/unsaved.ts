import { useLayoutEffect } from 'preact/hooks';
import { store } from './store.ts';

/** Work on a page that is lost when one leaves it. */

let isUnsaved = false;

/** A way off a page with unsaved work. The user has to be asked before it is taken. */
export interface Departure {
  readonly leave: () => void;
}

export const departure = store<Departure | undefined>(undefined);

/** While there is work on the page, leaving it asks first; closing the tab is asked about by the browser. */
export function useUnsaved(unsaved: boolean): void {
  // With the layout, not after the next painting, so that a user who leaves right after a change is asked as well.
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

/** The work was saved, or is not wanted. */
export function forgetUnsaved(): void {
  isUnsaved = false;
}

/**
 * Whether one may leave the page now. If not, it is asked about.
 * @param leave Leaves, once that was answered with yes.
 */
export function mayLeave(leave: () => void): boolean {
  if (!isUnsaved) return true;
  departure.set({
    leave() {
      forgetUnsaved();
      leave();
    },
  });
  return false;
}

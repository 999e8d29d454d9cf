import { signal } from '@preact/signals';
import { after } from '../client/clock.ts';
import { departure, hasUnsaved, mayLeave } from './unsaved-work.ts';

/**
 * The address and the browser's history. Pages with unsaved work are left only after a question, and going back finds
 * the page where it was scrolled to.
 */

/** The address of the page that is shown. */
export interface Address {
  readonly pathname: string;
  /** The query without its question mark. */
  readonly search: string;
}

export const base = '/admin';

function readAddress(): Address {
  return { pathname: location.pathname, search: location.search.slice(1) };
}

export const address = signal<Address>(readAddress());

/** The position of this page in the browser's history: leaving can be undone only if the distance is known. */
interface HistoryState {
  readonly position: number;
}

let { position } = historyStateOf(history.state) ?? { position: 0 };
history.replaceState({ position } satisfies HistoryState, '');

function historyStateOf(state: unknown): HistoryState | undefined {
  return typeof state === 'object' && state !== null && 'position' in state ? (state as HistoryState) : undefined;
}

/** The browser left a page with unsaved work and is on its way back to it. Once there, the user is asked. */
interface Return {
  /** The position furthest from the page that the browser reached: the target of leaving. */
  furthest: number;
  /** The address that was requested on the way back, instead of opening it. */
  leave?: () => void;
  /** Cancels that the browser is sent back again. */
  cancelAgain?: () => void;
}

let returning: Return | undefined;

/** How long the browser stays in the wrong place before it is sent back again. */
const restMilliseconds = 500;

window.addEventListener('popstate', (event) => {
  const historyState = historyStateOf(event.state);
  if (historyState === undefined) {
    // A fragment that a user typed into the address.
    position += 1;
    history.replaceState({ position } satisfies HistoryState, '');
    return;
  }
  const reached = historyState.position;
  if (returning !== undefined) continueReturn(returning, reached);
  else if (hasUnsaved() && readAddress().pathname !== address.value.pathname) {
    // An open question is about leaving the page: it is asked again there.
    departure.value = undefined;
    returning = { furthest: reached };
    history.go(position - reached);
  } else {
    position = reached;
    address.value = readAddress();
    scrollOnceThere(scrolledTo.get(position) ?? 0);
  }
});

function continueReturn(current: Return, reached: number): void {
  current.cancelAgain?.();
  const steps = current.furthest - position;
  if (reached === position) {
    returning = undefined;
    const leave = current.leave ?? (() => history.go(steps));
    if (mayLeave(leave)) leave();
    return;
  }
  if (Math.abs(reached - position) > Math.abs(steps)) current.furthest = reached;
  // The user moved further through the history. The way back may still happen, and then end elsewhere, or was dropped:
  // the position where the browser stops shows how far it has to go. Two ways back at once would go past the page.
  current.cancelAgain = after(restMilliseconds, () => history.go(position - reached));
}

export interface NavigateOptions {
  /** Replaces the entry of the history, for changes that going back should not undo one by one. */
  readonly replace?: boolean;
}

/**
 * Opens another page, once work on this one is saved or discarded.
 * @param to A path behind /admin, its steps encoded, with a query.
 */
export function navigate(to: string, options: NavigateOptions = {}): void {
  go(`${base}${to}`, options);
}

function go(target: string, { replace = false }: NavigateOptions = {}): void {
  if (returning !== undefined) {
    returning.leave = () => go(target);
    return;
  }
  const isSamePage = target.split(/[?#]/, 1)[0] === address.value.pathname;
  if (!isSamePage && !mayLeave(() => go(target))) return;
  if (replace) {
    history.replaceState({ position } satisfies HistoryState, '', target);
  } else {
    // The event of the last scrolling may not have arrived yet.
    if (!isScrolling) scrolledTo.set(position, window.scrollY);
    position += 1;
    history.pushState({ position } satisfies HistoryState, '', target);
  }
  address.value = readAddress();
  if (!isSamePage) scrollOnceThere(0);
}

/** The location of the router: the path behind the host, and how to open another one. */
export function useAddressPath(): [string, (to: string, options?: NavigateOptions) => void] {
  // The router decodes a path before it reads its steps. A percent sign must not be decoded twice.
  return [address.value.pathname.replaceAll('%25', '%2525'), go];
}

/** A step of the address as it was before it was encoded. */
export function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** How far each page of the history was scrolled. */
const scrolledTo = new Map<number, number>();
history.scrollRestoration = 'manual';
let isScrolling = false;
window.addEventListener(
  'scroll',
  () => {
    if (!isScrolling) scrolledTo.set(position, window.scrollY);
  },
  { passive: true },
);

/** How long a page may take to be as long as it was. */
const scrollPatienceMilliseconds = 5_000;

/** Scrolls as soon as the page is long enough: its data may still be on the way. A user who scrolls is not moved. */
function scrollOnceThere(top: number): void {
  isScrolling = true;
  const stop = new AbortController();
  const done = (): void => {
    stop.abort();
    observer.disconnect();
    isScrolling = false;
  };
  const attempt = (): void => {
    if (document.documentElement.scrollHeight < top + window.innerHeight) return;
    window.scrollTo(0, top);
    done();
  };
  const observer = new ResizeObserver(attempt);
  for (const kind of ['wheel', 'touchstart', 'keydown', 'popstate']) {
    window.addEventListener(kind, done, { signal: stop.signal, passive: true });
  }
  after(scrollPatienceMilliseconds, () => {
    if (!stop.signal.aborted) done();
  });
  // The page is drawn first.
  requestAnimationFrame(() => {
    if (stop.signal.aborted) return;
    observer.observe(document.body);
    attempt();
  });
}

/** A path of encoded steps. */
export function path(...steps: readonly string[]): string {
  return `/${steps.map(encodeURIComponent).join('/')}`;
}

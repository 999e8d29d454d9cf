import type { ComponentChildren, JSX } from 'preact';
import { store } from './observed-value.ts';
import { departure, hasUnsaved, mayLeave } from './unsaved-work.ts';

/** The page that is shown: the path of the address behind /admin, in steps, and its query. */
export interface Route {
  readonly steps: readonly string[];
  readonly query: URLSearchParams;
}

const base = '/admin';

function readRoute(): Route {
  const steps = location.pathname.slice(base.length).split('/').filter(Boolean).map(decode);
  return { steps, query: new URLSearchParams(location.search) };
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

export const route = store<Route>(readRoute());

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
  /** The route that was requested on the way back, instead of opening it. */
  leave?: () => void;
  /** Sends the browser back again. */
  again?: ReturnType<typeof setTimeout>;
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
  else if (hasUnsaved() && pageOf(readRoute()) !== pageOf(route.get())) {
    // An open question is about leaving the page: it is asked again there.
    departure.set(undefined);
    returning = { furthest: reached };
    history.go(position - reached);
  } else {
    position = reached;
    route.set(readRoute());
  }
});

function continueReturn(current: Return, reached: number): void {
  clearTimeout(current.again);
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
  current.again = setTimeout(() => history.go(position - reached), restMilliseconds);
}

/** The part of the address that identifies a page, without query and fragment. */
export function pageOf({ steps }: Route): string {
  return steps.join('/');
}

/**
 * Opens another page, once work on this one is saved or discarded.
 * @param to A path behind /admin, its steps encoded.
 */
export function navigate(to: string): void {
  if (returning !== undefined) {
    returning.leave = () => navigate(to);
    return;
  }
  if (!mayLeave(() => navigate(to))) return;
  position += 1;
  history.pushState({ position } satisfies HistoryState, '', `${base}${to}`);
  route.set(readRoute());
  window.scrollTo(0, 0);
}

/** A path of encoded steps. */
export function path(...steps: readonly string[]): string {
  return `/${steps.map(encodeURIComponent).join('/')}`;
}

interface LinkProperties {
  readonly to: string;
  readonly current?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A link within the page. The browser handles opening it in a new tab. */
export function Link({ to, current, class: className, children }: LinkProperties): JSX.Element {
  return (
    <a
      class={className}
      href={`${base}${to}`}
      {...(current === true ? { 'aria-current': 'page' as const } : {})}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}

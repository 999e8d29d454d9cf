import type { ComponentChildren, JSX } from 'preact';
import { store } from './store.ts';
import { mayLeave } from './unsaved.ts';

/** Which page is shown: the address's path behind /admin, in steps, and its query. */
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

/** Where in the browser's history this page is: leaving can be taken back only by knowing how far it went. */
interface Place {
  readonly position: number;
}

let { position } = placeOf(history.state) ?? { position: 0 };
history.replaceState({ position } satisfies Place, '');

function placeOf(state: unknown): Place | undefined {
  return typeof state === 'object' && state !== null && 'position' in state ? (state as Place) : undefined;
}

window.addEventListener('popstate', (event) => {
  const place = placeOf(event.state);
  if (place === undefined) {
    // A link within the page, to its content.
    position += 1;
    history.replaceState({ position } satisfies Place, '');
    return;
  }
  const steps = place.position - position;
  if (steps === 0) return;
  if (!mayLeave(() => history.go(steps))) {
    history.go(-steps);
    return;
  }
  position = place.position;
  route.set(readRoute());
});

/**
 * Leads to another page, once work on this one is saved or given up.
 * @param to A path behind /admin, its steps encoded.
 */
export function navigate(to: string): void {
  if (!mayLeave(() => navigate(to))) return;
  position += 1;
  history.pushState({ position } satisfies Place, '', `${base}${to}`);
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

/** A link within the page. Opening it in a new tab is left to the browser. */
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

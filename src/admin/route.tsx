import type { ComponentChildren, JSX } from 'preact';
import { store } from './store.ts';

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

window.addEventListener('popstate', () => route.set(readRoute()));

/** @param to A path behind /admin, its steps encoded. */
export function navigate(to: string): void {
  history.pushState(null, '', `${base}${to}`);
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

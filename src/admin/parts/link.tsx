import type { ComponentChildren, JSX } from 'preact';
import { Link as RouterLink } from 'wouter-preact';

interface LinkProperties {
  /** A path behind /admin, its steps encoded, with a query. */
  readonly to: string;
  readonly current?: boolean;
  readonly class?: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A link within the page. The browser handles opening it in a new tab. */
export function Link({ to, current, class: className = '', children, title }: LinkProperties): JSX.Element {
  return (
    <RouterLink
      href={to}
      className={className}
      {...(title === undefined ? {} : { title })}
      {...(current === true ? { 'aria-current': 'page' as const } : {})}
    >
      {children}
    </RouterLink>
  );
}

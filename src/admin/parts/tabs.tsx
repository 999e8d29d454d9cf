import type { JSX } from 'preact';
import { path } from '../navigation.ts';
import { Link } from './link.tsx';

/** The step of the address of each view, and its title. The first one has no step. */
export type Views = readonly (readonly [step: string | undefined, title: string])[];

interface TabsProperties {
  readonly label: string;
  /** The steps of the page. */
  readonly at: readonly string[];
  readonly views: Views;
  readonly view: string | undefined;
}

/** The views of one thing. */
export function Tabs({ label, at, views, view }: TabsProperties): JSX.Element {
  return (
    <nav class="tabs" aria-label={label}>
      {views.map(([step, title]) => (
        <Link key={title} to={path(...at, ...(step === undefined ? [] : [step]))} current={view === step}>
          {title}
        </Link>
      ))}
    </nav>
  );
}

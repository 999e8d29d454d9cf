import type { JSX } from 'preact';
import { Link } from './link.tsx';
import { PageTitle } from './page-title.tsx';

/** The page at an address that has none. */
export function NotFound(): JSX.Element {
  return (
    <>
      <PageTitle title="Not found" />
      <p>
        There is no page at this address. <Link to="/">Go to the first page</Link>.
      </p>
    </>
  );
}

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { FavouriteButton } from './favourite-button.tsx';

interface PageTitleProperties {
  readonly title: string;
  /** Whether the page is about one thing, which a user may want to find again. */
  readonly isThing?: boolean;
  readonly children?: ComponentChildren;
}

/** The page's heading. It takes the focus when the page opens, so that a screen reader says where the user is. */
export function PageTitle({ title, isThing = false, children }: PageTitleProperties): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const before = document.title;
    document.title = `${title} · Lendstream`;
    heading.current?.focus({ preventScroll: true });
    return () => {
      document.title = before;
    };
  }, [title]);
  return (
    <div class="title">
      <div class="heading">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {isThing ? <FavouriteButton name={title} /> : null}
      </div>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </div>
  );
}

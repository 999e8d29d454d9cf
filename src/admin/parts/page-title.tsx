import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** The page's heading. It takes the focus when the page opens, so that a screen reader says where the user is. */
export function PageTitle({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
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
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </div>
  );
}

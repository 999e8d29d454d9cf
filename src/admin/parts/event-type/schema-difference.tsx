import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { laterModule } from '../../later-module.ts';

interface SchemaDifferenceProperties {
  /** JSON, as its author wrote it. */
  readonly from: string;
  readonly to: string;
}

/** What differs between two schemas. Its code is loaded when the first one is shown. */
export function SchemaDifference({ from, to }: SchemaDifferenceProperties): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let isGone = false;
    let remove: (() => void) | undefined;
    void laterModule(() => import('../../editor/json-difference.ts')).then(({ showJsonDifference }) => {
      if (!isGone && place.current !== null) remove = showJsonDifference(place.current, readable(from), readable(to));
    });
    return () => {
      isGone = true;
      remove?.();
    };
  }, [from, to]);
  return <div ref={place} class="editor difference" />;
}

/** On several lines, so that there is something to compare. */
function readable(text: string): string {
  try {
    return text.includes('\n') ? text : JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

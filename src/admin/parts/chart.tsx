import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Series } from '../chart-drawing.ts';
import { laterModule } from '../later-module.ts';

interface ChartProperties {
  /** What it shows, for users who cannot see it. */
  readonly label: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

/** A chart of quantities over time. Its code is loaded when the first one is shown. */
export function Chart({ label, times, series }: ChartProperties): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const content = JSON.stringify([times, series]);
  useEffect(() => {
    let remove: (() => void) | undefined;
    let isGone = false;
    void laterModule(() => import('../chart-drawing.ts')).then(({ drawChart }) => {
      if (!isGone && place.current !== null) remove = drawChart(place.current, times, series);
    });
    return () => {
      isGone = true;
      remove?.();
    };
  }, [content]);
  return (
    <figure class="chart" role="img" aria-label={label}>
      <div ref={place} aria-hidden="true" />
    </figure>
  );
}

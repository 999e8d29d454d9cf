import type { JSX } from 'preact';
import { formatCount } from '../formats.ts';

interface SparklineProperties {
  /** Oldest first; null where there was nothing to measure. */
  readonly values: readonly (number | null)[];
  /** The quantity, for users who cannot see it. */
  readonly what: string;
}

/** The values of an hour. A shorter course stands at the right. */
const valuesPerHour = 360;

const width = 200;
const height = 36;

/** The course of a number over the last hour, as high as its largest value. */
export function Sparkline({ values, what }: SparklineProperties): JSX.Element {
  const largest = Math.max(0, ...values.map((value) => value ?? 0));
  const first = Math.max(0, valuesPerHour - values.length);
  const x = (index: number): number => ((first + index) / Math.max(1, first + values.length - 1)) * width;
  const y = (value: number): number => height - 1 - (largest === 0 ? 0 : (value / largest) * (height - 3));
  let isDrawing = false;
  const line = values
    .map((value, index) => {
      if (value === null) {
        isDrawing = false;
        return '';
      }
      const command = isDrawing ? 'L' : 'M';
      isDrawing = true;
      return `${command}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join('');
  const rounded = largest < 10 ? Math.round(largest * 1_000) / 1_000 : Math.round(largest);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${what}, at most ${formatCount(rounded)} in the last hour`}
    >
      <path d={line} fill="none" stroke="currentColor" stroke-width="1.5" vector-effect="non-scaling-stroke" />
    </svg>
  );
}

import type { JSX } from 'preact';
import { formatCount, formatDuration } from '../formats.ts';

interface SparklineProperties {
  /** Oldest first; null where there was nothing to measure. */
  readonly values: readonly (number | null)[];
  /** The quantity, for users who cannot see it. */
  readonly what: string;
  /** The time from one value to the next. */
  readonly intervalSeconds?: number;
  /** Beside text, in a row of a table. */
  readonly isSmall?: boolean;
  /** A panel of its own is about it. */
  readonly isLarge?: boolean;
  /** What the height of the picture stands for. Default: the largest value. */
  readonly top?: number;
  /** Default: a count. */
  readonly format?: (value: number) => string;
}

/** Fewer values are a stroke that says nothing. */
const valuesMinimum = 6;

const hourSeconds = 3_600;
const width = 200;
const height = 36;

/** The course of a number over the last hour, or since it is measured, as high as its largest value. */
export function Sparkline({
  values,
  what,
  intervalSeconds = 10,
  isSmall = false,
  isLarge = false,
  top,
  format = formatRounded,
}: SparklineProperties): JSX.Element {
  const seconds = values.length * intervalSeconds;
  const known = values.filter((value) => value !== null);
  if (values.length < valuesMinimum || known.length === 0) {
    const reason = values.length < valuesMinimum ? 'measured for less than a minute' : 'nothing to measure';
    return isSmall ? <span class="muted">—</span> : <small class="muted sparkline-note">{reason}</small>;
  }
  const largest = Math.max(0, ...known);
  const scale = top ?? largest;
  const x = (index: number): number => (index / (values.length - 1)) * width;
  const y = (value: number): number => height - 1 - (scale === 0 ? 0 : (value / scale) * (height - 3));
  const span = seconds >= hourSeconds ? 'hour' : formatDuration(seconds);
  return (
    <>
      <svg
        class={`sparkline${isSmall ? ' is-small' : ''}${isLarge ? ' is-large' : ''}`}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${what}, at most ${format(largest)} in the last ${span}`}
      >
        {lines(values, x, y)}
      </svg>
      {isSmall || seconds >= hourSeconds ? null : <small class="muted sparkline-note">last {span}</small>}
    </>
  );
}

function formatRounded(value: number): string {
  return formatCount(value < 10 ? Math.round(value * 1_000) / 1_000 : Math.round(value));
}

/** A line for each run of values; one between two that are not known is a dot. */
function lines(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): JSX.Element {
  let before: number | null = null;
  const path = values
    .map((value, index) => {
      const command = before === null ? 'M' : 'L';
      const isAlone = before === null && (values[index + 1] ?? null) === null;
      before = value;
      if (value === null) return '';
      const at = `${command}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
      return isAlone ? `${at}h0` : at;
    })
    .join('');
  return (
    <path
      d={path}
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      vector-effect="non-scaling-stroke"
    />
  );
}

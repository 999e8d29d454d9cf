import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { every, now } from '../../client/clock.ts';
import { formatClock, formatExactTime, formatTime } from '../formats.ts';

/** How often the shown times follow the clock: the smallest step that a reader notices. */
const tickMilliseconds = 5_000;

const shownNow = signal(now());
every(tickMilliseconds, () => {
  if (!document.hidden) shownNow.value = now();
});

interface TimeProperties {
  readonly at: string;
  /** Shows the time itself instead of how long ago it was: to the second, or on the clock to the millisecond. */
  readonly exact?: boolean | 'clock';
  /** Without a stop of the Tab key, for places that have one already. */
  readonly still?: boolean;
}

/** How long ago something was. Its tooltip, also with the keyboard, is the exact time. */
export function Time({ at, exact = false, still = false }: TimeProperties): JSX.Element {
  const milliseconds = new Date(at).getTime();
  if (Number.isNaN(milliseconds)) return <time>{at}</time>;
  const text =
    exact === 'clock'
      ? formatClock(milliseconds, shownNow.value)
      : exact
        ? formatExactTime(milliseconds)
        : formatTime(milliseconds, Math.max(shownNow.value, milliseconds - 1));
  const tooltip = `${formatExactTime(milliseconds)} (${at})`;
  return (
    <time dateTime={at} title={tooltip} data-tooltip={tooltip} {...(still ? {} : { tabIndex: 0 })}>
      {text}
    </time>
  );
}

import type { JSX } from 'preact';

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A time in the time zone of the user; its tooltip is the time as the service wrote it. */
export function Time({ at }: { at: string }): JSX.Element {
  const date = new Date(at);
  return (
    <time dateTime={at} title={at}>
      {Number.isNaN(date.getTime()) ? at : format.format(date)}
    </time>
  );
}

import type { Notice } from '../client/client.ts';

/** What the client does on its own, for a person; undefined for what is of no interest. */
export function messageOf(notice: Notice): string | undefined {
  switch (notice.kind) {
    case 'waiting':
      return `${notice.reason}; trying again in ${secondsOf(notice.milliseconds)}`;
    case 'ended':
      return ['stream_limit', 'keep_alive_limit'].includes(notice.code)
        ? undefined
        : `the stream ended: ${notice.detail}`;
    case 'info':
      return notice.detail;
    case 'refused':
      return notice.reason;
    case 'repeated':
      return `${notice.events} events came again and were skipped`;
    case 'opened':
      return undefined;
    default:
      return undefined;
  }
}

/** A wait as people say it. */
export function secondsOf(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}

import type { StreamEndCode } from './types.ts';

/**
 * What follows the end of a stream:
 * - `reopen`: the next stream can be opened at once
 * - `wait`: it can be opened after a while
 * - `finish`: the stream has reached a limit. One that the caller set ends the consumption
 * - `fail`: there is nothing left to consume
 */
export type AfterStream = 'reopen' | 'wait' | 'finish' | 'fail';

const afterStreams: Readonly<Record<StreamEndCode, AfterStream>> = {
  stream_timeout: 'finish',
  stream_limit: 'finish',
  keep_alive_limit: 'finish',
  commit_timeout: 'reopen',
  handover_timeout: 'reopen',
  repartitioned: 'reopen',
  cursors_reset: 'reopen',
  session_lost: 'reopen',
  no_partitions: 'wait',
  no_free_slots: 'wait',
  consumption_blocked: 'wait',
  // The next request says what is missing.
  access_revoked: 'reopen',
  server_shutdown: 'wait',
  log_error: 'wait',
  coordination_error: 'wait',
  subscription_deleted: 'fail',
  event_type_deleted: 'fail',
};

/** What follows the end of a stream with this `info.code`. A code of a newer service is treated as an interruption. */
export function afterStream(code: string): AfterStream {
  return (afterStreams as Readonly<Record<string, AfterStream | undefined>>)[code] ?? 'wait';
}

import type { Schemas } from '../../contract.ts';
import type { LineInfo } from './line-format.ts';

/**
 * Why a stream ends. The last line of every stream says it: the code is for programs and never changes, the text is for
 * people. `client_closed` is never sent: there is no reader left.
 */
export type CloseCode = NonNullable<NonNullable<Schemas['StreamBatch']['info']>['code']> | 'client_closed';

const texts: Record<CloseCode, string> = {
  stream_timeout: 'Stream timeout reached',
  stream_limit: 'Stream limit in events reached',
  commit_timeout: 'Commit timeout reached',
  keep_alive_limit: 'Keep-alive limit reached',
  cursors_reset: 'Resetting subscription cursors',
  repartitioned: 'Resetting subscription cursors',
  handover_timeout: 'Commit timeout reached for a partition that is handed over to another stream',
  no_partitions: 'No partition was assigned to this stream for twice the commit timeout',
  no_free_slots: 'No partition is left for this stream: other streams requested them directly',
  consumption_blocked: 'Consumption is blocked',
  access_revoked: 'The right to read this stream has ended',
  subscription_deleted: 'Subscription was deleted',
  event_type_deleted: 'Event type was deleted',
  session_lost: 'The session of this stream has ended',
  server_shutdown: 'The server is shutting down',
  log_error: 'Reading events failed',
  coordination_error: 'The coordination of the subscription failed',
  client_closed: 'The client closed the connection',
};

/** All codes, as labels of a metric. */
export const closeCodes: readonly string[] = Object.keys(texts);

/** The info of a stream's last line. @param detail Details of this case, added after the text of the code. */
export function closeInfo(code: CloseCode, detail = ''): LineInfo {
  return { debug: detail === '' ? texts[code] : `${texts[code]}: ${detail}`, code };
}

/** Reasons after which waiting for commits is pointless: they are too late, or nothing can send or accept them. */
const immediateCloseCodes: ReadonlySet<CloseCode> = new Set([
  'commit_timeout',
  'no_partitions',
  'consumption_blocked',
  'access_revoked',
  'subscription_deleted',
  'event_type_deleted',
  'session_lost',
  'server_shutdown',
  'client_closed',
]);

/** Whether a stream that closes for this reason ends without waiting for commits. */
export function closesImmediately(code: CloseCode): boolean {
  return immediateCloseCodes.has(code);
}

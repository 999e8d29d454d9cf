import { closeInfo, type CloseCode } from '../../src/broker/streaming/close-codes.ts';

/** The ends that say nothing about the consumer. */
const serviceEnds: readonly CloseCode[] = [
  'server_shutdown',
  'session_lost',
  'subscription_deleted',
  'consumption_blocked',
  'access_revoked',
  'cursors_reset',
  'repartitioned',
  'no_free_slots',
  'no_partitions',
  'log_error',
  'coordination_error',
];

const texts = new Set(serviceEnds.map((code) => closeInfo(code).debug));

/** Whether a stream was ended by the service. @param reason In the words of its last line, without details. */
export function isServiceEnd(reason: string): boolean {
  return texts.has(reason);
}

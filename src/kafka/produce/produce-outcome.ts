import { isLeadershipError, protocolError } from '../protocol/error-codes.ts';

/** How long an append may wait without ever having been sent, before it fails with nothing stored. Milliseconds. */
export const unsentMilliseconds = 5_000;

/** How long an append that was sent is retried before it fails with an unknown outcome. Milliseconds. */
export const outcomeMilliseconds = 15_000;

/** The meaning of the response for one batch, and what to do next. */
export type ProduceOutcome =
  | 'stored'
  /** Not stored by this attempt; the same broker may accept it soon. */
  | 'again'
  /** Not stored by this attempt; look up again which broker leads the partition. */
  | 'again_elsewhere'
  /** Stored by the leader, but not known to be kept: only sending it again with its number shows. */
  | 'perhaps_stored'
  | 'perhaps_stored_elsewhere'
  /** Not stored by this attempt: the broker expects another producer id, epoch or sequence number. */
  | 'identity_refused'
  /** Not stored, and sending it again unchanged does not help. */
  | 'too_large'
  | 'refused'
  /** Says nothing reliable. */
  | 'unknown';

const outcomes = new Map<number, ProduceOutcome>([
  [protocolError.none, 'stored'],
  [protocolError.duplicateSequenceNumber, 'stored'],
  [protocolError.corruptMessage, 'again'],
  [protocolError.notEnoughReplicas, 'again'],
  [protocolError.concurrentTransactions, 'again'],
  // A new topic or partition may not have reached the broker yet, and a deleted one is gone: the metadata shows which.
  [protocolError.unknownTopicOrPartition, 'again_elsewhere'],
  [protocolError.requestTimedOut, 'perhaps_stored'],
  [protocolError.notEnoughReplicasAfterAppend, 'perhaps_stored'],
  [protocolError.outOfOrderSequenceNumber, 'identity_refused'],
  [protocolError.unknownProducerId, 'identity_refused'],
  [protocolError.invalidProducerEpoch, 'identity_refused'],
  [protocolError.producerFenced, 'identity_refused'],
  [protocolError.messageTooLarge, 'too_large'],
  [protocolError.recordListTooLarge, 'too_large'],
  [protocolError.invalidTopic, 'refused'],
  [protocolError.topicAuthorizationFailed, 'refused'],
  [protocolError.clusterAuthorizationFailed, 'refused'],
  [protocolError.transactionalIdAuthorizationFailed, 'refused'],
  [protocolError.policyViolation, 'refused'],
  [protocolError.invalidRecord, 'refused'],
]);

/** Interprets the error code of a partition in a Produce response. */
export function outcomeOf(errorCode: number): ProduceOutcome {
  // A leader that steps down while it waits for its replicas responds like a broker that never was the leader.
  if (isLeadershipError(errorCode)) return 'perhaps_stored_elsewhere';
  return outcomes.get(errorCode) ?? 'unknown';
}

import { isLeadershipError, protocolError } from '../protocol/errors.ts';

/** What the answer about one batch says of it, and what to do next. */
export type ProduceVerdict =
  | 'stored'
  /** Not stored by this attempt; the same broker may take it soon. */
  | 'again'
  /** Not stored by this attempt; ask again which broker leads the partition. */
  | 'again_elsewhere'
  /** Stored by the leader, but not known to be kept: only sending it again with its number tells. */
  | 'perhaps_stored'
  | 'perhaps_stored_elsewhere'
  /**
   * Not stored by this attempt: the producer id, its epoch or the number of the batch is not what the broker expects.
   */
  | 'identity_refused'
  /** Not stored, nor would it be if it were sent again as it is. */
  | 'too_large'
  | 'refused'
  /** Says nothing that could be relied upon. */
  | 'unknown';

const verdicts = new Map<number, ProduceVerdict>([
  [protocolError.none, 'stored'],
  [protocolError.duplicateSequenceNumber, 'stored'],
  [protocolError.corruptMessage, 'again'],
  [protocolError.notEnoughReplicas, 'again'],
  [protocolError.concurrentTransactions, 'again'],
  // A new topic or partition may not have reached the broker yet, and a deleted one is gone: the metadata tells.
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

/** Reads the error code of a partition in a Produce answer. */
export function verdictOf(errorCode: number): ProduceVerdict {
  // A leader that steps down while it waits for its replicas answers like one that never was the leader.
  if (isLeadershipError(errorCode)) return 'perhaps_stored_elsewhere';
  return verdicts.get(errorCode) ?? 'unknown';
}

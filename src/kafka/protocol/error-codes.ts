import { LendstreamError, type ErrorCode } from '../../errors.ts';

/** The error codes of Kafka's protocol that this code acts on, or that an operator wants to see by name. */
export const protocolError = {
  /** The broker cannot say what is wrong. */
  unknownServerError: -1,
  none: 0,
  offsetOutOfRange: 1,
  corruptMessage: 2,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  notLeaderOrFollower: 6,
  requestTimedOut: 7,
  messageTooLarge: 10,
  coordinatorLoadInProgress: 14,
  coordinatorNotAvailable: 15,
  notCoordinator: 16,
  invalidTopic: 17,
  recordListTooLarge: 18,
  notEnoughReplicas: 19,
  notEnoughReplicasAfterAppend: 20,
  unknownMemberId: 25,
  topicAuthorizationFailed: 29,
  groupAuthorizationFailed: 30,
  clusterAuthorizationFailed: 31,
  topicAlreadyExists: 36,
  invalidPartitions: 37,
  invalidReplicationFactor: 38,
  invalidConfig: 40,
  notController: 41,
  policyViolation: 44,
  outOfOrderSequenceNumber: 45,
  duplicateSequenceNumber: 46,
  invalidProducerEpoch: 47,
  invalidTransactionState: 48,
  invalidProducerIdMapping: 49,
  concurrentTransactions: 51,
  transactionCoordinatorFenced: 52,
  transactionalIdAuthorizationFailed: 53,
  operationNotAttempted: 55,
  kafkaStorageError: 56,
  unknownProducerId: 59,
  topicDeletionDisabled: 73,
  fencedLeaderEpoch: 74,
  unknownLeaderEpoch: 75,
  invalidRecord: 87,
  throttlingQuotaExceeded: 89,
  producerFenced: 90,
  transactionalIdNotFound: 105,
} as const;

const names = new Map<number, string>(Object.entries(protocolError).map(([name, code]) => [code, name]));

/** The port's error code for each of them. All others are LOG_UNAVAILABLE. */
const codes = new Map<number, ErrorCode>([
  [protocolError.offsetOutOfRange, 'OFFSET_OUT_OF_RANGE'],
  [protocolError.corruptMessage, 'CORRUPT_BATCH'],
  [protocolError.unknownTopicOrPartition, 'UNKNOWN_TOPIC_OR_PARTITION'],
  [protocolError.messageTooLarge, 'RECORD_TOO_LARGE'],
  [protocolError.recordListTooLarge, 'RECORD_TOO_LARGE'],
  [protocolError.invalidTopic, 'UNPROCESSABLE'],
  [protocolError.topicAlreadyExists, 'TOPIC_ALREADY_EXISTS'],
  [protocolError.invalidPartitions, 'UNPROCESSABLE'],
  [protocolError.invalidReplicationFactor, 'UNPROCESSABLE'],
  [protocolError.invalidConfig, 'UNPROCESSABLE'],
  [protocolError.policyViolation, 'UNPROCESSABLE'],
  [protocolError.invalidRecord, 'UNPROCESSABLE'],
  [protocolError.invalidProducerEpoch, 'WRITER_FENCED'],
  [protocolError.producerFenced, 'WRITER_FENCED'],
]);

/** Leadership moved or is moving: the leader has to be looked up again. */
export function isLeadershipError(code: number): boolean {
  return (
    code === protocolError.notLeaderOrFollower ||
    code === protocolError.leaderNotAvailable ||
    code === protocolError.kafkaStorageError ||
    code === protocolError.fencedLeaderEpoch ||
    code === protocolError.unknownLeaderEpoch
  );
}

/** The broker knows no such topic or partition. It has another code for a name that no topic can have. */
export function isUnknownTopic(code: number): boolean {
  return code === protocolError.unknownTopicOrPartition || code === protocolError.invalidTopic;
}

/** The coordinator of a group or transaction moved or is loading: look it up again, after a pause. */
export function isCoordinatorError(code: number): boolean {
  return (
    code === protocolError.coordinatorLoadInProgress ||
    code === protocolError.coordinatorNotAvailable ||
    code === protocolError.notCoordinator
  );
}

/** The user of the service may not do this. An operator has to read what it lacks, wherever the error arrives. */
const missingRights = new Map<number, string>([
  [protocolError.topicAuthorizationFailed, 'topics'],
  [protocolError.groupAuthorizationFailed, 'groups'],
  [protocolError.clusterAuthorizationFailed, 'the cluster'],
  [protocolError.transactionalIdAuthorizationFailed, 'transactional ids'],
]);

/** The user of the service may not do what it asked for. */
export function isMissingRight(code: number): boolean {
  return missingRights.has(code);
}

/**
 * Converts a broker's error code to an error of the port.
 * @param what The attempted action, as the beginning of a sentence: "Appending to topic a, partition 1,".
 */
export function errorOf(code: number, what: string, details: Readonly<Record<string, unknown>> = {}): LendstreamError {
  const name = names.get(code) ?? 'unknown error';
  const missing = missingRights.get(code);
  const hint =
    missing === undefined ? '' : ` The user of the service lacks a right to ${missing}: docs/cluster.md lists them.`;
  return new LendstreamError(
    codes.get(code) ?? 'LOG_UNAVAILABLE',
    `${what} failed: Kafka responded with ${code} (${name}).${hint}`,
    {
      details,
    },
  );
}

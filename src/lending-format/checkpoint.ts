import type { Offset } from '../ports/event-log.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { ApiError } from './refusal-format.ts';

/**
 * The checkpoint record: in every commit the worker writes it to its partition of the changelog, under a key of its
 * own. It holds the position up to which the commands are done, where the next owner resumes. It also holds the outcome
 * of each command of this commit, from which processes that follow the changelog learn how to respond to a request.
 */
export interface CheckpointRecord {
  /** Offset of the last command done; everything up to it is done. */
  readonly position: Offset;
  /**
   * While the end of a day is under way: the commands after it, up to this offset, are done too, except ends of
   * days among them. The end of the day itself is the command after `position`.
   */
  readonly decidedAheadTo?: Offset;
  /** The outcomes of this commit only, in the order of the commands. */
  readonly outcomes: readonly CommandOutcome[];
}

export const commandOutcomes = ['committed', 'refused', 'repeated', 'dead_letter'] as const;

export interface CommandOutcome {
  /** Null for a command whose id could not be read. */
  readonly commandId: string | null;
  /**
   * `repeated`: a command of this id was done before, and the other fields describe that one. If its digest differs
   * from the command's own, it was another command, and the one now received was not done.
   */
  readonly outcome: (typeof commandOutcomes)[number];
  /** Digest of the command that was done; absent when none was. */
  readonly digest?: string;
  /** The loan the command was about. */
  readonly loanAccountId?: string;
  /** The product the command created. */
  readonly loanProductId?: string;
  /** encodedKey of the transaction that the command posted, when it posted one. */
  readonly transactionKey?: string;
  /** Why it was refused, in the API's shape. */
  readonly errors?: readonly ApiError[];
  /** Why it went to the dead letters. */
  readonly reason?: string;
}

const checkpointKeyPrefix = 'checkpoint/';

/** Key of a partition's checkpoint record. */
export function checkpointKey(partition: number): string {
  return `${checkpointKeyPrefix}${partition}`;
}

/** Whether a record of the changelog is a checkpoint record. */
export function isCheckpointKey(key: string): boolean {
  return key.startsWith(checkpointKeyPrefix);
}

/** An outcome as {@link joinedCheckpoint} takes it. */
export function writeOutcome(outcome: CommandOutcome): string {
  return JSON.stringify(outcome);
}

/**
 * The text of a checkpoint record, which {@link parseCheckpoint} reads.
 * @param outcomes As {@link writeOutcome} wrote them.
 */
export function joinedCheckpoint(
  { position, decidedAheadTo }: Pick<CheckpointRecord, 'position' | 'decidedAheadTo'>,
  outcomes: readonly string[],
): string {
  const ahead = decidedAheadTo === undefined ? '' : `,"decidedAheadTo":${decidedAheadTo}`;
  return `{"position":${position}${ahead},"outcomes":[${outcomes.join()}]}`;
}

/**
 * Reads the value of a checkpoint record.
 * @throws INTERNAL when it is not one of this service: continuing without it could repeat commands
 */
export function parseCheckpoint(value: Buffer | string): CheckpointRecord {
  try {
    const checkpoint = JSON.parse(value.toString()) as Partial<CheckpointRecord>;
    const { position, decidedAheadTo = 0, outcomes } = checkpoint;
    if ([position, decidedAheadTo].every(Number.isSafeInteger) && Array.isArray(outcomes))
      return checkpoint as CheckpointRecord;
  } catch (error) {
    throw new LendstreamError('INTERNAL', `A checkpoint record cannot be read: ${describeError(error)}`, {
      cause: error,
    });
  }
  throw new LendstreamError('INTERNAL', 'A checkpoint record has no position or no outcomes.');
}

/** The memory of an outcome and its entry in a map, without its texts. Bytes. */
const outcomeOverheadBytes = 400;

/** How much memory an outcome takes while it is remembered, by estimate. Bytes. */
export function bytesOfOutcome({ commandId, digest, loanAccountId, loanProductId, ...others }: CommandOutcome): number {
  const { transactionKey, errors, reason } = others;
  const texts = [commandId ?? '', digest, loanAccountId, loanProductId, transactionKey, reason];
  const errorsLength = errors === undefined ? 0 : JSON.stringify(errors).length;
  return texts.reduce((bytes, text) => bytes + (text?.length ?? 0), outcomeOverheadBytes + errorsLength);
}

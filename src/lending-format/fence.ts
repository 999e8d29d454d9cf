import type { Offset } from '../ports/event-log.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { ApiError } from './refusal-format.ts';

/**
 * The fence record: in every commit the worker writes it to its partition of the changelog, under a key of its own. It
 * says up to where the commands are done, which is where the next owner resumes, and what became of each command of
 * this commit, which is how whoever follows the changelog learns the answer to a request.
 */
export interface FenceRecord {
  /** Offset of the last command done; everything up to it is. */
  readonly position: Offset;
  /** Those of this commit only, in the order of the commands. */
  readonly outcomes: readonly CommandOutcome[];
}

export const commandOutcomes = ['committed', 'refused', 'repeated', 'dead_letter'] as const;

export interface CommandOutcome {
  /** Null for a command that could not be read far enough to tell. */
  readonly commandId: string | null;
  /**
   * `repeated`: a command of this id was done before. The other fields tell of that one: with another digest than the
   * command's own it was another one, and what was asked for now was not done.
   */
  readonly outcome: (typeof commandOutcomes)[number];
  /** Of what was asked for by the command that was done; absent when none was. */
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

const fencePrefix = 'fence/';

/** Key of a partition's fence record. No loan account id can look like it: those have no slash. */
export function fenceKey(partition: number): string {
  return `${fencePrefix}${partition}`;
}

/** Whether a record of the changelog is a fence record; the others are loans. */
export function isFenceKey(key: string): boolean {
  return key.startsWith(fencePrefix);
}

export function writeFence(fence: FenceRecord): Buffer {
  return Buffer.from(JSON.stringify(fence));
}

/** @throws INTERNAL when the record is not one of ours: going on without it could repeat commands */
export function parseFence(value: Buffer | string): FenceRecord {
  try {
    const fence = JSON.parse(value.toString()) as Partial<FenceRecord>;
    if (Number.isSafeInteger(fence.position) && Array.isArray(fence.outcomes)) return fence as FenceRecord;
  } catch (error) {
    throw new LendstreamError('INTERNAL', `A fence record cannot be read: ${describeError(error)}`, { cause: error });
  }
  throw new LendstreamError('INTERNAL', 'A fence record names no position or no outcomes.');
}

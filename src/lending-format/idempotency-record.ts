import { LendstreamError, describeError } from '../errors.ts';
import type { ApiError } from './refusal-format.ts';

/**
 * The result of a command that posted no transaction: a refusal, a change of state, a new loan, a product. Each is a
 * record of its own in the changelog, so remembering one costs the next command nothing. Commands are forgotten by age,
 * never by count. A command that posted a transaction is known by it for ever and is not stored here.
 */
export interface IdempotencyRecord {
  /** The digest of the content of the command; see {@link CommandEnvelope.digest}. */
  readonly digest: string;
  /** When the command was decided, in milliseconds since the epoch. Its age counts from here. */
  readonly decidedAt: number;
  /** Why the command was refused; absent when it was committed. */
  readonly errors?: readonly ApiError[];
}

/** How long a command that posted no transaction is remembered, unless the options say otherwise. Milliseconds. */
export const idempotencyMilliseconds = 24 * 3_600_000;

const keyPrefix = 'command/';

/** The key of the record of a command. */
export function idempotencyRecordKey(commandId: string): string {
  return keyPrefix + commandId;
}

/** The id of the command that a changelog record is about; undefined for other records. */
export function commandIdOfKey(key: string): string | undefined {
  return key.startsWith(keyPrefix) ? key.slice(keyPrefix.length) : undefined;
}

/** The text of the record of a command. */
export function writeIdempotencyRecord({ digest, decidedAt, errors }: IdempotencyRecord): string {
  return JSON.stringify({ decidedAt, digest, errors });
}

/**
 * Reads the record of a command.
 * @throws INTERNAL when the record is malformed: continuing without it could repeat a command
 */
export function parseIdempotencyRecord(text: string): IdempotencyRecord {
  try {
    const command = JSON.parse(text) as Partial<IdempotencyRecord>;
    if (Number.isSafeInteger(command.decidedAt) && typeof command.digest === 'string')
      return command as IdempotencyRecord;
  } catch (error) {
    throw new LendstreamError('INTERNAL', `The record of a command cannot be read: ${describeError(error)}`, {
      cause: error,
    });
  }
  throw new LendstreamError('INTERNAL', 'The record of a command names no time or no digest.');
}

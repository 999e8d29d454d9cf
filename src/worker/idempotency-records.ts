import { LendstreamError, describeError } from '../errors.ts';
import type { ApiError } from '../lending-format/refusal-format.ts';

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

/** How long such a command is remembered, unless the options say otherwise. Milliseconds. */
export const idempotencyMilliseconds = 24 * 3_600_000;

/**
 * The most commands that one commit forgets, so that none takes long. It is more than one commit adds, so that expired
 * commands do not pile up.
 */
const expiredPerCommitMaximum = 500;

const keyPrefix = 'command/';

/** The key of the record of a command. No loan account id can look like it, because they contain no slash. */
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

/** The remembered commands of one partition. They are kept as texts, which take a fraction of the memory. */
export class IdempotencyRecords {
  /** By command id, in the order of the decisions. */
  readonly #texts = new Map<string, string>();

  get(commandId: string): IdempotencyRecord | undefined {
    const text = this.#texts.get(commandId);
    return text === undefined ? undefined : parseIdempotencyRecord(text);
  }

  set(commandId: string, text: string): void {
    // Deleted first, so that the map keeps the order of the decisions.
    this.#texts.delete(commandId);
    this.#texts.set(commandId, text);
  }

  delete(commandId: string): void {
    this.#texts.delete(commandId);
  }

  /**
   * The oldest commands that were decided up to that time (milliseconds since the epoch), at most as many as one commit
   * may forget.
   */
  decidedUpTo(time: number): string[] {
    const found: string[] = [];
    for (const [commandId, text] of this.#texts) {
      if (found.length >= expiredPerCommitMaximum || parseIdempotencyRecord(text).decidedAt > time) break;
      found.push(commandId);
    }
    return found;
  }
}

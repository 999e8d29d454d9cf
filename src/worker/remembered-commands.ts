import { LendstreamError, describeError } from '../errors.ts';
import type { ApiError } from '../lending-format/refusal-format.ts';

/**
 * What became of the commands that posted no transaction: refusals, changes of state, new loans, products. Each is a
 * record of its own in the changelog, so that remembering one costs the next command nothing, and is forgotten by age,
 * never by count. A command that posted a transaction is known by it for ever and is not here.
 */
export interface RememberedCommand {
  /** Of what the command asked for; see {@link CommandEnvelope.digest}. */
  readonly digest: string;
  /** Milliseconds since the epoch: its age counts from here. */
  readonly decidedAt: number;
  /** Why it was refused; absent when it was committed. */
  readonly errors?: readonly ApiError[];
}

/** How long such a command is remembered, unless the options say otherwise. */
export const rememberedMilliseconds = 24 * 3_600_000;

/**
 * How many are forgotten in one commit at most, so that none takes long. More than one commit adds, so that those that
 * are too old do not pile up.
 */
const forgottenPerCommitMaximum = 500;

const keyPrefix = 'command/';

/** Key of the record of a command. No loan account id can look like it: those have no slash. */
export function rememberedKey(commandId: string): string {
  return keyPrefix + commandId;
}

/** The command that a record of the changelog is about; undefined for a record of something else. */
export function commandIdOfKey(key: string): string | undefined {
  return key.startsWith(keyPrefix) ? key.slice(keyPrefix.length) : undefined;
}

export function writeRemembered({ digest, decidedAt, errors }: RememberedCommand): string {
  return JSON.stringify({ decidedAt, digest, errors });
}

/** @throws INTERNAL when the record is not one of ours: going on without it could repeat a command */
export function parseRemembered(text: string): RememberedCommand {
  try {
    const command = JSON.parse(text) as Partial<RememberedCommand>;
    if (Number.isSafeInteger(command.decidedAt) && typeof command.digest === 'string')
      return command as RememberedCommand;
  } catch (error) {
    throw new LendstreamError('INTERNAL', `The record of a command cannot be read: ${describeError(error)}`, {
      cause: error,
    });
  }
  throw new LendstreamError('INTERNAL', 'The record of a command names no time or no digest.');
}

/** The remembered commands of one partition. Kept as their texts, which take a fraction of the memory. */
export class RememberedCommands {
  /** By command id, in the order in which they were decided. */
  readonly #texts = new Map<string, string>();

  get(commandId: string): RememberedCommand | undefined {
    const text = this.#texts.get(commandId);
    return text === undefined ? undefined : parseRemembered(text);
  }

  set(commandId: string, text: string): void {
    // Deleted first, so that the map's order is that of the decisions.
    this.#texts.delete(commandId);
    this.#texts.set(commandId, text);
  }

  delete(commandId: string): void {
    this.#texts.delete(commandId);
  }

  /** The oldest of those that were decided up to that time, as many as one commit may forget. */
  decidedUpTo(time: number): string[] {
    const found: string[] = [];
    for (const [commandId, text] of this.#texts) {
      if (found.length >= forgottenPerCommitMaximum || parseRemembered(text).decidedAt > time) break;
      found.push(commandId);
    }
    return found;
  }
}

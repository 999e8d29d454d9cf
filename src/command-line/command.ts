import type { Lendstream } from '../client/client.ts';
import type { Output } from './output.ts';

/** What the parts of the command line have in common: what a command is, and how it ends. */

/** How the program ends: docs/command-line.md explains each code. */
export const exitCodes = { done: 0, refused: 1, wrongUsage: 2, noResponse: 3, different: 4 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An option of a command. */
export interface CommandOption {
  /** What its value is called; undefined for an option without a value. */
  readonly value?: string;
  readonly summary: string;
  /** Whether it may be given several times. */
  readonly isList?: boolean;
  /** The values that it can have, for the completion of a shell. */
  readonly choices?: readonly string[];
}

/** What a command was given. */
export interface CommandInput {
  /** The words that belong to no option. */
  readonly words: readonly string[];
  readonly lendstream: Lendstream;
  readonly output: Output;
  /** Whether `--json` asks for JSON instead of text for people. */
  readonly isJson: boolean;
  /** Aborts when the person wants no more. */
  readonly stopped: AbortSignal;
  /** Standard input. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Whether an option was given. */
  readonly has: (name: string) => boolean;
  /** The value of an option; undefined when it was not given. */
  readonly text: (name: string) => string | undefined;
  readonly texts: (name: string) => readonly string[];
  /**
   * The value of an option as a whole number.
   * @throws WrongUsage when it is none, or smaller than the minimum
   */
  readonly wholeNumber: (name: string, minimum: number) => number | undefined;
}

/** A command of the program. */
export interface Command {
  /** Its words, as in `cursors move`. */
  readonly name: string;
  /** The words after its name, as in `<event-type> [<file>]`. */
  readonly parameters: string;
  readonly wordsMinimum: number;
  readonly wordsMaximum: number;
  readonly summary: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  run(input: CommandInput): Promise<ExitCode>;
}

/** A command line that asks for something that does not exist. The message is for the person who wrote it. */
export class WrongUsage extends Error {}

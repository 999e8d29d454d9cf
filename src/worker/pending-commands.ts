import { type Offset, type RecordBatch, noValue } from '../ports/event-log.ts';
import type { EndOfDay } from '../lending/commands.ts';
import { type CommandSource, parseCommand } from '../lending-format/command-format.ts';

/** A record of the command topic that has not been decided yet. */
export interface PendingCommand extends CommandSource {
  /** Shares the memory of the batch it was read with. Null for a tombstone, which no producer should have written. */
  readonly value: Buffer | null;
  /** Of what the end of a day does to an account: the id of that command, which is not in the log. */
  readonly dueCommandId?: string;
}

/** A command that waits, and the end of a day that it asks for; null for any other command. */
export interface WaitingCommand {
  readonly command: PendingCommand;
  readonly endOfDay: EndOfDay | null;
}

/** Up to where the commands of a partition are done, as in its checkpoint record. */
export interface DoneCommands {
  readonly position: Offset | null;
  readonly decidedAheadTo: Offset | null;
}

/**
 * How many ends of days may wait while one is under way, before nothing more is read: commands behind them pass them,
 * but they themselves stay in memory until their turn.
 */
export const waitingEndsOfDaysMaximum = 1_000;

const endOfDayMark = Buffer.from('"END_OF_DAY"');

/** The commands of a partition that were read and not decided yet, in their order. */
export class PendingCommands {
  #waiting: WaitingCommand[] = [];
  #endsOfDays: Offset[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether nothing waits that could be decided beside the end of a day, and more may be read. */
  get isReadable(): boolean {
    return this.#waiting.length === this.#endsOfDays.length && this.#endsOfDays.length < waitingEndsOfDaysMaximum;
  }

  /** The offsets of the ends of days among them, ascending. */
  get endsOfDays(): readonly Offset[] {
    return this.#endsOfDays;
  }

  /**
   * Adds the commands of batches that are not done.
   * @returns whether there were any
   */
  add(batches: readonly RecordBatch[], done: DoneCommands): boolean {
    const known = this.#waiting.length;
    for (const batch of batches) {
      for (const command of commandsOf(batch)) {
        const waiting = { command, endOfDay: readEndOfDay(command) };
        if (!isDone(waiting, done)) this.#waiting.push(waiting);
      }
    }
    this.#countEndsOfDays();
    return this.#waiting.length > known;
  }

  /** Removes those that are done. */
  removeDone(done: DoneCommands): void {
    this.#waiting = this.#waiting.filter((waiting) => !isDone(waiting, done));
    this.#countEndsOfDays();
  }

  get beginsWithEndOfDay(): boolean {
    return (this.#waiting[0]?.endOfDay ?? null) !== null;
  }

  /** All of them, in their order. */
  [Symbol.iterator](): Iterator<WaitingCommand> {
    return this.#waiting[Symbol.iterator]();
  }

  /** Those that may pass the ends of days, in their order. */
  *passing(): Generator<PendingCommand> {
    for (const { command, endOfDay } of this.#waiting) if (endOfDay === null) yield command;
  }

  #countEndsOfDays(): void {
    this.#endsOfDays = this.#waiting.flatMap(({ command, endOfDay }) => (endOfDay === null ? [] : [command.offset]));
  }
}

/** An end of a day has its turn in order; other commands may have passed it. */
function isDone(
  { command: { offset }, endOfDay }: WaitingCommand,
  { position, decidedAheadTo }: DoneCommands,
): boolean {
  return offset <= (position ?? -1) || (endOfDay === null && offset <= (decidedAheadTo ?? -1));
}

/** The end of a day that this record of the command topic asks for; null for any other command. */
export function readEndOfDay(command: PendingCommand): EndOfDay | null {
  if (command.value === null || !command.value.includes(endOfDayMark)) return null;
  const parsed = parseCommand(command.value, command);
  return parsed.kind === 'end of day' && parsed.command.partition === command.partition ? parsed.command : null;
}

/** The records of a batch, in order. */
function commandsOf(batch: RecordBatch): PendingCommand[] {
  return Array.from({ length: batch.count }, (_, index) => {
    const start = batch.valueStarts[index] ?? noValue;
    return {
      partition: batch.partition,
      offset: batch.offsets[index] ?? 0,
      appendedAt: batch.appendedAt,
      value: start === noValue ? null : batch.bytes.subarray(start, batch.valueEnds[index]),
    };
  });
}

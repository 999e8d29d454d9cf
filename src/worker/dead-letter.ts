import { toTimestamp } from '../clock.ts';
import { loanCommandsTopic } from '../lending-format/lending-topics.ts';
import type { WaitingCommand } from './waiting-commands.ts';

/** How much of a command is repeated in its dead letter; the whole lies where `topic`, `partition` and `offset` say. */
const repeatedBytesMaximum = 1024 * 1024;

/** A command that could not be read or decided, as the dead-letter topic keeps it. */
interface DeadLetter {
  readonly reason: string;
  readonly commandId: string | null;
  /** Where the command lies. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** RFC 3339: when the command entered the log. */
  readonly appendedAt: string;
  /**
   * What was sent, as base64, since it need not be text; cut off beyond a megabyte. Null for a record without a value.
   */
  readonly value: string | null;
}

export function writeDeadLetter(command: WaitingCommand, reason: string, commandId: string | null): Buffer {
  const { partition, offset, appendedAt, value } = command;
  const letter: DeadLetter = {
    reason,
    commandId,
    topic: loanCommandsTopic,
    partition,
    offset,
    appendedAt: toTimestamp(appendedAt),
    value: value === null ? null : value.subarray(0, repeatedBytesMaximum).toString('base64'),
  };
  return Buffer.from(JSON.stringify(letter));
}

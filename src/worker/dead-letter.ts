import { toTimestamp } from '../clock.ts';
import { loanCommandsTopic } from '../lending-format/lending-topics.ts';
import type { PendingCommand } from './pending-commands.ts';

/** How much of a command its dead letter repeats. The whole command is at `topic`, `partition` and `offset`. Bytes. */
const repeatedBytesMaximum = 1024 * 1024;

/** A command that could not be read or decided, as stored in the dead-letter topic. */
interface DeadLetter {
  readonly reason: string;
  readonly commandId: string | null;
  /** The position of the command in the log. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** When the command entered the log, in RFC 3339. */
  readonly appendedAt: string;
  /**
   * The value of the command in base64, since it need not be text. It is cut off after a mebibyte. Null for a record
   * without a value.
   */
  readonly value: string | null;
}

/** The dead letter of a command as JSON. `commandId` is null when it could not be read. */
export function writeDeadLetter(command: PendingCommand, reason: string, commandId: string | null): Buffer {
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

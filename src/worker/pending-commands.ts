import { type RecordBatch, noValue } from '../ports/event-log.ts';
import type { CommandSource } from '../lending-format/command-format.ts';

/** A record of the command topic that has not been decided yet. */
export interface PendingCommand extends CommandSource {
  /** Shares the memory of the batch it was read with. Null for a tombstone, which no producer should have written. */
  readonly value: Buffer | null;
  /** Of what the end of a day does to an account: the id of that command, which is not in the log. */
  readonly dueCommandId?: string;
}

/** The records of a batch, in order. */
export function pendingCommandsOf(batch: RecordBatch): PendingCommand[] {
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

import type { EventLog, Offset } from '../ports/event-log.ts';
import { LendstreamError } from '../errors.ts';
import { loanCommandsTopic } from '../lending-format/lending-topics.ts';
import { boundsOfPartition } from '../ports/partition-bounds.ts';
import type { Logger } from '../logger.ts';

/** Where the commands of a partition are read. */
export interface ResumeOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly partition: number;
}

/**
 * The offset of the first command that is not decided yet.
 * @param position The offset of the last command done; null when none was done yet.
 * @throws INTERNAL when the log ends before that, and the errors of the log
 */
export async function firstUndecidedOffset(options: ResumeOptions, position: Offset | null): Promise<Offset> {
  const { log, logger, partition } = options;
  const bounds = await boundsOfPartition(log, { topic: loanCommandsTopic, partition });
  const next = position === null ? bounds.earliest : position + 1;
  if (next < bounds.earliest) {
    logger.error({ next, earliest: bounds.earliest }, 'Undecided commands are missing from the log and are lost');
    return bounds.earliest;
  }
  if (next > bounds.latest) {
    throw new LendstreamError(
      'INTERNAL',
      `Commands of partition ${partition} are done up to ${next}, but the log ends at ${bounds.latest}: it lost records.`,
    );
  }
  return next;
}

import { describeError } from '../../errors.ts';
import { partitionKey } from '../../ports/event-type-partition.ts';
import type { SentOffsets } from './sent-offsets.ts';
import type { StreamPartition } from './stream-partition.ts';
import type { StreamSessionServices } from './stream-session.ts';

/**
 * Commits positions that no consumer can commit: those after deletions that were passed over. A partition that this
 * session has lost is left to its new owner; the others are still committed. A failure is logged, and the next call
 * tries again.
 * @param sentOffsets Of a stream with strict commits: the store has to learn these positions first.
 */
export async function commitWithoutConsumer(
  { coordination, logger }: Pick<StreamSessionServices, 'coordination' | 'logger'>,
  subscriptionId: string,
  streamId: string,
  partitions: readonly Pick<StreamPartition, 'eventType' | 'partition' | 'fence' | 'committableWithoutConsumer'>[],
  sentOffsets?: SentOffsets,
): Promise<void> {
  let cursors = partitions.flatMap(({ eventType, partition, fence, committableWithoutConsumer: offset }) =>
    offset === undefined ? [] : [{ eventType, partition, fence, offset }],
  );
  try {
    if (sentOffsets !== undefined && cursors.length > 0) {
      sentOffsets.notePassedOver(partitions);
      await sentOffsets.record();
    }
    while (cursors.length > 0) {
      const result = await coordination.commit(subscriptionId, streamId, cursors);
      if (result.outcome !== 'not_owner') {
        if (result.outcome === 'session_not_found') logger.debug({ streamId }, 'A session is gone with its positions');
        return;
      }
      const lost = partitionKey(result.cursor);
      logger.debug({ streamId, partition: lost }, 'A position is left to the new owner of its partition');
      const remaining = cursors.filter((cursor) => partitionKey(cursor) !== lost);
      // If the store names a partition that is not in the request, stop: another attempt would loop for ever.
      if (remaining.length === cursors.length) return;
      cursors = remaining;
    }
  } catch (error) {
    const facts = { streamId, error: describeError(error) };
    logger.warn(facts, 'Cannot commit a position without events; retrying');
  }
}

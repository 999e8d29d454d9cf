import { LendstreamError, isLendstreamError } from '../../errors.ts';
import type { EventLog, Offset, ReadOptions, ReadResult, RecordBatch, TopicPartition } from '../../ports/event-log.ts';

/** How much is read at once. Bytes. */
const readBytes = 1024 * 1024;

/** How long a read waits for records that are stored and not visible yet, and how often. Milliseconds. */
const visibleMilliseconds = 1_000;
const waitsMaximum = 10;

/**
 * The batches of a partition from an offset to an end that was read before. It passes over what retention removes
 * meanwhile. The last batch may go beyond the end.
 * @param end At most the end of the partition.
 * @throws LOG_UNAVAILABLE when stored records do not become visible for ten seconds, and what the log throws
 */
export async function* readStoredRecords(
  log: Pick<EventLog, 'read'>,
  { topic, partition, offset: start }: TopicPartition & { readonly offset: Offset },
  end: Offset,
): AsyncGenerator<RecordBatch, void> {
  let waits = 0;
  for (let offset = start; offset < end;) {
    const options = { bytesMaximum: readBytes, waitMilliseconds: visibleMilliseconds };
    const { batches, nextOffset } = await readPastRetention(log, { topic, partition, offset }, options);
    yield* batches;
    waits = nextOffset === offset ? waits + 1 : 0;
    offset = nextOffset;
    if (waits < waitsMaximum) continue;
    throw new LendstreamError(
      'LOG_UNAVAILABLE',
      `Records that are stored in partition ${partition} of ${topic} cannot be read yet. Try again.`,
    );
  }
}

/**
 * Reads one partition from a position. When retention has removed the records there, it returns no batches, and the
 * offset of the first record that is left as the next one.
 * @throws what {@link EventLog.read} throws otherwise
 */
export async function readPastRetention(
  log: Pick<EventLog, 'read'>,
  from: TopicPartition & { readonly offset: Offset },
  options: ReadOptions,
): Promise<ReadResult> {
  try {
    return await log.read(from, options);
  } catch (error) {
    const earliest = isLendstreamError(error, 'OFFSET_OUT_OF_RANGE') ? Number(error.details['earliest']) : Number.NaN;
    if (!(earliest > from.offset)) throw error;
    return { batches: [], nextOffset: earliest };
  }
}

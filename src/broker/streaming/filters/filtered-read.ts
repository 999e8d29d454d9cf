import type { Offset, ReadResult, RecordBatch } from '../../../ports/event-log.ts';
import { BatchSearch } from './batch-search.ts';
import type { EventFilter } from './event-filter.ts';
import { filterTurns, type FilterTurns } from './filter-turns.ts';

/** What a filter leaves of a read. */
export interface FilteredRead extends ReadResult {
  /** Undefined when every event met the filter. */
  readonly passedOver: PassedOver | undefined;
  /** How much was searched. Bytes. */
  readonly searchedBytes: number;
}

/** The last record that a stream passes over because of its filter, or a deletion after it. */
export interface PassedOver {
  readonly offset: Offset;
  /** Milliseconds since the epoch. */
  readonly appendedAt: number;
}

/**
 * Leaves out the events that do not meet a filter. Batches of which every event meets it stay as they are; of others,
 * the events that do are copied, so that the memory of the rest is free.
 * @param result Its values are JSON.
 * @param turns Shared by all streams of the process.
 */
export async function filterRead(
  filter: EventFilter,
  result: ReadResult,
  turns: FilterTurns = filterTurns,
): Promise<FilteredRead> {
  const batches: RecordBatch[] = [];
  let passedOver: PassedOver | undefined;
  let searchedBytes = 0;
  for (const batch of result.batches) {
    const search = new BatchSearch({ filter }, batch);
    searchedBytes += await search.finish(turns);
    const { matches, lastPassedOver } = search;
    if (lastPassedOver === undefined) {
      batches.push(batch);
      continue;
    }
    passedOver = { offset: lastPassedOver, appendedAt: batch.appendedAt };
    if (matches.length > 0) batches.push(copyOf(batch, matches));
    batch.release?.();
  }
  return { batches, nextOffset: result.nextOffset, passedOver, searchedBytes };
}

const comma = 0x2c;

/** A batch of some events of another, in memory of its own. */
function copyOf(batch: RecordBatch, indexes: readonly number[]): RecordBatch {
  const { topic, partition, appendedAt, offsets, valueStarts, valueEnds } = batch;
  const count = indexes.length;
  let length = count - 1;
  for (const index of indexes) length += (valueEnds[index] as number) - (valueStarts[index] as number);
  const bytes = Buffer.allocUnsafeSlow(length);
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  let position = 0;
  for (const [place, index] of indexes.entries()) {
    if (place > 0) bytes[position++] = comma;
    starts[place] = position;
    position += batch.bytes.copy(bytes, position, valueStarts[index], valueEnds[index]);
    ends[place] = position;
  }
  return {
    topic,
    partition,
    count,
    appendedAt,
    bytes,
    offsets: Float64Array.from(indexes, (index) => offsets[index] as number),
    valueStarts: starts,
    valueEnds: ends,
    contiguous: true,
    // Streams read no keys, and a reference to the batch would keep all of its memory.
    key: () => null,
  };
}

import { beforeFirst, formatOffset, parseOffset } from '../../../broker/cursors/cursor-text.ts';
import type { EventTypePartition } from '../../../ports/event-type-partition.ts';
import type { Offset } from '../../../ports/event-log.ts';

/**
 * Partitions and offsets as the second version of Mambu's streaming API writes them: `shardId-000000000004` and a
 * number of 56 digits. A shard is one partition of one event type. Its number counts the event types of the
 * subscription first and the partitions last: the event types never change, so a shard keeps its number when partitions
 * are added.
 */

/** What a cursor has in place of its event type. */
export const mixedEventType = 'MIXED';

const shardForm = /^shardId-(\d{12})$/;

const shardDigits = 12;

/** A number without a zero at its start is the same number when a client has read and written it. */
const offsetStart = '49';

const offsetDigits = 54;

const offsetForm = new RegExp(`^${offsetStart}(\\d{${offsetDigits}})$`);

/** @param eventTypes Those of the subscription, in its order; the partition's is among them. */
export function shardName(eventTypes: readonly string[], { eventType, partition }: EventTypePartition): string {
  const number = partition * eventTypes.length + eventTypes.indexOf(eventType);
  return `shardId-${String(number).padStart(shardDigits, '0')}`;
}

/** The inverse of {@link shardName}, whether the partition exists or not; undefined for a text that names no shard. */
export function partitionOfShard(eventTypes: readonly string[], name: string): EventTypePartition | undefined {
  const digits = shardForm.exec(name)?.[1];
  if (digits === undefined) return undefined;
  const number = Number(digits);
  const eventType = eventTypes[number % eventTypes.length];
  return eventType === undefined ? undefined : { eventType, partition: Math.floor(number / eventTypes.length) };
}

/** @param offset The last processed offset, or {@link beforeFirst}, which is the smallest number. */
export function formatShardOffset(offset: Offset): string {
  return offsetStart + String(offset - beforeFirst).padStart(offsetDigits, '0');
}

/**
 * The offset of a number as the log's own API writes it. A text of another form stays as it is: it may have been read
 * over another API.
 * @throws UNPROCESSABLE when it is beyond what a log can count
 */
export function ownOffsetText(text: string): string {
  const digits = offsetForm.exec(text)?.[1];
  if (digits === undefined) return text;
  const number = Number(digits);
  // Beyond what a log can count, it is refused like every other text.
  return formatOffset(Number.isSafeInteger(number) ? number + beforeFirst : parseOffset(text));
}

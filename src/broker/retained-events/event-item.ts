import { toTimestamp } from '../../clock.ts';
import { formatOffset } from '../cursors/cursor-text.ts';
import type { FoundEvent } from './partition-search.ts';

const closingBrace = 0x7d;

/**
 * The JSON of an event and of what the log knows about it. The event is copied byte for byte.
 * @param more What else to say of it, before the rest.
 */
export function eventItem({ batch, index, offset }: FoundEvent, more: object = {}): Buffer {
  const key = batch.key(index);
  const head = JSON.stringify({
    ...more,
    partition: String(batch.partition),
    offset: formatOffset(offset),
    timestamp: toTimestamp(batch.appendedAt),
    ...(key === null ? {} : { key }),
  });
  const start = Buffer.from(`${head.slice(0, -1)},"event":`);
  const valueStart = batch.valueStarts[index] as number;
  const valueEnd = batch.valueEnds[index] as number;
  const item = Buffer.allocUnsafe(start.length + valueEnd - valueStart + 1);
  start.copy(item);
  batch.bytes.copy(item, start.length, valueStart, valueEnd);
  item[item.length - 1] = closingBrace;
  return item;
}

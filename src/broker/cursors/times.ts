import { readMoment } from '../../clock.ts';
import { LendstreamError } from '../../errors.ts';
import type { EventLog, Offset } from '../../ports/event-log.ts';
import { partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';
import { formatOffset, parsePartition } from './cursor-text.ts';

/** In place of an offset: the position before the first event that was published then or later. */
const timePrefix = 'TIME:';

/**
 * A moment as clients write it, in milliseconds since the epoch.
 * @throws UNPROCESSABLE for anything but a date, a time and a zone
 */
export function parseMoment(text: string): number {
  const time = readMoment(text);
  if (time !== undefined) return time;
  throw new LendstreamError('UNPROCESSABLE', `invalid time ${text}: it must have the form 2026-01-31T12:00:00Z`);
}

/** The positions before the first events of a time, for each partition: what a reader that begins there has read. */
export async function positionsBefore(
  log: Pick<EventLog, 'offsetsAt'>,
  partitions: readonly EventTypePartition[],
  time: number,
): Promise<(EventTypePartition & { readonly offset: Offset })[]> {
  const found = await log.offsetsAt(
    partitions.map(({ eventType, partition }) => ({ topic: eventType, partition })),
    time,
  );
  return found.map(({ topic, partition, offset }) => ({ eventType: topic, partition, offset: offset - 1 }));
}

/**
 * Cursors whose offsets may be times (`TIME:2026-01-31T12:00:00Z`), with offsets in their place. All others stay as
 * they are, as do those of partitions that do not exist: they are refused later.
 * @param counts The event types with their partition counts.
 * @throws UNPROCESSABLE for a time that cannot be read, and the errors of the log
 */
export async function withoutTimes<
  Cursor extends { readonly event_type: string; readonly partition: string; readonly offset: string },
>(
  log: Pick<EventLog, 'offsetsAt'>,
  cursors: readonly Cursor[],
  counts: ReadonlyMap<string, number>,
): Promise<readonly Cursor[]> {
  const timed = cursors.map((cursor) => ({ cursor, time: timeOf(cursor.offset), place: placeOf(cursor, counts) }));
  const byTime = new Map<number, EventTypePartition[]>();
  for (const { time, place } of timed) {
    if (time === undefined || place === undefined) continue;
    const places = byTime.get(time);
    if (places === undefined) byTime.set(time, [place]);
    else places.push(place);
  }
  if (byTime.size === 0) return cursors;
  const offsets = new Map<string, Offset>();
  for (const [time, places] of byTime) {
    for (const position of await positionsBefore(log, places, time)) {
      offsets.set(`${time} ${partitionKey(position)}`, position.offset);
    }
  }
  return timed.map(({ cursor, time, place }) => {
    const offset = place === undefined ? undefined : offsets.get(`${time} ${partitionKey(place)}`);
    return offset === undefined ? cursor : { ...cursor, offset: formatOffset(offset) };
  });
}

function timeOf(offset: string): number | undefined {
  if (!offset.toUpperCase().startsWith(timePrefix)) return undefined;
  return parseMoment(offset.slice(timePrefix.length));
}

function placeOf(
  { event_type: eventType, partition: text }: { readonly event_type: string; readonly partition: string },
  counts: ReadonlyMap<string, number>,
): EventTypePartition | undefined {
  const partition = parsePartition(text);
  return partition !== undefined && partition < (counts.get(eventType) ?? 0) ? { eventType, partition } : undefined;
}

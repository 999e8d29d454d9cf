import type { Offset } from '../../ports/event-log.ts';
import { parsePartition } from './cursor-text.ts';

/**
 * The most partitions whose positions a stream without a subscription writes as a list of cursors. Of more it writes
 * the short form: the reader sends the text back as a header or in a URL, whose bytes are limited, here and by proxies.
 */
export const listedPartitionsMaximum = 64;

/** Before the number of a partition whose offset follows. */
const partitionMark = 'p';

/** A character that URLs leave as it is, unlike those of JSON. */
const separator = '.';

/**
 * Positions in a short form: a partition, and the offsets of the last events seen in it and in those after it.
 * `p0.388.-1.p7.12` is 388 in partition 0, the position before the first event in partition 1, and 12 in partition 7.
 */
export function formatShortPositions(
  positions: readonly { readonly partition: number; readonly offset: Offset }[],
): string {
  let next: number | undefined;
  const parts: (string | number)[] = [];
  for (const { partition, offset } of positions) {
    if (partition !== next) parts.push(`${partitionMark}${partition}`);
    parts.push(offset);
    next = partition + 1;
  }
  return parts.join(separator);
}

/**
 * The inverse of {@link formatShortPositions}, as cursors.
 * @returns undefined for a text of another form
 */
export function parseShortPositions(
  text: string,
): { readonly partition: string; readonly offset: string }[] | undefined {
  let next: number | undefined;
  let isMarkLast = true;
  const cursors: { partition: string; offset: string }[] = [];
  for (const part of text.split(separator)) {
    isMarkLast = part.startsWith(partitionMark);
    if (isMarkLast) {
      next = parsePartition(part.slice(partitionMark.length));
      if (next === undefined) return undefined;
    } else if (next !== undefined && /^(?:-1|\d{1,18})$/.test(part)) {
      cursors.push({ partition: String(next), offset: part });
      next += 1;
    } else {
      return undefined;
    }
  }
  return isMarkLast ? undefined : cursors;
}

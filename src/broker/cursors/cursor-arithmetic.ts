import { LendstreamError } from '../../errors.ts';
import { beforeFirst } from './cursor-text.ts';
import type { Offset, PartitionBounds } from '../../ports/event-log.ts';

/** Arithmetic with positions of one event type, for clients that may not look inside an offset. Pure. */

export interface Position {
  /** As the client wrote it; not checked for existence. */
  readonly partition: string;
  /** The last processed offset. */
  readonly offset: Offset;
}

/**
 * How many offsets lie after `initial` up to and including `final`; negative when `final` comes first.
 * @throws UNPROCESSABLE for cursors of different partitions
 */
export function cursorDistance(initial: Position, final: Position): number {
  if (initial.partition !== final.partition) {
    throw new LendstreamError('UNPROCESSABLE', 'Cursors with different partition. Distance can not be computed.');
  }
  return final.offset - initial.offset;
}

/**
 * A position moved by a number of offsets, in either direction. It may lie beyond the end of the log.
 * @throws UNPROCESSABLE when it would lie before the position that precedes the first event
 */
export function shiftCursor({ offset, partition }: Position, shift: number): Offset {
  const shifted = offset + shift;
  if (shifted >= beforeFirst && Number.isSafeInteger(shifted)) return shifted;
  throw new LendstreamError('UNPROCESSABLE', `The cursor of partition ${partition} cannot be moved by ${shift}.`);
}

/** The most events that may follow a position; expired ones do not count. */
export function unconsumedEvents({ earliest, latest }: PartitionBounds, offset: Offset): number {
  return latest - 1 - Math.max(offset, earliest - 1);
}

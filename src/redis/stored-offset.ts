import type { Offset } from '../ports/event-log.ts';

/** A committed offset as Redis holds it. The epoch grows with each reset of the partition. */
export interface StoredOffset {
  readonly offset: Offset;
  readonly epoch: number;
}

/** Written in place of a removed offset. */
export const removedOffsetMark = '-';

/** Writes an offset as `offset@epoch`. */
export function encodeOffset({ offset, epoch }: StoredOffset): string {
  return `${offset}@${epoch}`;
}

/** Reads what {@link encodeOffset} wrote. */
export function decodeOffset(encoded: string): StoredOffset {
  const at = encoded.indexOf('@');
  return { offset: Number(encoded.slice(0, at)), epoch: Number(encoded.slice(at + 1)) };
}

/** Whether the first was committed after the second. */
export function isNewer(left: StoredOffset, right: StoredOffset): boolean {
  return left.epoch === right.epoch ? left.offset > right.offset : left.epoch > right.epoch;
}

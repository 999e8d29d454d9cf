import type { Offset, RecordBatch } from './event-log.ts';

/**
 * Where one record of a batch is, without the lists of the batch if it makes them only when they are read. Use these
 * where few records of a batch are looked at, and the lists where all are.
 */

type Values = Pick<RecordBatch, 'valueStarts' | 'valueEnds' | 'positions'>;

/** @param index Of a record of the batch. */
export function offsetAt(batch: Pick<RecordBatch, 'offsets' | 'positions'>, index: number): Offset {
  return batch.positions === undefined ? (batch.offsets[index] as Offset) : batch.positions.offsetAt(index);
}

/** Where the value of a record starts; `noValue` for a tombstone. */
export function valueStartAt(batch: Values, index: number): number {
  return batch.positions === undefined ? (batch.valueStarts[index] as number) : batch.positions.valueStartAt(index);
}

/** Where the value of a record ends; `noValue` for a tombstone. */
export function valueEndAt(batch: Values, index: number): number {
  return batch.positions === undefined ? (batch.valueEnds[index] as number) : batch.positions.valueEndAt(index);
}

import { noValue } from '../../ports/event-log.ts';
import { keyStartOf, sliceRecords, valueStartOf } from '../../ports/packed-records.ts';
import type { PackedRecords } from '../../ports/packed-records.ts';
import { contentBytes } from './record-sizes.ts';

/** A row is closed when it has reached this size; one more record may exceed it. Bytes. */
export const rowBytesMaximum = 1024 * 1024;

/** The records of each row, in order. No row is empty. */
export function splitIntoRows(runs: readonly PackedRecords[]): PackedRecords[][] {
  const rows: PackedRecords[][] = [];
  let remainingBytes = 0;
  for (const run of runs) {
    for (let first = 0; first < run.valueEnds.length;) {
      if (remainingBytes <= 0) {
        rows.push([]);
        remainingBytes = rowBytesMaximum;
      }
      const bytes = first === 0 ? contentBytes(run) : Infinity;
      const end = bytes <= remainingBytes ? run.valueEnds.length : endIndexWithin(run, first, remainingBytes);
      const fitting = sliceRecords(run, first, end);
      rows.at(-1)?.push(fitting);
      remainingBytes -= contentBytes(fitting);
      first = end;
    }
  }
  return rows;
}

/** The index after the record that fills the room, or after the last record. */
function endIndexWithin(run: PackedRecords, first: number, remainingBytes: number): number {
  const { keyEnds, valueEnds } = run;
  let valueStart = valueStartOf(run, first);
  let keyStart = keyStartOf(run, first);
  let bytes = 0;
  let end = first;
  while (end < valueEnds.length && bytes < remainingBytes) {
    const keyEnd = keyEnds[end] as number;
    const valueEnd = valueEnds[end] as number;
    if (keyEnd !== noValue) {
      bytes += keyEnd - keyStart;
      keyStart = keyEnd;
    }
    if (valueEnd !== noValue) {
      bytes += valueEnd - valueStart;
      valueStart = valueEnd + 1;
    }
    end += 1;
  }
  return end;
}

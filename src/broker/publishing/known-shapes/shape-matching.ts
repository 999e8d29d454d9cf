import { eventBytesMaximum } from '../event-preparation.ts';
import type { UnparsedEvents } from '../unparsed-events.ts';
import { eventField, fieldBytes, fieldsOfEach } from '../request-memory/event-fields.ts';
import { entryBytes, entryField, lastPiece } from '../request-memory/find-routine.ts';
import { gapsMaximum, type RequestMemory, type ShapeTable } from '../request-memory/request-memory.ts';
import { isDateTime } from '../../../clock.ts';
import { gapKind, type EventShape } from './event-shape.ts';

/**
 * A shape as a table, by which a compiled routine finds events of it. The text that may follow a gap is never part of
 * the gap, so there is never a second way to try. Rejecting a request that does not have the shape takes time
 * proportional to its length, whatever it contains.
 */
export interface MatchedShape {
  readonly table: ShapeTable;
  /** Which field of an event has the start of the text under each wanted path. */
  readonly wantedFields: readonly number[];
}

/** The table of a shape; undefined when the shape has too many gaps. */
export function tableOf({ pieces, pieceEnds, gapKinds, gapsByPath }: EventShape): MatchedShape | undefined {
  if (gapKinds.length > gapsMaximum) return undefined;
  const wantedGaps = gapsByPath.filter((gap) => gapKinds[gap] !== gapKind.mark);
  const firstMark = gapKinds.indexOf(gapKind.mark);
  // A gap that several paths want has one place.
  const wantedFields = wantedGaps.map((gap) => eventField.wanted + 2 * wantedGaps.indexOf(gap));
  const placeOf = (gap: number): number => {
    if (gapKinds[gap] === gapKind.mark) return gap === firstMark ? eventField.metadataStart : eventField.metadataEnd;
    return wantedFields[wantedGaps.indexOf(gap)] ?? eventField.start;
  };
  const entries = new Int32Array((gapKinds.length + 1) * (entryBytes / fieldBytes));
  let pieceStart = 0;
  for (let gap = 0; gap <= gapKinds.length; gap += 1) {
    const pieceEnd = pieceEnds[gap] ?? pieces.length;
    const entry = (gap * entryBytes) / fieldBytes;
    entries[entry + entryField.piece / fieldBytes] = pieceStart;
    entries[entry + entryField.pieceBytes / fieldBytes] = pieceEnd - pieceStart;
    entries[entry + entryField.kind / fieldBytes] = gapKinds[gap] ?? lastPiece;
    entries[entry + entryField.place / fieldBytes] = placeOf(gap) * fieldBytes;
    pieceStart = pieceEnd;
  }
  return { table: { entries, pieces, fieldsOfEach: fieldsOfEach(wantedGaps.length) }, wantedFields };
}

/**
 * Finds the events of the loaded request, which is valid UTF-8, when all of them have a shape, are small and only one
 * comma stands between them.
 * @returns undefined when that is not so, whether the events are valid or not, and when there are more events than a
 *   request may have
 */
export function matchEvents(memory: RequestMemory, { table, wantedFields }: MatchedShape): UnparsedEvents | undefined {
  const count = memory.find(table, eventBytesMaximum);
  if (count === 0) return undefined;
  for (const time of memory.unusualTimes()) if (!isDateTime(time)) return undefined;
  return { count, fieldsOfEach: table.fieldsOfEach, wantedFields };
}

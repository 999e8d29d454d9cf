import { eventsPerRequestMaximum } from '../request-body.ts';
import { gapKind, type EventShape } from './event-shape.ts';
import { isDateTime } from '../../schemas/json-schema.ts';

/**
 * A shape as a regular expression, which the engine makes machine code of: looking at each byte here takes a third more
 * time, and what is found still has to be cut out.
 *
 * What may follow a gap is no part of any gap, and alternatives exclude each other, so that there is never a second way
 * to try: a request that does not have the shape is left in time proportional to its length, whatever it holds.
 */
export interface ShapePattern {
  /** Matches one event where it is told to look. Group 1 and up as the fields below say. */
  readonly expression: RegExp;
  /**
   * The group of each of the shape's `gapsByPath`: of a wanted path its text, of the first mark what stands before it,
   * of the second what stands after it.
   */
  readonly groupsByPath: readonly number[];
  /** The groups of times that are not written as usual, nothing in an event whose time is. */
  readonly unusualTimeGroups: readonly number[];
}

/** The event's text is at 0, the groups of {@link ShapePattern} follow. */
export type MatchedEvent = readonly (string | undefined)[];

/** A hundred gaps take up to 20 ms to compile at their first event, and the engine refuses some thousands. */
const gapsMaximum = 100;

/** Numbers of more digits than this are left to the parser, which knows when they are beyond every double. */
const numberBytesMaximum = 300;

/** What may stand in a JSON string as it is. Beyond ASCII the body is known to be UTF-8. */
const text = String.raw`[^"\\\x00-\x1f]*`;
const hexadecimal = '[0-9a-fA-F]';
const uuid = [8, 4, 4, 4, 12].map((digits) => hexadecimal.repeat(digits)).join('-');
const integer = `(?![-.0-9]{${numberBytesMaximum + 1}})-?(?:0|[1-9][0-9]*)`;
const number = String.raw`${integer}(?:\.[0-9]+)?`;

/**
 * A time as most programs write it, as in 2026-01-12T10:00:00.123Z, on a day that every month has. It is then one for
 * {@link isDateTime} too, which is asked about every other.
 */
const usualTime = [
  '[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])',
  String.raw`T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?Z`,
].join('');
const time = `(?:${usualTime}(?=")|(?!${usualTime}")(${text}))`;

/** The pattern of a shape; undefined when the shape has too many gaps. */
export function patternOf({ pieces, pieceEnds, gapKinds, gapsByPath }: EventShape): ShapePattern | undefined {
  if (gapKinds.length > gapsMaximum) return undefined;
  const groupsByPath = gapsByPath.map(() => 0);
  const unusualTimeGroups: number[] = [];
  const marks = [...gapKinds.keys()].filter((gap) => gapKinds[gap] === gapKind.mark);
  let groupCount = 0;
  const openGroup = (gap: number): string => {
    groupCount += 1;
    for (const [index, wanted] of gapsByPath.entries()) if (wanted === gap) groupsByPath[index] = groupCount;
    return '(';
  };
  let source = marks[0] === undefined ? '' : openGroup(marks[0]);
  let pieceStart = 0;
  for (const [gap, kind] of gapKinds.entries()) {
    source += literally(pieces.subarray(pieceStart, pieceEnds[gap]));
    pieceStart = pieceEnds[gap] ?? 0;
    if (kind === gapKind.mark) {
      source += gap === marks[0] ? ')' : openGroup(gap);
      continue;
    }
    const isWanted = gapsByPath.includes(gap);
    if (isWanted) source += openGroup(gap);
    source += sourceOf(kind);
    if (kind === gapKind.dateTime) unusualTimeGroups.push((groupCount += 1));
    if (isWanted) source += ')';
  }
  source += literally(pieces.subarray(pieceStart)) + (marks.length === 0 ? '' : ')');
  return { expression: new RegExp(source, 'y'), groupsByPath, unusualTimeGroups };
}

function sourceOf(kind: number): string {
  if (kind === gapKind.uuid) return uuid;
  if (kind === gapKind.dateTime) return time;
  if (kind === gapKind.number) return number;
  return kind === gapKind.integer ? integer : text;
}

/** An expression for these bytes and no others. */
function literally(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Finds the events of a JSON array when all of them have a shape and nothing stands between them but one comma;
 * undefined when that is not so, which says nothing about whether they are valid, and when they are more than a request
 * may have.
 * @param request Valid UTF-8, as Latin-1 text: one character for each byte.
 */
export function matchEvents(
  { expression, unusualTimeGroups }: ShapePattern,
  request: string,
): MatchedEvent[] | undefined {
  if (request.charCodeAt(0) !== openBracket) return undefined;
  const events: MatchedEvent[] = [];
  let position = 1;
  for (;;) {
    expression.lastIndex = position;
    const event = expression.exec(request);
    if (event === null) return undefined;
    for (const group of unusualTimeGroups) {
      const unusualTime = event[group];
      if (unusualTime !== undefined && !isDateTime(unusualTime)) return undefined;
    }
    if (events.length === eventsPerRequestMaximum) return undefined;
    events.push(event);
    position += event[0].length + 1;
    const following = request.charCodeAt(position - 1);
    if (following === comma) continue;
    return following === closeBracket && position === request.length ? events : undefined;
  }
}

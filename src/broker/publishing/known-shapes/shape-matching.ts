import { jsonByte } from '../../../json-bytes.ts';
import { eventsPerRequestMaximum } from '../request-parsing.ts';
import { gapKind, type EventShape } from './event-shape.ts';
import { isDateTime } from '../../schemas/text-formats.ts';

/**
 * A shape as a regular expression, which the engine compiles to machine code. Comparing byte by byte here takes a third
 * more time, and the values found still have to be cut out.
 *
 * The text that may follow a gap is never part of a gap, and alternatives exclude each other, so there is never a
 * second way to try. Rejecting a request that does not have the shape takes time proportional to its length, whatever
 * it contains.
 */
export interface ShapePattern {
  /** Matches one event at its `lastIndex`. The fields below say what groups 1 and up hold. */
  readonly expression: RegExp;
  /**
   * The group of each of the shape's `gapsByPath`. The group of a wanted path holds its text, that of the first mark
   * the text before it, that of the second mark the text after it.
   */
  readonly groupsByPath: readonly number[];
  /** The groups of times in an unusual spelling; undefined in an event whose time has the usual one. */
  readonly unusualTimeGroups: readonly number[];
}

/** The event's text is at 0, the groups of {@link ShapePattern} follow. */
export type MatchedEvent = readonly (string | undefined)[];

/** A hundred gaps take up to 20 ms to compile at their first event, and the engine refuses a few thousand. */
const gapsMaximum = 100;

/** Longer numbers are left to the parser, which knows when they are beyond every double. Bytes. */
const numberBytesMaximum = 300;

/** The characters that a JSON string may contain unescaped. Beyond ASCII the body is known to be UTF-8. */
const text = String.raw`[^"\\\x00-\x1f]*`;
const hexadecimal = '[0-9a-fA-F]';
const uuid = [8, 4, 4, 4, 12].map((digits) => hexadecimal.repeat(digits)).join('-');
const integer = `(?![-.0-9]{${numberBytesMaximum + 1}})-?(?:0|[1-9][0-9]*)`;
const number = String.raw`${integer}(?:\.[0-9]+)?`;

/**
 * A time as most programs write it, for example 2026-01-12T10:00:00.123Z, on a day that every month has.
 * {@link isDateTime} accepts every such time, and checks every other.
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
    source += escapeForPattern(pieces.subarray(pieceStart, pieceEnds[gap]));
    pieceStart = pieceEnds[gap] as number;
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
  source += escapeForPattern(pieces.subarray(pieceStart)) + (marks.length === 0 ? '' : ')');
  return { expression: new RegExp(source, 'y'), groupsByPath, unusualTimeGroups };
}

function sourceOf(kind: number): string {
  if (kind === gapKind.uuid) return uuid;
  if (kind === gapKind.dateTime) return time;
  if (kind === gapKind.number) return number;
  return kind === gapKind.integer ? integer : text;
}

/** An expression that matches exactly these bytes. */
function escapeForPattern(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

const { comma, openBracket, closeBracket } = jsonByte;

/**
 * Finds the events of a JSON array when all of them have a shape and only one comma stands between them.
 * @param request Valid UTF-8, as Latin-1 text: one character for each byte.
 * @returns undefined when that is not so, whether the events are valid or not, and when there are more events than a
 *   request may have
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
    const nextCharacter = request.charCodeAt(position - 1);
    if (nextCharacter === comma) continue;
    return nextCharacter === closeBracket && position === request.length ? events : undefined;
  }
}

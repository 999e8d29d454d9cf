import { isUtf8 } from 'node:buffer';
import type { Enrichment } from '../enrichment.ts';
import type { ParsedEvents } from '../request-parsing.ts';
import type { PreparedRecords, RecordContext } from '../event-preparation.ts';
import type { PreparedEventType } from '../prepared-event-type.ts';
import { spanField } from '../event-byte-positions.ts';
import { SkippedRequests } from '../skipped-requests.ts';
import {
  eidPath,
  isSmallEnough,
  needsNoParsing,
  occurredAtPath,
  recordsOf,
  wantedPathsOf,
  type UnparsedEvents,
} from '../unparsed-events.ts';
import { shapeOf } from './event-shape.ts';
import { matchEvents, patternOf, type MatchedEvent, type ShapePattern } from './shape-matching.ts';

/** The metadata fields that the enrichment reads, or overwrites without reading. */
const supportedMetadataFields = ['eid', 'occurred_at', 'event_type'];

/**
 * Prepares the requests of producers that send events of one shape, request after request. It neither parses nor
 * validates what one valid event has shown already. Every other request is prepared in full; the outcome is the same.
 */
export class KnownShapes {
  readonly #type: PreparedEventType;
  #pattern: ShapePattern | undefined;
  /** The requests that teach no shape, after some without the shape that was learnt before. */
  readonly #skipped = new SkippedRequests();

  constructor(type: PreparedEventType) {
    this.#type = type;
  }

  /** The records of a request whose events all have the shape; undefined when some do not or no shape is known. */
  prepare(body: Buffer, { random, enrichment }: RecordContext): PreparedRecords | undefined {
    const pattern = this.#pattern;
    if (pattern === undefined) return undefined;
    const matched = isUtf8(body) ? matchEvents(pattern, body.toString('latin1')) : undefined;
    if (matched === undefined || !matched.every(([text]) => isSmallEnough((text as string).length))) {
      this.#pattern = undefined;
      this.#skipped.attemptFailed();
      return undefined;
    }
    this.#skipped.attemptSucceeded();
    const parts = partsOf(matched, pattern.groupsByPath, this.#type.isEnriched ? enrichment : undefined);
    return recordsOf(this.#type, parts, body, random);
  }

  /** Learns from events that were prepared in full. */
  learnShape({ body, events, spans: { fields } }: ParsedEvents): void {
    const [event] = events;
    const isPlain =
      event !== undefined &&
      fields[spanField.whitespace] === 0 &&
      (!this.#type.isEnriched || hasOnlySupportedMetadata(event['metadata']));
    const start = fields[spanField.start] ?? 0;
    this.learnShapeOf(body, start, fields[spanField.end] ?? start, isPlain);
  }

  /**
   * Learns from a valid event.
   * @param isPlain Whether it has no white space between its tokens, and no metadata but an id and a time.
   */
  learnShapeOf(body: Buffer, start: number, end: number, isPlain: boolean): void {
    if (this.#pattern !== undefined || this.#skipped.skipsNext()) return;
    const shape =
      isPlain && needsNoParsing(this.#type)
        ? shapeOf({
            body,
            start,
            end,
            schema: this.#type.rules.schema,
            paths: wantedPathsOf(this.#type),
            marked: this.#type.isEnriched ? 'metadata' : null,
          })
        : undefined;
    this.#pattern = shape === undefined ? undefined : patternOf(shape);
    if (this.#pattern === undefined) this.#skipped.skipForLong();
  }
}

/** The parts of events that a pattern found. */
function partsOf(
  events: readonly MatchedEvent[],
  groupsByPath: readonly number[],
  enrichment: Enrichment | undefined,
): UnparsedEvents {
  const wantedText = (index: number, path: number): string => events[index]?.[groupsByPath[path] as number] as string;
  if (enrichment === undefined) {
    return { count: events.length, wantedText, storedText: (index) => events[index]?.[0] as string };
  }
  const [before, after] = groupsByPath.slice(-2) as [number, number];
  const eid = groupsByPath[eidPath] as number;
  const occurredAt = groupsByPath[occurredAtPath] as number;
  return {
    count: events.length,
    wantedText,
    storedText(index, partition) {
      const event = events[index] as readonly string[];
      const metadata = enrichment.plainMetadataOf(event[eid] as string, event[occurredAt] as string, partition);
      return (event[before] as string) + metadata + (event[after] as string);
    },
  };
}

function hasOnlySupportedMetadata(metadata: unknown): boolean {
  return (
    typeof metadata === 'object' &&
    metadata !== null &&
    Object.keys(metadata).every((name) => supportedMetadataFields.includes(name))
  );
}

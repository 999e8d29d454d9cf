import { isUtf8 } from 'node:buffer';
import type { ParsedEvents } from '../request-parsing.ts';
import type { PreparedRecords, RecordContext } from '../event-preparation.ts';
import type { PreparedEventType } from '../prepared-event-type.ts';
import { spanField } from '../event-byte-positions.ts';
import { SkippedRequests } from '../skipped-requests.ts';
import { RequestMemory } from '../request-memory/request-memory.ts';
import { needsNoParsing, recordsOf, wantedPathsOf } from '../unparsed-events.ts';
import { shapeOf } from './event-shape.ts';
import { matchEvents, tableOf, type MatchedShape } from './shape-matching.ts';

/** The metadata fields that the enrichment reads, or overwrites without reading. */
const supportedMetadataFields = ['eid', 'occurred_at', 'event_type'];

/**
 * Prepares the requests of producers that send events of one shape, request after request. It neither parses nor
 * validates what one valid event has shown already. Every other request is prepared in full; the outcome is the same.
 */
export class KnownShapes {
  readonly #type: PreparedEventType;
  readonly #memory: RequestMemory;
  #shape: MatchedShape | undefined;
  /** The requests that teach no shape, after some without the shape that was learnt before. */
  readonly #skipped = new SkippedRequests();

  constructor(type: PreparedEventType, memory = RequestMemory.ofThread()) {
    this.#type = type;
    this.#memory = memory;
  }

  /** The records of a request whose events all have the shape; undefined when some do not or no shape is known. */
  prepare(body: Buffer, context: RecordContext): PreparedRecords | undefined {
    const shape = this.#shape;
    if (shape === undefined) return undefined;
    const events = isUtf8(body) && this.#memory.load(body) ? matchEvents(this.#memory, shape) : undefined;
    const records = events === undefined ? undefined : recordsOf(this.#type, this.#memory, events, context);
    if (records === undefined) {
      this.#shape = undefined;
      this.#skipped.attemptFailed();
      return undefined;
    }
    this.#skipped.attemptSucceeded();
    return records;
  }

  /** Learns from events that were prepared in full. */
  learnShape({ body, events, spans: { fields } }: ParsedEvents): void {
    const [event] = events;
    if (event === undefined) return;
    const isPlain =
      fields[spanField.whitespace] === 0 && (!this.#type.isEnriched || hasOnlySupportedMetadata(event['metadata']));
    this.learnShapeOf(body, fields[spanField.start] as number, fields[spanField.end] as number, isPlain);
  }

  /**
   * Learns from a valid event.
   * @param isPlain Whether it has no white space between its tokens, and no metadata but an id and a time.
   */
  learnShapeOf(body: Buffer, start: number, end: number, isPlain: boolean): void {
    if (this.#shape !== undefined || !this.#memory.canFind || this.#skipped.skipsNext()) return;
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
    this.#shape = shape === undefined ? undefined : tableOf(shape);
    if (this.#shape === undefined) this.#skipped.skipForLong();
  }
}

function hasOnlySupportedMetadata(metadata: unknown): boolean {
  return (
    typeof metadata === 'object' &&
    metadata !== null &&
    Object.keys(metadata).every((name) => supportedMetadataFields.includes(name))
  );
}

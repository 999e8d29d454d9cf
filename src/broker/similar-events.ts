import { isAscii, isUtf8 } from 'node:buffer';
import type { Enrichment } from './enrichment.ts';
import type { ParsedEvents } from './event-batch.ts';
import { eventBytesMaximum, joinKeyFields, layOut } from './event-preparation.ts';
import type { PreparedEventType, PreparedRecords, RecordContext } from './event-preparation.ts';
import { spanField } from './event-scanner.ts';
import { shapeOf, type EventShape } from './event-shape.ts';
import { hashPartition, randomPartition } from './partitioning.ts';
import { matchEvents, type MatchedEvents } from './shape-matching.ts';

/** What the enrichment reads from metadata, and what it writes anew without reading it. */
const understoodMetadata = ['eid', 'occurred_at', 'event_type'];

/** Where in an event's paths the ids are, when it is enriched. */
const eidPath = 0;
const occurredAtPath = 1;

/** After this many requests in a row that did not have the shape, further ones are spared the try for a while. */
const failuresMaximum = 6;

/**
 * Prepares the requests of producers who send events of one shape, request after request, with neither parsing nor
 * validating what one valid event has shown already. Every other request is prepared in full; the outcome is the same.
 */
export class SimilarEvents {
  readonly #type: PreparedEventType;
  #shape: EventShape | undefined;
  /** Requests in a row without the shape that was learnt before. */
  #failures = 0;
  /** Requests to come that are not tried. */
  #pause = 0;

  constructor(type: PreparedEventType) {
    this.#type = type;
  }

  /** The records of a request whose events all have the shape; undefined when some do not or no shape is known. */
  prepare(body: Buffer, context: RecordContext): PreparedRecords | undefined {
    if (this.#shape === undefined) return undefined;
    const bodyText = body.toString('latin1');
    const matched = isUtf8(body) ? matchEvents(this.#shape, body, bodyText) : undefined;
    if (matched === undefined || !haveAllowedSize(matched)) {
      this.#shape = undefined;
      this.#failures = Math.min(this.#failures + 1, failuresMaximum);
      this.#pause = 2 ** this.#failures - 2;
      return undefined;
    }
    this.#failures = 0;
    return this.#records(this.#shape, matched, body, bodyText, context);
  }

  /** Learns from events that were prepared in full. */
  learn({ body, events, spans: { fields } }: ParsedEvents): void {
    if (this.#shape !== undefined) return;
    if (this.#pause > 0) {
      this.#pause -= 1;
      return;
    }
    const { schema, keyPaths, partitionStrategy, isCompacted, isEnriched } = this.#type;
    const [event] = events;
    const hasShape = event !== undefined && fields[spanField.whitespace] === 0 && !isCompacted;
    if (!hasShape || partitionStrategy === 'user_defined' || (isEnriched && !isUnderstood(event['metadata']))) {
      this.#pause = 2 ** failuresMaximum;
      return;
    }
    this.#shape = shapeOf({
      body,
      start: fields[spanField.start] ?? 0,
      end: fields[spanField.end] ?? 0,
      schema,
      paths: [
        ...(isEnriched
          ? [
              ['metadata', 'eid'],
              ['metadata', 'occurred_at'],
            ]
          : []),
        ...(partitionStrategy === 'hash' ? keyPaths : []),
      ],
      marked: isEnriched ? 'metadata' : null,
    });
    if (this.#shape === undefined) this.#pause = 2 ** failuresMaximum;
  }

  #records(
    { gapsByPath }: EventShape,
    { count, bounds, boundsPerEvent }: MatchedEvents,
    body: Buffer,
    bodyText: string,
    { random, enrichment }: RecordContext,
  ): PreparedRecords {
    const { partitionStrategy, partitionCount, isEnriched, keyPaths } = this.#type;
    const boundOf = (path: number): number => 2 + 2 * (gapsByPath[path] ?? 0);
    const firstKey = isEnriched ? occurredAtPath + 1 : 0;
    const keyBounds = partitionStrategy === 'hash' ? keyPaths.map((_, index) => boundOf(firstKey + index)) : [];
    const isOneByteEach = isAscii(body);
    const partitions = new Int32Array(count);
    const keys: (string | null)[] = [];
    for (let index = 0; index < count; index += 1) {
      const base = index * boundsPerEvent;
      const fields: string[] = [];
      for (const keyBound of keyBounds) {
        const [start, end] = [bounds[base + keyBound], bounds[base + keyBound + 1]];
        fields.push(isOneByteEach ? bodyText.slice(start, end) : body.toString('utf8', start, end));
      }
      if (partitionStrategy === 'random') {
        partitions[index] = randomPartition(random(), partitionCount);
        keys.push(null);
      } else {
        partitions[index] = hashPartition(fields, partitionCount);
        keys.push(joinKeyFields(fields));
      }
    }
    const textOf = isEnriched
      ? enrichedText(bodyText, bounds, boundsPerEvent, enrichment, {
          eid: boundOf(eidPath),
          occurredAt: boundOf(occurredAtPath),
          metadataStart: boundOf(firstKey + keyBounds.length),
          metadataEnd: boundOf(firstKey + keyBounds.length + 1),
        })
      : (index: number) => {
          const base = index * boundsPerEvent;
          return bodyText.slice(bounds[base], bounds[base + 1]);
        };
    return { partitions, batches: layOut(this.#type, partitions, keys, textOf) };
  }
}

/** The text of an event as it is stored, by its index and partition. */
function enrichedText(
  bodyText: string,
  bounds: Int32Array,
  boundsPerEvent: number,
  enrichment: Enrichment,
  at: {
    readonly eid: number;
    readonly occurredAt: number;
    readonly metadataStart: number;
    readonly metadataEnd: number;
  },
): (index: number, partition: number) => string {
  const { eid, occurredAt, metadataStart, metadataEnd } = at;
  return (index, partition) => {
    const base = index * boundsPerEvent;
    const metadata = enrichment.plainMetadataOf(
      bodyText.slice(bounds[base + eid], bounds[base + eid + 1]),
      bodyText.slice(bounds[base + occurredAt], bounds[base + occurredAt + 1]),
      partition,
    );
    const before = bodyText.slice(bounds[base], bounds[base + metadataStart]);
    return before + metadata + bodyText.slice(bounds[base + metadataEnd], bounds[base + 1]);
  };
}

function haveAllowedSize({ count, bounds, boundsPerEvent }: MatchedEvents): boolean {
  for (let base = 0; base < count * boundsPerEvent; base += boundsPerEvent) {
    if ((bounds[base + 1] ?? 0) - (bounds[base] ?? 0) > eventBytesMaximum) return false;
  }
  return true;
}

function isUnderstood(metadata: unknown): boolean {
  return (
    typeof metadata === 'object' &&
    metadata !== null &&
    Object.keys(metadata).every((name) => understoodMetadata.includes(name))
  );
}

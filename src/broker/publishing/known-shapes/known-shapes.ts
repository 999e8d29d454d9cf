import { isAscii, isUtf8 } from 'node:buffer';
import type { Enrichment } from '../enrichment.ts';
import type { ParsedEvents } from '../request-parsing.ts';
import { eventBytesMaximum } from '../event-preparation.ts';
import { packByPartition } from '../records-by-partition.ts';
import { joinKeyFields, hashPartition, randomPartition } from '../partitioning.ts';
import type { PreparedRecords, RecordContext } from '../event-preparation.ts';
import type { PreparedEventType } from '../prepared-event-type.ts';
import { spanField } from '../event-byte-positions.ts';
import { shapeOf } from './event-shape.ts';
import { matchEvents, patternOf, type MatchedEvent, type ShapePattern } from './shape-matching.ts';

/** The metadata fields that the enrichment reads, or overwrites without reading. */
const supportedMetadataFields = ['eid', 'occurred_at', 'event_type'];

/** Indexes of these fields among an event's paths when it is enriched. */
const eidPath = 0;
const occurredAtPath = 1;

/** Each failure in a row makes more requests skip the known shapes, up to this many failures. */
const failuresMaximum = 6;

/**
 * Prepares the requests of producers that send events of one shape, request after request. It neither parses nor
 * validates what one valid event has shown already. Every other request is prepared in full; the outcome is the same.
 */
export class KnownShapes {
  readonly #type: PreparedEventType;
  #pattern: ShapePattern | undefined;
  /** Requests in a row without the shape that was learnt before. */
  #failures = 0;
  /** Requests still to be skipped before the next shape is learnt. */
  #requestsToSkip = 0;

  constructor(type: PreparedEventType) {
    this.#type = type;
  }

  /** The records of a request whose events all have the shape; undefined when some do not or no shape is known. */
  prepare(body: Buffer, context: RecordContext): PreparedRecords | undefined {
    const pattern = this.#pattern;
    if (pattern === undefined) return undefined;
    const matched = isUtf8(body) ? matchEvents(pattern, body.toString('latin1')) : undefined;
    if (matched === undefined || !matched.every(isSmallEnough)) {
      this.#pattern = undefined;
      this.#failures = Math.min(this.#failures + 1, failuresMaximum);
      this.#requestsToSkip = 2 ** this.#failures - 2;
      return undefined;
    }
    this.#failures = 0;
    return this.#records(pattern.groupsByPath, matched, isAscii(body), context);
  }

  /** Learns from events that were prepared in full. */
  learnShape({ body, events, spans: { fields } }: ParsedEvents): void {
    if (this.#pattern !== undefined) return;
    if (this.#requestsToSkip > 0) {
      this.#requestsToSkip -= 1;
      return;
    }
    const { rules, keyPaths, partitionStrategy, isCompacted, isEnriched } = this.#type;
    const [event] = events;
    const hasShape = event !== undefined && fields[spanField.whitespace] === 0 && !isCompacted;
    if (
      !hasShape ||
      partitionStrategy === 'user_defined' ||
      (isEnriched && !hasOnlySupportedMetadata(event['metadata']))
    ) {
      this.#requestsToSkip = 2 ** failuresMaximum;
      return;
    }
    const shape = shapeOf({
      body,
      start: fields[spanField.start] as number,
      end: fields[spanField.end] as number,
      schema: rules.schema,
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
    this.#pattern = shape === undefined ? undefined : patternOf(shape);
    if (this.#pattern === undefined) this.#requestsToSkip = 2 ** failuresMaximum;
  }

  #records(
    groupsByPath: readonly number[],
    events: readonly MatchedEvent[],
    isOneByteEach: boolean,
    { random, enrichment }: RecordContext,
  ): PreparedRecords {
    const { partitionStrategy, partitionCount, isEnriched, keyPaths } = this.#type;
    const firstKey = isEnriched ? occurredAtPath + 1 : 0;
    const keyGroups = partitionStrategy === 'hash' ? groupsByPath.slice(firstKey, firstKey + keyPaths.length) : [];
    const partitions = new Int32Array(events.length);
    const keys: (string | null)[] = [];
    for (const [index, event] of events.entries()) {
      if (partitionStrategy === 'random') {
        partitions[index] = randomPartition(random(), partitionCount);
        keys.push(null);
      } else {
        const fields = keyGroups.map((group) => keyField(event[group] as string, isOneByteEach));
        partitions[index] = hashPartition(fields, partitionCount);
        keys.push(joinKeyFields(fields));
      }
    }
    const [before, after] = groupsByPath.slice(-2) as [number, number];
    const textOf = isEnriched
      ? enrichedText(events, enrichment, {
          eid: groupsByPath[eidPath] as number,
          occurredAt: groupsByPath[occurredAtPath] as number,
          before,
          after,
        })
      : (index: number) => events[index]?.[0] as string;
    const batches = packByPartition(this.#type, partitions, keys, textOf);
    if (this.#type.deduplicationMilliseconds === undefined) return { partitions, batches };
    const eidGroup = groupsByPath[eidPath] as number;
    return { partitions, batches, eids: events.map((event) => event[eidGroup] as string) };
  }
}

/** A key field as it is compared and stored: decoded from one character for each byte. */
function keyField(latin1: string, isAscii: boolean): string {
  return isAscii ? latin1 : Buffer.from(latin1, 'latin1').toString('utf8');
}

/** The text of an event as it is stored, by its index and partition. */
function enrichedText(
  events: readonly MatchedEvent[],
  enrichment: Enrichment,
  groups: { readonly eid: number; readonly occurredAt: number; readonly before: number; readonly after: number },
): (index: number, partition: number) => string {
  const { eid, occurredAt, before, after } = groups;
  return (index, partition) => {
    const event = events[index] as readonly string[];
    const metadata = enrichment.plainMetadataOf(event[eid] as string, event[occurredAt] as string, partition);
    return (event[before] as string) + metadata + (event[after] as string);
  };
}

/**
 * The most that metadata adds to an event when only its id and its time are the producer's. Bytes, a generous estimate.
 */
const addedBytesMaximum = 64 * 1024;

/** Whether an event is sure to be stored in less than the limit. Other events are measured. */
function isSmallEnough([text]: MatchedEvent): boolean {
  return (text as string).length <= eventBytesMaximum - addedBytesMaximum;
}

function hasOnlySupportedMetadata(metadata: unknown): boolean {
  return (
    typeof metadata === 'object' &&
    metadata !== null &&
    Object.keys(metadata).every((name) => supportedMetadataFields.includes(name))
  );
}

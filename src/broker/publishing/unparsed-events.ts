import { isAscii } from 'node:buffer';
import type { PartitionRecords } from '../../ports/event-log.ts';
import { PackedPartitionRecords } from '../../ports/packed-records.ts';
import type { Enrichment, ProducerMetadata } from './enrichment.ts';
import { eventBytesMaximum, type PreparedRecords, type RecordContext } from './event-preparation.ts';
import { hashAscii, hashPartition, joinKeyFields, partitionOfSum, randomPartition } from './partitioning.ts';
import type { PreparedEventType } from './prepared-event-type.ts';
import { eventField } from './request-memory/event-fields.ts';
import { Gathering } from './request-memory/gathering.ts';
import type { Part, RequestMemory } from './request-memory/request-memory.ts';
import { ValuesMemory } from './request-memory/values-memory.ts';

/** Valid events of a request whose parts are known without parsing them: their fields are in the request's memory. */
export interface UnparsedEvents {
  readonly count: number;
  readonly fieldsOfEach: number;
  /** Which field of an event has the start of the text under each of {@link wantedPathsOf}; the end is behind it. */
  readonly wantedFields: readonly number[];
}

/** Indexes of these fields among the wanted paths of events that are enriched. */
const eidPath = 0;
const occurredAtPath = 1;

const enrichedPaths = [
  ['metadata', 'eid'],
  ['metadata', 'occurred_at'],
] as const;

/** The strings of each event that its record needs: what is copied into its metadata, then its key fields. */
export function wantedPathsOf({
  isEnriched,
  partitionStrategy,
  keyPaths,
}: PreparedEventType): readonly (readonly string[])[] {
  return [...(isEnriched ? enrichedPaths : []), ...(partitionStrategy === 'hash' ? keyPaths : [])];
}

/** Whether the records of an event type's events may be made without parsing: none is chosen by further fields. */
export function needsNoParsing({ partitionStrategy, isCompacted }: PreparedEventType): boolean {
  return partitionStrategy !== 'user_defined' && !isCompacted;
}

/**
 * The most that metadata adds to an event when only its id and its time are the producer's. Bytes, a generous estimate.
 */
const addedBytesMaximum = 64 * 1024;

/** An event of so many bytes is sure to be stored in less than the limit. Larger ones are measured. */
export const smallEventBytesMaximum = eventBytesMaximum - addedBytesMaximum;

/**
 * The records of the events of the loaded request, as full preparation would make them; undefined when the memory has
 * no room for them.
 */
export function recordsOf(
  type: PreparedEventType,
  memory: RequestMemory,
  events: UnparsedEvents,
  context: RecordContext,
): PreparedRecords | undefined {
  const partitions = new Int32Array(events.count);
  const keys = routeEvents(type, memory, events, partitions, context.random);
  if (keys === undefined) return undefined;
  // These texts are gathered in the same memory as the batches.
  const eids = type.deduplicationMilliseconds === undefined ? undefined : textsOf(memory, events, [eidPath]);
  if (type.deduplicationMilliseconds !== undefined && eids === undefined) return undefined;
  const gathered = new PartitionGathering(type, memory, events, context.enrichment).batches(partitions, keys);
  return gathered && { partitions, ...gathered, ...(eids === undefined ? {} : { eids }) };
}

/** Writes the partition of each event and returns their keys; undefined when the memory has no room for them. */
function routeEvents(
  { partitionStrategy, partitionCount, isEnriched, keyPaths }: PreparedEventType,
  memory: RequestMemory,
  events: UnparsedEvents,
  partitions: Int32Array,
  random: RecordContext['random'],
): (string | null)[] | undefined {
  const { count, fieldsOfEach, wantedFields } = events;
  if (partitionStrategy === 'random') {
    for (let index = 0; index < count; index += 1) partitions[index] = randomPartition(random(), partitionCount);
    return Array.from({ length: count }, () => null);
  }
  const { bytes, fields } = memory;
  const firstPath = isEnriched ? enrichedPaths.length : 0;
  const paths = keyPaths.map((_, index) => firstPath + index);
  const keyFields = paths.map((path) => wantedFields[path] as number);
  if (isAscii(memory.request)) {
    for (let index = 0; index < count; index += 1) {
      let sum = 0;
      for (const field of keyFields) {
        const at = index * fieldsOfEach + field;
        sum = (sum + hashAscii(bytes, fields[at] as number, fields[at + 1] as number)) | 0;
      }
      partitions[index] = partitionOfSum(sum, partitionCount);
    }
    return textsOf(memory, events, paths);
  }
  return Array.from({ length: count }, (_, index) => {
    const texts = keyFields.map((field) => {
      const at = index * fieldsOfEach + field;
      return bytes.toString('utf8', fields[at], fields[at + 1]);
    });
    partitions[index] = hashPartition(texts, partitionCount);
    return joinKeyFields(texts);
  });
}

/**
 * What each event has under wanted paths, which is ASCII, with commas between them. It is gathered as one text and cut:
 * making a text of bytes costs more for the call than for the bytes.
 * @returns undefined when the memory has no room for it
 */
function textsOf(
  memory: RequestMemory,
  { count, fieldsOfEach, wantedFields }: UnparsedEvents,
  paths: readonly number[],
): string[] | undefined {
  const { fields } = memory;
  const wanted = paths.map((path) => wantedFields[path] as number);
  const parts = wanted.flatMap((from, index): Part[] => [...(index === 0 ? [] : [',']), { from, to: from + 1 }]);
  const gathering = new Gathering(memory);
  for (let base = 0; base < count * fieldsOfEach; base += fieldsOfEach) {
    let bytes = 0;
    for (const field of wanted) bytes += (fields[base + field + 1] as number) - (fields[base + field] as number);
    if (!gathering.add(base, bytes, parts)) return undefined;
  }
  const text = gathering.bytes().toString('latin1');
  let start = 0;
  return gathering.ends.map((end) => {
    const each = text.slice(start, end);
    start = end + 1;
    return each;
  });
}

/** Gathers the events as they are stored, those of one partition after those of another. */
class PartitionGathering {
  readonly #type: PreparedEventType;
  readonly #memory: RequestMemory;
  readonly #events: UnparsedEvents;
  readonly #enrichment: Enrichment;

  constructor(type: PreparedEventType, memory: RequestMemory, events: UnparsedEvents, enrichment: Enrichment) {
    this.#type = type;
    this.#memory = memory;
    this.#events = events;
    this.#enrichment = enrichment;
  }

  /** @returns undefined when the memory has no room for them */
  batches(
    partitions: Int32Array,
    keys: readonly (string | null)[],
  ): Required<Pick<PreparedRecords, 'batches' | 'release'>> | undefined {
    const { name, partitionCount } = this.#type;
    const eventsOf: (number[] | undefined)[] = Array.from({ length: partitionCount });
    for (let index = 0; index < partitions.length; index += 1) {
      (eventsOf[partitions[index] as number] ??= []).push(index);
    }
    const gathering = new Gathering(this.#memory);
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const events = eventsOf[partition];
      if (events !== undefined && !this.#addAll(gathering, events, partition)) return undefined;
    }
    const memory = new ValuesMemory(gathering.bytes());
    const { bytes } = memory;
    const { ends } = gathering;
    let first = 0;
    let start = 0;
    const batches = eventsOf.flatMap((events, partition): PartitionRecords[] => {
      if (events === undefined) return [];
      const valueEnds: number[] = [];
      const keysOfPartition: (string | null)[] = [];
      for (let index = 0; index < events.length; index += 1) {
        valueEnds.push((ends[first + index] as number) - start);
        keysOfPartition.push(keys[events[index] as number] as string | null);
      }
      first += events.length;
      const end = ends[first - 1] as number;
      const values = bytes.subarray(start, end);
      start = end + 1;
      return [new PackedPartitionRecords(name, partition, { keys: keysOfPartition, values, valueEnds })];
    });
    return { batches, release: () => memory.release() };
  }

  #addAll(gathering: Gathering, events: readonly number[], partition: number): boolean {
    const { fieldsOfEach } = this.#events;
    const { fields } = this.#memory;
    const { isEnriched } = this.#type;
    const plainParts = this.#plainParts(partition);
    for (let index = 0; index < events.length; index += 1) {
      const base = (events[index] as number) * fieldsOfEach;
      const isFurther = isEnriched && fields[base + eventField.hasFurtherMetadata] === 1;
      const bytes = (fields[base + eventField.end] as number) - (fields[base + eventField.start] as number);
      if (!gathering.add(base, bytes, isFurther ? this.#furtherParts(base, partition) : plainParts)) return false;
    }
    return true;
  }

  #plainParts(partition: number): readonly Part[] {
    if (!this.#type.isEnriched) return [{ from: eventField.start, to: eventField.end }];
    const [beforeTime, beforeId, afterId] = this.#enrichment.plainTextsOf(partition);
    const [eid, time] = [eidPath, occurredAtPath].map((path) => {
      const from = this.#events.wantedFields[path] as number;
      return { from, to: from + 1 };
    }) as [Part, Part];
    return [beforeMetadata, beforeTime, time, beforeId, eid, afterId, afterMetadata];
  }

  /** Of an event whose metadata has more than an id and a time. */
  #furtherParts(base: number, partition: number): readonly Part[] {
    const { bytes, fields } = this.#memory;
    const [start, end] = [fields[base + eventField.metadataStart], fields[base + eventField.metadataEnd]];
    const metadata = JSON.parse(bytes.toString('utf8', start, end)) as ProducerMetadata;
    return [beforeMetadata, this.#enrichment.metadataOf(metadata, partition), afterMetadata];
  }
}

const beforeMetadata: Part = { from: eventField.start, to: eventField.metadataStart };
const afterMetadata: Part = { from: eventField.metadataEnd, to: eventField.end };

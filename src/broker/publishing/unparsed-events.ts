import { isAscii } from 'node:buffer';
import { noValue, type PartitionRecords } from '../../ports/event-log.ts';
import { endsFrom, PackedPartitionRecords, type PackedKeys } from '../../ports/packed-records.ts';
import type { Enrichment, ProducerMetadata } from './enrichment.ts';
import type { PreparedRecords, RecordContext } from './event-preparation.ts';
import { hashAscii, hashPartition, partitionOfSum, randomPartition } from './partitioning.ts';
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
 * The records of the events of the loaded request, as full preparation would make them; undefined when the memory has
 * no room for them.
 */
export function recordsOf(
  type: PreparedEventType,
  memory: RequestMemory,
  events: UnparsedEvents,
  context: RecordContext,
): PreparedRecords | undefined {
  const partitions = partitionsOf(type, memory, events, context.random);
  const order = orderByPartition(partitions, type.partitionCount);
  // The keys and these texts are gathered in the same memory as the batches.
  const keys = keysOf(type, memory, events, order.events);
  const eids = type.deduplicationMilliseconds === undefined ? undefined : idsOf(memory, events);
  if (keys === undefined || (type.deduplicationMilliseconds !== undefined && eids === undefined)) return undefined;
  const gathered = new PartitionGathering(type, memory, events, context.enrichment).batches(order, keys);
  return gathered && { partitions, ...gathered, ...(eids === undefined ? {} : { eids }) };
}

function partitionsOf(
  type: PreparedEventType,
  memory: RequestMemory,
  events: UnparsedEvents,
  random: RecordContext['random'],
): Int32Array {
  const { count, fieldsOfEach } = events;
  const { partitionStrategy, partitionCount } = type;
  const partitions = new Int32Array(count);
  if (partitionStrategy === 'random') {
    for (let index = 0; index < count; index += 1) partitions[index] = randomPartition(random(), partitionCount);
    return partitions;
  }
  const { bytes, fields } = memory;
  const keyFields = keyFieldsOf(type, events);
  if (!isAscii(memory.request)) {
    for (let index = 0; index < count; index += 1) {
      const texts = keyFields.map((field) => {
        const at = index * fieldsOfEach + field;
        return bytes.toString('utf8', fields[at], fields[at + 1]);
      });
      partitions[index] = hashPartition(texts, partitionCount);
    }
    return partitions;
  }
  for (let index = 0; index < count; index += 1) {
    let sum = 0;
    for (const field of keyFields) {
      const at = index * fieldsOfEach + field;
      sum = (sum + hashAscii(bytes, fields[at] as number, fields[at + 1] as number)) | 0;
    }
    partitions[index] = partitionOfSum(sum, partitionCount);
  }
  return partitions;
}

/** Which fields of an event have the starts of its key fields. */
function keyFieldsOf({ isEnriched, keyPaths }: PreparedEventType, { wantedFields }: UnparsedEvents): readonly number[] {
  const firstPath = isEnriched ? enrichedPaths.length : 0;
  return wantedFields.slice(firstPath, firstPath + keyPaths.length);
}

/** The events of a request by partition, each partition's in the order of the request. */
interface PartitionOrder {
  readonly events: Int32Array;
  /** Where those of each partition begin, and where the last one's end. */
  readonly starts: Int32Array;
}

function orderByPartition(partitions: Int32Array, partitionCount: number): PartitionOrder {
  const starts = new Int32Array(partitionCount + 1);
  for (const partition of partitions) starts[partition + 1] = (starts[partition + 1] as number) + 1;
  for (let partition = 0; partition < partitionCount; partition += 1) {
    starts[partition + 1] = (starts[partition + 1] as number) + (starts[partition] as number);
  }
  const next = starts.slice();
  const events = new Int32Array(partitions.length);
  for (let index = 0; index < partitions.length; index += 1) {
    const partition = partitions[index] as number;
    const place = next[partition] as number;
    events[place] = index;
    next[partition] = place + 1;
  }
  return { events, starts };
}

/** The keys of events in an order: their key fields with commas between them. Undefined when there is no room. */
function keysOf(
  type: PreparedEventType,
  memory: RequestMemory,
  events: UnparsedEvents,
  order: Int32Array,
): PackedKeys | undefined {
  if (type.partitionStrategy === 'random') {
    return { keys: Buffer.alloc(0), keyEnds: new Uint32Array(order.length).fill(noValue) };
  }
  const gathering = gatheringOf(memory, events, order, keyFieldsOf(type, events));
  return gathering && { keys: Buffer.from(gathering.bytes()), keyEnds: gathering.ends };
}

/** The id of each event, which is ASCII, in the order of the request. Undefined when there is no room for them. */
function idsOf(memory: RequestMemory, events: UnparsedEvents): string[] | undefined {
  const gathering = gatheringOf(
    memory,
    events,
    Int32Array.from({ length: events.count }, (_, index) => index),
    [events.wantedFields[eidPath] as number],
  );
  // Cutting one text costs less than making a text of each.
  const text = gathering?.bytes().toString('latin1');
  return (
    gathering && Array.from(gathering.ends, (end, index) => text?.slice(gathering.ends[index - 1] ?? 0, end) ?? '')
  );
}

/** Gathers wanted texts of events in an order, with commas between those of an event. */
function gatheringOf(
  memory: RequestMemory,
  { count, fieldsOfEach }: UnparsedEvents,
  order: Int32Array,
  wanted: readonly number[],
): Gathering | undefined {
  const { fields } = memory;
  const parts = wanted.flatMap((from, index): Part[] => [...(index === 0 ? [] : [',']), { from, to: from + 1 }]);
  const bytesOf = (base: number): number => {
    let bytes = 0;
    for (const field of wanted) bytes += (fields[base + field + 1] as number) - (fields[base + field] as number);
    return bytes;
  };
  const gathering = new Gathering(memory, count, 'nothing');
  return gathering.addAll(order, 0, count, fieldsOfEach, bytesOf, parts) ? gathering : undefined;
}

/** Gathers the events as they are stored, those of one partition after those of another. */
class PartitionGathering {
  readonly #type: PreparedEventType;
  readonly #memory: RequestMemory;
  readonly #events: UnparsedEvents;
  readonly #enrichment: Enrichment;
  readonly #eid: Part;
  readonly #time: Part;

  constructor(type: PreparedEventType, memory: RequestMemory, events: UnparsedEvents, enrichment: Enrichment) {
    this.#type = type;
    this.#memory = memory;
    this.#events = events;
    this.#enrichment = enrichment;
    const partOf = (path: number): Part => {
      const from = events.wantedFields[path] as number;
      return { from, to: from + 1 };
    };
    this.#eid = partOf(eidPath);
    this.#time = partOf(occurredAtPath);
  }

  /** @returns undefined when the memory has no room for them */
  batches(
    { events, starts }: PartitionOrder,
    { keys, keyEnds }: PackedKeys,
  ): Required<Pick<PreparedRecords, 'batches' | 'release'>> | undefined {
    const { name, partitionCount } = this.#type;
    const gathering = new Gathering(this.#memory, events.length, 'comma');
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const [from, to] = [starts[partition] as number, starts[partition + 1] as number];
      if (from < to && !this.#addAll(gathering, events, from, to, partition)) return undefined;
    }
    const memory = new ValuesMemory(gathering.bytes());
    const { ends } = gathering;
    const batches: PartitionRecords[] = [];
    let valueStart = 0;
    let keyStart = 0;
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const [from, to] = [starts[partition] as number, starts[partition + 1] as number];
      if (from === to) continue;
      const valueEnd = ends[to - 1] as number;
      const lastKeyEnd = keyEnds[to - 1] as number;
      const keyEnd = lastKeyEnd === noValue ? 0 : lastKeyEnd;
      const packed = {
        keys: keys.subarray(keyStart, keyEnd),
        keyEnds: endsFrom(keyEnds.subarray(from, to), keyStart),
        values: memory.bytes.subarray(valueStart, valueEnd),
        valueEnds: endsFrom(ends.subarray(from, to), valueStart),
      };
      batches.push(new PackedPartitionRecords(name, partition, packed));
      keyStart = keyEnd;
      // A comma is between.
      valueStart = valueEnd + 1;
    }
    return { batches, release: () => memory.release() };
  }

  /** Adds the events of a partition: those that have the same parts and follow one another together. */
  #addAll(gathering: Gathering, events: Int32Array, from: number, to: number, partition: number): boolean {
    const { fieldsOfEach } = this.#events;
    const { fields } = this.#memory;
    const plainParts = this.#plainParts(partition);
    const baseOf = (index: number): number => (events[index] as number) * fieldsOfEach;
    const bytesOf = (base: number): number =>
      (fields[base + eventField.end] as number) - (fields[base + eventField.start] as number);
    for (let index = from; index < to; index += 1) {
      const first = index;
      while (index < to && !this.#hasFurtherMetadata(baseOf(index))) index += 1;
      if (!gathering.addAll(events, first, index, fieldsOfEach, bytesOf, plainParts)) return false;
      if (index === to) break;
      const base = baseOf(index);
      if (!gathering.add(base, bytesOf(base), this.#furtherParts(base, partition))) return false;
    }
    return true;
  }

  #hasFurtherMetadata(base: number): boolean {
    return this.#type.isEnriched && this.#memory.fields[base + eventField.hasFurtherMetadata] === 1;
  }

  #plainParts(partition: number): readonly Part[] {
    if (!this.#type.isEnriched) return [{ from: eventField.start, to: eventField.end }];
    const [beforeTime, beforeId, afterId] = this.#enrichment.plainTextsOf(partition);
    return [beforeMetadata, beforeTime, this.#time, beforeId, this.#eid, afterId, afterMetadata];
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

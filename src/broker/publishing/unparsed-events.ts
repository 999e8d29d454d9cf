import { isAscii } from 'node:buffer';
import { eventBytesMaximum, type PreparedRecords, type RecordContext } from './event-preparation.ts';
import { hashPartition, joinKeyFields, randomPartition } from './partitioning.ts';
import type { PreparedEventType } from './prepared-event-type.ts';
import { packByPartition } from './records-by-partition.ts';

/** Valid events of a request whose parts are known without parsing them. All texts are Latin-1, one unit a byte. */
export interface UnparsedEvents {
  readonly count: number;
  /** The text under a wanted path, by its index in {@link wantedPathsOf}. */
  readonly wantedText: (event: number, path: number) => string;
  /** The event as it is stored. */
  readonly storedText: (event: number, partition: number) => string;
}

/** Indexes of these fields among the wanted paths of events that are enriched. */
export const eidPath = 0;
export const occurredAtPath = 1;

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

/** Whether an event of so many bytes is sure to be stored in less than the limit. Other events are measured. */
export function isSmallEnough(bytes: number): boolean {
  return bytes <= eventBytesMaximum - addedBytesMaximum;
}

/** The records of events, as full preparation would make them. */
export function recordsOf(
  type: PreparedEventType,
  events: UnparsedEvents,
  body: Buffer,
  random: RecordContext['random'],
): PreparedRecords {
  const { partitionStrategy, partitionCount, isEnriched, keyPaths } = type;
  const isOneByteEach = isAscii(body);
  const firstKey = isEnriched ? enrichedPaths.length : 0;
  const partitions = new Int32Array(events.count);
  const keys: (string | null)[] = [];
  for (let index = 0; index < events.count; index += 1) {
    if (partitionStrategy === 'random') {
      partitions[index] = randomPartition(random(), partitionCount);
      keys.push(null);
    } else {
      const fields: string[] = [];
      for (let key = 0; key < keyPaths.length; key += 1) {
        fields.push(decoded(events.wantedText(index, firstKey + key), isOneByteEach));
      }
      partitions[index] = hashPartition(fields, partitionCount);
      keys.push(joinKeyFields(fields));
    }
  }
  const batches = packByPartition(type, partitions, keys, events.storedText);
  if (type.deduplicationMilliseconds === undefined) return { partitions, batches };
  const eids = Array.from({ length: events.count }, (_, index) => events.wantedText(index, eidPath));
  return { partitions, batches, eids };
}

function decoded(latin1: string, isOneByteEach: boolean): string {
  return isOneByteEach ? latin1 : Buffer.from(latin1, 'latin1').toString('utf8');
}

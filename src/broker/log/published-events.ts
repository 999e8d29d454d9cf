import { noValue, type EventLog, type RecordBatch } from '../../ports/event-log.ts';
import { publishedId } from '../../ports/published-ids.ts';
import { readStoredRecords } from './stored-records.ts';

/** An event in the log, by its id. */
export interface StoredId {
  /** As {@link publishedId} makes it. */
  readonly id: string;
  readonly partition: number;
  /** Milliseconds since the epoch. */
  readonly appendedAt: number;
}

/**
 * Reads the ids of events that were appended at a time or later, up to those that are stored when this begins.
 * @param since Milliseconds since the epoch.
 * @param numbers The partitions to read; all by default.
 * @returns a list for each batch
 * @throws as {@link readStoredRecords}
 */
export async function* readStoredIds(
  log: EventLog,
  topic: string,
  since: number,
  numbers?: readonly number[],
): AsyncGenerator<StoredId[]> {
  const partitions = (numbers ?? (await partitionsOf(log, topic))).map((partition) => ({ topic, partition }));
  if (partitions.length === 0) return;
  // The ends first: whatever is appended between the two calls is read as well.
  const ends = await log.endOffsets(partitions, { includeUncommitted: true });
  const starts = await log.offsetsAt(partitions, since);
  for (const [index, start] of starts.entries()) {
    for await (const batch of readStoredRecords(log, start, ends[index]?.latest ?? 0)) {
      // A batch may be older where the clock was set back.
      if (batch.appendedAt >= since) yield storedIdsOf(batch);
      batch.release?.();
    }
  }
}

async function partitionsOf(log: EventLog, topic: string): Promise<readonly number[]> {
  const [configuration] = await log.listTopics([topic]);
  return Array.from({ length: configuration?.partitionCount ?? 0 }, (_, partition) => partition);
}

function storedIdsOf(batch: RecordBatch): StoredId[] {
  const { partition, appendedAt, bytes } = batch;
  const found: StoredId[] = [];
  for (let index = 0; index < batch.count; index += 1) {
    const start = batch.valueStarts[index] as number;
    if (start === noValue) continue;
    const value = bytes.subarray(start, batch.valueEnds[index]);
    const eid = batch.external?.[index] === 1 ? parsedEid(value) : writtenEid(value);
    if (eid !== undefined) found.push({ id: publishedId(eid), partition, appendedAt });
  }
  return found;
}

const eidKey = Buffer.from('"eid":"');
const eidCharacters = 36;
const eidPattern = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** What comes before the id in the metadata that enrichment writes, and how far to look for it. Bytes. */
const metadataBeforeEid = /"metadata":\{"occurred_at":"[^"]*","published_by":"[^"]*",$/;
const bytesBeforeEid = 512;

/** The id of an event that the publisher wrote: mostly the only field of that name, and where it is expected. */
function writtenEid(value: Buffer): string | undefined {
  const key = value.indexOf(eidKey);
  if (key === -1 || value.includes(eidKey, key + 1)) return parsedEid(value);
  const before = value.toString('latin1', Math.max(0, key - bytesBeforeEid), key);
  const eid = value.toString('latin1', key + eidKey.length, key + eidKey.length + eidCharacters);
  return metadataBeforeEid.test(before) && eidPattern.test(eid) ? eid : parsedEid(value);
}

/** The id of any event, undefined when it has none: others may have written it. */
function parsedEid(value: Buffer): string | undefined {
  try {
    const event = JSON.parse(value.toString()) as { metadata?: { eid?: unknown } } | null;
    const eid = event?.metadata?.eid;
    return typeof eid === 'string' && eidPattern.test(eid) ? eid : undefined;
  } catch {
    return undefined;
  }
}

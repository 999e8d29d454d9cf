import { LendstreamError, describeError } from '../errors.ts';
import type { CommittedOffset, EventTypePartition } from '../broker/coordination.ts';
import { noValue, type EventLog, type LogRecord, type RecordBatch } from '../broker/event-log.ts';

/** Committed offsets as they outlive the process: a compacted topic, the newest record of a key holds. */
export const cursorsTopic = 'lendstream.cursors';

/** One partition: whatever is written first stands first, for all subscriptions. */
const mirrorPartition = { topic: cursorsTopic, partition: 0 };

const readBytes = 1024 * 1024;

/** Creates the topic where it is missing. */
export async function createCursorsTopic(log: EventLog): Promise<void> {
  const topics = await log.listTopics();
  if (topics.some(({ name }) => name === cursorsTopic)) return;
  await log.createTopic({
    name: cursorsTopic,
    partitionCount: 1,
    cleanupPolicy: 'compact',
    retentionMilliseconds: 0,
  });
}

/** Every offset in the mirror, by subscription. */
export async function readMirror(log: EventLog): Promise<Map<string, CommittedOffset[]>> {
  const newest = new Map<string, CommittedOffset & { readonly subscriptionId: string }>();
  const [bounds] = await log.bounds([mirrorPartition]);
  let offset = bounds?.earliest ?? 0;
  while (offset < (bounds?.latest ?? 0)) {
    const { batches, nextOffset } = await log.read(
      { ...mirrorPartition, offset },
      { bytesMaximum: readBytes, waitMilliseconds: 0 },
    );
    for (const batch of batches) for (let index = 0; index < batch.count; index += 1) apply(newest, batch, index);
    if (nextOffset === offset) break;
    offset = nextOffset;
  }
  const bySubscription = new Map<string, CommittedOffset[]>();
  for (const { subscriptionId, eventType, partition, offset: committed } of newest.values()) {
    const offsets = bySubscription.get(subscriptionId) ?? [];
    bySubscription.set(subscriptionId, offsets);
    offsets.push({ eventType, partition, offset: committed });
  }
  return bySubscription;
}

/**
 * Writes records in the order of the calls and returns when they are durable. Calls may overlap: the log commits what is
 * waiting as one group.
 * @throws COORDINATION_UNAVAILABLE; the records may have been written all the same
 */
export async function writeMirror(log: EventLog, records: readonly LogRecord[]): Promise<void> {
  let failure: unknown;
  try {
    const [result] = await log.append([{ ...mirrorPartition, records }]);
    if (result?.outcome === 'appended') return;
    failure = result?.error;
  } catch (error) {
    failure = error;
  }
  throw new LendstreamError(
    'COORDINATION_UNAVAILABLE',
    `The cursors could not be stored durably (${describeError(failure)}). Sending them again is safe.`,
    { cause: failure },
  );
}

/** @param offset The last processed offset; null removes the partition from the mirror. */
export function mirrorRecord(subscriptionId: string, place: EventTypePartition, offset: number | null): LogRecord {
  return {
    key: `${subscriptionId}/${place.eventType}/${place.partition}`,
    value: offset === null ? null : Buffer.from(`{"offset":${offset}}`),
  };
}

function apply(
  newest: Map<string, CommittedOffset & { readonly subscriptionId: string }>,
  batch: RecordBatch,
  index: number,
): void {
  const key = batch.key(index);
  if (key === null) return;
  const start = batch.valueStarts[index] ?? noValue;
  if (start === noValue) {
    newest.delete(key);
    return;
  }
  const text = batch.bytes.toString('utf8', start, batch.valueEnds[index]);
  const { offset } = JSON.parse(text) as { offset: number };
  if (!Number.isSafeInteger(offset)) throw new LendstreamError('CORRUPT_BATCH', `Cursor ${key} is ${text}`);
  const first = key.indexOf('/');
  const last = key.lastIndexOf('/');
  newest.set(key, {
    subscriptionId: key.slice(0, first),
    eventType: key.slice(first + 1, last),
    partition: Number(key.slice(last + 1)),
    offset,
  });
}

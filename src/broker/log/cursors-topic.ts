import type { Clock } from '../../clock.ts';
import { LendstreamError, describeError, isLendstreamError } from '../../errors.ts';
import type { CommittedOffset } from '../../ports/coordination.ts';
import type { EventTypePartition } from '../../ports/event-type-partition.ts';
import { ensureTopic } from './ensure-topic.ts';
import { readStoredRecords } from './stored-records.ts';
import { noValue, type EventLog, type LogRecord, type RecordBatch } from '../../ports/event-log.ts';

/**
 * Committed offsets in a form that outlives the coordination store: a compacted topic, one key per partition of a
 * subscription.
 *
 * An adapter that writes in the order of the commits needs nothing more: the newest record counts. Where several
 * processes write, a record may come after a newer one. Such writers give each offset its *epoch*, a number that grows
 * with each reset of the partition. Then the record of the highest epoch counts, and within it the largest offset.
 */
export const cursorsTopic = 'lendstream.cursors';

/** One partition keeps the order of all writes, for all subscriptions. */
const mirrorPartition = { topic: cursorsTopic, partition: 0 };

/** A committed offset and the epoch it was committed in; 0 when its writer does not count epochs. */
export interface MirroredOffset extends CommittedOffset {
  readonly epoch: number;
}

/** Makes sure that the topic exists, ready to be read. Any number of processes may do so at once. */
export async function createCursorsTopic(log: EventLog, clock?: Clock): Promise<void> {
  const topic = { name: cursorsTopic, partitionCount: 1, cleanupPolicy: 'compact', retentionMilliseconds: 0 } as const;
  await ensureTopic(log, topic, undefined, clock);
}

/**
 * Every offset that is in the mirror now, by subscription.
 * @throws COORDINATION_UNAVAILABLE when it cannot be read to its end, and what the log throws
 */
export async function readMirror(log: EventLog): Promise<Map<string, MirroredOffset[]>> {
  const newest = new Map<string, MirroredOffset & { readonly subscriptionId: string }>();
  const [bounds] = await log.bounds([mirrorPartition]);
  const start = { ...mirrorPartition, offset: bounds?.earliest ?? 0 };
  try {
    for await (const batch of readStoredRecords(log, start, bounds?.latest ?? 0)) {
      for (let index = 0; index < batch.count; index += 1) apply(newest, batch, index);
      batch.release?.();
    }
  } catch (error) {
    if (!isLendstreamError(error, 'LOG_UNAVAILABLE')) throw error;
    // Half a mirror would send subscriptions back to where they began, and streams must know that commits wait for it.
    throw new LendstreamError('COORDINATION_UNAVAILABLE', describeError(error), { cause: error });
  }
  const bySubscription = new Map<string, MirroredOffset[]>();
  for (const { subscriptionId, ...mirrored } of newest.values()) {
    const offsets = bySubscription.get(subscriptionId) ?? [];
    bySubscription.set(subscriptionId, offsets);
    offsets.push(mirrored);
  }
  return bySubscription;
}

/**
 * Writes records in the order of the calls and returns when they are durable. Calls may overlap: the log commits the
 * waiting records as one group.
 * @throws COORDINATION_UNAVAILABLE; the records may still have been written
 */
export async function writeMirror(log: EventLog, records: readonly LogRecord[]): Promise<void> {
  let failure: unknown;
  try {
    const [result] = await log.append([{ topic: cursorsTopic, partition: mirrorPartition.partition, records }]);
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

/**
 * The mirror's record of one partition of a subscription.
 * @param offset The last processed offset; null removes the partition from the mirror.
 * @param epoch Grows with each reset; left out by a writer that does not count epochs.
 */
export function mirrorRecord(
  subscriptionId: string,
  partition: EventTypePartition,
  offset: number | null,
  epoch?: number,
): LogRecord {
  const value = epoch === undefined ? `{"offset":${offset}}` : `{"offset":${offset},"epoch":${epoch}}`;
  return {
    key: `${subscriptionId}/${partition.eventType}/${partition.partition}`,
    value: offset === null ? null : Buffer.from(value),
  };
}

function apply(
  newest: Map<string, MirroredOffset & { readonly subscriptionId: string }>,
  batch: RecordBatch,
  index: number,
): void {
  const key = batch.key(index);
  if (key === null) return;
  const start = batch.valueStarts[index] as number;
  if (start === noValue) {
    newest.delete(key);
    return;
  }
  const text = batch.bytes.toString('utf8', start, batch.valueEnds[index]);
  const { offset, epoch = 0 } = JSON.parse(text) as { offset: number; epoch?: number };
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(epoch)) {
    throw new LendstreamError('CORRUPT_BATCH', `Cursor ${key} is ${text}`);
  }
  const current = newest.get(key);
  if (current !== undefined && isOlder({ offset, epoch }, current)) return;
  const firstSlash = key.indexOf('/');
  const lastSlash = key.lastIndexOf('/');
  newest.set(key, {
    subscriptionId: key.slice(0, firstSlash),
    eventType: key.slice(firstSlash + 1, lastSlash),
    partition: Number(key.slice(lastSlash + 1)),
    offset,
    epoch,
  });
}

/** Whether a record that comes later in the mirror belongs to an earlier commit. */
function isOlder(
  { offset, epoch }: Pick<MirroredOffset, 'offset' | 'epoch'>,
  current: Pick<MirroredOffset, 'offset' | 'epoch'>,
): boolean {
  if (epoch !== current.epoch) return epoch < current.epoch;
  return epoch > 0 && offset < current.offset;
}

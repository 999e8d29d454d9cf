import { hasDeletedLetterKeys, hidesLetters } from '../../broker/definitions/deleted-letter-keys.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import { type EventLog, type ReadResult, type RecordBatch, noValue } from '../../ports/event-log.ts';
import { erasureCount, erasureNotice } from './erasures.ts';
import { maskedText, mayBeMasked, mayBeOfErased } from './masked-events.ts';

/**
 * The log for everything that shows its records: without the personal data of accounts that were erased, and without
 * the copies that dead letters have of events whose key was deleted, however long the log still holds them. While the
 * registry has none of either, what was read passes through.
 */
export function maskedLog(log: EventLog, registry: Registry): EventLog {
  const maskedRead: EventLog['read'] = async (from, options) => {
    const result = await log.read(from, options);
    const hasNothingToMask = erasureCount(registry) === 0 && !hasDeletedLetterKeys(registry);
    return hasNothingToMask ? result : maskedResult(registry, result);
  };
  let changes = 0;
  registry.onChange((change) => {
    if (erasureNotice(change) !== undefined || hidesLetters(change)) changes += 1;
  });
  return {
    createTopic: (configuration) => log.createTopic(configuration),
    alterTopic: (name, alteration) => log.alterTopic(name, alteration),
    deleteTopic: (name) => log.deleteTopic(name),
    listTopics: (names) => log.listTopics(names),
    bounds: (partitions, options) => log.bounds(partitions, options),
    endOffsets: (partitions, options) => log.endOffsets(partitions, options),
    offsetsAt: (partitions, time) => log.offsetsAt(partitions, time),
    append: (partitions) => log.append(partitions),
    deleteRecords: (before, appendedBefore) => log.deleteRecords(before, appendedBefore),
    read: (from, options) => (mayBeMasked(from.topic) ? maskedRead(from, options) : log.read(from, options)),
    changeCount: () => changes,
    openWriter: (writerId, partitions) => log.openWriter(writerId, partitions),
    exportGroupOffsets: (group, positions) => log.exportGroupOffsets(group, positions),
    groupOffsets: (group) => log.groupOffsets(group),
    close: () => log.close(),
  };
}

function maskedResult(registry: Registry, result: ReadResult): ReadResult {
  const batches = result.batches.map((batch) => maskedBatch(registry, batch));
  return { ...result, batches };
}

/** The batch in memory of its own when something in it is masked, else the same one. */
function maskedBatch(registry: Registry, batch: RecordBatch): RecordBatch {
  const masked = new Map<number, Buffer>();
  for (let index = 0; index < batch.count; index += 1) {
    const value = valueOf(batch, index);
    const key = batch.key(index);
    if (value === null || !mayBeOfErased(registry, { topic: batch.topic, key })) continue;
    const { topic, partition, appendedAt } = batch;
    const place = { topic, partition, offset: batch.offsets[index] as number, key, appendedAt };
    const text = maskedText(registry, place, value.toString());
    if (text !== undefined) masked.set(index, Buffer.from(text));
  }
  return masked.size === 0 ? batch : withValues(batch, masked);
}

const comma = Buffer.from(',');

function withValues(batch: RecordBatch, replaced: ReadonlyMap<number, Buffer>): RecordBatch {
  const parts: Buffer[] = [];
  const starts = new Uint32Array(batch.count).fill(noValue);
  const ends = new Uint32Array(batch.count).fill(noValue);
  let position = 0;
  for (let index = 0; index < batch.count; index += 1) {
    const value = replaced.get(index) ?? valueOf(batch, index);
    if (value === null) continue;
    if (parts.length > 0) {
      parts.push(comma);
      position += comma.length;
    }
    parts.push(value);
    starts[index] = position;
    position += value.length;
    ends[index] = position;
  }
  const { topic, partition, count, appendedAt, offsets, external } = batch;
  const own = {
    topic,
    partition,
    count,
    appendedAt,
    offsets,
    bytes: Buffer.concat(parts),
    valueStarts: starts,
    valueEnds: ends,
    contiguous: !starts.includes(noValue),
    // The keys stay in the memory of the batch, which is therefore held until this one is released.
    key: (index: number): string | null => batch.key(index),
    release: batch.release,
  };
  return external === undefined ? own : { ...own, external };
}

function valueOf({ bytes, valueStarts, valueEnds }: RecordBatch, index: number): Buffer | null {
  const start = valueStarts[index] ?? noValue;
  return start === noValue ? null : bytes.subarray(start, valueEnds[index]);
}

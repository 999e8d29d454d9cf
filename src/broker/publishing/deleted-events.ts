import type { LogRecord, PartitionRecords } from '../../ports/event-log.ts';
import { LendstreamError } from '../../errors.ts';
import { refuse, routeEvent, sizeViolation, type PreparedRecords } from './event-preparation.ts';
import type { PreparedEventType } from './prepared-event-type.ts';
import type { ParsedEvents } from './request-parsing.ts';
import { eidOf, publishedItem, type EventObject, type PublishedItem } from './response-items.ts';

/**
 * From the events of a request to deletions of their keys: records without a value, after which compaction removes
 * everything that was stored under the key. Of an event only the key is read, and the partition where it is named.
 *
 * A key may have records in several partitions: `random` spreads them, and `hash` chose another partition before
 * partitions were added. A deletion in one of them would leave the others for ever, so it is written to all, and the
 * fields that `hash` takes the partition from, which may be the data to be erased, need not be there. A producer that
 * names partitions itself knows where its keys are, and may use one key in two partitions for two things.
 */
export function prepareDeletions(
  type: PreparedEventType,
  parsed: ParsedEvents,
  random: () => number,
): PreparedRecords | { readonly refused: readonly PublishedItem[] } {
  const { events } = parsed;
  if (!type.isCompacted) return { refused: notCompacted(type.name, events) };
  for (let index = 0; index < events.length; index += 1) {
    const detail = keyViolation(events[index] as EventObject) ?? sizeViolation(parsed, index);
    if (detail !== undefined) return { refused: refuse(events, index, 'validating', 'none', detail, null) };
  }
  const partitions = new Int32Array(events.length);
  const inEveryPartition = type.partitionStrategy !== 'user_defined';
  const everyRecord: LogRecord[] = [];
  const recordsByPartition = Array.from({ length: type.partitionCount }, (): LogRecord[] =>
    inEveryPartition ? everyRecord : [],
  );
  for (let index = 0; index < events.length; index += 1) {
    const route = routeEvent(type, parsed, index, random);
    if (typeof route === 'string' && !inEveryPartition) {
      return { refused: refuse(events, index, 'partitioning', 'validating', route, partitions) };
    }
    const partition = typeof route === 'string' ? 0 : route.partition;
    partitions[index] = partition;
    recordsByPartition[partition]?.push({ key: compactionKeyOf(events[index] as EventObject), value: null });
  }
  const batches = recordsByPartition.map((records, partition): PartitionRecords => {
    return { topic: type.name, partition, records };
  });
  return { partitions, batches: batches.filter(({ records }) => records.length > 0), inEveryPartition };
}

/** @throws UNPROCESSABLE when there is no item that could say it */
function notCompacted(name: string, events: readonly EventObject[]): PublishedItem[] {
  const detail = `Events of ${name} cannot be deleted: its cleanup_policy is delete.`;
  if (events.length === 0) throw new LendstreamError('UNPROCESSABLE', detail);
  return events.map((event) => {
    return { ...publishedItem('aborted', detail, 'none', eidOf(event), null), retryable: false };
  });
}

/** Why an event names no key; undefined when it does. */
function keyViolation({ metadata }: EventObject): string | undefined {
  if (typeof metadata !== 'object' || metadata === null) return '#: required key [metadata] not found';
  const key = (metadata as EventObject)['partition_compaction_key'];
  if (key === undefined) return '#/metadata: required key [partition_compaction_key] not found';
  if (typeof key === 'string' && key !== '') return undefined;
  return '#/metadata/partition_compaction_key: a text of at least one character is expected';
}

/** The key of an event that {@link keyViolation} has found nothing wrong with. */
function compactionKeyOf({ metadata }: EventObject): string {
  return (metadata as { readonly partition_compaction_key: string }).partition_compaction_key;
}

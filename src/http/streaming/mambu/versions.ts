import { nameCharactersMaximum, lengthViolations } from '../../../broker/definitions/length-limits.ts';
import type { Subscription } from '../../../broker/definitions/subscription.ts';
import type { LineFormat } from '../../../broker/streaming/line-format.ts';
import type { EventTypeStatistics } from '../../../broker/subscriptions/statistics.ts';
import type { Schemas } from '../../../contract.ts';
import { FieldViolations, LendstreamError, type FieldViolation } from '../../../errors.ts';
import { apiPath } from '../../edge/request-paths.ts';
import type { MambuStreamingVersion } from '../../edge/mambu-versions.ts';
import { mixedEventType, ownOffsetText, partitionOfShard, shardName } from './shards.ts';
import { firstVersionLines, secondVersionLines } from './wrapped-lines.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Where a version of Mambu's streaming API differs from the other one, and from the API that both are served by. */
export interface VersionProfile {
  /** Where its subscriptions are. */
  readonly subscriptionsPath: string;
  /**
   * What a client defines, for the API that creates it.
   * @throws MALFORMED_REQUEST for a value that this version does not have
   */
  definitionOf(body: Fields): Fields;
  subscriptionView(subscription: Subscription): Schemas['MambuSubscriptionV1'] | Schemas['MambuSubscriptionV2'];
  /** Whether the lag in time is shown unless the client says otherwise. */
  readonly showsTimeLag: boolean;
  statisticsView(
    subscription: Subscription,
    statistics: readonly EventTypeStatistics[],
  ): Schemas['MambuStatisticsV1'] | Schemas['MambuStatisticsV2'];
  streamParameters(query: Fields): Fields;
  linesOf(subscription: Subscription): LineFormat;
  /**
   * The cursors of a commit, for the API that commits them.
   * @throws FieldViolations, UNPROCESSABLE
   */
  cursorsOf(subscription: Subscription, items: unknown): unknown;
}

const firstVersion: VersionProfile = {
  subscriptionsPath: `${apiPath}/v1/subscriptions`,
  definitionOf: ({ owning_application, event_types, consumer_group, read_from, initial_cursors }) => ({
    owning_application,
    event_types,
    consumer_group,
    read_from,
    initial_cursors: withEndAsTime(initial_cursors),
  }),
  subscriptionView: commonFields,
  showsTimeLag: false,
  statisticsView: (_subscription, statistics) => ({
    items: statistics.map(({ event_type, partitions }) => ({
      event_type,
      partitions: partitions.map(({ partition, state, unconsumed_events, consumer_lag_seconds, stream_id }) => ({
        partition,
        state,
        ...(unconsumed_events === undefined ? {} : { unconsumed_events }),
        ...(consumer_lag_seconds === undefined ? {} : { consumer_lag_seconds }),
        stream_id,
      })),
    })),
  }),
  streamParameters: (query) => query,
  linesOf: () => firstVersionLines,
  cursorsOf(_subscription, items) {
    refuseCursors(items, (path, { event_type, partition, offset, cursor_token }) =>
      Object.entries({ event_type, partition, offset, cursor_token }).flatMap(([name, value]) =>
        value === '' ? [{ field: `${path}.${name}`, message: 'must contain at least one character' }] : [],
      ),
    );
    return items;
  },
};

/** Where a subscription of the second version may begin. The empty text is refused as everywhere. */
const secondVersionStarts: ReadonlySet<string> = new Set(['begin', 'end', '']);

const secondVersion: VersionProfile = {
  subscriptionsPath: `${apiPath}/subscriptions`,
  definitionOf({ owning_application, event_types, consumer_group, read_from }) {
    if (typeof read_from === 'string' && !secondVersionStarts.has(read_from.toLowerCase())) {
      const detail = `Field "read_from" cannot be "${read_from}". Possible values: begin, end`;
      throw new LendstreamError('MALFORMED_REQUEST', detail);
    }
    return { owning_application, event_types, consumer_group, read_from };
  },
  subscriptionView: (subscription) => ({ ...commonFields(subscription), updated_at: subscription.updated_at }),
  showsTimeLag: true,
  statisticsView: ({ event_types }, statistics) => ({ items: [{ partitions: shardsOf(event_types, statistics) }] }),
  streamParameters: ({ max_uncommitted_events: _unsupported, ...query }) => ({
    ...query,
    max_uncommitted_events: uncommittedEventsMaximum(query['batch_limit']),
  }),
  linesOf: ({ event_types }) => secondVersionLines(event_types),
  cursorsOf(subscription, items) {
    refuseCursors(items, (path, { event_type, partition, offset, cursor_token }) =>
      Object.entries({ event_type, partition, offset, cursor_token }).flatMap(([name, value]) =>
        lengthViolations(`${path}.${name}`, typeof value === 'string' ? value : '', nameCharactersMaximum),
      ),
    );
    return Array.isArray(items) ? items.map((item: unknown) => withPartitionOfShard(subscription, item)) : items;
  },
};

export const versionProfiles: Readonly<Record<MambuStreamingVersion, VersionProfile>> = {
  1: firstVersion,
  2: secondVersion,
};

/** The only fields that the published client of the first version accepts. */
function commonFields(subscription: Subscription) {
  const { id, owning_application, event_types, consumer_group, read_from, created_at } = subscription;
  return { owning_application, event_types, consumer_group, read_from, id, created_at };
}

/** A moment after which nothing was published: the position before the first such event is the end. */
const afterAllEvents = 'TIME:9999-12-31T23:59:59Z';

/** Initial cursors may have the word `end` in place of an offset. `begin` is known everywhere. */
function withEndAsTime(cursors: unknown): unknown {
  if (!Array.isArray(cursors)) return cursors;
  return cursors.map((cursor: unknown) => {
    const { offset } = (cursor ?? {}) as { offset?: unknown };
    const isEnd = typeof offset === 'string' && offset.toUpperCase() === 'END';
    return isEnd ? { ...(cursor as object), offset: afterAllEvents } : cursor;
  });
}

type ShardStatistics = Schemas['MambuStatisticsV2']['items'][number]['partitions'][number];

/** In the order of their numbers. */
function shardsOf(eventTypes: readonly string[], statistics: readonly EventTypeStatistics[]): ShardStatistics[] {
  return statistics
    .flatMap(({ event_type: eventType, partitions }) =>
      partitions.map(({ partition, state, consumer_lag_seconds }) => ({
        partition: shardName(eventTypes, { eventType, partition: Number(partition) }),
        state,
        ...(consumer_lag_seconds === undefined ? {} : { consumer_lag_seconds }),
      })),
    )
    .sort(({ partition: left }, { partition: right }) => (left < right ? -1 : 1));
}

/** How many batches may be sent and not committed, where a client cannot say how many events. */
export const uncommittedBatchesMaximum = 10;

/** The largest number of events that a client may ask for. */
const eventsMaximum = 2_147_483_647;

/** @param batchLimit As the client sent it. One that is no number of events is refused later. */
function uncommittedEventsMaximum(batchLimit: unknown): number {
  const events = Number(batchLimit ?? 1);
  return events >= 1 ? Math.min(Math.trunc(events) * uncommittedBatchesMaximum, eventsMaximum) : 1;
}

/** Cursors of another type than objects are refused later. @throws FieldViolations */
function refuseCursors(
  items: unknown,
  violationsOf: (path: string, cursor: Fields) => readonly FieldViolation[],
): void {
  if (!Array.isArray(items)) return;
  const violations = items.flatMap((item: unknown, index) =>
    typeof item === 'object' && item !== null ? violationsOf(`items[${index}]`, item as Fields) : [],
  );
  if (violations.length > 0) throw new FieldViolations(violations);
}

/**
 * A cursor that names a shard, as one of the partition that it is. Only its partition and offset are required. One that
 * was read over another API stays as it is.
 * @throws UNPROCESSABLE for an event type that is not the shard's
 */
function withPartitionOfShard({ event_types: eventTypes }: Subscription, item: unknown): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  const cursor = item as Fields;
  const eventType = cursor['event_type'] ?? mixedEventType;
  const offset = typeof cursor['offset'] === 'string' ? ownOffsetText(cursor['offset']) : cursor['offset'];
  const common = { ...cursor, offset, cursor_token: cursor['cursor_token'] ?? '' };
  const name = cursor['partition'];
  const shard = typeof name === 'string' ? partitionOfShard(eventTypes, name) : undefined;
  if (shard === undefined) return { ...common, event_type: eventType };
  if (eventType !== mixedEventType && eventType !== shard.eventType) {
    throw new LendstreamError(
      'UNPROCESSABLE',
      `Partition ${String(name)} has no events of ${JSON.stringify(eventType)}`,
    );
  }
  return { ...common, event_type: shard.eventType, partition: String(shard.partition) };
}

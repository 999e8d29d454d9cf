import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { createdRecord, topicOf } from '../../../src/broker/event-types/event-type-records.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { createCursorsTopic, mirrorRecord, writeMirror } from '../../../src/broker/log/cursors-topic.ts';
import { readSubscription } from '../../../src/broker/subscriptions/requested-subscription.ts';
import { systemClock, toTimestamp } from '../../../src/clock.ts';
import { EmbeddedLog } from '../../../src/embedded/log.ts';
import { KafkaLog } from '../../../src/kafka/log.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import {
  eventTypeName,
  eventTypeRequest,
  subscriptionIdOf,
  subscriptionRequest,
  subscriptionsPerEventType,
} from './many-definitions.ts';

/**
 * Writes event types with their topics, subscriptions and committed cursors into the log of a service that is not
 * running: the records that it would write, made by its own code. The locks and look-ups of single requests are left
 * out, as nothing else changes definitions now. Prints the number of its records.
 */
interface Settings {
  /** Of the embedded log; absent for a cluster. */
  readonly dataFolder?: string;
  readonly brokers?: readonly string[];
  /** Whether the topics of the event types were created just before. */
  readonly haveTopics?: boolean;
  /** The numbers of the event types: from the first one to the one before `to`. */
  readonly from: number;
  readonly to: number;
}

const { dataFolder, brokers, haveTopics = false, from, to } = JSON.parse(process.argv[2] ?? '{}') as Settings;
/** How many records are being stored at a time: they share appends. */
const recordsAtOnce = 2_000;
/** How many topics are being created at a time. */
const topicsAtOnce = 8;
const pollMilliseconds = 100;

const log: EventLog =
  dataFolder === undefined
    ? await KafkaLog.open({ brokers: brokers ?? [], clientId: 'bench', logger: silentLogger, clock: systemClock })
    : await EmbeddedLog.open({ dataFolder, logger: silentLogger, syncsToDisk: false });
const registry = new Registry(log, silentLogger);
await registry.start();
await createCursorsTopic(log);
const now = toTimestamp(systemClock.now());
const records = Array.from({ length: to - from }, (_, index) =>
  createdRecord(readEventType(eventTypeRequest(eventTypeName(from + index))), now),
);

if (haveTopics) {
  await inGroups(records, (group) => untilUsable(group.map(({ eventType }) => eventType.name)));
} else {
  const nextTopic = records.values();
  await Promise.all(
    Array.from({ length: topicsAtOnce }, async () => {
      for (const record of nextTopic) await log.createTopic(topicOf(record));
    }),
  );
}

const subscriptionNumbers = Array.from(
  { length: (to - from) * subscriptionsPerEventType },
  (_, index) => from * subscriptionsPerEventType + index,
);
await inGroups(records, (group) =>
  Promise.all(group.map((record) => registry.revise('event-type', record.eventType.name).put(record))),
);
await inGroups(subscriptionNumbers, (group) =>
  Promise.all(
    group.map((number) => {
      const id = subscriptionIdOf(number);
      const definition = readSubscription(subscriptionRequest(number));
      return registry
        .revise('subscription', id)
        .put({ ...definition, id, created_at: now, updated_at: now } satisfies Subscription);
    }),
  ),
);
// Epochs are for several processes, and begin at the time in microseconds.
const epoch = dataFolder === undefined ? Date.now() * 1_000 : undefined;
await inGroups(subscriptionNumbers, (group) =>
  writeMirror(
    log,
    group.map((number) => {
      const eventType = eventTypeName(Math.floor(number / subscriptionsPerEventType));
      return mirrorRecord(subscriptionIdOf(number), { eventType, partition: 0 }, -1, epoch);
    }),
  ),
);
await registry.stop();
await log.close();
console.log(JSON.stringify({ records: records.length + 2 * subscriptionNumbers.length }));

/** Kafka knows a topic a moment before it can be used. */
async function untilUsable(topics: readonly string[]): Promise<void> {
  for (;;) {
    try {
      await log.bounds(topics.map((topic) => ({ topic, partition: 0 })));
      return;
    } catch (error) {
      if (!isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) throw error;
      await systemClock.sleep(pollMilliseconds);
    }
  }
}

async function inGroups<Item>(
  items: readonly Item[],
  store: (group: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  for (let first = 0; first < items.length; first += recordsAtOnce) {
    await store(items.slice(first, first + recordsAtOnce));
  }
}

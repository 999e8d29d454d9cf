/**
 * Event types: creating, changing, listing and deleting them.
 * In: definitions as the API receives them. Out: registry records, and the topics that hold the events.
 * Start with `EventTypes` below; `requested-event-type.ts` says what is wrong with a definition,
 * `event-type-records.ts` makes the record.
 */

import { isDeepStrictEqual } from 'node:util';
import { toTimestamp, type Clock } from '../../clock.ts';
import { FieldViolations, LendstreamError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { withLock } from '../definitions/definition-locks.ts';
import type { Coordination } from '../../ports/coordination.ts';
import { defaultStreamingLimits, type StreamingLimits } from '../definitions/streaming-limits.ts';
import { ensureTopic } from '../log/ensure-topic.ts';
import type { EventLog, TopicConfiguration } from '../../ports/event-log.ts';
import {
  changedRecord,
  compactedRecord,
  createdRecord,
  isCompactionDue,
  recordWithSchema,
  systemRecord,
  topicOf,
} from './event-type-records.ts';
import type { EventTypeRecord, EventTypeSchema, SystemEventType } from '../definitions/event-type.ts';
import type { EventTypeDefinition } from './requested-event-type.ts';
import { checkPartitionCount, statisticOf } from './partition-count.ts';
import { looseSpelling, similarNameViolation, topicSpelling } from './similar-names.ts';
import type { DefinitionIndex, DefinitionOrder } from '../definitions/definition-views.ts';
import { isSwitchedOn, refuseWhileReadOnly, refuseWithoutAuthorization } from '../definitions/feature-switches.ts';
import type { Registry, Revision } from '../definitions/registry.ts';
import { compareVersions } from '../schemas/schema-versions.ts';
import { subscriptionsByEventType } from '../definitions/subscription-lookup.ts';

/**
 * Defining, changing and deleting event types. An event type is an entry of the registry and a topic of its name.
 *
 * The topic is created before the entry and deleted before it, so repeating a request finishes what a crash left half
 * done. Changes of one name follow one another, on any node: each is done under a lock.
 */
export interface EventTypesOptions {
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * How long another process may take between creating a topic and registering its event type, before it counts as
   * gone. Milliseconds. Default {@link creationMillisecondsDefault}.
   */
  readonly creationMillisecondsMaximum?: number;
  readonly limits?: StreamingLimits;
}

const creationMillisecondsDefault = 2_000;

const creationPollMilliseconds = 50;

const byName: DefinitionOrder<EventTypeRecord> = {
  kind: 'event-type',
  compare: (left, right) => (left.eventType.name < right.eventType.name ? -1 : 1),
};

/** By the spelling of their topics: two names with the same one cannot both exist. */
const byTopicSpelling: DefinitionIndex<EventTypeRecord> = {
  kind: 'event-type',
  keysOf: ({ eventType }) => [topicSpelling(eventType.name)],
};

/** Those whose topic will be compacted later, all under one key. */
const byLaterCompaction: DefinitionIndex<EventTypeRecord> = {
  kind: 'event-type',
  keysOf: ({ compactionAddedAt }) => (compactionAddedAt === undefined ? [] : ['later']),
};

/** The service's own, by a spelling that no other event type may have. */
const systemTypesByLooseSpelling: DefinitionIndex<EventTypeRecord> = {
  kind: 'event-type',
  keysOf: ({ eventType, system }) => (system ? [looseSpelling(eventType.name)] : []),
};

/**
 * Defines, changes, lists and deletes event types. Reading uses the registry in memory; see {@link EventTypesOptions}
 * for how changes are kept safe from crashes and from each other.
 */
export class EventTypes {
  readonly #options: EventTypesOptions;
  readonly limits: StreamingLimits;

  constructor(options: EventTypesOptions) {
    this.#options = options;
    this.limits = options.limits ?? defaultStreamingLimits;
  }

  /** The event type of this name; undefined when this process knows none. */
  known(name: string): EventTypeRecord | undefined {
    return this.#options.registry.get<EventTypeRecord>('event-type', name);
  }

  /**
   * The event type of this name, which another process may have created a moment ago; undefined when there is none.
   * @throws LOG_UNAVAILABLE when what others stored cannot be read in time
   */
  find(name: string): Promise<EventTypeRecord | undefined> {
    return this.#options.registry.find<EventTypeRecord>('event-type', name);
  }

  /**
   * The event type of this name, which another process may have created a moment ago.
   * @throws NOT_FOUND, LOG_UNAVAILABLE when what others stored cannot be read in time
   */
  async get(name: string): Promise<EventTypeRecord> {
    return existing(name, await this.find(name));
  }

  /**
   * The event type of this name. Finds also partitions that another process may have added a moment ago.
   * @param partitions How many it is expected to have. The one that is returned may have fewer.
   * @throws as {@link get}
   */
  async getWithPartitions(name: string, partitions: number): Promise<EventTypeRecord> {
    const found = await this.#options.registry.findWith(() => withPartitions(this.known(name), partitions));
    return found ?? existing(name, this.known(name));
  }

  /**
   * The event type with the partitions that another process added to it a moment ago; undefined when none did.
   * @throws LOG_UNAVAILABLE when what others stored cannot be read in time
   */
  repartitioned({ eventType: { name }, partitionCount }: EventTypeRecord): Promise<EventTypeRecord | undefined> {
    return this.#options.registry.findWith(() => withPartitions(this.known(name), partitionCount + 1));
  }

  /** Sorted by name. */
  list(): EventTypeRecord[] {
    return this.#options.registry.listSorted(byName).slice();
  }

  /**
   * Newest version first.
   * @throws as {@link get}
   */
  async schemas(name: string): Promise<EventTypeSchema[]> {
    return newestFirst(await this.get(name));
  }

  /**
   * Finds also a version that another process may have put in force a moment ago.
   * @param version A version, or `latest`.
   * @throws as {@link get}
   */
  async schema(name: string, version: string): Promise<EventTypeSchema> {
    const found = await this.#options.registry.findWith(() => schemaOf(this.known(name), version));
    if (found !== undefined) return found;
    existing(name, this.known(name));
    throw new LendstreamError('NOT_FOUND', `EventType "${name}" has no schema with version "${version}"`);
  }

  /**
   * Creates an event type and its topic.
   * @param by Who defines it, for the version of its schema.
   * @throws NOT_IMPLEMENTED or SWITCHED_OFF while that is switched off, CONFLICT when the name is taken,
   *   FieldViolations when it is too similar to another, UNPROCESSABLE for a bad schema, and what the log throws
   */
  async create(
    definition: EventTypeDefinition,
    by?: string,
    refuseNew: () => void = () => {},
  ): Promise<EventTypeRecord> {
    const { registry } = this.#options;
    if (isSwitchedOn(registry, 'disable_event_type_creation')) {
      throw new LendstreamError('NOT_IMPLEMENTED', 'Event Type creation is disabled');
    }
    refuseWhileReadOnly(registry);
    refuseWithoutAuthorization(registry, 'force_event_type_authz', definition.authorization);
    const isFree = (): void => {
      this.#refuseExistingName(definition.name);
      this.refuseSimilarName(definition.name);
      refuseNew();
    };
    return this.#change(definition.name, isFree, async (revision) => {
      const record = createdRecord(definition, this.#now(), this.limits, by);
      await this.#createTopic(topicOf(record), revision);
      await revision.put(record);
      return record;
    });
  }

  /**
   * Changes an event type to match the definition. Retention, annotations and labels that it leaves out stay the same.
   * @throws NOT_FOUND, FORBIDDEN for a type of the service, UNPROCESSABLE for a forbidden change
   */
  update(name: string, definition: EventTypeDefinition, by?: string): Promise<EventTypeRecord> {
    return this.#changeExisting(name, async (record, revision) => {
      const changed = changedRecord(record, definition, this.#now(), by);
      const { name: _same, partitionCount: _unchanged, ...settings } = topicOf(changed);
      if (!isDeepStrictEqual({ ...topicOf(record), ...settings }, topicOf(record)) || (await this.#lacksLag(changed))) {
        // From here on, no change that began earlier can undo this one.
        await revision.claim();
        await this.#options.log.alterTopic(name, settings);
      }
      await revision.put(changed);
      return changed;
    });
  }

  /** The names of those whose topics are to be compacted from now on, see {@link beginCompaction}. */
  dueForCompaction(): string[] {
    const { registry, clock } = this.#options;
    const later = registry.listBy(byLaterCompaction, 'later');
    return later.filter((record) => isCompactionDue(record, clock.now())).map(({ eventType: { name } }) => name);
  }

  /**
   * Has the topic of an event type compacted to which compaction was added, if the events from before that have been
   * kept for their retention. Otherwise nothing changes.
   * @throws NOT_FOUND, FORBIDDEN, SWITCHED_OFF, what the log throws
   */
  beginCompaction(name: string): Promise<void> {
    return this.#changeExisting(name, async (record, revision) => {
      const { clock, log, logger } = this.#options;
      if (!isCompactionDue(record, clock.now())) return;
      const changed = compactedRecord(record);
      const { name: _same, partitionCount: _unchanged, ...settings } = topicOf(changed);
      // From here on, no change that began earlier can undo this one.
      await revision.claim();
      await log.alterTopic(name, settings);
      await revision.put(changed);
      logger.info({ eventType: name }, 'Compaction of an event type begins');
    });
  }

  /**
   * Puts a schema in force. A schema equal to the one in force, byte for byte, makes no new version.
   * @throws NOT_FOUND, FORBIDDEN for a type of the service, UNPROCESSABLE for a schema that may not follow
   */
  addSchema(name: string, schemaText: string, by?: string): Promise<EventTypeSchema> {
    return this.#changeExisting(name, async (record, revision) => {
      const changed = recordWithSchema(record, schemaText, this.#now(), by);
      if (changed !== record) await revision.put(changed);
      return changed.eventType.schema;
    });
  }

  /**
   * Adds partitions to an event type, and has its statistic say how many there are. Subscriptions read the new ones
   * from their first event. The number that it has already adds none.
   * @param beforeAdding Called while no event can be in the new partitions. What it throws leaves the event type as it
   *   is, and a repeated request calls it again.
   * @throws NOT_FOUND, FORBIDDEN for a type of the service, UNPROCESSABLE for fewer partitions or too many, and what
   *   `beforeAdding` throws
   */
  setPartitionCount(
    name: string,
    partitionCount: number,
    beforeAdding: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    return this.#changeExisting(name, async (record, revision) => {
      checkPartitionCount(record.partitionCount, partitionCount, this.limits.partitionsPerEventType);
      const { default_statistic: present } = record.eventType;
      const default_statistic = statisticOf(partitionCount, present);
      const isMore = partitionCount > record.partitionCount;
      if (!isMore && isDeepStrictEqual(present, default_statistic)) return;
      // From here on, no change that began earlier can undo this one.
      await revision.claim();
      const { log, logger } = this.#options;
      const [topic] = await log.listTopics([name]);
      // A process that stopped after this step has added them already.
      if (topic === undefined || topic.partitionCount < partitionCount) await log.alterTopic(name, { partitionCount });
      if (isMore) await beforeAdding();
      await revision.put({
        ...record,
        partitionCount,
        eventType: { ...record.eventType, default_statistic, updated_at: this.#now() },
      });
      if (isMore) logger.info({ eventType: name, partitionCount }, 'An event type has more partitions');
    });
  }

  /**
   * Deletes an event type with its events.
   * @throws NOT_FOUND, FORBIDDEN for a type of the service or while that is switched off, SWITCHED_OFF, CONFLICT while
   *   subscriptions name it
   */
  async remove(name: string): Promise<void> {
    this.#refuseRemoval();
    return this.#changeExisting(name, async ({ deleting: _unfinished, ...record }, revision) => {
      this.#refuseSubscribed(name);
      await revision.put({ ...record, deleting: true });
      try {
        // A subscription created before the mark is seen by now; one created after it sees the mark.
        this.#refuseSubscribed(name);
      } catch (error) {
        await revision.put(record);
        throw error;
      }
      await revision.confirm();
      try {
        await this.#options.log.deleteTopic(name);
      } catch (error) {
        // An earlier deletion stopped after this step.
        if (!isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) throw error;
      }
      await revision.remove();
      this.#options.logger.info({ eventType: name }, 'An event type was deleted');
    });
  }

  /**
   * Checks that an event type may be deleted, but for its subscriptions.
   * @throws as {@link remove}
   */
  async checkRemovable(name: string): Promise<void> {
    this.#refuseRemoval();
    await this.get(name);
    this.#changeableRecord(name);
  }

  /** @throws FORBIDDEN, SWITCHED_OFF while event types cannot be deleted */
  #refuseRemoval(): void {
    const { registry } = this.#options;
    if (isSwitchedOn(registry, 'disable_event_type_deletion')) {
      throw new LendstreamError('FORBIDDEN', 'Event Type deletion is disabled');
    }
    refuseWhileReadOnly(registry);
  }

  /**
   * Registers the event types of the service as its modules describe them, and creates their topics. Called at each
   * start; a changed schema gets the next version.
   * @throws CONFIGURATION_INVALID when one exists with another number of partitions
   */
  async registerSystemEventTypes(types: readonly SystemEventType[]): Promise<void> {
    await this.#options.registry.catchUp();
    const topics = await this.#createSystemTopics(types);
    const unregistered = types.filter((type) => !this.#isRegistered(type, topics));
    // All at once: what they wait for is the same, and their records are stored together.
    const outcomes = await Promise.allSettled(unregistered.map((type) => this.#ensureRegistered(type, topics)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async #ensureRegistered(type: SystemEventType, topics: readonly TopicConfiguration[]): Promise<void> {
    try {
      await this.#registerSystemEventType(type, topics);
    } catch (error) {
      // Another process that started at the same time was quicker.
      if (
        !isLendstreamError(error, 'CONFLICT') ||
        !this.#isRegistered(type, await this.#options.log.listTopics([type.name]))
      ) {
        throw error;
      }
    }
  }

  /**
   * Creates the topics that are missing, all at once: a cluster takes longer for each change than for a change of many.
   * @returns the topics of these types
   */
  async #createSystemTopics(types: readonly SystemEventType[]): Promise<readonly TopicConfiguration[]> {
    const { log, clock } = this.#options;
    const names = types.map(({ name }) => name);
    const present = await log.listTopics(names);
    const missing = types.filter((type) => present.every(({ name }) => name !== type.name));
    if (missing.length === 0) return present;
    const configurations = missing.map((type) => topicOf(systemRecord(type, this.known(type.name), this.#now())));
    await Promise.all(configurations.map((configuration) => ensureTopic(log, configuration, present, clock)));
    return log.listTopics(names);
  }

  #registerSystemEventType(type: SystemEventType, topics: readonly TopicConfiguration[]): Promise<void> {
    return this.#change(
      type.name,
      () => {},
      async (revision) => {
        const current = this.known(type.name);
        const record = systemRecord(type, current, this.#now());
        await this.#ensureSystemTopic(topicOf(record), topics);
        if (!isDeepStrictEqual(current, record)) await revision.put(record);
      },
    );
  }

  #isRegistered(type: SystemEventType, topics: readonly TopicConfiguration[]): boolean {
    const current = this.known(type.name);
    const found = topics.find(({ name }) => name === type.name);
    const record = systemRecord(type, current, this.#now());
    return (
      found?.partitionCount === type.partitionCount &&
      found.retentionMilliseconds === topicOf(record).retentionMilliseconds &&
      isDeepStrictEqual(current, record)
    );
  }

  #now(): string {
    return toTimestamp(this.#options.clock.now());
  }

  #refuseExistingName(name: string): void {
    if (this.known(name) !== undefined) {
      throw new LendstreamError(
        'CONFLICT',
        `EventType with name "${name}" already exists (or wasn't completely removed yet)`,
      );
    }
  }

  /** @throws FieldViolations when the name is too similar to that of another event type */
  refuseSimilarName(name: string): void {
    const { registry } = this.#options;
    const similar = [
      ...registry.listBy(systemTypesByLooseSpelling, looseSpelling(name)),
      ...registry.listBy(byTopicSpelling, topicSpelling(name)),
    ];
    for (const { eventType, system } of similar) {
      const violation = similarNameViolation(name, eventType.name, system);
      if (violation !== undefined) throw new FieldViolations([violation]);
    }
  }

  #refuseSubscribed(name: string): void {
    if (this.#options.registry.hasBy(subscriptionsByEventType, name)) {
      throw new LendstreamError('CONFLICT', `Can't remove event type ${name}, as it has subscriptions`);
    }
  }

  #changeableRecord(name: string): EventTypeRecord {
    const record = existing(name, this.known(name));
    if (!record.system) return record;
    throw new LendstreamError(
      'FORBIDDEN',
      `Event type ${name} belongs to the service and cannot be changed or deleted.`,
    );
  }

  async #createTopic(topic: TopicConfiguration, revision: Revision): Promise<void> {
    try {
      await this.#options.log.createTopic(topic);
    } catch (error) {
      if (!isLendstreamError(error, 'TOPIC_ALREADY_EXISTS')) throw error;
      await this.#adoptTopic(topic, revision);
    }
  }

  /**
   * The topic exists without an event type: another process is creating it right now, or one died while doing so. Waits
   * for the former and takes over from the latter. A topic that has held records has another owner and is left alone.
   */
  async #adoptTopic(topic: TopicConfiguration, revision: Revision): Promise<void> {
    const { log, clock, logger } = this.#options;
    const deadline = clock.monotonic() + (this.#options.creationMillisecondsMaximum ?? creationMillisecondsDefault);
    for (;;) {
      await this.#options.registry.catchUp();
      this.#refuseExistingName(topic.name);
      if (clock.monotonic() >= deadline) break;
      await clock.sleep(creationPollMilliseconds);
    }
    // A slow process that is still alive can no longer register the topic: from here on it belongs to this process.
    await revision.claim();
    const [found] = await log.listTopics([topic.name]);
    if (found === undefined) {
      await log.createTopic(topic);
      return;
    }
    const partitions = Array.from({ length: found.partitionCount }, (_, partition) => ({
      topic: topic.name,
      partition,
    }));
    const ends = await log.endOffsets(partitions);
    if (ends.some(({ latest }) => latest > 0)) {
      throw new LendstreamError(
        'CONFLICT',
        `A topic named ${topic.name} that belongs to no event type exists and has held records. Delete it, or choose another name.`,
      );
    }
    logger.warn({ topic: topic.name }, 'Took over the empty topic of an event type whose creation was never finished');
    if (found.partitionCount > topic.partitionCount) {
      await log.deleteTopic(topic.name);
      await log.createTopic(topic);
    } else {
      const { name, ...settings } = topic;
      await log.alterTopic(name, settings);
    }
  }

  /** Whether the topic is from a time when nothing limited how long compaction may wait. */
  async #lacksLag(record: EventTypeRecord): Promise<boolean> {
    const { name, compactionLagMilliseconds } = topicOf(record);
    if (compactionLagMilliseconds === undefined) return false;
    const [found] = await this.#options.log.listTopics([name]);
    return found?.compactionLagMilliseconds === undefined;
  }

  async #ensureSystemTopic(
    configuration: TopicConfiguration,
    existingTopics: readonly TopicConfiguration[],
  ): Promise<void> {
    const { log, clock } = this.#options;
    const found = await ensureTopic(log, configuration, existingTopics, clock);
    if (found.partitionCount !== configuration.partitionCount) {
      throw new LendstreamError(
        'CONFIGURATION_INVALID',
        `${configuration.name} must have ${configuration.partitionCount} partitions, but was created with ${found.partitionCount}.`,
      );
    }
    if (found.retentionMilliseconds !== configuration.retentionMilliseconds) {
      await log.alterTopic(configuration.name, { retentionMilliseconds: configuration.retentionMilliseconds });
    }
  }

  /** @throws NOT_FOUND, FORBIDDEN for a type of the service, SWITCHED_OFF */
  async #changeExisting<Result>(
    name: string,
    change: (record: EventTypeRecord, revision: Revision) => Promise<Result>,
  ): Promise<Result> {
    refuseWhileReadOnly(this.#options.registry);
    await this.get(name);
    const exists = (): void => void this.#changeableRecord(name);
    return this.#change(name, exists, (revision) => change(this.#changeableRecord(name), revision));
  }

  /**
   * @param check Throws when there is nothing to do. Runs before any waiting, and again when all earlier changes of
   *   others are known.
   */
  async #change<Result>(
    name: string,
    check: () => void,
    change: (revision: Revision) => Promise<Result>,
  ): Promise<Result> {
    check();
    // Of two names that cannot coexist, the second to be created has to see the first.
    const definition = { kind: 'event-type', name, lockedAs: topicSpelling(name) } as const;
    return withLock(this.#options, definition, (revision) => {
      check();
      return change(revision);
    });
  }
}

/** @throws NOT_FOUND */
function existing(name: string, record: EventTypeRecord | undefined): EventTypeRecord {
  if (record === undefined) throw new LendstreamError('NOT_FOUND', `EventType "${name}" does not exist.`);
  return record;
}

function withPartitions(record: EventTypeRecord | undefined, partitions: number): EventTypeRecord | undefined {
  return record !== undefined && record.partitionCount >= partitions ? record : undefined;
}

function newestFirst({ schemas }: EventTypeRecord): EventTypeSchema[] {
  return schemas.toSorted((left, right) => compareVersions(right.version, left.version));
}

function schemaOf(record: EventTypeRecord | undefined, version: string): EventTypeSchema | undefined {
  if (record === undefined) return undefined;
  return version === 'latest' ? newestFirst(record)[0] : record.schemas.find((schema) => schema.version === version);
}

import { isDeepStrictEqual } from 'node:util';
import { toTimestamp, type Clock } from '../clock.ts';
import { LendstreamError, isLendstreamError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { EventLog, TopicConfiguration } from './event-log.ts';
import { changedRecord, createdRecord, recordWithSchema, systemRecord, topicOf } from './event-type-records.ts';
import type { EventTypeRecord, EventTypeSchema, SystemEventType } from './event-type.ts';
import type { EventTypeDefinition } from './event-type-validation.ts';
import { registryTopic, type Registry } from './registry.ts';
import { compareVersions } from './schema-evolution.ts';
import type { Subscription } from './subscription.ts';

/**
 * Defining, changing and deleting event types. An event type is an entry of the registry and a topic of its name.
 *
 * The topic is made before the entry and deleted before it, so whatever a crash leaves half done is finished by asking
 * again. Of several processes that create one name, the one whose topic is made first wins.
 */
export interface EventTypesOptions {
  readonly registry: Registry;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * How long another process may take between making a topic and registering its event type, before it counts as gone.
   * Default {@link creationMillisecondsDefault}.
   */
  readonly creationMillisecondsMaximum?: number;
}

const creationMillisecondsDefault = 2_000;

const creationPollMilliseconds = 50;

export class EventTypes {
  readonly #options: EventTypesOptions;
  /** The last change under way of each name: changes of one name follow one another. */
  readonly #changes = new Map<string, Promise<unknown>>();

  constructor(options: EventTypesOptions) {
    this.#options = options;
  }

  find(name: string): EventTypeRecord | undefined {
    return this.#options.registry.get<EventTypeRecord>('event-type', name);
  }

  /** @throws NOT_FOUND */
  get(name: string): EventTypeRecord {
    const record = this.find(name);
    if (record === undefined) throw new LendstreamError('NOT_FOUND', `EventType "${name}" does not exist.`);
    return record;
  }

  /** By name. */
  list(): EventTypeRecord[] {
    return this.#options.registry
      .list<EventTypeRecord>('event-type')
      .sort((left, right) => (left.eventType.name < right.eventType.name ? -1 : 1));
  }

  /**
   * Newest version first.
   * @throws NOT_FOUND
   */
  schemas(name: string): EventTypeSchema[] {
    return this.get(name).schemas.toSorted((left, right) => compareVersions(right.version, left.version));
  }

  /**
   * @param version A version, or `latest`.
   * @throws NOT_FOUND
   */
  schema(name: string, version: string): EventTypeSchema {
    const schemas = this.schemas(name);
    const found = version === 'latest' ? schemas[0] : schemas.find((schema) => schema.version === version);
    if (found !== undefined) return found;
    throw new LendstreamError('NOT_FOUND', `EventType "${name}" has no schema with version "${version}"`);
  }

  /** @throws CONFLICT when the name is taken, UNPROCESSABLE for a bad schema, and what the log throws */
  create(definition: EventTypeDefinition): Promise<EventTypeRecord> {
    return this.#inTurn(definition.name, async () => {
      this.#refuseTakenName(definition.name);
      const record = createdRecord(definition, this.#now());
      await this.#makeTopic(topicOf(record));
      await this.#put(record);
      return record;
    });
  }

  /**
   * Changes an event type to what the definition says; what it leaves out of retention, annotations and labels stays.
   * @throws NOT_FOUND, FORBIDDEN for a type of the service, UNPROCESSABLE for a change that may not be
   */
  update(name: string, definition: EventTypeDefinition): Promise<EventTypeRecord> {
    return this.#inTurn(name, async () => {
      const record = this.#changeable(name);
      const changed = changedRecord(record, definition, this.#now());
      const { cleanupPolicy, retentionMilliseconds } = topicOf(changed);
      const before = topicOf(record);
      if (cleanupPolicy !== before.cleanupPolicy || retentionMilliseconds !== before.retentionMilliseconds) {
        await this.#options.log.alterTopic(name, { cleanupPolicy, retentionMilliseconds });
      }
      await this.#put(changed);
      return changed;
    });
  }

  /**
   * Puts a schema in force. The schema in force, letter by letter, makes no new version.
   * @throws NOT_FOUND, FORBIDDEN for a type of the service, UNPROCESSABLE for a schema that may not follow
   */
  addSchema(name: string, schemaText: string): Promise<EventTypeSchema> {
    return this.#inTurn(name, async () => {
      const record = this.#changeable(name);
      const changed = recordWithSchema(record, schemaText, this.#now());
      if (changed !== record) await this.#put(changed);
      return changed.eventType.schema;
    });
  }

  /**
   * Deletes an event type with its events.
   * @throws NOT_FOUND, FORBIDDEN for a type of the service, CONFLICT while subscriptions name it
   */
  remove(name: string): Promise<void> {
    return this.#inTurn(name, async () => {
      await this.#catchUp();
      const { deleting: _unfinished, ...record } = this.#changeable(name);
      this.#refuseSubscribed(name);
      await this.#put({ ...record, deleting: true });
      try {
        // One that came before the mark is seen by now; one that comes after it sees the mark.
        this.#refuseSubscribed(name);
      } catch (error) {
        await this.#put(record);
        throw error;
      }
      try {
        await this.#options.log.deleteTopic(name);
      } catch (error) {
        // An earlier deletion came this far and no further.
        if (!isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) throw error;
      }
      await this.#options.registry.remove('event-type', name);
      this.#options.logger.info({ eventType: name }, 'An event type was deleted');
    });
  }

  /**
   * Makes the event types that the service brings along be there as its modules describe them. Called at each start;
   * a changed schema gets the next version.
   * @throws CONFIGURATION_INVALID when one exists with another number of partitions
   */
  async registerSystemEventTypes(types: readonly SystemEventType[]): Promise<void> {
    await this.#catchUp();
    const topics = new Map((await this.#options.log.listTopics()).map((topic) => [topic.name, topic]));
    for (const type of types) {
      await this.#inTurn(type.name, async () => {
        const current = this.find(type.name);
        const record = systemRecord(type, current, this.#now());
        await this.#makeSystemTopic(topicOf(record), topics.get(type.name));
        if (!isDeepStrictEqual(current, record)) await this.#put(record);
      });
    }
  }

  #now(): string {
    return toTimestamp(this.#options.clock.now());
  }

  #refuseTakenName(name: string): void {
    if (this.find(name) !== undefined) {
      throw new LendstreamError(
        'CONFLICT',
        `EventType with name "${name}" already exists (or wasn't completely removed yet)`,
      );
    }
  }

  #refuseSubscribed(name: string): void {
    const isSubscribed = this.#options.registry
      .list<Subscription>('subscription')
      .some(({ event_types: eventTypes }) => eventTypes.includes(name));
    if (isSubscribed) {
      throw new LendstreamError('CONFLICT', `Can't remove event type ${name}, as it has subscriptions`);
    }
  }

  #changeable(name: string): EventTypeRecord {
    const record = this.get(name);
    if (!record.system) return record;
    throw new LendstreamError(
      'FORBIDDEN',
      `Event type ${name} belongs to the service and cannot be changed or deleted.`,
    );
  }

  async #makeTopic(topic: TopicConfiguration): Promise<void> {
    try {
      await this.#options.log.createTopic(topic);
    } catch (error) {
      if (!isLendstreamError(error, 'TOPIC_ALREADY_EXISTS')) throw error;
      await this.#adoptTopic(topic);
    }
  }

  /**
   * The topic is there but no event type: another process is just creating it, or one died doing so. Waits for the one
   * and takes over from the other; a topic with records in it was somebody's, and is left alone.
   */
  async #adoptTopic(topic: TopicConfiguration): Promise<void> {
    const { log, clock, logger } = this.#options;
    const deadline = clock.monotonic() + (this.#options.creationMillisecondsMaximum ?? creationMillisecondsDefault);
    for (;;) {
      await this.#catchUp();
      this.#refuseTakenName(topic.name);
      if (clock.monotonic() >= deadline) break;
      await new Promise((resolve) => setTimeout(resolve, creationPollMilliseconds));
    }
    const found = (await log.listTopics()).find(({ name }) => name === topic.name);
    if (found === undefined) {
      await log.createTopic(topic);
      return;
    }
    const partitions = Array.from({ length: found.partitionCount }, (_, partition) => ({
      topic: topic.name,
      partition,
    }));
    const bounds = await log.bounds(partitions);
    if (bounds.some(({ latest }) => latest > 0)) {
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
      const { partitionCount, cleanupPolicy, retentionMilliseconds } = topic;
      await log.alterTopic(topic.name, { partitionCount, cleanupPolicy, retentionMilliseconds });
    }
  }

  async #makeSystemTopic(topic: TopicConfiguration, found: TopicConfiguration | undefined): Promise<void> {
    const { log } = this.#options;
    if (found === undefined) {
      await log.createTopic(topic).catch((error: unknown) => {
        // Another process that starts at the same time was first.
        if (!isLendstreamError(error, 'TOPIC_ALREADY_EXISTS')) throw error;
      });
      return;
    }
    if (found.partitionCount !== topic.partitionCount) {
      throw new LendstreamError(
        'CONFIGURATION_INVALID',
        `${topic.name} is to have ${topic.partitionCount} partitions, but was created with ${found.partitionCount}.`,
      );
    }
    if (found.retentionMilliseconds !== topic.retentionMilliseconds) {
      await log.alterTopic(topic.name, { retentionMilliseconds: topic.retentionMilliseconds });
    }
  }

  #put(record: EventTypeRecord): Promise<void> {
    return this.#options.registry.put('event-type', record.eventType.name, record);
  }

  /** Returns when this process has seen everything that is in the registry now. */
  async #catchUp(): Promise<void> {
    const [bounds] = await this.#options.log.bounds([{ topic: registryTopic, partition: 0 }]);
    await this.#options.registry.appliedTo(bounds?.latest ?? 0);
  }

  async #inTurn<Result>(name: string, change: () => Promise<Result>): Promise<Result> {
    const turn = (this.#changes.get(name) ?? Promise.resolve()).then(change);
    // The next one waits for the end of this one, however it ends; its failure is for its own caller.
    const settled = turn.then(
      () => {},
      () => {},
    );
    this.#changes.set(name, settled);
    try {
      return await turn;
    } finally {
      if (this.#changes.get(name) === settled) this.#changes.delete(name);
    }
  }
}

/**
 * Event types: creating, changing, listing and deleting them.
 * In: definitions as the API receives them. Out: registry records, and the topics that hold the events.
 * Start with `EventTypes` below; `validation.ts` says what is wrong with a definition, `records.ts` makes the record.
 */

import { isDeepStrictEqual } from 'node:util';
import { toTimestamp, type Clock } from '../../clock.ts';
import { FieldViolations, LendstreamError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { whileClaimed } from '../definitions/claims.ts';
import type { Coordination } from '../../ports/coordination.ts';
import { ensureTopic } from '../log/ensure-topic.ts';
import type { EventLog, TopicConfiguration } from '../../ports/event-log.ts';
import { changedRecord, createdRecord, recordWithSchema, systemRecord, topicOf } from './records.ts';
import type { EventTypeRecord, EventTypeSchema, SystemEventType } from '../definitions/event-type.ts';
import { confusion, topicSpelling, type EventTypeDefinition } from './validation.ts';
import type { Registry, Revision } from '../definitions/registry.ts';
import { compareVersions } from '../schemas/schema-evolution.ts';
import type { Subscription } from '../definitions/subscription.ts';

/**
 * Defining, changing and deleting event types. An event type is an entry of the registry and a topic of its name.
 *
 * The topic is made before the entry and deleted before it, so whatever a crash leaves half done is finished by asking
 * again. Changes of one name follow one another, on whatever node they are asked for: each is done under a claim.
 */
export interface EventTypesOptions {
  readonly registry: Registry;
  readonly coordination: Coordination;
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
  /** The last change under way of each name: within a process nobody needs to ask for a claim that is just in use. */
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

  /**
   * @throws CONFLICT when the name is taken, FieldViolations when it is too much like another, UNPROCESSABLE for a bad
   *   schema, and what the log throws
   */
  create(definition: EventTypeDefinition): Promise<EventTypeRecord> {
    const isFree = (): void => {
      this.#refuseTakenName(definition.name);
      this.refuseConfusingName(definition.name);
    };
    return this.#change(definition.name, isFree, async (revision) => {
      const record = createdRecord(definition, this.#now());
      await this.#makeTopic(topicOf(record), revision);
      await revision.put(record);
      return record;
    });
  }

  /**
   * Changes an event type to what the definition says; what it leaves out of retention, annotations and labels stays.
   * @throws NOT_FOUND, FORBIDDEN for a type of the service, UNPROCESSABLE for a change that may not be
   */
  update(name: string, definition: EventTypeDefinition): Promise<EventTypeRecord> {
    return this.#changeExisting(name, async (record, revision) => {
      const changed = changedRecord(record, definition, this.#now());
      const { cleanupPolicy, retentionMilliseconds } = topicOf(changed);
      const before = topicOf(record);
      if (cleanupPolicy !== before.cleanupPolicy || retentionMilliseconds !== before.retentionMilliseconds) {
        // Nobody who began before can undo it from here on.
        await revision.claim();
        await this.#options.log.alterTopic(name, { cleanupPolicy, retentionMilliseconds });
      }
      await revision.put(changed);
      return changed;
    });
  }

  /**
   * Puts a schema in force. The schema in force, letter by letter, makes no new version.
   * @throws NOT_FOUND, FORBIDDEN for a type of the service, UNPROCESSABLE for a schema that may not follow
   */
  addSchema(name: string, schemaText: string): Promise<EventTypeSchema> {
    return this.#changeExisting(name, async (record, revision) => {
      const changed = recordWithSchema(record, schemaText, this.#now());
      if (changed !== record) await revision.put(changed);
      return changed.eventType.schema;
    });
  }

  /**
   * Deletes an event type with its events.
   * @throws NOT_FOUND, FORBIDDEN for a type of the service, CONFLICT while subscriptions name it
   */
  remove(name: string): Promise<void> {
    return this.#changeExisting(name, async ({ deleting: _unfinished, ...record }, revision) => {
      this.#refuseSubscribed(name);
      await revision.put({ ...record, deleting: true });
      try {
        // One that came before the mark is seen by now; one that comes after it sees the mark.
        this.#refuseSubscribed(name);
      } catch (error) {
        await revision.put(record);
        throw error;
      }
      await revision.confirm();
      try {
        await this.#options.log.deleteTopic(name);
      } catch (error) {
        // An earlier deletion came this far and no further.
        if (!isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) throw error;
      }
      await revision.remove();
      this.#options.logger.info({ eventType: name }, 'An event type was deleted');
    });
  }

  /**
   * Makes the event types that the service brings along be there as its modules describe them. Called at each start;
   * a changed schema gets the next version.
   * @throws CONFIGURATION_INVALID when one exists with another number of partitions
   */
  async registerSystemEventTypes(types: readonly SystemEventType[]): Promise<void> {
    await this.#options.registry.catchUp();
    const topics = await this.#options.log.listTopics();
    for (const type of types) {
      if (this.#isRegistered(type, topics)) continue;
      try {
        await this.#registerSystemEventType(type, topics);
      } catch (error) {
        // Another process that starts at the same time was quicker.
        if (!isLendstreamError(error, 'CONFLICT') || !this.#isRegistered(type, await this.#options.log.listTopics())) {
          throw error;
        }
      }
    }
  }

  #registerSystemEventType(type: SystemEventType, topics: readonly TopicConfiguration[]): Promise<void> {
    return this.#change(
      type.name,
      () => {},
      async (revision) => {
        const current = this.find(type.name);
        const record = systemRecord(type, current, this.#now());
        await this.#makeSystemTopic(topicOf(record), topics);
        if (!isDeepStrictEqual(current, record)) await revision.put(record);
      },
    );
  }

  #isRegistered(type: SystemEventType, topics: readonly TopicConfiguration[]): boolean {
    const current = this.find(type.name);
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

  #refuseTakenName(name: string): void {
    if (this.find(name) !== undefined) {
      throw new LendstreamError(
        'CONFLICT',
        `EventType with name "${name}" already exists (or wasn't completely removed yet)`,
      );
    }
  }

  /** @throws FieldViolations when another event type has a name that this one would be taken for */
  refuseConfusingName(name: string): void {
    for (const { eventType, system } of this.#options.registry.list<EventTypeRecord>('event-type')) {
      const violation = confusion(name, eventType.name, system);
      if (violation !== undefined) throw new FieldViolations([violation]);
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

  async #makeTopic(topic: TopicConfiguration, revision: Revision): Promise<void> {
    try {
      await this.#options.log.createTopic(topic);
    } catch (error) {
      if (!isLendstreamError(error, 'TOPIC_ALREADY_EXISTS')) throw error;
      await this.#adoptTopic(topic, revision);
    }
  }

  /**
   * The topic is there but no event type: another process is just creating it, or one died doing so. Waits for the one
   * and takes over from the other; a topic with records in it was somebody's, and is left alone.
   */
  async #adoptTopic(topic: TopicConfiguration, revision: Revision): Promise<void> {
    const { log, clock, logger } = this.#options;
    const deadline = clock.monotonic() + (this.#options.creationMillisecondsMaximum ?? creationMillisecondsDefault);
    for (;;) {
      await this.#options.registry.catchUp();
      this.#refuseTakenName(topic.name);
      if (clock.monotonic() >= deadline) break;
      await new Promise((resolve) => setTimeout(resolve, creationPollMilliseconds));
    }
    // One that is still alive, and slow, can register the topic no more: from here on it is this one's.
    await revision.claim();
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

  async #makeSystemTopic(wanted: TopicConfiguration, present: readonly TopicConfiguration[]): Promise<void> {
    const { log } = this.#options;
    const found = await ensureTopic(log, wanted, present);
    if (found.partitionCount !== wanted.partitionCount) {
      throw new LendstreamError(
        'CONFIGURATION_INVALID',
        `${wanted.name} is to have ${wanted.partitionCount} partitions, but was created with ${found.partitionCount}.`,
      );
    }
    if (found.retentionMilliseconds !== wanted.retentionMilliseconds) {
      await log.alterTopic(wanted.name, { retentionMilliseconds: wanted.retentionMilliseconds });
    }
  }

  /** @throws NOT_FOUND, FORBIDDEN for a type of the service */
  async #changeExisting<Result>(
    name: string,
    change: (record: EventTypeRecord, revision: Revision) => Promise<Result>,
  ): Promise<Result> {
    await this.#options.registry.find('event-type', name);
    const exists = (): void => void this.#changeable(name);
    return this.#change(name, exists, (revision) => change(this.#changeable(name), revision));
  }

  /**
   * @param check Throws when there is nothing to be done: before anybody is kept waiting, and again when all that
   *   others did before is known.
   */
  #change<Result>(name: string, check: () => void, change: (revision: Revision) => Promise<Result>): Promise<Result> {
    return this.#inTurn(name, () => {
      check();
      const settled = (): undefined => {
        check();
      };
      return whileClaimed<Result>(this.#options, 'event-type', name, settled, change);
    });
  }

  async #inTurn<Result>(nameAsSpelt: string, change: () => Promise<Result>): Promise<Result> {
    // Of two names that cannot both be, the second to be created has to see the first.
    const name = topicSpelling(nameAsSpelt);
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

import { newId } from './clock.ts';
import { Connection, type LendstreamOptions, type RequestOptions } from './connection.ts';
import { type ConsumeOptions, Consumer } from './consumer.ts';
import type { LendstreamError } from './errors.ts';
import { tail, type TailBatch, type TailOptions } from './event-tail.ts';
import { LoanCommands } from './loan-commands.ts';
import { Producer, type ProducerOptions } from './producer.ts';
import { eventText, publishTexts, type DeletionOptions, type PublishOptions } from './publishing.ts';
import type {
  AnyEvent,
  Cursor,
  EventType,
  EventTypeDefinition,
  EventTypeSchema,
  EventTypeStatistics,
  Partition,
  Position,
  Subscription,
  SubscriptionDefinition,
} from './types.ts';

/**
 * The client of Lendstream for Node.js, Bun, Deno and browsers: `import { Lendstream } from 'lendstream/client'`. It
 * needs nothing but what they all have: fetch, streams, AbortSignal.
 *
 * In: events and commands to publish. Out: batches of events, with exact numbers. Start with {@link Lendstream};
 * consumer.ts is the loop over a subscription, publishing.ts what happens to events that are not stored at once.
 */
export { LendstreamError, type LendingError } from './errors.ts';
export type { LendstreamOptions, RequestOptions } from './connection.ts';
export { Consumer, type Batch, type ConsumeOptions } from './consumer.ts';
export type { TailBatch, TailOptions, TailStart } from './event-tail.ts';
export type { Notice } from './notices.ts';
export { RecentEvents } from './recent-events.ts';
export { filterFor } from './filter.ts';
export { ExactNumber, parseExact, stringifyExact, type Numeric } from './exact-json.ts';
export {
  newEvent,
  PublishError,
  type DeletionOptions,
  type NewMetadata,
  type PublishOptions,
  type UnstoredEvent,
} from './publishing.ts';
export { Producer, type ProducerOptions } from './producer.ts';
export { LoanCommands, loanCommandsEventType, type OutcomeOptions } from './loan-commands.ts';
export { isEventOf } from './types.ts';
export type * from './types.ts';

/** A service, and what one can do with it. Making one sends nothing. */
export class Lendstream {
  readonly #connection: Connection;
  /** Loan commands and their outcomes. */
  readonly commands: LoanCommands;

  /** @throws TypeError for a URL that is none */
  constructor(options: LendstreamOptions) {
    this.#connection = new Connection(options);
    this.commands = new LoanCommands(this.#connection);
  }

  /** The address of the service. */
  get url(): string {
    return this.#connection.url;
  }

  /**
   * The subscription of an application to event types; created if it is not there. It is identified by
   * `owning_application`, `consumer_group` and `event_types`: call it at each start.
   */
  async subscribe(definition: SubscriptionDefinition): Promise<Subscription> {
    // Another process may be creating the same one.
    const isRetryable = (error: LendstreamError): boolean => error.isRetryable || error.status === 409;
    return (await this.#connection.retried(
      'POST',
      '/subscriptions',
      { body: definition },
      isRetryable,
    )) as Subscription;
  }

  /**
   * Consumes a subscription: `for await (const batch of lendstream.consume(subscription)) ...`. See {@link Consumer}.
   * @param subscription The subscription or its id.
   */
  consume<Event = AnyEvent>(
    subscription: string | Pick<Subscription, 'id'>,
    options: ConsumeOptions = {},
  ): Consumer<Event> {
    return new Consumer(this.#connection, typeof subscription === 'string' ? subscription : subscription.id, options);
  }

  /** Follows an event type without a subscription: nothing is committed, and every caller gets all events. */
  tail<Event = AnyEvent>(
    eventType: string,
    options: TailOptions = {},
  ): AsyncGenerator<TailBatch<Event>, void, undefined> {
    return tail(this.#connection, eventType, options);
  }

  /**
   * Publishes events, and sends again those that the service does not store at once. They keep their `eid`: see
   * {@link newEvent}.
   * @throws PublishError when some are not known to be stored, LendstreamError when the service refuses the request
   */
  async publish(eventType: string, events: readonly object[], options: PublishOptions = {}): Promise<void> {
    await publishTexts(this.#connection, eventType, events.map(eventText), options);
  }

  /**
   * Deletes keys from a compacted event type: everything that was published under these
   * `metadata.partition_compaction_key` is to be forgotten.
   * @param options With `partition`, the one that holds these keys: an event type whose producers name the partitions
   *   (`user_defined`) needs it, all others delete the keys in every partition.
   * @throws like {@link publish}
   */
  async deleteKeys(eventType: string, keys: readonly string[], options: DeletionOptions = {}): Promise<void> {
    const { partition } = options;
    const texts = keys.map((key) =>
      eventText({ metadata: { eid: newId(), partition_compaction_key: key, partition } }),
    );
    await publishTexts(this.#connection, eventType, texts, options, 'deleted-events');
  }

  /** Publishes single events in few requests. */
  producer<Event extends object = object>(eventType: string, options: ProducerOptions = {}): Producer<Event> {
    return new Producer(this.#connection, eventType, options);
  }

  /**
   * How many events of each partition are not committed.
   * @param options With `timeLag`, also how long ago the first of them was stored: `consumer_lag_seconds`.
   */
  async lag(
    subscriptionId: string,
    options: { readonly timeLag?: boolean } = {},
  ): Promise<readonly EventTypeStatistics[]> {
    const path = `/subscriptions/${encodeURIComponent(subscriptionId)}/stats`;
    const query = { show_time_lag: options.timeLag === true ? true : undefined };
    const { items } = (await this.#connection.retried('GET', path, { query })) as {
      readonly items: readonly EventTypeStatistics[];
    };
    return items;
  }

  /** The committed cursors; empty before the first stream. */
  async cursors(subscriptionId: string): Promise<readonly Cursor[]> {
    const path = `/subscriptions/${encodeURIComponent(subscriptionId)}/cursors`;
    return ((await this.#connection.retried('GET', path)) as { readonly items: readonly Cursor[] }).items;
  }

  /**
   * Moves a subscription, forwards or back. Its streams end first, after their last commits: this may take as long as
   * their commit timeout. Partitions that are not named stay where they are.
   */
  async moveCursors(
    subscriptionId: string,
    cursors: readonly (Position & { readonly event_type: string })[],
  ): Promise<void> {
    const path = `/subscriptions/${encodeURIComponent(subscriptionId)}/cursors`;
    const body = { items: cursors };
    await this.#connection.requestText('PATCH', path, { body, milliseconds: moveMilliseconds });
  }

  /** The positions before the first events of a time, such as `2026-01-31T12:00:00Z`. */
  async cursorsAt(eventType: string, time: string): Promise<readonly Position[]> {
    const path = `/event-types/${encodeURIComponent(eventType)}/cursors-at`;
    return (await this.#connection.retried('POST', path, { body: { time } })) as readonly Position[];
  }

  async partitions(eventType: string): Promise<readonly Partition[]> {
    const path = `/event-types/${encodeURIComponent(eventType)}/partitions`;
    return (await this.#connection.retried('GET', path)) as readonly Partition[];
  }

  async subscription(subscriptionId: string): Promise<Subscription> {
    const path = `/subscriptions/${encodeURIComponent(subscriptionId)}`;
    return (await this.#connection.retried('GET', path)) as Subscription;
  }

  /** All subscriptions, in pages: the next one is asked for when the loop gets there. */
  async *subscriptions(
    filter: { readonly owning_application?: string; readonly event_type?: string } = {},
  ): AsyncGenerator<Subscription, void, undefined> {
    let path: string | undefined = '/subscriptions';
    let query: RequestOptions['query'] | undefined = { ...filter, limit: pageLimit, token: '' };
    while (path !== undefined) {
      const page = (await this.#connection.retried('GET', path, query === undefined ? {} : { query })) as {
        readonly items: readonly Subscription[];
        readonly _links?: { readonly next?: { readonly href: string } };
      };
      yield* page.items;
      path = page._links?.next?.href;
      query = undefined;
    }
  }

  async eventTypes(): Promise<readonly EventType[]> {
    return (await this.#connection.retried('GET', '/event-types')) as readonly EventType[];
  }

  async eventType(name: string): Promise<EventType> {
    return (await this.#connection.retried('GET', `/event-types/${encodeURIComponent(name)}`)) as EventType;
  }

  /** Defines an event type. @throws LendstreamError with status 409 when there is one of that name */
  async createEventType(definition: EventTypeDefinition): Promise<void> {
    await this.#connection.requestText('POST', '/event-types', { body: definition });
  }

  /** All versions of the schema of an event type, newest first. */
  async schemas(eventType: string): Promise<readonly EventTypeSchema[]> {
    const path = `/event-types/${encodeURIComponent(eventType)}/schemas`;
    const schemas: EventTypeSchema[] = [];
    for (let offset = 0; ; offset += pageLimit) {
      const query = { limit: pageLimit, offset };
      const { items } = (await this.#connection.retried('GET', path, { query })) as {
        readonly items: readonly EventTypeSchema[];
      };
      schemas.push(...items);
      if (items.length < pageLimit) return schemas;
    }
  }

  /** {@link request} for what changes nothing: it is repeated while the service is away. */
  get(path: string, options: RequestOptions = {}): Promise<unknown> {
    return this.#connection.retried('GET', path, options);
  }

  /**
   * Any other request of docs/api.md. It is sent once.
   * @returns the JSON of the response, with exact numbers; undefined without a body
   * @throws LendstreamError
   */
  request(method: string, path: string, options: RequestOptions = {}): Promise<unknown> {
    return this.#connection.request(method, path, options);
  }
}

/** The service waits for a minute, at the longest, for the last commits of streams. */
const moveMilliseconds = 90_000;

/** The most that a page of a list has. */
const pageLimit = 1_000;

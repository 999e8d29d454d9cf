/**
 * Subscriptions: who reads which event types, how far each has committed, and which stream owns which partition.
 * In: definitions, commits and resets. Out: subscriptions, cursors, lag, and the assignment of partitions.
 * Start with `Subscriptions` below. `commits.ts` handles commits, `rebalance.ts` the pure rule of assignment.
 */

import { isDeepStrictEqual } from 'node:util';
import { toTimestamp, type Clock } from '../../clock.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { withLock } from '../definitions/definition-locks.ts';
import type { Coordination } from '../../ports/coordination.ts';
import { checkAuthorizationChange, hasRole, type AuthorizationAttribute } from '../definitions/authorization.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { DefinitionOrder } from '../definitions/definition-views.ts';
import type { EventTypeRecord } from '../definitions/event-type.ts';
import { isSwitchedOn, refuseWhileReadOnly, refuseWithoutAuthorization } from '../definitions/feature-switches.ts';
import type { Registry, Revision } from '../definitions/registry.ts';
import { readSubscription, type SubscriptionDefinition } from './requested-subscription.ts';
import { withoutTimes } from '../cursors/times.ts';
import { checkInitialCursors } from './initial-cursors.ts';
import type { Subscription } from '../definitions/subscription.ts';
import { defaultStreamingLimits, type StreamingLimits } from '../definitions/streaming-limits.ts';
import { findSubscription, knownSubscription, subscriptionsByEventType } from '../definitions/subscription-lookup.ts';
import { pageAt, type TokenPage } from './token-pages.ts';
import { subscriptionId } from '../definitions/subscription-id.ts';

export interface SubscriptionsOptions {
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: StreamingLimits;
}

export interface CreatedSubscription {
  readonly outcome: 'created' | 'existing';
  readonly subscription: Subscription;
}

export interface SubscriptionFilter {
  readonly owningApplication?: string | undefined;
  /** All of them must be among the subscription's. */
  readonly eventTypes: readonly string[];
  /** One of its readers. */
  readonly reader?: AuthorizationAttribute | undefined;
  /** Whether the sender may see a subscription; absent when all may be seen. */
  readonly isVisible?: ((subscription: Subscription) => boolean) | undefined;
  /** Whether a subscription with these texts is wanted: its id, owner, group and event types. */
  readonly matches?: ((...texts: readonly string[]) => boolean) | undefined;
  /** By which order they are listed, in place of the newest first. Not for pages by id. */
  readonly compare?: ((left: Subscription, right: Subscription) => number) | undefined;
}

const oldestFirst: DefinitionOrder<Subscription> = {
  kind: 'subscription',
  compare: ({ created_at: left }, { created_at: right }) => (left === right ? 0 : left < right ? -1 : 1),
};

const byId: DefinitionOrder<Subscription> = {
  kind: 'subscription',
  compare: ({ id: left }, { id: right }) => (left === right ? 0 : left < right ? -1 : 1),
};

/** Creates, finds, changes and deletes subscriptions. A subscription is an entry of the registry under its id. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #partitionsMaximum: number;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#partitionsMaximum = (options.limits ?? defaultStreamingLimits).partitionsPerSubscription;
  }

  /**
   * Creates the subscription with this identity, or returns the existing one, in which case everything but the identity
   * is ignored. Of any number of requests at once, on any node, one gets 'created'.
   * @param body The JSON of the request.
   * @param refuseNew Called before one is created that does not exist; what it throws refuses the request.
   * @throws MALFORMED_REQUEST, FieldViolations, UNPROCESSABLE, SWITCHED_OFF, OVERLOADED
   */
  async create(
    body: Readonly<Record<string, unknown>>,
    refuseNew: () => void = () => {},
  ): Promise<CreatedSubscription> {
    const requested = readSubscription(body, this.#partitionsMaximum);
    const id = subscriptionId(requested.owning_application, requested.event_types, requested.consumer_group);
    const existing = this.#find(id);
    if (existing !== undefined) return { outcome: 'existing', subscription: existing };
    this.#refuseNew(requested);
    refuseNew();
    const definition = await this.#checked(requested);
    try {
      return await this.#locked<CreatedSubscription>(id, async (revision) => {
        const subscription = this.#find(id);
        if (subscription !== undefined) return { outcome: 'existing', subscription };
        return { outcome: 'created', subscription: await this.#store(id, definition, revision) };
      });
    } catch (error) {
      // Another request may have created it, for which this one took too long.
      const subscription = isLendstreamError(error, 'CONFLICT') ? this.#find(id) : undefined;
      if (subscription === undefined) throw error;
      return { outcome: 'existing', subscription };
    }
  }

  /** @throws SWITCHED_OFF, UNPROCESSABLE */
  #refuseNew({ authorization }: SubscriptionDefinition): void {
    const { registry } = this.#options;
    if (isSwitchedOn(registry, 'disable_subscription_creation')) {
      throw new LendstreamError('SWITCHED_OFF', 'Subscription creation is disabled');
    }
    refuseWhileReadOnly(registry);
    refuseWithoutAuthorization(registry, 'force_subscription_authz', authorization);
  }

  async #store(id: string, definition: SubscriptionDefinition, revision: Revision): Promise<Subscription> {
    const { coordination, clock } = this.#options;
    // Leftovers of a deleted subscription with this id must not move the new one.
    if ((await coordination.committedOffsets(id)).length > 0) {
      await revision.confirm();
      await coordination.remove(id);
    }
    const now = toTimestamp(clock.now());
    const subscription: Subscription = { ...definition, id, created_at: now, updated_at: now };
    await revision.put(subscription);
    try {
      // An event type whose deletion began before is known by now; a deletion that begins later sees the subscription.
      this.#partitionCounts(definition);
    } catch (error) {
      await revision.remove();
      throw error;
    }
    return subscription;
  }

  /**
   * The subscription with this id, which another process may have created a moment ago.
   * @throws NOT_FOUND, LOG_UNAVAILABLE when what others stored cannot be read in time
   */
  get(id: string): Promise<Subscription> {
    return findSubscription(this.#options.registry, id);
  }

  /**
   * Newest first.
   * @param page How many of the newest to leave out, and how many to return at most. Default: all.
   */
  list(
    filter: SubscriptionFilter,
    { offset, limit }: { readonly offset: number; readonly limit: number } = { offset: 0, limit: Infinity },
  ): Subscription[] {
    const found = this.#filtered(filter, oldestFirst);
    if (filter.compare !== undefined) return found.toSorted(filter.compare).slice(offset, offset + limit);
    return found.slice(Math.max(0, found.length - offset - limit), Math.max(0, found.length - offset)).toReversed();
  }

  /** How many subscriptions a filter leaves. */
  count(filter: SubscriptionFilter): number {
    return this.#filtered(filter, byId).length;
  }

  /**
   * A page of the list by id.
   * @param token That of an earlier page; empty for the first page.
   * @throws MALFORMED_REQUEST when it is no token
   */
  listByToken(filter: SubscriptionFilter, token: string, limit: number): TokenPage {
    return pageAt(this.#filtered(filter, byId), token, limit);
  }

  #filtered(
    { owningApplication, eventTypes, reader, isVisible, matches }: SubscriptionFilter,
    order: DefinitionOrder<Subscription>,
  ): readonly Subscription[] {
    const { registry } = this.#options;
    const [eventType] = eventTypes;
    const candidates =
      eventType === undefined
        ? registry.listSorted(order)
        : registry.listBy(subscriptionsByEventType, eventType).sort(order.compare);
    const isWhole = [owningApplication, reader, isVisible, matches].every((part) => part === undefined);
    if (isWhole && eventTypes.length <= 1) {
      return candidates;
    }
    return candidates.filter(
      (subscription) =>
        (isVisible?.(subscription) ?? true) &&
        (owningApplication === undefined || subscription.owning_application === owningApplication) &&
        eventTypes.every((name) => subscription.event_types.includes(name)) &&
        (reader === undefined || hasRole(subscription.authorization, 'readers', reader)) &&
        (matches?.(
          subscription.id,
          subscription.owning_application,
          subscription.consumer_group,
          ...subscription.event_types,
        ) ??
          true),
    );
  }

  /**
   * Changes authorization, annotations and labels. Annotations and labels that are left out stay the same.
   * @param body The JSON of the request, the whole subscription.
   * @throws NOT_FOUND, MALFORMED_REQUEST, FieldViolations, SWITCHED_OFF, UNPROCESSABLE for any other change
   */
  async update(id: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    const definition = readSubscription(body, this.#partitionsMaximum);
    refuseWhileReadOnly(this.#options.registry);
    await this.get(id);
    await this.#locked(id, async (revision) => {
      const current = knownSubscription(this.#options.registry, id);
      for (const field of fixedFields) {
        if (isDeepStrictEqual(definition[field], current[field])) continue;
        throw new LendstreamError('UNPROCESSABLE', `Not allowed to change ${field.replaceAll('_', ' ')}`);
      }
      checkAuthorizationChange(current.authorization, definition.authorization);
      await revision.put({
        ...current,
        authorization: definition.authorization,
        annotations: (body['annotations'] ?? null) === null ? current.annotations : definition.annotations,
        labels: (body['labels'] ?? null) === null ? current.labels : definition.labels,
        updated_at: toTimestamp(this.#options.clock.now()),
      } satisfies Subscription);
    });
  }

  /**
   * Deletes a subscription with its offsets. Its open streams end.
   * @throws NOT_FOUND, SWITCHED_OFF
   */
  async remove(id: string): Promise<void> {
    refuseWhileReadOnly(this.#options.registry);
    await this.get(id);
    await this.#locked(id, async (revision) => {
      knownSubscription(this.#options.registry, id);
      await revision.remove();
      // A request that has created it again since then has found what it left behind and removed that.
      if (await isSuperseded(revision)) return;
      await this.#options.coordination.remove(id);
    });
  }

  /**
   * Deletes all subscriptions of an event type.
   * @throws as {@link remove}
   */
  async removeAllOf(eventType: string): Promise<void> {
    const { registry } = this.#options;
    await registry.catchUp();
    for (const { id } of registry.listBy(subscriptionsByEventType, eventType)) {
      await this.remove(id).catch((error: unknown) => {
        // Another request has just deleted it.
        if (!isLendstreamError(error, 'NOT_FOUND')) throw error;
      });
    }
  }

  #find(id: string): Subscription | undefined {
    return this.#options.registry.get<Subscription>('subscription', id);
  }

  /** The definition with the offsets of times among its initial cursors. */
  async #checked(definition: SubscriptionDefinition): Promise<SubscriptionDefinition> {
    const { log, registry } = this.#options;
    // Another process may have defined one of them a moment ago.
    await Promise.all(definition.event_types.map((name) => registry.find('event-type', name)));
    const counts = this.#partitionCounts(definition);
    const partitions = [...counts].flatMap(([eventType, count]) =>
      Array.from({ length: count }, (_, partition) => ({ eventType, partition })),
    );
    if (partitions.length > this.#partitionsMaximum) {
      throw new LendstreamError(
        'UNPROCESSABLE',
        `total partition count for subscription is ${partitions.length}, ` +
          `but the maximum partition count is ${this.#partitionsMaximum}`,
      );
    }
    if (definition.read_from !== 'cursors') return definition;
    const bounds = await log.bounds(partitions.map(({ eventType, partition }) => ({ topic: eventType, partition })));
    const initialCursors = await withoutTimes(log, definition.initial_cursors, counts);
    const checked = { ...definition, initial_cursors: initialCursors };
    checkInitialCursors(checked, partitions, bounds);
    return checked;
  }

  /** @throws UNPROCESSABLE naming the event types that do not exist */
  #partitionCounts(definition: SubscriptionDefinition): Map<string, number> {
    const counts = new Map<string, number>();
    const unknown: string[] = [];
    for (const name of definition.event_types) {
      const record = this.#options.registry.get<EventTypeRecord>('event-type', name);
      if (record === undefined || record.deleting === true) unknown.push(`'${name}'`);
      else counts.set(name, record.partitionCount);
    }
    if (unknown.length > 0) {
      const detail = `Failed to create subscription, event type(s) not found: ${unknown.join(', ')}`;
      throw new LendstreamError('UNPROCESSABLE', detail);
    }
    return counts;
  }

  #locked<Result>(id: string, work: (revision: Revision) => Promise<Result>): Promise<Result> {
    return withLock(this.#options, { kind: 'subscription', name: id }, work);
  }
}

async function isSuperseded(revision: Revision): Promise<boolean> {
  try {
    await revision.confirm();
    return false;
  } catch (error) {
    if (isLendstreamError(error, 'CONFLICT')) return true;
    throw error;
  }
}

/** The fields that a change may not touch. */
const fixedFields = [
  'consumer_group',
  'event_types',
  'owning_application',
  'read_from',
  'initial_cursors',
] as const satisfies (keyof SubscriptionDefinition)[];

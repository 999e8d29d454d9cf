import { LendstreamError } from '../../errors.ts';
import type { CommittedOffset } from '../../ports/coordination.ts';
import type { PartitionBounds } from '../../ports/event-log.ts';
import { partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';
import { boundsByPartition } from '../../ports/partition-bounds.ts';
import { unavailabilityReason } from '../cursors/cursor-availability.ts';
import { formatOffset, parseOffset, parsePartition } from '../cursors/cursor-text.ts';
import { parseMoment, positionsBefore } from '../cursors/times.ts';
import type { Subscription } from '../definitions/subscription.ts';
import { findSubscription } from '../definitions/subscription-lookup.ts';
import type { CommitServices } from './commits.ts';
import { moveCursors } from './cursor-reset.ts';
import { fieldsOf, wrongType, type Fields } from '../definitions/json-fields.ts';
import { boundedList } from './requested-cursors.ts';
import { startingOffsets } from './starting-offsets.ts';
import { partitionCounts, partitionsOfSubscription } from './subscription-partitions.ts';

/** How far one partition moves. Offsets are those of the last event that counts as processed. */
export interface PartitionMove extends EventTypePartition {
  readonly before: number;
  readonly after: number;
  /** How many events will never be delivered. An upper bound on compacted topics. */
  readonly skipped: number;
  /** How many events will be delivered again. An upper bound on compacted topics. */
  readonly repeated: number;
}

export interface CursorMove {
  readonly items: readonly PartitionMove[];
  readonly isApplied: boolean;
  /** Streams that are open; a move ends them. */
  readonly openStreams: number;
}

/** Where cursors go. */
type Destination =
  | { readonly kind: 'begin' }
  | { readonly kind: 'end' }
  | { readonly kind: 'time'; readonly time: number }
  | { readonly kind: 'offset'; readonly offset: number }
  | { readonly kind: 'shift'; readonly shift: number }
  | { readonly kind: 'subscription'; readonly subscription: Subscription };

/**
 * Moves cursors of a subscription, or says what would happen.
 *
 * A request names where they go with `to`, and with `dry_run` gets the positions before and after. It can then be sent
 * again with the `items` of that response, which are applied as they are: only while every partition still is where it
 * was. Without either, the move is worked out when the streams have ended, and applied.
 *
 * @param body The JSON of the request.
 * @throws NOT_FOUND, MALFORMED_REQUEST; UNPROCESSABLE for a position that is not the subscription's or not held;
 *   CONFLICT when a partition has moved since, a reset is in progress or streams do not end; COORDINATION_UNAVAILABLE
 */
export async function moveSubscription(
  services: CommitServices,
  subscriptionId: string,
  body: Fields,
): Promise<CursorMove> {
  const { registry, coordination } = services;
  const subscription = await findSubscription(registry, subscriptionId);
  const { sessions } = await coordination.topology(subscription.id);
  const isDryRun = flagOf(body, 'dry_run');
  const to = body['to'] ?? null;
  const items = body['items'] ?? null;
  if ((to === null) === (items === null)) {
    throw new LendstreamError('MALFORMED_REQUEST', 'A request has either "to" or the "items" of a dry run.');
  }
  if (items !== null) {
    if (isDryRun) throw new LendstreamError('MALFORMED_REQUEST', 'The "items" of a dry run are applied: no "dry_run".');
    const wanted = readItems(items);
    const check = (): Promise<readonly PartitionMove[]> => confirmed(services, subscription, wanted);
    return applied(services, subscription, sessions.length, check);
  }
  const destination = await readDestination(services, to);
  const only = readOnly(body['only'] ?? null);
  const plan = (): Promise<readonly PartitionMove[]> => planned(services, subscription, destination, only);
  if (!isDryRun) return applied(services, subscription, sessions.length, plan);
  return { items: await plan(), isApplied: false, openStreams: sessions.length };
}

/** @param plan Called before streams end, so that a wrong request ends none, and again when they have ended. */
async function applied(
  services: CommitServices,
  subscription: Subscription,
  openStreams: number,
  plan: () => Promise<readonly PartitionMove[]>,
): Promise<CursorMove> {
  let items = await plan();
  if (items.length === 0) return { items, isApplied: true, openStreams };
  await moveCursors(services, subscription, partitionCounts(services.registry, subscription), async () => {
    items = await plan();
    return items.map(({ eventType, partition, after }) => ({ eventType, partition, offset: after }));
  });
  return { items, isApplied: true, openStreams };
}

interface Positions {
  readonly bounds: ReadonlyMap<string, PartitionBounds>;
  readonly before: ReadonlyMap<string, number>;
}

/** Where the partitions of a subscription are; if it was never streamed, where they would begin. */
async function positionsOf(
  { coordination, log, registry }: CommitServices,
  subscription: Subscription,
): Promise<Positions> {
  const partitions = partitionsOfSubscription(registry, subscription);
  const [committed, bounds] = await Promise.all([
    coordination.committedOffsets(subscription.id),
    log.bounds(partitions.map(({ eventType, partition }) => ({ topic: eventType, partition }))),
  ]);
  const all = [...committed, ...startingOffsets(subscription, bounds, committed)];
  return {
    bounds: boundsByPartition(bounds),
    before: new Map(all.map((position) => [partitionKey(position), position.offset])),
  };
}

async function planned(
  services: CommitServices,
  subscription: Subscription,
  destination: Destination,
  only: Selection,
): Promise<readonly PartitionMove[]> {
  const chosen = partitionsOfSubscription(services.registry, subscription).filter(
    ({ eventType, partition }) =>
      (only.eventType === undefined || eventType === only.eventType) &&
      (only.partition === undefined || partition === only.partition),
  );
  if (chosen.length === 0) throw new LendstreamError('UNPROCESSABLE', 'The subscription has no such partition.');
  const { bounds, before } = await positionsOf(services, subscription);
  const target = await targetOf(services, destination, chosen);
  return chosen.flatMap((partition) => {
    const key = partitionKey(partition);
    const held = bounds.get(key);
    const from = before.get(key);
    if (held === undefined || from === undefined) return [];
    const to = target(partition, held, from);
    return to === undefined ? [] : [moveOf({ ...partition, offset: from }, to, held)];
  });
}

/** Where a partition goes; undefined when it stays out of the move. */
type Target = (partition: EventTypePartition, held: PartitionBounds, before: number) => number | undefined;

async function targetOf(
  services: CommitServices,
  destination: Destination,
  chosen: readonly EventTypePartition[],
): Promise<Target> {
  if (destination.kind === 'begin') return (_partition, { earliest }) => earliest - 1;
  if (destination.kind === 'end') return (_partition, { latest }) => latest - 1;
  if (destination.kind === 'shift') return (_partition, held, before) => within(held, before + destination.shift);
  if (destination.kind === 'time') {
    const found = await positionsBefore(services.log, chosen, destination.time);
    const offsets = new Map(found.map((position) => [partitionKey(position), position.offset]));
    return (partition) => offsets.get(partitionKey(partition));
  }
  if (destination.kind === 'offset') return toOffset(destination.offset, chosen);
  const { before } = await positionsOf(services, destination.subscription);
  if (!chosen.some((partition) => before.has(partitionKey(partition)))) {
    throw new LendstreamError('UNPROCESSABLE', 'The two subscriptions have no partition in common.');
  }
  return (partition, held) => {
    const offset = before.get(partitionKey(partition));
    return offset === undefined ? undefined : within(held, offset);
  };
}

/** @throws UNPROCESSABLE for more than one partition; when it is called, for an offset that is not held */
function toOffset(offset: number, chosen: readonly EventTypePartition[]): Target {
  if (chosen.length > 1) {
    const detail = 'An offset is a place in one partition: name its event type and partition with "only".';
    throw new LendstreamError('UNPROCESSABLE', detail);
  }
  return ({ eventType, partition }, held) => {
    const reason = unavailabilityReason({ eventType, partition, offset }, held);
    if (reason !== undefined) throw new LendstreamError('UNPROCESSABLE', reason);
    return Math.max(offset, held.earliest - 1);
  };
}

/** The nearest position that can be read from. */
function within({ earliest, latest }: PartitionBounds, offset: number): number {
  return Math.min(Math.max(offset, earliest - 1), latest - 1);
}

function moveOf(
  { eventType, partition, offset }: CommittedOffset,
  after: number,
  held: PartitionBounds,
): PartitionMove {
  const heldAfter = (position: number): number => Math.max(position, held.earliest - 1);
  return {
    eventType,
    partition,
    before: offset,
    after,
    skipped: Math.max(0, heldAfter(after) - heldAfter(offset)),
    repeated: Math.max(0, heldAfter(offset) - heldAfter(after)),
  };
}

/**
 * The moves of a dry run, if every partition still is where it was then.
 * @throws CONFLICT, UNPROCESSABLE
 */
async function confirmed(
  services: CommitServices,
  subscription: Subscription,
  wanted: readonly RequestedMove[],
): Promise<readonly PartitionMove[]> {
  const { bounds, before } = await positionsOf(services, subscription);
  return wanted.map(({ eventType, partition, before: expected, after }) => {
    const key = partitionKey({ eventType, partition });
    const [held, from] = [bounds.get(key), before.get(key)];
    if (held === undefined || from === undefined) {
      throw new LendstreamError('UNPROCESSABLE', `The subscription has no partition ${partition} of ${eventType}.`);
    }
    if (from !== expected) {
      const detail =
        `Partition ${partition} of ${eventType} is at ${formatOffset(from)} now, no longer at ${formatOffset(expected)}: ` +
        'no cursor was moved. Ask for the move again.';
      throw new LendstreamError('CONFLICT', detail);
    }
    const reason = unavailabilityReason({ eventType, partition, offset: after }, held);
    if (reason !== undefined) throw new LendstreamError('UNPROCESSABLE', reason);
    return moveOf({ eventType, partition, offset: from }, after, held);
  });
}

interface RequestedMove extends EventTypePartition {
  readonly before: number;
  readonly after: number;
}

/** @throws MALFORMED_REQUEST, UNPROCESSABLE */
function readItems(value: unknown): RequestedMove[] {
  const items = boundedList(value);
  if (!Array.isArray(items)) throw wrongType('items', 'a list');
  const moves = items.map((item: unknown, index) => {
    const field = `items[${index}]`;
    const fields = fieldsOf(field, item) ?? {};
    const text = (name: string): string => {
      const given = fields[name];
      if (typeof given !== 'string') throw wrongType(`${field}.${name}`, 'a string');
      return given;
    };
    return {
      eventType: text('event_type'),
      partition: partitionOf(text('partition')),
      before: parseOffset(text('before')),
      after: parseOffset(text('after')),
    };
  });
  if (new Set(moves.map(partitionKey)).size < moves.length) {
    throw new LendstreamError('UNPROCESSABLE', 'A partition can be moved once in a request.');
  }
  return moves;
}

const destinations = ['position', 'time', 'offset', 'shift', 'subscription_id'] as const;

/** @throws MALFORMED_REQUEST, UNPROCESSABLE, NOT_FOUND for an unknown subscription */
async function readDestination({ registry }: CommitServices, value: unknown): Promise<Destination> {
  const to = fieldsOf('to', value) ?? {};
  const given = destinations.filter((name) => (to[name] ?? null) !== null);
  const [name] = given;
  if (name === undefined || given.length > 1) {
    throw new LendstreamError('MALFORMED_REQUEST', `Field "to" must have exactly one of ${destinations.join(', ')}.`);
  }
  const field = to[name];
  if (name === 'shift') {
    if (typeof field !== 'number' || !Number.isSafeInteger(field)) throw wrongType('to.shift', 'a whole number');
    return { kind: 'shift', shift: field };
  }
  if (typeof field !== 'string') throw wrongType(`to.${name}`, 'a string');
  if (name === 'time') return { kind: 'time', time: parseMoment(field) };
  if (name === 'offset') return { kind: 'offset', offset: parseOffset(field) };
  if (name === 'subscription_id') {
    return { kind: 'subscription', subscription: await findSubscription(registry, field) };
  }
  if (field === 'begin') return { kind: 'begin' };
  if (field === 'end') return { kind: 'end' };
  throw wrongType('to.position', 'begin or end');
}

/** Which partitions are moved; undefined for all. */
interface Selection {
  readonly eventType: string | undefined;
  readonly partition: number | undefined;
}

/** @throws MALFORMED_REQUEST, UNPROCESSABLE */
function readOnly(value: unknown): Selection {
  const only = fieldsOf('only', value) ?? {};
  const text = (name: string): string | undefined => {
    const given = only[name] ?? null;
    if (given !== null && typeof given !== 'string') throw wrongType(`only.${name}`, 'a string');
    return given ?? undefined;
  };
  const partition = text('partition');
  return { eventType: text('event_type'), partition: partition === undefined ? undefined : partitionOf(partition) };
}

/** @throws UNPROCESSABLE */
function partitionOf(text: string): number {
  const partition = parsePartition(text);
  if (partition === undefined) throw new LendstreamError('UNPROCESSABLE', `non existing partition ${text}`);
  return partition;
}

/** @throws MALFORMED_REQUEST */
function flagOf(body: Fields, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value !== 'boolean') throw wrongType(name, 'true or false');
  return value;
}

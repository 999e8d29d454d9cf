import type { EventFilter } from '../../../src/broker/streaming/filters/event-filter.ts';
import type { CommittedOffset } from '../../../src/ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../../src/ports/event-type-partition.ts';
import type { Offset } from '../../../src/ports/event-log.ts';
import type { SubscriptionSnapshot } from '../simulated-store.ts';
import { NodeLeases } from './leases.ts';
import type { PublishedPartition } from './published-events.ts';
import { WaitingStreams } from './waiting-streams.ts';

/** One line that reached a client, or was sent by a node. */
export interface ObservedLine {
  readonly subscriptionId: string;
  readonly streamId: string;
  readonly eventType: string;
  readonly partition: number;
  /** The position in the line. */
  readonly offset: Offset;
  /** The events as texts. */
  readonly events: readonly string[];
}

/** What was agreed with a stream when it was opened. */
export interface StreamRules {
  readonly batchLimit: number;
  /** How long an event may wait for others. */
  readonly flushMilliseconds: number;
  readonly uncommittedEventsMaximum: number;
  /** 0 means any number. */
  readonly streamLimit: number;
  /** Whether it may commit only what it was sent. */
  readonly strictCommits?: true;
  /** On the kind of the events, if there is one. */
  readonly filter?: EventFilter;
}

/** What is known of a partition in a subscription. */
export interface SubscribedPartition {
  readonly published: PublishedPartition;
  committed: Offset;
  /** The largest committed offset of each epoch. A reset begins an epoch. */
  readonly committedByEpoch: Offset[];
  /** By offset: a client has received it, or none had to. */
  readonly delivered: boolean[];
  /** Like `delivered`, and before the last reset, or passed over by a reset. */
  readonly everDelivered: boolean[];
  highestFence: number;
  /** The stream that closed as its owner and may still commit, until a time of the store's clock. */
  lastOwner: LastOwner | undefined;
  /** The largest offset that a client has asked to commit, and may have, since the last reset. */
  askedByClients: Offset;
  /** The positions that resets with an unknown outcome may have set. */
  readonly resetTargets: Set<Offset>;
  /** The position that the last reset has set. */
  lastReset: Offset | undefined;
  /** The streams that have owned it since the last reset and did not release it. */
  readonly holders: Set<string>;
  /** Those of the last reset that moved it, and of earlier ones. */
  readonly resetHolders: Set<string>;
  /** The store has lost its data, and does not have all commits yet that it had acknowledged. */
  isBehind: boolean;
  /** Since when no open session has owned it. Simulated milliseconds. */
  unownedSince: number | undefined;
  /** The stream that owns it, and since when. Simulated milliseconds. */
  owner: { readonly streamId: string; readonly since: number } | undefined;
}

interface LastOwner {
  readonly streamId: string;
  readonly until: number;
  /** What it was sent according to the store, if its commits are strict. */
  readonly sentOffsets: readonly CommittedOffset[] | undefined;
  /** A reset is under way, or has failed: it may have taken the right to commit. */
  isUncertain: boolean;
}

/** What is known of a stream. */
export interface ObservedStream {
  readonly rules: StreamRules;
  readonly nodeName: string;
  /** Simulated milliseconds. */
  readonly openedAt: number;
  readonly epochs: Map<string, number>;
  /** The last offset that a client received, by partition. */
  readonly received: Map<string, Offset>;
  /** Of the store when it was opened. */
  readonly incarnation: number;
  /** The partitions that others have owned since the store lost its data: what they did not commit comes again. */
  readonly repeated: Set<string>;
  /** The offsets of the events that the node has sent, by partition. */
  readonly sent: Map<string, Offset[]>;
  /** The same since the stream got the partition. */
  readonly sentAsOwner: Map<string, Offset[]>;
  /** The last cursor of each partition that the node has sent with events. */
  readonly sentThrough: Map<string, Offset>;
  /** The last event of each partition that left since the stream got it and before it began to end. */
  readonly sentBeforeEnd: Map<string, Offset>;
  receivedEvents: number;
  /** When its session was closed because the lease of its node had expired. Simulated milliseconds. */
  reapedAt: number | undefined;
}

/** What is known of a subscription. */
export interface ObservedSubscription {
  readonly id: string;
  readonly partitions: Map<string, SubscribedPartition>;
  readonly streams: Map<string, ObservedStream>;
  readonly waiting: WaitingStreams;
  readonly leases: NodeLeases;
  snapshot: SubscriptionSnapshot | undefined;
  /** Of the store in the last snapshot. */
  incarnation: number;
}

/** A subscription that has no partitions and streams yet. */
export function newSubscription(id: string): ObservedSubscription {
  const leases = new NodeLeases();
  const subscription: ObservedSubscription = {
    id,
    partitions: new Map(),
    streams: new Map(),
    waiting: new WaitingStreams((nodeId) =>
      subscription.snapshot?.isAwaitingNodes === true ? Infinity : leases.endsAt(nodeId),
    ),
    leases,
    snapshot: undefined,
    incarnation: 0,
  };
  return subscription;
}

export function streamOf({ streams }: ObservedSubscription, streamId: string): ObservedStream {
  const stream = streams.get(streamId);
  if (stream === undefined) throw new Error(`There is no stream ${streamId}`);
  return stream;
}

/** Notes a stream that a node has opened. */
export function addStream(
  { streams, partitions, incarnation }: ObservedSubscription,
  streamId: string,
  stream: Pick<ObservedStream, 'rules' | 'nodeName' | 'openedAt'>,
): void {
  const epochs = new Map<string, number>();
  for (const [key, { committedByEpoch }] of partitions) epochs.set(key, committedByEpoch.length - 1);
  streams.set(streamId, {
    ...stream,
    epochs,
    received: new Map(),
    incarnation,
    repeated: new Set(),
    sent: new Map(),
    sentThrough: new Map(),
    sentAsOwner: new Map(),
    sentBeforeEnd: new Map(),
    receivedEvents: 0,
    reapedAt: undefined,
  });
}

/** What is known of a partition, which a subscription may have got just now. */
export function subscribedPartition(
  { partitions }: ObservedSubscription,
  where: EventTypePartition,
  published: PublishedPartition,
  committed: readonly CommittedOffset[],
): SubscribedPartition {
  const key = partitionKey(where);
  const known = partitions.get(key);
  if (known !== undefined) return known;
  const offset = committed.find((position) => partitionKey(position) === key)?.offset ?? -1;
  const partition = {
    published,
    committed: offset,
    committedByEpoch: [offset],
    delivered: [],
    everDelivered: [],
    highestFence: -1,
    lastOwner: undefined,
    askedByClients: -1,
    resetTargets: new Set<Offset>(),
    lastReset: undefined,
    holders: new Set<string>(),
    resetHolders: new Set<string>(),
    isBehind: false,
    unownedSince: undefined,
    owner: undefined,
  };
  partitions.set(key, partition);
  return partition;
}

/** Whether the filter of a stream lets an event through, decided by parsing it. */
export function isWanted({ filter }: StreamRules, event: string): boolean {
  if (filter === undefined) return true;
  const { kind } = JSON.parse(event) as { readonly kind: number };
  return filter.conditions.every(({ text }) => Number(text.text) === kind);
}

import {
  comparePartitions,
  partitionKey,
  type EndedStream,
  type EventTypePartition,
  type LastCommit,
  type OpenSessionAnswer,
  type OwnershipState,
  type PartitionOwnership,
  type Session,
  type SubscriptionHistory,
  type Topology,
} from '../ports/coordination.ts';
import { parsePlace, sharedPlace } from './keys.ts';
import { readOffset, type StoredOffset } from './stored-offset.ts';

/** The forms in which Redis keeps sessions, owners and offsets, and the results of scripts. */

interface WrittenSession {
  readonly nodeId: string;
  readonly openedAt: number;
  readonly requestedPlaces: readonly string[];
  readonly commitTimeoutMilliseconds: number;
}

/** The form in which Redis keeps a session: JSON, without the id of its stream. */
export function writeSession({ nodeId, openedAt, requestedPartitions, commitTimeoutMilliseconds }: Session): string {
  return JSON.stringify({
    nodeId,
    openedAt,
    requestedPlaces: requestedPartitions.map(partitionKey),
    commitTimeoutMilliseconds,
  } satisfies WrittenSession);
}

function readSession(streamId: string, written: string): Session {
  const { nodeId, openedAt, requestedPlaces, commitTimeoutMilliseconds } = JSON.parse(written) as WrittenSession;
  const requestedPartitions = requestedPlaces.map(parsePlace);
  return { streamId, nodeId, requestedPartitions, openedAt, commitTimeoutMilliseconds };
}

const states: Readonly<Record<string, OwnershipState>> = { U: 'unassigned', A: 'assigned', R: 'reassigning' };

/**
 * @param streams The ids of the open streams, mapped to themselves. An owner keeps these strings, not slices of the
 *   text it was read from.
 */
function readOwner(
  { eventType, partition }: EventTypePartition,
  written: string,
  streams: ReadonlyMap<string, string>,
): PartitionOwnership {
  const [state = '', streamId, nextStreamId, fence] = written.split('|');
  return {
    eventType,
    partition,
    state: states[state] ?? 'unassigned',
    streamId: streamId === '' || streamId === undefined ? null : (streams.get(streamId) ?? streamId),
    nextStreamId:
      nextStreamId === '' || nextStreamId === undefined ? null : (streams.get(nextStreamId) ?? nextStreamId),
    fence: Number(fence),
  };
}

/**
 * Reads the topology of a subscription.
 * @param answer The result of topology.lua.
 */
export function readTopology(answer: readonly unknown[]): Topology {
  const [, generation, resetting, sessions, owners] = answer as [string, string, string, string[], string[]];
  const written = pairs(sessions);
  const streams = new Map(written.map(([streamId]) => [streamId, streamId]));
  return {
    generation: Number(generation),
    resetting: resetting === '1',
    sessions: written
      .map(([streamId, session]) => readSession(streamId, session))
      .sort((left, right) => (left.streamId < right.streamId ? -1 : 1)),
    partitions: pairs(owners)
      .map(([place, owner]) => readOwner(parsePlace(place), owner, streams))
      .sort(comparePartitions),
  };
}

/**
 * Reads the outcome of opening a session.
 * @param answer The result of open-session.lua.
 */
export function readOpening(answer: readonly unknown[]): OpenSessionAnswer {
  const [outcome, ...rest] = answer as string[];
  if (outcome === 'OPENED') return { outcome: 'opened' };
  if (outcome === 'RESETTING') return { outcome: 'resetting' };
  if (outcome === 'FULL') return { outcome: 'no_free_slots', totalSlots: Number(rest[0]) };
  return { outcome: 'partitions_taken', partitions: rest.map(parsePlace).sort(comparePartitions) };
}

/**
 * Reads offsets, by partition.
 * @param fields Partitions and offsets in turn.
 */
export function readOffsets(fields: readonly unknown[]): Map<string, StoredOffset> {
  return new Map(pairs(fields as string[]).map(([place, written]) => [sharedPlace(place), readOffset(written)]));
}

/** The members of a flat list in pairs, as Redis returns the fields and values of a hash. */
export function pairs(list: readonly string[]): [string, string][] {
  return Array.from({ length: list.length / 2 }, (_, index) => [list[index * 2] ?? '', list[index * 2 + 1] ?? '']);
}

/**
 * The values of remember.lua after the first two: the number of commits, the commits, and the ends with the newest
 * last.
 */
export function writeHistory({ lastCommits, endedStreams }: SubscriptionHistory): (string | number)[] {
  const commits = lastCommits.flatMap((commit) => {
    const { offset, committedAt } = commit;
    return [partitionKey(commit), JSON.stringify({ offset, committedAt } satisfies WrittenCommit)];
  });
  return [lastCommits.length, ...commits, ...endedStreams.toReversed().map((ended) => JSON.stringify(ended))];
}

type WrittenCommit = Omit<LastCommit, keyof EventTypePartition>;

/**
 * Reads the history of a subscription.
 * @param answer The result of history.lua.
 */
export function readHistory(answer: readonly unknown[]): SubscriptionHistory & { readonly since: number } {
  const [, since, commits, ends] = answer as [string, string, string[], string[]];
  return {
    since: Number(since),
    lastCommits: pairs(commits).map(([place, written]) => ({
      ...parsePlace(place),
      ...(JSON.parse(written) as WrittenCommit),
    })),
    endedStreams: ends.map((written) => JSON.parse(written) as EndedStream),
  };
}

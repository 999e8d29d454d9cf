import type { OwnershipChange, PartitionOwnership, Session } from '../../ports/coordination.ts';
import { comparePartitions, partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';

/**
 * Which partitions must change hands so that every open stream of a subscription has its share. Any stream may call
 * this at any time. The result depends on the arguments alone, not on their order, and is empty when there is nothing
 * to do.
 *
 * - A requested partition goes to the stream that requested it (of several, to the one opened first).
 * - The others are shared among the streams that requested nothing; their counts differ by at most one. With more such
 *   streams than partitions the ones opened last get none.
 * - A partition that is being reassigned to another stream already counts as that stream's.
 * - A partition moves only if it must. Those of closed streams are given away first. If more are needed, they come from
 *   streams above their share: first those still being reassigned to such a stream, then the last in order.
 * - A partition whose owner is open is only marked as reassigning; one whose owner is gone is assigned at once.
 *
 * @param sessions The open streams; a stream that is not among them is gone.
 * @returns The changes by event type, then partition.
 */
export function rebalance(sessions: readonly Session[], partitions: readonly PartitionOwnership[]): OwnershipChange[] {
  // The only stream that has everything keeps it, whatever it requested: how most subscriptions are, most of the time.
  const [only] = sessions;
  if (only !== undefined && sessions.length === 1 && partitions.every((ownership) => isAssignedTo(only, ownership))) {
    return [];
  }
  const openStreamIds = new Set(sessions.map(({ streamId }) => streamId));
  const ordered = [...partitions].sort(comparePartitions);
  const targets = requestedTargets(sessions, ordered);
  const shared = ordered.filter((ownership) => !targets.has(partitionKey(ownership)));
  for (const [key, streamId] of sharedTargets(autoStreams(sessions), shared, openStreamIds)) targets.set(key, streamId);
  return ordered.flatMap((ownership) => {
    const target = targets.get(partitionKey(ownership));
    const change = target === undefined ? undefined : changeTowards(target, ownership, openStreamIds);
    return change === undefined ? [] : [change];
  });
}

function isAssignedTo({ streamId }: Session, ownership: PartitionOwnership): boolean {
  return ownership.state === 'assigned' && ownership.streamId === streamId;
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function byAge(left: Session, right: Session): number {
  return left.openedAt - right.openedAt || compareText(left.streamId, right.streamId);
}

function requestedTargets(
  sessions: readonly Session[],
  partitions: readonly EventTypePartition[],
): Map<string, string> {
  const known = new Set(partitions.map(partitionKey));
  const targets = new Map<string, string>();
  for (const { streamId, requestedPartitions } of [...sessions].sort(byAge)) {
    for (const key of requestedPartitions.map(partitionKey)) {
      if (known.has(key) && !targets.has(key)) targets.set(key, streamId);
    }
  }
  return targets;
}

/** The streams that take any partition, oldest first. */
function autoStreams(sessions: readonly Session[]): string[] {
  return sessions
    .filter(({ requestedPartitions }) => requestedPartitions.length === 0)
    .sort(byAge)
    .map(({ streamId }) => streamId);
}

/** The stream that owns the partition, or will own it when nothing changes; undefined when there is none. */
function ownerOf(ownership: PartitionOwnership, openStreamIds: ReadonlySet<string>): string | undefined {
  const { state, streamId, nextStreamId } = ownership;
  if (state === 'reassigning' && nextStreamId !== null && openStreamIds.has(nextStreamId)) return nextStreamId;
  return streamId !== null && openStreamIds.has(streamId) ? streamId : undefined;
}

function sharedTargets(
  streams: readonly string[],
  partitions: readonly PartitionOwnership[],
  openStreamIds: ReadonlySet<string>,
): Map<string, string> {
  const assigned = new Map<string, PartitionOwnership[]>(
    streams.slice(0, partitions.length).map((streamId) => [streamId, []]),
  );
  const unassigned: PartitionOwnership[] = [];
  for (const ownership of partitions) {
    const owner = ownerOf(ownership, openStreamIds);
    ((owner === undefined ? undefined : assigned.get(owner)) ?? unassigned).push(ownership);
  }

  const shares = sharesOf(assigned, partitions.length);
  for (const [streamId, kept] of assigned) {
    const surplus = kept.length - (shares.get(streamId) ?? 0);
    if (surplus <= 0) continue;
    const released = new Set([...kept].sort(movableFirst).slice(0, surplus));
    assigned.set(
      streamId,
      kept.filter((ownership) => !released.has(ownership)),
    );
    unassigned.push(...kept.filter((ownership) => released.has(ownership)));
  }

  const targets = new Map<string, string>();
  for (const [streamId, share] of [...shares].sort(([left], [right]) => compareText(left, right))) {
    const kept = assigned.get(streamId) ?? [];
    for (const ownership of [...kept, ...unassigned.splice(0, share - kept.length)]) {
      targets.set(partitionKey(ownership), streamId);
    }
  }
  return targets;
}

/** Equal shares; the remainder goes to the streams that hold most already, so that it need not move. */
function sharesOf(assigned: ReadonlyMap<string, readonly unknown[]>, total: number): Map<string, number> {
  const base = assigned.size === 0 ? 0 : Math.floor(total / assigned.size);
  const remainder = assigned.size === 0 ? 0 : total % assigned.size;
  const byAssigned = [...assigned].sort(
    ([leftId, left], [rightId, right]) => right.length - left.length || compareText(leftId, rightId),
  );
  return new Map(byAssigned.map(([streamId], index) => [streamId, base + (index < remainder ? 1 : 0)]));
}

function movableFirst(left: PartitionOwnership, right: PartitionOwnership): number {
  const underWay = Number(right.state === 'reassigning') - Number(left.state === 'reassigning');
  return underWay || comparePartitions(right, left);
}

function changeTowards(
  target: string,
  ownership: PartitionOwnership,
  openStreamIds: ReadonlySet<string>,
): OwnershipChange | undefined {
  const { eventType, partition, state, streamId, nextStreamId } = ownership;
  const ownerIsOpen = state !== 'unassigned' && streamId !== null && openStreamIds.has(streamId);
  if (!ownerIsOpen || streamId === target) {
    const alreadyAssigned = state === 'assigned' && streamId === target;
    return alreadyAssigned
      ? undefined
      : { eventType, partition, state: 'assigned', streamId: target, nextStreamId: null };
  }
  const underWay = state === 'reassigning' && nextStreamId === target;
  return underWay ? undefined : { eventType, partition, state: 'reassigning', streamId, nextStreamId: target };
}

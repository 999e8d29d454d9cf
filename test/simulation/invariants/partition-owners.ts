import type { PartitionOwnership } from '../../../src/ports/coordination.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { InvariantsOptions } from './invariants-options.ts';
import type { ObservedSubscription } from './observed-subscriptions.ts';
import type { StoreChange } from './store-change.ts';
import { Violation } from './violation.ts';

/** How long a partition may have no owner while everything works: the lease and the time to detect its end. */
const unownedMillisecondsBeyondLease = 1_000;

/** The same where nodes look for dead ones in rounds, and not while others may come back from an outage. */
const unownedMillisecondsBeyondLeaseInRounds = 5_000;

/** What the store says of a partition agrees with itself. I11: no stream owns it whose session has ended. */
export function checkState({ after: { topology } }: StoreChange, now: PartitionOwnership, key: string): void {
  if ((now.state === 'unassigned') !== (now.streamId === null)) throw new Violation(`${key} is ${now.state} and owned`);
  if ((now.state === 'reassigning') !== (now.nextStreamId !== null)) {
    throw new Violation(`${key} is ${now.state} and goes to ${now.nextStreamId}`);
  }
  if (now.streamId === null || topology.sessions.some(({ streamId }) => streamId === now.streamId)) return;
  throw new Violation(`I11: ${key} is owned by ${now.streamId}, whose session has ended`);
}

/** Notes which stream owns each partition, and since when. */
export function noteOwners(
  { partitions, streams }: ObservedSubscription,
  { after: { topology } }: StoreChange,
  nowMilliseconds: number,
): void {
  for (const ownership of topology.partitions) {
    const partition = partitions.get(partitionKey(ownership));
    if (partition === undefined) continue;
    const { streamId } = ownership;
    if (streamId === null) {
      partition.unownedSince ??= nowMilliseconds;
      partition.owner = undefined;
    } else {
      partition.unownedSince = undefined;
      partition.lastOwner = undefined;
      if (partition.owner?.streamId === streamId) continue;
      partition.owner = { streamId, since: nowMilliseconds };
      // What it sent when it had the partition before is not its own any more.
      const stream = streams.get(streamId);
      stream?.sentAsOwner.delete(partitionKey(ownership));
      stream?.sentBeforeEnd.delete(partitionKey(ownership));
    }
  }
}

/** Partitions that have no owner get the whole time again to get one. */
export function restartUnowned({ partitions }: ObservedSubscription, nowMilliseconds: number): void {
  for (const partition of partitions.values()) {
    if (partition.unownedSince !== undefined) partition.unownedSince = nowMilliseconds;
  }
}

/**
 * I11: while everything works, each partition has an owner.
 * @param isServed Whether a stream accepts any partition.
 */
export function checkOwned(
  subscription: ObservedSubscription,
  isServed: boolean,
  { nowMilliseconds, leaseMilliseconds, mayLoseCommits }: InvariantsOptions,
): void {
  const beyondLease = mayLoseCommits ? unownedMillisecondsBeyondLeaseInRounds : unownedMillisecondsBeyondLease;
  const maximum = leaseMilliseconds + beyondLease;
  if (!isServed) restartUnowned(subscription, nowMilliseconds());
  for (const [key, { unownedSince }] of subscription.partitions) {
    if (unownedSince === undefined || nowMilliseconds() - unownedSince <= maximum) continue;
    throw new Violation(`I11: ${key} of ${subscription.id} has had no owner for more than ${maximum} ms`);
  }
}

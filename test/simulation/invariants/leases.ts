import type { Session } from '../../../src/ports/coordination.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { InvariantsOptions } from './invariants-options.ts';
import type { ObservedStream, ObservedSubscription } from './observed-subscriptions.ts';
import { Violation } from './violation.ts';

/**
 * The leases of nodes for their sessions of one subscription, as they were reported to the store. A cluster keeps those
 * of each shard, so the same node may have others for another subscription.
 */
export class NodeLeases {
  /** By node: when its lease ends, on the clock of the store, and when that was reported, in simulated time. */
  readonly #leases = new Map<
    string,
    { readonly endsAtMilliseconds: number; readonly reportedAtMilliseconds: number }
  >();

  renewed(nodeId: string, endsAtMilliseconds: number, reportedAtMilliseconds: number): void {
    this.#leases.set(nodeId, { endsAtMilliseconds, reportedAtMilliseconds });
  }

  /** When a lease ends, on the clock of the store; 0 when the store does not know it. Milliseconds. */
  endsAt(nodeId: string): number {
    return this.#leases.get(nodeId)?.endsAtMilliseconds ?? 0;
  }

  /** The store has lost its data. It may have got the first ones back. */
  forgetBefore(nowMilliseconds: number): void {
    for (const [nodeId, { reportedAtMilliseconds }] of this.#leases) {
      if (reportedAtMilliseconds < nowMilliseconds) this.#leases.delete(nodeId);
    }
  }
}

/** I5: a session that was not closed ends only when the lease of its node has ended. */
export function checkReaped(
  { streams, leases }: ObservedSubscription,
  { streamId, nodeId }: Session,
  storeTime: number,
  nowMilliseconds: number,
): void {
  const leaseEndsAt = leases.endsAt(nodeId);
  if (leaseEndsAt > storeTime) {
    throw new Violation(
      `I5: ${streamId} lost its session ${leaseEndsAt - storeTime} ms before the lease of ${nodeId} ends`,
    );
  }
  const stream = streams.get(streamId);
  if (stream !== undefined) stream.reapedAt = nowMilliseconds;
}

/**
 * A node must not send once others may have taken over. Only a node that cannot reach the store may not know that,
 * until its lease is renewed.
 */
export function checkExclusive(
  { snapshot }: ObservedSubscription,
  { reapedAt, nodeName }: ObservedStream,
  streamId: string,
  key: string,
  { storeFailedAtMilliseconds, renewedAtMilliseconds, leaseMilliseconds }: InvariantsOptions,
): void {
  if (reapedAt === undefined) return;
  const owner = snapshot?.topology.partitions.find((partition) => partitionKey(partition) === key)?.streamId;
  if (owner === undefined || owner === null || owner === streamId) return;
  const hasFailed = storeFailedAtMilliseconds(nodeName) > reapedAt - 3 * leaseMilliseconds;
  if (hasFailed && renewedAtMilliseconds(nodeName) <= reapedAt) return;
  throw new Violation(`${streamId} sent events of ${key} after its lease had ended and ${owner} had taken over`);
}

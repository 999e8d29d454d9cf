import type { Coordination, Topology } from '../../ports/coordination.ts';
import { rebalance } from './rebalance.ts';

/**
 * How a stream gets its partitions: where a subscription starts, which streams may open, and how open streams share.
 */

/** How often a lost race for the topology is repeated before the stream waits for the next change. */
const rebalanceAttemptsMaximum = 10;

/**
 * Brings the ownership of partitions in line with the open streams and returns the resulting topology. Every stream
 * does this on every change; the first one applies it, and the others find nothing left to do.
 */
export async function applyRebalance(coordination: Coordination, subscriptionId: string): Promise<Topology> {
  let topology = await coordination.topology(subscriptionId);
  for (let attempt = 1; attempt < rebalanceAttemptsMaximum; attempt += 1) {
    const changes = rebalance(topology.sessions, topology.partitions);
    if (changes.length === 0) break;
    // The read follows the change without waiting for its outcome. One that overtakes it only means one more attempt.
    [, topology] = await Promise.all([
      coordination.applyOwnership(subscriptionId, topology.generation, changes),
      coordination.topology(subscriptionId),
    ]);
  }
  return topology;
}

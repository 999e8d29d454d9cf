import type { Session } from '../../../src/ports/coordination.ts';
import type { StoreOperation } from '../simulated-store.ts';
import { noteLastOwner } from './commit-rights.ts';
import { checkReaped } from './leases.ts';
import type { ObservedSubscription } from './observed-subscriptions.ts';
import type { StoreChange } from './store-change.ts';
import { Violation } from './violation.ts';

/** No session opens during a reset, and each that ends was closed, or its node could not keep it. */
export function checkSessions(subscription: ObservedSubscription, change: StoreChange, nowMilliseconds: number): void {
  const { before, after, operations, storeTime } = change;
  const open = new Set(after.topology.sessions.map(({ streamId }) => streamId));
  const known = new Set(before?.topology.sessions.map(({ streamId }) => streamId));
  if (before?.topology.resetting === true && after.topology.resetting) {
    for (const streamId of open) if (!known.has(streamId)) throw new Violation(`${streamId} opened during a reset`);
  }
  for (const session of before?.topology.sessions ?? []) {
    if (open.has(session.streamId)) continue;
    const closing = operations.find(
      ({ method, arguments: [, streamId] }) => method === 'closeSession' && streamId === session.streamId,
    );
    if (operations.some((operation) => closesByMerge(operation, session))) continue;
    if (closing === undefined) checkReaped(subscription, session, storeTime, nowMilliseconds);
    if (closing?.arguments[2] !== 'refused') noteLastOwner(subscription, change, session);
  }
}

/** Whether a node brings back what it knows, and no longer knows a session of its own. */
function closesByMerge({ method, arguments: args }: StoreOperation, { streamId, nodeId }: Session): boolean {
  if (method !== 'merge') return false;
  const [, nodeIds, streamIds] = args as [string, readonly string[], readonly string[]];
  return nodeIds.includes(nodeId) && !streamIds.includes(streamId);
}

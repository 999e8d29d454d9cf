import { randomUUID } from 'node:crypto';
import { formatOffset } from '../cursors/cursor-text.ts';
import { findSubscription } from '../definitions/subscription-lookup.ts';
import type { CommitServices, SubscriptionCursor } from './commits.ts';

/**
 * The committed cursors, by event type and partition; empty before the subscription was first streamed or reset. Each
 * call makes new tokens.
 * @throws NOT_FOUND
 */
export async function listCursors(services: CommitServices, subscriptionId: string): Promise<SubscriptionCursor[]> {
  await findSubscription(services.registry, subscriptionId);
  const committed = await services.coordination.committedOffsets(subscriptionId);
  return committed.map(({ eventType, partition, offset }) => ({
    partition: String(partition),
    offset: formatOffset(offset),
    event_type: eventType,
    cursor_token: randomUUID(),
  }));
}

import { deadLetterQueue } from '../broker/definitions/unprocessable-events.ts';
import { deadLettersTopic } from '../lending-format/lending-topics.ts';
import type { Permission } from './permissions.ts';

/** The event type whose events say who did what. */
export const auditEventType = 'lendstream.audit';

/** Event types of the service whose events say more than others: reading them needs a permission of its own. */
const readPermissions: ReadonlyMap<string, Permission> = new Map([
  [deadLetterQueue, 'dead-letters:read'],
  [deadLettersTopic, 'dead-letters:read'],
  [auditEventType, 'audit:read'],
]);

/** The permission that reading the events of an event type needs. */
export function readPermissionOf(eventType: string): Permission {
  return readPermissions.get(eventType) ?? 'events:read';
}

/**
 * The permission that an operation on an event type needs. To read the audit, `audit:read` is enough: who audits need
 * not see the events of customers.
 */
export function permissionFor(needed: Permission, eventType: string | undefined): Permission {
  return needed === 'events:read' && eventType === auditEventType ? 'audit:read' : needed;
}

import { deadLetterQueue } from '../broker/definitions/unprocessable-events.ts';
import { deadLettersTopic } from '../lending-format/lending-topics.ts';
import type { Permission } from './permissions.ts';

/** The event type whose events say who did what. */
export const auditEventType = 'lendstream.audit';

const forDeadLetters: readonly Permission[] = ['events:read', 'dead-letters:read'];

/**
 * What reading the events of event types of the service needs, whose events say more than others. To read the audit,
 * `audit:read` is enough: who audits need not see the events of customers.
 */
const readPermissions: ReadonlyMap<string, readonly Permission[]> = new Map([
  [deadLetterQueue, forDeadLetters],
  [deadLettersTopic, forDeadLetters],
  [auditEventType, ['audit:read']],
]);

const forOthers: readonly Permission[] = ['events:read'];

/** The permissions that reading the events of an event type needs, all of them. */
export function readPermissionsOf(eventType: string): readonly Permission[] {
  return readPermissions.get(eventType) ?? forOthers;
}

/** The one permission that reading the events of an event type with a subscription needs. */
export function readPermissionOf(eventType: string): Permission {
  return readPermissionsOf(eventType).at(-1) ?? 'events:read';
}

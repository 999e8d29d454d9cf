import { deadLetterQueue } from '../broker/definitions/unprocessable-events.ts';
import { deadLettersTopic } from '../lending-format/lending-topics.ts';
import type { Permission } from './permissions.ts';

/** Event types of the service whose events say more than others: reading them needs a permission of its own. */
const readPermissions: ReadonlyMap<string, Permission> = new Map([
  [deadLetterQueue, 'dead-letters:read'],
  [deadLettersTopic, 'dead-letters:read'],
]);

/** The permission that reading the events of an event type needs. */
export function readPermissionOf(eventType: string): Permission {
  return readPermissions.get(eventType) ?? 'events:read';
}

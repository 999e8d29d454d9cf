import type { EventTypeRecord } from '../broker/definitions/event-type.ts';
import type { Subscription } from '../broker/definitions/subscription.ts';
import { isRegistered, userName, type Principal } from './principal.ts';

/**
 * What a principal wants with one event type or subscription: `see` its definition, `read` its events, `write` events,
 * or `manage` its definition.
 */
export type Access = 'see' | 'read' | 'write' | 'manage';

/** The parts of a definition that decide. */
interface Owned {
  readonly owning_application: string;
  readonly authorization: Readonly<Record<string, unknown>> | null;
}

/** The roles of an `authorization` that give each access. */
const rolesFor: Readonly<Record<Access, readonly string[]>> = {
  see: ['readers', 'writers', 'admins'],
  read: ['readers'],
  write: ['writers'],
  manage: ['admins'],
};

/**
 * Whether a principal may do this with an event type. Its owner may do everything, others what `authorization` gives.
 * Without an `authorization`, all may see it and read its events. An event type of the service belongs to no
 * application: the permissions alone decide about its events.
 */
export function mayUseEventType(
  principal: Principal,
  { eventType, system }: Pick<EventTypeRecord, 'eventType' | 'system'>,
  access: Access,
): boolean {
  if (system) return true;
  const isUnguarded = eventType.authorization === null && (access === 'see' || access === 'read');
  return isUnguarded || mayUse(principal, eventType, access);
}

/** Whether a principal may do this with a subscription: its owner may, and those that `authorization` names. */
export function mayUseSubscription(principal: Principal, subscription: Subscription, access: Access): boolean {
  return mayUse(principal, subscription, access);
}

function mayUse(principal: Principal, { owning_application: owner, authorization }: Owned, access: Access): boolean {
  if (isOwner(principal, owner)) return true;
  return rolesFor[access].some((role) => isNamed(principal, authorization?.[role]));
}

/** Whether a principal acts for an application: for its own, or for any. */
export function isOwner({ isUnrestricted, application, permissions }: Principal, owningApplication: string): boolean {
  return isUnrestricted || permissions.has('any-application') || application === owningApplication;
}

/** Whether a list of attributes names a principal. Definitions stored before roles were checked may have any form. */
function isNamed(principal: Principal, attributes: unknown): boolean {
  return Array.isArray(attributes) && attributes.some((attribute) => isNamedBy(principal, attribute));
}

function isNamedBy(principal: Principal, attribute: unknown): boolean {
  const { name, application, scopes, credential } = principal;
  if (typeof attribute !== 'object' || attribute === null) return false;
  const { data_type: type, value } = attribute as Readonly<Record<string, unknown>>;
  if (typeof value !== 'string') return false;
  switch (type) {
    case '*':
      return value === '*';
    case 'service':
    case 'application':
      return value === application;
    case 'key':
      return isRegistered(principal) && value === name;
    case 'user':
      return credential.kind === 'access-token' && userName(value) === name;
    case 'role':
      return scopes.includes(value);
    default:
      return false;
  }
}

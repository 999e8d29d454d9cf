/**
 * Who may do what.
 * In: credentials, and the definitions of event types and subscriptions. Out: a principal, and whether it may do what
 * it asks for. Start with the permissions below. `principal.ts` says who sends a request, `api-keys.ts` stores keys,
 * and `resource-access.ts` decides about one event type or subscription.
 */

import { type CommandType, commandTypes } from '../lending-format/command-format.ts';
import { isProductCommand } from '../lending-format/product-commands.ts';

/** Each loan command has a permission of its own, which begins with this. */
const commandPermissionPrefix = 'loan-commands:';

/** Each permission, and what it allows, as the documents and the admin page show it. */
export const permissionTexts = {
  'event-types:read': 'see event types, their schemas and partitions',
  'event-types:manage': 'create, change and delete event types',
  'events:read': 'read events, with a subscription or without',
  'events:publish': 'publish events, and delete keys of compacted event types',
  'subscriptions:read': 'see subscriptions, their cursors and lag',
  'subscriptions:manage': 'create, change and delete subscriptions, and move their cursors',
  'subscriptions:consume': 'open streams of subscriptions, and commit',
  'dead-letters:read': 'see dead letters',
  'dead-letters:manage': 'mark dead letters, and send them again',
  'settings:read': 'see the blacklist and the features',
  'settings:manage': 'block producers and consumers, and switch features',
  'operations:read': 'see metrics, the overview and the version',
  'loans:read': 'see loans, their schedules, transactions and events',
  'loan-commands:*': 'send all commands on loans',
  'loan-products:read': 'see loan products',
  'loan-products:manage': 'create, change and delete loan products',
  'business-days:close': 'close business days',
  'organization:read': 'see the organization, branches, calendars, custom fields and toggles',
  'organization:manage': 'change the organization, branches, calendars and custom fields',
  'toggles:manage': 'switch the feature toggles of lending',
  'keys:manage': 'create and revoke API keys',
  'audit:read': 'read who did what',
  'any-application': 'reach event types and subscriptions of every application',
} as const;

/** A permission of `permissionTexts`, or that of one command, such as `loan-commands:REPAY`. */
export type Permission = keyof typeof permissionTexts | `${typeof commandPermissionPrefix}${CommandType}`;

/** Named sets of permissions. */
export const rolePermissions = {
  consumer: ['event-types:read', 'events:read', 'subscriptions:read', 'subscriptions:manage', 'subscriptions:consume'],
  producer: ['event-types:read', 'event-types:manage', 'events:publish', 'loan-commands:*'],
  officer: ['loans:read', 'loan-products:read', 'organization:read', 'loan-commands:*'],
  operator: [
    'event-types:read',
    'subscriptions:read',
    'subscriptions:manage',
    'dead-letters:read',
    'dead-letters:manage',
    'settings:read',
    'settings:manage',
    'operations:read',
    'organization:read',
    'any-application',
    'business-days:close',
  ],
  auditor: ['audit:read', 'event-types:read', 'subscriptions:read', 'subscriptions:manage', 'subscriptions:consume'],
  admin: Object.keys(permissionTexts) as (keyof typeof permissionTexts)[],
} as const satisfies Readonly<Record<string, readonly Permission[]>>;

export type Role = keyof typeof rolePermissions;

export function isRole(text: string): text is Role {
  return Object.hasOwn(rolePermissions, text);
}

/** Whether a text is the name of a permission. */
export function isPermission(text: string): text is Permission {
  if (Object.hasOwn(permissionTexts, text)) return true;
  return commandTypes.some((type) => permissionOfCommand(type) === text);
}

/** The permission that a command needs. Those on products and business days belong to a permission of their own. */
export function permissionOfCommand(type: CommandType): Permission {
  if (isProductCommand(type)) return 'loan-products:manage';
  if (type === 'END_OF_DAY' || type === 'START_BUSINESS_DAY') return 'business-days:close';
  return `${commandPermissionPrefix}${type}`;
}

/** The permissions of scopes, each of them a role or a permission. What is neither gives none. */
export function permissionsOf(scopes: readonly string[]): ReadonlySet<Permission> {
  return new Set(
    scopes.flatMap((scope) => (isRole(scope) ? rolePermissions[scope] : isPermission(scope) ? [scope] : [])),
  );
}

/** Whether a set has a permission, by its own name or because it has those of all loan commands. */
export function includesPermission(permissions: ReadonlySet<Permission>, permission: Permission): boolean {
  if (permissions.has(permission)) return true;
  return permission.startsWith(commandPermissionPrefix) && permissions.has('loan-commands:*');
}

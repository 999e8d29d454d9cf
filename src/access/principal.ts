import type { OwnLimits } from './limits/key-limits.ts';
import { includesPermission, permissionsOf, type Permission } from './permissions.ts';

/** Who sends a request, and what it may do. */
export interface Principal {
  /** What events, definitions and the audit call it: the name of its key, or the subject of its token. */
  readonly name: string;
  /** The application that it acts for; null for one that acts for none. */
  readonly application: string | null;
  /** Roles and permissions, as they were granted. */
  readonly scopes: readonly string[];
  readonly permissions: ReadonlySet<Permission>;
  /** Nothing is refused, so nothing is looked up: the service is open, or the key is one of its environment. */
  readonly isUnrestricted: boolean;
  readonly credential: Credential;
  /** The limits that were granted to it; for the others, and without any, the settings decide. */
  readonly limits?: OwnLimits;
}

/** How a principal proved who it is. */
export type Credential =
  /** It did not: the service is open to its own machine. */
  | { readonly kind: 'none' }
  /** A key of the settings. @see Config.apiKeys */
  | { readonly kind: 'environment-key'; readonly index: number }
  /** A key of the registry, by its name. */
  | { readonly kind: 'api-key' }
  /** A signed token of an identity provider. */
  | { readonly kind: 'access-token'; readonly expiresAt: number }
  /** A certificate, for which the registry has a key; `expiresAt` where it is known. */
  | { readonly kind: 'certificate'; readonly expiresAt?: number | undefined };

/** The name of senders without credentials while none are needed. Their events carry it. */
export const anonymousName = 'unauthenticated';

/** The principal of every request to an open service. */
export const anonymous: Principal = {
  name: anonymousName,
  application: null,
  scopes: ['admin'],
  permissions: permissionsOf(['admin']),
  isUnrestricted: true,
  credential: { kind: 'none' },
};

/** The principal of a key of the settings, which may do everything. @param index Its place among them, from 0. */
export function environmentPrincipal(index: number): Principal {
  return { ...anonymous, name: `environment-key-${index + 1}`, credential: { kind: 'environment-key', index } };
}

/**
 * The name of the principal of an access token. No key can have it, so nothing that is granted to a key is granted to a
 * user with the same name.
 */
export function userName(subject: string): string {
  return `user:${subject}`;
}

/** Whether the registry has the principal's rights, under its name: they can change and be revoked at any time. */
export function isRegistered({ credential }: Principal): boolean {
  return credential.kind === 'api-key' || credential.kind === 'certificate';
}

/** A principal that may do what its scopes allow. */
export function restrictedPrincipal(
  name: string,
  application: string | null,
  scopes: readonly string[],
  credential: Credential,
  limits: OwnLimits = {},
): Principal {
  const permissions = permissionsOf(scopes);
  return { name, application, scopes, permissions, isUnrestricted: false, credential, limits };
}

/** Whether a principal has a permission. */
export function hasPermission({ isUnrestricted, permissions }: Principal, permission: Permission): boolean {
  return isUnrestricted || includesPermission(permissions, permission);
}

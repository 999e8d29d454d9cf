import { wrongType } from '../broker/definitions/json-fields.ts';
import { readMoment, toTimestamp } from '../clock.ts';
import { FieldViolations, type FieldViolation } from '../errors.ts';
import { keyLimitBounds, keyLimitNames, type OwnLimits } from './limits/key-limits.ts';
import { isPermission, isRole } from './permissions.ts';

/** Reading an API key as a client asks for it. Pure. */

/** The parts of a key that its creator chooses. */
export interface RequestedApiKey {
  readonly name: string;
  readonly owning_application: string;
  /** Roles and permissions, sorted, without repeats. */
  readonly scopes: readonly string[];
  /** A timestamp; null for a key that does not expire. */
  readonly expires_at: string | null;
  /** In the form of RFC 4514, such as `CN=payments,O=Bank`; null for a holder with a key. */
  readonly certificate_subject: string | null;
  readonly limits: OwnLimits;
}

/** The form of a name: it stands in paths, in `published_by` and in the audit. */
const namePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/;

const subjectPattern = /^[\x20-\x7e]{1,1024}$/;

/** The most roles and permissions of a key. */
export const scopesMaximum = 50;

/** Names that events carry when no key was presented, or one of the settings. */
const reservedNames = /^(unauthenticated|environment-key-.*|lendstream.*)$/;

/**
 * Reads the JSON of a key. Unknown fields are ignored.
 * @param now Milliseconds since the epoch: a key must not have expired.
 * @throws MALFORMED_REQUEST for a value of the wrong JSON type; FieldViolations for all broken rules together
 */
export function readApiKey(body: Readonly<Record<string, unknown>>, now: number): RequestedApiKey {
  const violations: FieldViolation[] = [];
  const name = textOf(body, 'name');
  if (!namePattern.test(name)) {
    const form = 'must have 1 to 63 lower case letters, digits, dots, underscores and hyphens, and begin with no sign';
    violations.push({ field: 'name', message: form });
  } else if (reservedNames.test(name)) {
    violations.push({ field: 'name', message: 'must not be a name that the service uses itself' });
  }
  const application = textOf(body, 'owning_application');
  if (application === '' || application.length > 255) {
    violations.push({ field: 'owning_application', message: 'must have 1 to 255 characters' });
  }
  const scopes = scopesOf(body['scopes'], violations);
  const expiry = body['expires_at'] ?? null;
  if (expiry !== null && typeof expiry !== 'string') throw wrongType('expires_at', 'a timestamp or null');
  const expiresAt = expiry === null ? null : (readMoment(expiry) ?? 0);
  if (expiresAt !== null && expiresAt <= now) {
    violations.push({ field: 'expires_at', message: 'must be a timestamp with a time zone, in the future' });
  }
  const subject = body['certificate_subject'] ?? null;
  if (subject !== null && typeof subject !== 'string') throw wrongType('certificate_subject', 'a string or null');
  if (subject !== null && !subjectPattern.test(subject)) {
    const message = 'must have 1 to 1024 visible ASCII characters and spaces, such as CN=payments,O=Bank';
    violations.push({ field: 'certificate_subject', message });
  }
  const limits = limitsOf(body['limits'] ?? {}, violations);
  if (violations.length > 0) throw new FieldViolations(violations);
  return {
    name,
    owning_application: application,
    scopes,
    expires_at: expiresAt === null ? null : toTimestamp(expiresAt),
    certificate_subject: subject,
    limits,
  };
}

function textOf(body: Readonly<Record<string, unknown>>, field: string): string {
  const value = body[field] ?? '';
  if (typeof value !== 'string') throw wrongType(field, 'a string');
  return value;
}

function scopesOf(value: unknown, violations: FieldViolation[]): string[] {
  if (!Array.isArray(value) || value.some((scope) => typeof scope !== 'string')) {
    throw wrongType('scopes', 'a list of strings');
  }
  const scopes = [...new Set(value as string[])].sort();
  if (scopes.length === 0) violations.push({ field: 'scopes', message: 'must contain at least one element' });
  if (scopes.length > scopesMaximum) {
    violations.push({ field: 'scopes', message: `must contain at most ${scopesMaximum} elements` });
    return scopes;
  }
  for (const scope of scopes) {
    if (isRole(scope) || isPermission(scope)) continue;
    const message = `must name roles and permissions, but has ${JSON.stringify(scope.slice(0, 100))}`;
    violations.push({ field: 'scopes', message });
  }
  return scopes;
}

/** A limit that is not known would not hold, so it is refused. */
function limitsOf(value: unknown, violations: FieldViolation[]): OwnLimits {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType('limits', 'an object');
  const entries = Object.entries(value).filter(([, limit]) => limit !== null);
  for (const [field, limit] of entries) {
    const name = keyLimitNames.find((known) => known === field);
    if (name === undefined) {
      violations.push({ field: 'limits', message: `has no ${JSON.stringify(field.slice(0, 100))}` });
      continue;
    }
    const { minimum, maximum } = keyLimitBounds[name];
    if (typeof limit !== 'number') throw wrongType(`limits.${name}`, 'a number');
    if (Number.isInteger(limit) && limit >= minimum && limit <= maximum) continue;
    violations.push({ field: `limits.${name}`, message: `must be a whole number from ${minimum} to ${maximum}` });
  }
  return Object.fromEntries(entries);
}

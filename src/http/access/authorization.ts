/**
 * Access over HTTP: who sends a request, and whether that principal may do what it asks for.
 * In: requests. Out: the same requests with a principal, or refusals; entries for the audit.
 * Start with `createAuthorization` below and the table in `operation-permissions.ts`. `authentication.ts` comes
 * before it and finds the principal, `audit.ts` records changes and refusals, and limits/ slows down who sends too
 * much.
 */

import type { Request, RequestHandler } from 'express';
import type { AccessControl, Subject } from '../../access/access-control.ts';
import type { Permission } from '../../access/permissions.ts';
import { hasPermission, type Principal } from '../../access/principal.ts';
import { readPermissionsOf } from '../../access/system-event-types.ts';
import { LendstreamError } from '../../errors.ts';
import { loanCommandsTopic } from '../../lending-format/lending-topics.ts';
import { isPublicPath } from './public-paths.ts';
import { AllowedRequests } from './allowed-requests.ts';
import { findOperations, type FoundOperation } from './operation-lookup.ts';
import { missingPermission } from './missing-permission.ts';
import { maySendCommands } from './published-commands.ts';
import { principalOf } from './principal-of-request.ts';
import { becauseOf } from './refusal-reasons.ts';
import { RestrictedRights, setRights } from './rights.ts';

/**
 * Lets a request through when its principal may do what it asks for, by the table of operation-permissions.ts. Mount
 * it after the authentication and before every other router. A principal without restrictions passes at once.
 */
export function createAuthorization(access: AccessControl): RequestHandler {
  const allowed = new AllowedRequests(access);
  return (request, response, next) => {
    const principal = principalOf(response);
    if (principal.isUnrestricted || request.method === 'OPTIONS' || isPublicPath(request.path)) return next();
    setRights(response, new RestrictedRights(principal, access));
    if (allowed.has(request, principal)) return next();
    const checking = checkOperations(access, principal, request);
    if (checking !== undefined) return goOnAfter(checking, next);
    allowed.add(request, principal);
    return next();
  };
}

async function goOnAfter(checking: Promise<void>, next: () => void): Promise<void> {
  await checking;
  next();
}

/** An operation that a request may mean, and the event type or subscription that its path names. */
interface Meaning {
  readonly found: FoundOperation;
  readonly subject: Subject | undefined;
}

/**
 * Checks what a request asks for. Waits only for definitions that this process does not know.
 * @returns undefined when it is allowed at once
 * @throws PERMISSION_MISSING for what is not allowed, NOT_FOUND for a definition that the principal may not see
 */
function checkOperations(access: AccessControl, principal: Principal, request: Request): Promise<void> | undefined {
  const { method, path } = request;
  const meanings = meaningsOf(method, path);
  if (meanings.length === 0) {
    throw new LendstreamError('PERMISSION_MISSING', `No permission allows ${method} ${path}.`, {
      details: becauseOf('permission'),
    });
  }
  for (const { found, subject } of meanings) {
    const missing = permissionsFor(found, subject).find((permission) => !hasPermission(principal, permission));
    if (missing !== undefined && !publishesCommands(principal, found)) throw missingPermission(missing);
  }
  let waiting: Promise<void> | undefined;
  for (const { found, subject } of meanings) {
    const { access: wanted } = found.operation;
    if (subject === undefined || wanted === undefined) continue;
    const check = (): Promise<void> | undefined => access.check(principal, subject, wanted);
    waiting = waiting === undefined ? check() : waiting.then(check);
  }
  return waiting;
}

const noPermissions: readonly Permission[] = [];

/** The permissions that an operation needs, all of them. */
function permissionsFor({ operation }: FoundOperation, subject: Subject | undefined): readonly Permission[] {
  const { permission } = operation;
  if (permission === 'public' || permission === 'authenticated') return noPermissions;
  const isReading = permission === 'events:read' && subject?.kind === 'event-type';
  return isReading ? readPermissionsOf(subject.name) : [permission];
}

/** Commands may be published by those that may send any: `refuseCommands` looks at each of them. */
function publishesCommands(principal: Principal, { operation, values: [name] }: FoundOperation): boolean {
  return operation.id === 'publishEvents' && name === loanCommandsTopic && maySendCommands(principal);
}

/** @throws MALFORMED_REQUEST when the path cannot be decoded */
function meaningsOf(method: string, path: string): Meaning[] {
  try {
    return findOperations(method, path).map((found) => ({ found, subject: subjectOf(found) }));
  } catch {
    throw new LendstreamError('MALFORMED_REQUEST', `The path ${path} cannot be decoded.`);
  }
}

/** The event type or subscription that a path names. */
function subjectOf({ operation, values: [name] }: FoundOperation): Subject | undefined {
  if (name === undefined) return undefined;
  if (operation.path.startsWith('/event-types/')) return { kind: 'event-type', name };
  return operation.path.includes('/subscriptions/') ? { kind: 'subscription', name } : undefined;
}

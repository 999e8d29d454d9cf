import { Router, type Request } from 'express';
import type { AccessControl, Subject } from '../../access/access-control.ts';
import { hasPermission, type Principal } from '../../access/principal.ts';
import { permissionFor, readPermissionOf } from '../../access/system-event-types.ts';
import { LendstreamError } from '../../errors.ts';
import { loanCommandsTopic } from '../../lending-format/lending-topics.ts';
import { isPublicPath } from './public-paths.ts';
import { findOperations, type FoundOperation } from './operation-lookup.ts';
import { missingPermission } from './missing-permission.ts';
import { maySendCommands } from './published-commands.ts';
import { principalOf } from './principal-of-request.ts';
import { RestrictedRights, setRights } from './rights.ts';

/**
 * Lets a request through when its principal may do what it asks for, by the table of operations.ts. Mount it after the
 * authentication and before every other router. A principal without restrictions passes at once.
 */
export function createAuthorization(access: AccessControl): Router {
  const router = Router();
  router.use((request, response, next) => {
    const isUnlimited = principalOf(response).isUnrestricted || request.method === 'OPTIONS';
    next(isUnlimited || isPublicPath(request.path) ? 'router' : undefined);
  });
  router.use((request, response, next) => {
    const principal = principalOf(response);
    setRights(response, new RestrictedRights(principal, access));
    const checking = checkOperations(access, principal, request);
    if (checking === undefined) {
      next();
      return undefined;
    }
    return goOnAfter(checking, next);
  });
  return router;
}

async function goOnAfter(checking: Promise<void>, next: () => void): Promise<void> {
  await checking;
  next();
}

/**
 * Checks what a request asks for. Waits only for definitions that this process does not know.
 * @returns undefined when it is allowed at once
 * @throws PERMISSION_MISSING for what is not allowed, NOT_FOUND for a definition that the principal may not see
 */
function checkOperations(access: AccessControl, principal: Principal, request: Request): Promise<void> | undefined {
  const { method, path } = request;
  const found = operationsOf(method, path);
  if (found.length === 0) {
    throw new LendstreamError('PERMISSION_MISSING', `No permission allows ${method} ${path}.`);
  }
  for (const each of found) {
    const { permission: needed } = each.operation;
    if (needed === 'public' || needed === 'authenticated') continue;
    const subject = subjectOf(each);
    const permission = permissionFor(needed, subject?.kind === 'event-type' ? subject.name : undefined);
    if (!hasPermission(principal, permission) && !publishesCommands(principal, each))
      throw missingPermission(permission);
  }
  let waiting: Promise<void> | undefined;
  for (const each of found) {
    const check = (): Promise<void> | undefined => checkDefinition(access, principal, each);
    waiting = waiting === undefined ? check() : waiting.then(check);
  }
  return waiting;
}

function checkDefinition(
  access: AccessControl,
  principal: Principal,
  found: FoundOperation,
): Promise<void> | undefined {
  const subject = subjectOf(found);
  const { access: wanted } = found.operation;
  if (subject === undefined || wanted === undefined) return undefined;
  const checkReading = (): void => {
    const permission = subject.kind === 'event-type' && wanted === 'read' ? readPermissionOf(subject.name) : undefined;
    if (permission !== undefined && !hasPermission(principal, permission)) throw missingPermission(permission);
  };
  const checking = access.check(principal, subject, wanted);
  if (checking !== undefined) return checking.then(checkReading);
  checkReading();
  return undefined;
}

/** Commands may be published by those that may send any: `refuseCommands` looks at each of them. */
function publishesCommands(principal: Principal, { operation, values: [name] }: FoundOperation): boolean {
  return operation.id === 'publishEvents' && name === loanCommandsTopic && maySendCommands(principal);
}

/** @throws MALFORMED_REQUEST when the path cannot be decoded */
function operationsOf(method: string, path: string): FoundOperation[] {
  try {
    return findOperations(method, path);
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

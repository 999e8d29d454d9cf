import { hasPermission, type Principal } from '../../access/principal.ts';
import { permissionOfCommand } from '../../access/permissions.ts';
import { commandTypes } from '../../lending-format/command-format.ts';
import { missingPermission } from './missing-permission.ts';

/**
 * Refuses loan commands that are published as events, when one of them needs a permission that the publisher lacks.
 * Events that are no commands are left to the checks that follow.
 * @param body The JSON of the request: a list of commands.
 * @throws PERMISSION_MISSING
 */
export function refuseCommands(principal: Principal, body: Buffer): void {
  if (principal.isUnrestricted || commandTypes.every((type) => hasPermission(principal, permissionOfCommand(type))))
    return;
  for (const type of typesIn(body)) {
    const command = commandTypes.find((known) => known === type);
    if (command === undefined) continue;
    const permission = permissionOfCommand(command);
    if (!hasPermission(principal, permission)) throw missingPermission(permission);
  }
}

/**
 * How many commands of each type a request has published, of those that were stored or may have been.
 * @param body The JSON of the request: a list of commands.
 * @param items How far each of them came, in this order.
 */
export function publishedTypes(
  body: Buffer,
  items: readonly { readonly step: string }[],
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [index, type] of typesIn(body).entries()) {
    const command = commandTypes.find((known) => known === type);
    if (command === undefined || items[index]?.step !== 'publishing') continue;
    counts[command] = (counts[command] ?? 0) + 1;
  }
  return counts;
}

/** Whether a principal may send commands of any type. */
export function maySendCommands(principal: Principal): boolean {
  return commandTypes.some((type) => hasPermission(principal, permissionOfCommand(type)));
}

function typesIn(body: Buffer): unknown[] {
  try {
    const events: unknown = JSON.parse(body.toString());
    return Array.isArray(events) ? events.map((event: { type?: unknown } | null) => event?.type) : [];
  } catch {
    return [];
  }
}

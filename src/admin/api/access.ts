import type { Responses } from '../../contract.ts';
import { call } from './api.ts';
import { useLoaded, type Loaded } from './queries.ts';

export type Access = Responses['getAccess'];

/** Who the user of the page is, and what the service lets them do. */
export function useAccess(): Loaded<Access> {
  return useLoaded('access', (signal) => call<Access>('GET', '/access', undefined, { signal }));
}

/** Whether the user has a permission; true as long as that is not known. */
export function mayUse(access: Access | undefined, permission: string): boolean {
  return access === undefined || access.open || access.principal.permissions.includes(permission);
}

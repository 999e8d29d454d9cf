/** The path without a slash at its end, which the routers ignore as well. */
export function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The first words of the paths of the lending API. */
const lendingResources = [
  'loans',
  'loanproducts',
  'toggles',
  'commands',
  'setup',
  'organization',
  'branches',
  'centres',
  'users',
  'currencies',
  'indexratesources',
  'installments',
  'customfieldsets',
  'customfields',
  'pricing',
];

/** The resources and all below them. `/loans:search` is the form of operations on a whole collection. */
const lendingPaths = new RegExp(`^/(?:${lendingResources.join('|')})(?::[^/]*)?(?=/|$)`);

/** The lending API also answers below this path, where the clients of its original look for it. */
export const apiPath = '/api';

/**
 * Whether refusals at a path have the format of the lending API: at and below its resources, and everywhere below
 * {@link apiPath}.
 */
export function isLendingPath(path: string): boolean {
  return lendingPaths.test(path) || isBelowApi(path);
}

/** Whether a path is {@link apiPath} or lies below it. */
export function isBelowApi(path: string): boolean {
  return path === apiPath || path.startsWith(`${apiPath}/`);
}

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

/** Where clients of Mambu's streaming API look for subscriptions, in its first version and in its second. */
const mambuStreamingPaths = new RegExp(`^${apiPath}(?:/v1)?/subscriptions(?=/|$)`);

/** Whether a path belongs to Mambu's streaming API, whose subscriptions are those of `/subscriptions`. */
export function isMambuStreamingPath(path: string): boolean {
  return mambuStreamingPaths.test(path);
}

/**
 * Whether a path belongs to the lending API: at and below its resources, and everywhere below {@link apiPath} where no
 * other API is.
 */
export function isLendingPath(path: string): boolean {
  return lendingPaths.test(path) || (isBelowApi(path) && !isMambuStreamingPath(path));
}

/** Whether a path is {@link apiPath} or lies below it. */
export function isBelowApi(path: string): boolean {
  return path === apiPath || path.startsWith(`${apiPath}/`);
}

/** The path without a slash at its end, which the routers ignore as well. */
export function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

const lendingPaths = pathsBelow('/(?:loans|loanproducts|toggles|commands)');

/** Whether refusals at a path have the format of the lending API: below its resources, see {@link pathsBelow}. */
export function isLendingPath(path: string): boolean {
  return lendingPaths.test(path);
}

/**
 * The path of a resource and all below it, for the handlers that end its router: `/loans`, `/loans/x/y` and also
 * `/loans:search`, the form that the lending API gives to operations on a whole collection.
 * @param path The path of the resource, or a pattern for several.
 */
export function pathsBelow(path: `/${string}`): RegExp {
  return new RegExp(`^${path}(?::[^/]*)?(?=/|$)`);
}

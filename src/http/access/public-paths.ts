import { isBrowserPage } from '../edge/browser-pages.ts';
import { withoutLastSlash } from '../edge/request-paths.ts';

/** The probes that check whether the process is alive or ready have no credentials. */
const probes = new Set(['/health', '/ready']);

/** Whether a path needs no credentials: a probe, or a page without data. */
export function isPublicPath(path: string): boolean {
  return probes.has(withoutLastSlash(path)) || isBrowserPage(path);
}

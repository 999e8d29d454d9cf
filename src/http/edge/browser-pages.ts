import { withoutLastSlash } from './request-paths.ts';

/** The pages that a browser shows. A browser has no key until the admin page has asked for one. */
const pages = new Set(['/', '/admin', '/docs', '/openapi.json']);

/** The files of the pages. They contain nothing that is not published with the source. */
const pageFolders = ['/admin/', '/docs/'];

/** Whether a path is one of the pages or their files, none of which holds data. */
export function isBrowserPage(path: string): boolean {
  return pages.has(withoutLastSlash(path)) || pageFolders.some((folder) => path.startsWith(folder));
}

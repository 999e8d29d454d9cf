import express, { Router } from 'express';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LendstreamError } from '../../errors.ts';
import { pageHeaders } from './content-security-policy.ts';
import { methodNotAllowed } from './streaming-errors.ts';

/** Where the build puts the admin page: beside the compiled sources. */
export const adminBundleFolder = fileURLToPath(new URL('../../../admin/', import.meta.url));

/**
 * Serves the admin page at /admin and redirects to it from /, which people with a browser try first. Files under
 * assets/ have a hash of their content in their name, so clients may cache them for ever. Any other path returns the
 * page itself, which reads the path. Mount it after the router that compresses.
 * @param folder The built page. Where it is missing, responses say how to build it.
 */
export function createAdminRouter(folder: string = adminBundleFolder): Router {
  // The first start serves while the page is being made.
  let isMade = false;
  const isBuilt = (): boolean => (isMade ||= existsSync(join(folder, 'index.html')));
  const assetsFolder = join(folder, 'assets');
  const serveFile = express.static(folder, {
    acceptRanges: false,
    cacheControl: false,
    etag: false,
    lastModified: false,
    redirect: false,
    setHeaders: (response, path) => {
      const isAsset = path.startsWith(assetsFolder);
      response.setHeaders(new Map(Object.entries(pageHeaders("'self'"))));
      response.setHeader('Cache-Control', isAsset ? 'public, max-age=31536000, immutable' : 'no-cache');
      response.setHeader('Referrer-Policy', 'no-referrer');
    },
  });
  const router = Router({ caseSensitive: true });
  router
    .route('/')
    .get((_request, response) => {
      response.redirect('/admin');
    })
    .all(methodNotAllowed('GET'));
  router.use('/admin', serveFile);
  router
    .route(['/admin', '/admin/*path'])
    .get((request, response, next) => {
      if (!isBuilt()) {
        const detail = 'The admin page is not there yet. scripts/start makes it; npm run build does, too.';
        throw new LendstreamError('NOT_FOUND', detail);
      }
      if (request.path.startsWith('/admin/assets/')) {
        throw new LendstreamError('NOT_FOUND', `There is no resource at ${request.path}.`);
      }
      request.url = '/index.html';
      serveFile(request, response, next);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

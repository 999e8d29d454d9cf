import { Router, type Response } from 'express';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { LendstreamError } from '../../errors.ts';
import { pageHeaders } from './page-policy.ts';
import { methodNotAllowed } from './problem.ts';

/** Where the build puts the admin page: beside the compiled sources. */
export const adminBundleFolder = fileURLToPath(new URL('../../../admin/', import.meta.url));

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface BundleFile {
  readonly plain: Buffer;
  readonly compressed: Buffer;
  readonly contentType: string;
  readonly cacheControl: string;
}

/**
 * Serves the admin page at /admin and redirects to it from /, which people with a browser try first. Its files are read
 * once, as they are few and small. Files under assets/ have a hash of their content in their name, so clients may cache
 * them for ever. Any other path returns the page itself, which reads the path.
 * @param folder The built page. Where it is missing, responses say how to build it.
 */
export function createAdminRouter(folder: string = adminBundleFolder): Router {
  const files = readBundle(folder);
  const router = Router({ caseSensitive: true });
  router
    .route('/')
    .get((_request, response) => {
      response.redirect('/admin');
    })
    .all(methodNotAllowed('GET'));
  router
    .route(['/admin', '/admin/*path'])
    .get((request, response) => {
      const path = request.path.slice('/admin/'.length);
      const file = files.get(path) ?? (path.startsWith('assets/') ? undefined : files.get('index.html'));
      if (file !== undefined) {
        send(response, file, request.acceptsEncodings('gzip') === 'gzip');
        return;
      }
      throw new LendstreamError(
        'NOT_FOUND',
        files.size === 0
          ? 'The admin page has not been built. Build it with: npm run build'
          : `There is no resource at ${request.path}.`,
      );
    })
    .all(methodNotAllowed('GET'));
  return router;
}

function readBundle(folder: string): Map<string, BundleFile> {
  if (!existsSync(join(folder, 'index.html'))) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const path = file.slice(folder.length).replaceAll('\\', '/').replace(/^\/+/, '');
      const plain = readFileSync(file);
      return [
        path,
        {
          plain,
          compressed: gzipSync(plain, { level: 9 }),
          contentType: contentTypes[extname(path)] ?? 'application/octet-stream',
          cacheControl: path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        },
      ];
    }),
  );
}

function send(response: Response, file: BundleFile, compressed: boolean): void {
  response.set({
    'Content-Type': file.contentType,
    'Cache-Control': file.cacheControl,
    ...pageHeaders("'self'"),
    'Referrer-Policy': 'no-referrer',
    Vary: 'Accept-Encoding',
    ...(compressed ? { 'Content-Encoding': 'gzip' } : {}),
  });
  response.end(compressed ? file.compressed : file.plain);
}

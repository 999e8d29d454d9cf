import { Router } from 'express';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageRoot } from '../../package-root.ts';
import { pageHeaders } from './content-security-policy.ts';
import { methodNotAllowed } from './streaming-errors.ts';

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Lendstream API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="description"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** No `validatorUrl`: by default the renderer sends the description to a validator on the internet. */
const start = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#description',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

const rendererFiles: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
};

/** `/openapi.json`, the description of the API, and `/docs`, the same for people. */
export function createApiDescriptionRouter(): Router {
  const description = readFileSync(join(packageRoot, 'schemas/openapi.json'), 'utf8');
  const { resolve } = createRequire(import.meta.url);
  const router = Router({ caseSensitive: true });
  router
    .route('/openapi.json')
    .get((_request, response) => {
      response.type('application/json').send(description);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/docs')
    .get((_request, response) => {
      response.set(pageHeaders("'self' data:"));
      response.type('text/html').send(page);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/docs/:file')
    .get((request, response, next) => {
      const { file } = request.params;
      const type = Object.hasOwn(rendererFiles, file) ? rendererFiles[file] : undefined;
      response.set('X-Content-Type-Options', 'nosniff').set('Cache-Control', 'no-cache');
      if (file === 'start.js') {
        response.type('text/javascript').send(start);
      } else if (type !== undefined) {
        response.set('Content-Type', type);
        // Read on request: 1.5 MB that few processes ever serve.
        response.end(readFileSync(resolve(`swagger-ui-dist/${file}`)));
      } else {
        next('route');
      }
    })
    .all(methodNotAllowed('GET'));
  return router;
}

import { expect } from 'chai';
import { Router, type Express, type RequestHandler } from 'express';
import { after, before, describe, it } from 'mocha';
import { createApp, type App } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { findOperations } from '../../../src/http/access/operation-lookup.ts';
import { operations } from '../../../src/http/access/operation-permissions.ts';
import { isBrowserPage } from '../../../src/http/edge/browser-pages.ts';
import { apiPath, isLendingPath } from '../../../src/http/edge/request-paths.ts';
import { unsupportedPaths } from '../../../src/http/streaming/not-supported.ts';
import { silentLogger } from '../../../src/logger.ts';
import { call } from '../../support/http/client.ts';
import { applicationAt, mountedIn } from '../../support/http/mounted-routes.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

/** What a process serves that only decides commands. */
const operatorsPaths = new Set(['/health', '/ready', '/metrics', '/version']);

/** Functions for all below a path: the files of the admin page, and what says 410 for versions that are no more. */
const knownHandlers = new Set(['/admin', '/pricing/v1', `${apiPath}/pricing/v1`]);

const inTable = new Set(operations.map(({ method, path }) => `${method} ${path}`));
const notSupported = new Set(unsupportedPaths.map(([path]) => `ALL ${path.replaceAll(/:(\w+)/g, '{$1}')}`));

/** The operation of the table that a route is: the lending API also answers below /api. */
function rowOf(method: string, path: string): string {
  const below = path.startsWith(`${apiPath}/`) ? path.slice(apiPath.length) : path;
  return `${method} ${isLendingPath(below) ? below : path}`;
}

/** What an application serves and the table of operations does not have. */
function unlisted(application: Express): string[] {
  const { routes, handlers } = mountedIn(application);
  const pages = ({ path }: { readonly path: string }): boolean => isBrowserPage(path);
  const known = (row: string): boolean => inTable.has(row) || notSupported.has(row);
  return [
    ...routes.filter((route) => !pages(route) && !known(rowOf(route.method, route.path))),
    ...handlers.filter((path) => !knownHandlers.has(path)).map((path) => ({ method: 'USE', path })),
  ].map(({ method, path }) => `${method} ${path}`);
}

/** Rows of the table that an application does not serve, of those that it should. */
function missing(application: Express, expected: readonly string[]): string[] {
  const served = new Set(mountedIn(application).routes.map(({ method, path }) => `${method} ${path}`));
  return expected.filter((row) => !served.has(row));
}

const processes: readonly (readonly [what: string, roles: string, rows: readonly string[]])[] = [
  ['with both roles', 'serve,work', [...inTable]],
  ['that serves', 'serve', [...inTable]],
  [
    'that only works',
    'work',
    operations.filter(({ path }) => operatorsPaths.has(path)).map(({ method, path }) => `${method} ${path}`),
  ],
];

for (const [what, roles, rows] of processes) {
  describe(`the routers of a process ${what}`, function () {
    this.timeout(60_000);
    let folder: string;
    let app: App;
    let url: string;
    let application: Express;

    before(async () => {
      folder = await temporaryFolder();
      app = await createApp(readConfig({ DATA_DIR: folder, PORT: '0', ROLES: roles }), silentLogger);
      url = await app.start();
      application = await applicationAt(url);
    });

    after(async () => {
      await app.stop();
      await removeFolder(folder);
    });

    it('serve nothing that the table of operations does not have', () => {
      expect(unlisted(application)).to.deep.equal([]);
    });

    it('serve everything of the table that they should, and nothing else of it', () => {
      expect(missing(application, rows)).to.deep.equal([]);
      const served = mountedIn(application).routes.map(({ method, path }) => rowOf(method, path));
      expect(new Set(served.filter((row) => inTable.has(row)))).to.deep.equal(new Set(rows));
    });

    it('serve at each path what the permissions look up for it', () => {
      for (const { method, path } of mountedIn(application).routes) {
        const row = rowOf(method, path);
        if (!inTable.has(row)) continue;
        const found = findOperations(method, path.replaceAll(/\{\w+\}/g, 'x'));
        const rowsFound = found.map(({ operation }) => `${operation.method} ${operation.path}`);
        expect(rowsFound, `${method} ${path}`).to.include(row);
      }
    });

    it('refuse every other method of each path', async () => {
      const paths = new Set(mountedIn(application).routes.map(({ path }) => path));
      for (const path of paths) {
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
          const address = path.replaceAll(/\{\w+\}/g, 'x').replace('*path', 'x');
          const isServed = findOperations(method, address).length > 0 || (method === 'GET' && isBrowserPage(address));
          if (isServed) continue;
          const { status } = await call(`${url}${address}`, method);
          expect(status, `${method} ${address}`).to.be.oneOf([405, 501]);
        }
      }
    });

    const answer: RequestHandler = (_request, response) => void response.end();
    const additions: readonly (readonly [what: string, add: (to: Express) => void, row: string])[] = [
      ['a route', (to) => to.get('/debug', answer), 'GET /debug'],
      ['another method of a known path', (to) => to.delete('/event-types', answer), 'DELETE /event-types'],
      ['every method of a path', (to) => to.route('/debug').all(answer), 'ALL /debug'],
      [
        'a router in a router with prefixes',
        (to) => to.use('/internal', Router().use('/keys', Router().post('/:name', answer))),
        'POST /internal/keys/{name}',
      ],
      ['a function for all below a path', (to) => to.use('/files', answer), 'USE /files'],
    ];
    for (const [addition, add, row] of additions) {
      it(`would be found out with ${addition} that the table does not have`, () => {
        const { stack } = application.router as unknown as { readonly stack: unknown[] };
        const length = stack.length;
        try {
          add(application);
          expect(unlisted(application)).to.deep.equal([row]);
        } finally {
          stack.length = length;
        }
      });
    }

    it('would be found out without one of their routes', () => {
      expect(missing(application, [...rows, 'GET /forgotten'])).to.deep.equal(['GET /forgotten']);
    });
  });
}

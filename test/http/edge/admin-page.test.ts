import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { mkdir, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdminRouter } from '../../../src/http/edge/admin-page.ts';
import { createApplication, createApplicationServer } from '../../../src/http/edge/application.ts';
import { createAuthentication } from '../../../src/http/access/authentication.ts';
import { silentLogger } from '../../../src/logger.ts';
import { call } from '../../support/http/client.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

describe('the files of the admin page', () => {
  let folder = '';
  let server: Server | undefined;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    await removeFolder(folder);
  });

  async function listen(apiKeys: readonly string[] = []): Promise<string> {
    const routers = [
      createAuthentication({ isOpen: apiKeys.length === 0, environmentKeys: apiKeys }),
      createAdminRouter(folder),
    ];
    server = createApplicationServer(createApplication(routers, silentLogger));
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function build(): Promise<void> {
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>The page</title>');
    await writeFile(join(folder, 'assets/index-abc.js'), 'the script');
  }

  it('are the page at each of its addresses, and are revalidated each time', async () => {
    await build();
    const url = await listen();
    for (const path of ['/admin', '/admin/', '/admin/assets', '/admin/.well-known', '/admin/event-types/a.b/edit']) {
      const response = await call(`${url}${path}`, 'GET');
      expect([response.status, response.headers.get('cache-control')], path).to.deep.equal([200, 'no-cache']);
      expect(response.text).to.contain('The page');
      expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    }
  });

  it('are reached by a redirect from /, with or without a key', async () => {
    await build();
    const response = await fetch(`${await listen(['key'])}/`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).to.deep.equal([302, '/admin']);
  });

  it('may be cached for ever when their name identifies their content', async () => {
    await build();
    const response = await call(`${await listen()}/admin/assets/index-abc.js`, 'GET');
    expect(response.text).to.equal('the script');
    expect(response.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    expect(response.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
  });

  it('have no tag and no time, and are sent whole, so that no client gets a part of another build', async () => {
    await build();
    const url = await listen();
    for (const path of ['/admin', '/admin/assets/index-abc.js']) {
      const since = new Date().toUTCString();
      for (const condition of [{ 'If-None-Match': '"of another build"' }, { 'If-Modified-Since': since }]) {
        const response = await call(`${url}${path}`, 'GET', undefined, { Range: 'bytes=0-1', ...condition });
        expect(response.status, path).to.equal(200);
        expect(response.text, path).to.match(/^<!doctype|^the script$/);
        for (const name of ['etag', 'last-modified', 'accept-ranges']) {
          expect(response.headers.get(name)).to.equal(null);
        }
      }
      expect((await call(`${url}${path}`, 'HEAD')).headers.get('content-type')).to.match(/^text/);
    }
  });

  it('are answered 304 only to a client that wants them unless there are any', async () => {
    await build();
    const url = await listen();
    for (const path of ['/admin', '/admin/assets/index-abc.js']) {
      expect((await call(`${url}${path}`, 'GET', undefined, { 'If-None-Match': '*' })).status, path).to.equal(304);
    }
    expect((await call(`${url}/admin/assets/other.js`, 'GET', undefined, { 'If-None-Match': '*' })).status).to.equal(
      404,
    );
  });

  it('may load nothing from other sites and run no inline scripts', async () => {
    await build();
    const { headers } = await call(`${await listen()}/admin`, 'GET');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).to.contain("default-src 'none'").and.to.contain("frame-ancestors 'none'");
    expect(policy).not.to.match(/unsafe|https?:|\*/);
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
  });

  it('need no key, even where the API needs one', async () => {
    await build();
    const url = await listen(['key']);
    expect((await call(`${url}/admin`, 'GET')).status).to.equal(200);
    expect((await call(`${url}/admin/assets/index-abc.js`, 'GET')).status).to.equal(200);
    expect((await call(`${url}/administration`, 'GET')).status).to.equal(401);
  });

  it('are only the files of the build', async () => {
    await build();
    const url = await listen();
    for (const path of ['/admin/assets/other.js', '/admin/assets/..%2f..%2fpackage.json', '/administration']) {
      expect((await call(`${url}${path}`, 'GET')).status, path).to.equal(404);
    }
    expect((await call(`${url}/admin`, 'POST', {})).status).to.equal(405);
  });

  it('explain how to build them when they are missing, and are served once they are there', async () => {
    const url = await listen();
    const response = await call(`${url}/admin`, 'GET');
    expect([response.status, response.body['detail']]).to.deep.equal([
      404,
      'The admin page is not there yet. scripts/start makes it; npm run build does, too.',
    ]);
    await build();
    expect((await call(`${url}/admin`, 'GET')).status).to.equal(200);
  });
});

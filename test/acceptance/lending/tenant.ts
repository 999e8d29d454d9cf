import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';
import { packageRoot } from '../../../src/package-root.ts';
import { type HttpResponse, call } from '../../support/http/client.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { createAppHere } from '../../support/processes/service-here.ts';

const key = 'a-key-of-more-than-sixteen-characters';

/** The service as software written for the API's origin finds it: below `/api`, with Basic authentication. */
export interface Tenant {
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<HttpResponse>;
  /** The same at the root, where producers publish. */
  sendToRoot(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<HttpResponse>;
  /** The response of a request that must succeed with this status. */
  must(status: number, method: string, path: string, body?: unknown): Promise<HttpResponse>;
  stop(): Promise<void>;
}

/** Starts the whole service on a folder of its own. */
export async function startTenant(): Promise<Tenant> {
  const folder = await temporaryFolder();
  const settings = { DATA_DIR: folder, HOST: '127.0.0.1', PORT: '0', API_KEYS: key, END_OF_DAY_SCHEDULE: 'off' };
  const app: App = await createAppHere(readConfig(settings), silentLogger);
  const url = await app.start();
  const headers = {
    Authorization: `Basic ${Buffer.from(`office:${key}`).toString('base64')}`,
    Accept: 'application/vnd.mambu.v2+json',
  };
  const sendToRoot: Tenant['sendToRoot'] = (method, path, body, further) =>
    call(`${url}${path}`, method, body, { ...headers, ...further });
  const send: Tenant['send'] = (method, path, body, further) => sendToRoot(method, `/api${path}`, body, further);
  return {
    send,
    sendToRoot,
    async must(status, method, path, body) {
      const response = await send(method, path, body);
      expect(response.status, `${method} ${path}: ${response.text}`).to.equal(status);
      return response;
    },
    async stop() {
      await app.stop();
      await removeFolder(folder);
    },
  };
}

/** A JSON file beside this one. */
export function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(packageRoot, 'test/acceptance/lending', name), 'utf8'));
}

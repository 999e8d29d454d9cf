import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { packageVersion } from '../../../src/package-root.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';
import { eventually } from '../../support/eventually.ts';
import { call } from '../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

describe('requests for what a client has already', () => {
  let folder: string;
  let service: ServiceHere | Service;
  let id: string;

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder);
    await call(`${service.url}/event-types`, 'POST', eventTypeBody('orders'));
    id = await subscribe('core');
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  async function subscribe(owner: string): Promise<string> {
    const identity = { owning_application: owner, event_types: ['orders'] };
    return String((await call(`${service.url}/subscriptions`, 'POST', identity)).body['id']);
  }

  const get = (path: string, ifNoneMatch?: string) =>
    call(`${service.url}${path}`, 'GET', undefined, ifNoneMatch === undefined ? {} : { 'If-None-Match': ifNoneMatch });

  const paths = [
    '/event-types',
    '/event-types?limit=1',
    '/event-types/orders',
    '/event-types/orders/schemas',
    '/subscriptions',
    '/subscriptions?token=',
    '/subscriptions/{id}',
  ];
  for (const path of paths) {
    it(`are answered 304 without a body until a definition changes: ${path}`, async () => {
      const url = path.replace('{id}', id);
      const first = await get(url);
      const tag = first.headers.get('etag') ?? '';
      expect(first.status).to.equal(200);
      expect(tag).to.match(/^W\/"[^"]+"$/);
      for (const known of [tag, tag.slice('W/'.length), `"other", ${tag}`, '*']) {
        const again = await get(url, known);
        expect([again.status, again.text, again.headers.get('etag')], known).to.deep.equal([304, '', tag]);
      }
      for (const unknown of ['"other"', 'W/"other"', tag.slice(0, -2), '']) {
        expect((await get(url, unknown)).status, unknown).to.equal(200);
      }
      await subscribe(`another-${path}`);
      const changed = await get(url, tag);
      expect(changed.status).to.equal(200);
      expect(changed.headers.get('etag')).not.to.equal(tag);
    });
  }

  it('are answered in full where the response shows more than definitions', async () => {
    const { headers } = await get('/subscriptions?show_status=true');
    expect(headers.get('etag')).to.equal(null);
    expect((await get('/subscriptions?show_status=true', '*')).status).to.equal(200);
  });

  it('are answered in full to a sender whose lists show other definitions', async () => {
    const another = await temporaryFolder();
    const keyed = await startServiceHere(another, { API_KEYS: 'sixteen-letters-' });
    try {
      const ask = (key: string, path: string, method = 'GET', body?: unknown, headers = {}) =>
        call(`${keyed.url}${path}`, method, body, { Authorization: `Bearer ${key}`, ...headers });
      const admin = 'sixteen-letters-';
      const keyOf = async (name: string, application: string): Promise<string> => {
        const wanted = { name, owning_application: application, scopes: ['consumer', 'subscriptions:manage'] };
        return String((await ask(admin, '/api-keys', 'POST', wanted)).body['key']);
      };
      const hidden = { admins: [], readers: [], writers: [] };
      await ask(admin, '/event-types', 'POST', eventTypeBody('shown'));
      await ask(admin, '/event-types', 'POST', eventTypeBody('hidden', { authorization: hidden }));
      const keys = [admin, await keyOf('alpha', 'a'), await keyOf('beta', 'b')];
      for (const path of ['/event-types', '/subscriptions']) {
        const tagsNow = () => Promise.all(keys.map(async (key) => (await ask(key, path)).headers.get('etag') ?? ''));
        // The definitions that were made last may be read from the log after the first request.
        await eventually(async () => String(await tagsNow()) === String(await tagsNow()));
        const tags = await tagsNow();
        expect(new Set(tags).size, path).to.equal(keys.length);
        for (const key of keys) {
          for (const tag of tags) {
            const { status } = await ask(key, path, 'GET', undefined, { 'If-None-Match': tag });
            expect(status, path).to.equal(tag === tags[keys.indexOf(key)] ? 304 : 200);
          }
        }
      }
    } finally {
      await keyed.stop();
      await removeFolder(another);
    }
  });

  it('for what does not exist are answered 404', async () => {
    expect((await get('/event-types/unknown', '*')).status).to.equal(404);
    expect((await get('/subscriptions/00000000-0000-4000-8000-000000000000', '*')).status).to.equal(404);
  });

  it('are answered in full by another version of the program, whose responses may differ', async () => {
    const [, version = '', state = ''] =
      /^W\/"(.+?)-(.+)"$/.exec((await get('/event-types')).headers.get('etag') ?? '') ?? [];
    expect(version).to.equal(packageVersion);
    expect((await get('/event-types', `W/"${version}-${state}"`)).status).to.equal(304);
    for (const other of [`W/"${version}.1-${state}"`, `W/"${state}"`]) {
      expect((await get('/event-types', other)).status, other).to.equal(200);
    }
  });

  it('get the same tag after a restart, as nothing has changed', async () => {
    const before = (await get('/event-types')).headers.get('etag');
    await service.stop();
    // In another process.
    service = await startService(folder);
    expect((await get('/event-types')).headers.get('etag')).to.equal(before);
  });
});

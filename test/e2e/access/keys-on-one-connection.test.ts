import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { Agent, request } from 'node:http';
import { createKey } from '../../support/access/created-key.ts';
import { clusterUnderTest } from '../../support/backend-under-test.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';
import { eventually } from '../../support/eventually.ts';
import { call } from '../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const administrator = 'the-key-of-an-administrator';
const keyLifeMilliseconds = 1_500;

describe('keys on one connection', function () {
  this.timeout(60_000);
  let folder: string;
  let service: ServiceHere;
  let agent: Agent;
  const ports = new Set<number | undefined>();

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder, { API_KEYS: administrator, ROLES: 'serve', ...clusterUnderTest() });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  beforeEach(() => {
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
    ports.clear();
  });

  afterEach(() => {
    agent.destroy();
    // What is tested is the connection that knows a key.
    expect(ports).to.have.lengthOf(1);
  });

  /** Who the sender of these headers is; undefined when it is refused. */
  function nameOf(headers: Readonly<Record<string, string>>): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const sent = request(`${service.url}/access`, { agent, headers }, (response) => {
        ports.add(sent.socket?.localPort);
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.on('end', () => {
          if (response.statusCode === 401) resolve(undefined);
          else resolve((JSON.parse(text) as { principal: { name: string } }).principal.name);
        });
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  /** The status of a request with a body on the connection. */
  function statusOf(path: string, headers: Readonly<Record<string, string>>, body: unknown): Promise<number> {
    return new Promise((resolve, reject) => {
      const sent = request(`${service.url}${path}`, { agent, headers, method: 'POST' }, (response) => {
        ports.add(sent.socket?.localPort);
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject).end(JSON.stringify(body));
    });
  }

  const bearer = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });

  async function create(name: string, more: object = {}): Promise<string> {
    const wanted = { name, owning_application: 'shop', scopes: ['consumer'], ...more };
    return (await createKey(service.url, administrator, wanted)).key;
  }

  async function revoke(name: string): Promise<void> {
    const { status } = await call(`${service.url}/api-keys/${name}`, 'DELETE', undefined, bearer(administrator));
    expect(status).to.equal(204);
  }

  it('are refused as soon as they are revoked, also when a new one has their name', async () => {
    const key = await create('revoked');
    for (const headers of [bearer(key), bearer(key)]) expect(await nameOf(headers)).to.equal('revoked');
    await revoke('revoked');
    expect(await nameOf(bearer(key))).to.equal(undefined);
    const next = await create('revoked');
    expect(await nameOf(bearer(key))).to.equal(undefined);
    expect(await nameOf(bearer(next))).to.equal('revoked');
    expect(await nameOf(bearer(key))).to.equal(undefined);
    await revoke('revoked');
    expect(await nameOf(bearer(next))).to.equal(undefined);
  });

  it('are refused when they expire', async () => {
    const key = await create('short', { expires_at: new Date(Date.now() + keyLifeMilliseconds).toISOString() });
    for (const headers of [bearer(key), bearer(key)]) expect(await nameOf(headers)).to.equal('short');
    await eventually(async () => (await nameOf(bearer(key))) === undefined);
  });

  it('mean their own holder, whichever key came before', async () => {
    const first = await create('first');
    const second = await create('second');
    const changed = `${first.slice(0, -1)}${first.endsWith('A') ? 'B' : 'A'}`;
    expect(await nameOf(bearer(first))).to.equal('first');
    expect(await nameOf(bearer(second))).to.equal('second');
    expect(await nameOf({ apikey: first })).to.equal('first');
    expect(await nameOf({ apikey: `Bearer ${first}` })).to.equal(undefined);
    expect(await nameOf({ ...bearer(administrator), apikey: first })).to.equal('environment-key-1');
    expect(await nameOf({ apikey: first })).to.equal('first');
    expect(await nameOf({ apikey: changed })).to.equal(undefined);
    expect(await nameOf({})).to.equal(undefined);
    expect(await nameOf({ apikey: first })).to.equal('first');
  });

  it('may no longer do what an event type no longer allows them', async () => {
    const key = await create('guest', { owning_application: 'guests', scopes: ['producer', 'consumer'] });
    const name = `guarded-${process.pid}`;
    const [guest, owner] = [bearer(key), bearer(administrator)];
    const definition = { ...eventTypeBody(name), owning_application: 'hosts' };
    const all = [{ data_type: '*', value: '*' }];
    const hosts = [{ data_type: 'application', value: 'hosts' }];
    const put = async (writers: readonly object[]): Promise<void> => {
      const authorization = { admins: hosts, readers: all, writers };
      const path = `${service.url}/event-types/${name}`;
      expect((await call(path, 'PUT', { ...definition, authorization }, owner)).status).to.equal(200);
    };
    expect((await call(`${service.url}/event-types`, 'POST', definition, owner)).status).to.equal(201);
    const publish = (): Promise<number> =>
      statusOf(`/event-types/${name}/events`, guest, [{ metadata: exampleMetadata() }]);
    await put(all);
    expect([await publish(), await publish()]).to.deep.equal([200, 200]);
    await put(hosts);
    expect(await publish()).to.equal(403);
    await put(all);
    expect([await publish(), await publish()]).to.deep.equal([200, 200]);
    const deletion = await call(`${service.url}/event-types/${name}`, 'DELETE', undefined, owner);
    expect(deletion.status, deletion.text).to.equal(200);
    expect(await publish()).to.equal(404);
  });
});

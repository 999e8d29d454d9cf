import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { Agent, request } from 'node:http';
import { clusterUnderTest } from '../../support/backend-under-test.ts';
import { eventually } from '../../support/eventually.ts';
import { call } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

const administrator = 'the-key-of-an-administrator';
const keyLifeMilliseconds = 1_500;

describe('keys on one connection', function () {
  this.timeout(60_000);
  let folder: string;
  let service: Service;
  let agent: Agent;
  const ports = new Set<number | undefined>();

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder, { API_KEYS: administrator, ROLES: 'serve', ...clusterUnderTest() });
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

  const bearer = (key: string): Record<string, string> => ({ Authorization: `Bearer ${key}` });

  async function create(name: string, more: object = {}): Promise<string> {
    const wanted = { name, owning_application: 'shop', scopes: ['consumer'], ...more };
    const { status, body, text } = await call(`${service.url}/api-keys`, 'POST', wanted, bearer(administrator));
    expect(status, text).to.equal(201);
    return String(body['key']);
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
});

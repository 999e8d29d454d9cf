import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { IdentityProvider, audience, issuer } from '../../support/access/identity-provider.ts';
import { clusterUnderTest, isClusterUnderTest } from '../../support/backend-under-test.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

const administrator = 'the-key-of-an-administrator';
const publicEventType = 'loan_balance_changed';

describe('stream tokens of holders of access tokens', function () {
  this.timeout(180_000);
  let provider: IdentityProvider;
  let folders: string[];
  const services: Service[] = [];
  /** Of the tests that neither end it nor change its settings. */
  let common: Service;
  let commonFolder: string;
  let names = 0;

  before(async () => {
    provider = await IdentityProvider.start();
    commonFolder = await temporaryFolder();
    common = await startService(commonFolder, settingsOf());
  });

  after(async () => {
    await common?.stop();
    await removeFolder(commonFolder);
    provider.stop();
  });

  beforeEach(() => (folders = []));

  afterEach(async () => {
    for (const service of services.splice(0)) await service.stop();
    for (const folder of folders) await removeFolder(folder);
  });

  const settingsOf = (settings: Record<string, string> = {}): Record<string, string> => ({
    ROLES: 'serve',
    API_KEYS: administrator,
    OAUTH_ISSUER: issuer,
    OAUTH_AUDIENCE: audience,
    OAUTH_JWKS_URL: provider.keysUrl,
    OAUTH_ALGORITHMS: 'ES256',
    OAUTH_CLOCK_SKEW_SECONDS: '0',
    ...settings,
    ...clusterUnderTest(),
  });

  async function start(settings: Record<string, string> = {}, folder?: string): Promise<Service> {
    const own = folder ?? (await temporaryFolder());
    if (folder === undefined) folders.push(own);
    const service = await startService(own, settingsOf(settings));
    services.push(service);
    return service;
  }

  const accessToken = (scope: string, secondsLeft = 60): Promise<string> => {
    const expiresAt = Math.ceil(Date.now() / 1_000) + secondsLeft;
    return provider.tokenOf(expiresAt, { client_id: 'shop', scope });
  };

  const ask = ({ url }: Service, token: string, wanted: object): Promise<HttpResponse> =>
    call(`${url}/stream-tokens`, 'POST', wanted, { Authorization: `Bearer ${token}` });

  async function issue(service: Service, eventType = publicEventType, scope = 'consumer'): Promise<string> {
    const { status, body, text } = await ask(service, await accessToken(scope), { event_type: eventType });
    expect(status, text).to.equal(201);
    return String(body['token']);
  }

  /** The status of a stream that lasts a second. */
  async function open({ url }: Service, token: string, eventType = publicEventType): Promise<number> {
    const query = `?stream_timeout=1&batch_flush_timeout=1&stream_token=${token}`;
    const response = await fetch(`${url}/event-types/${eventType}/events${query}`);
    await response.text();
    return response.status;
  }

  async function eventType({ url }: Service): Promise<{ name: string; readers: (who: object) => Promise<void> }> {
    names += 1;
    const name = `streamed-${process.pid}-${names}`;
    const definition = { ...eventTypeBody(name), owning_application: 'others' };
    const headers = { apikey: administrator };
    expect((await call(`${url}/event-types`, 'POST', definition, headers)).status).to.equal(201);
    const readers = async (who: object): Promise<void> => {
      const all = [{ data_type: '*', value: '*' }];
      const authorization = { admins: all, readers: [who], writers: all };
      const changed = await call(`${url}/event-types/${name}`, 'PUT', { ...definition, authorization }, headers);
      expect(changed.status, changed.text).to.equal(200);
    };
    return { name, readers };
  }

  it('open one stream, and nothing else', async () => {
    const service = common;
    const token = await issue(service);
    expect(await open(service, token, 'nakadi.dead.letter.queue')).to.equal(401);
    expect(await open(service, `${token.slice(0, -9)}AAAAAAAAA`)).to.equal(401);
    const statuses = await Promise.all([open(service, token), open(service, token)]);
    expect(statuses).to.have.members([200, 401]);
    expect(await open(service, token)).to.equal(401);
    expect((await call(`${service.url}/event-types?stream_token=${await issue(service)}`, 'GET')).status).to.equal(401);
  });

  it('say nothing of their holder to who reads them', async () => {
    const token = await issue(common);
    const decoded = Buffer.from(token.slice('user.'.length), 'base64url').toString('latin1');
    expect(decoded).to.not.contain('alice');
    expect(decoded).to.not.contain('consumer');
  });

  it('open the stream of their holder, whose rights are looked at again', async () => {
    const service = common;
    const { name, readers } = await eventType(service);
    await readers({ data_type: 'user', value: 'alice' });
    const [first, second] = [await issue(service, name), await issue(service, name)];
    expect(await open(service, first, name)).to.equal(200);
    await readers({ data_type: 'user', value: 'bob' });
    expect(await open(service, second, name)).to.equal(403);
    const without = await ask(service, await accessToken('consumer'), { event_type: name });
    expect(without.status, without.text).to.equal(403);
    // One whose scopes do not include events:read gets a token that opens nothing.
    expect(await open(service, await issue(service, publicEventType, 'officer'))).to.equal(403);
  });

  it('end with the access token, and so does their stream', async () => {
    const service = common;
    const { body } = await ask(service, await accessToken('consumer', 2), { event_type: publicEventType });
    const { body: late } = await ask(service, await accessToken('consumer', 2), { event_type: publicEventType });
    const left = Date.parse(String(body['expires_at'])) - Date.now();
    expect(left).to.be.within(1, 3_000);
    const path = `${service.url}/event-types/${publicEventType}/events?batch_flush_timeout=1`;
    const response = await fetch(`${path}&stream_token=${String(body['token'])}`);
    expect(response.status).to.equal(200);
    expect(await response.text()).to.contain('"code":"access_revoked"');
    const leftOfLate = Date.parse(String(late['expires_at'])) - Date.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, leftOfLate)));
    expect(await open(service, String(late['token']))).to.equal(401);
  });

  it('are used up by a stream alone, not by a refusal', async () => {
    const service = await start({ KEY_OPEN_STREAMS: '1' });
    const token = await issue(service);
    const closing = new AbortController();
    const path = `${service.url}/event-types/${publicEventType}/events?batch_flush_timeout=1`;
    const headers = { Authorization: `Bearer ${await accessToken('consumer')}` };
    const held = await fetch(path, { headers, signal: closing.signal });
    expect(held.status).to.equal(200);
    for (let turn = 0; turn < 2; turn += 1) expect(await open(service, token)).to.equal(429);
    closing.abort();
    await eventually(async () => (await open(service, token)) === 200);
    expect(await open(service, token)).to.equal(401);
  });

  it('are used up by no client that goes before its stream is open', async () => {
    const service = common;
    const { name } = await eventType(service);
    const key = { apikey: administrator };
    const subscription = { owning_application: 'shop', event_types: [name] };
    const { body } = await call(`${service.url}/subscriptions`, 'POST', subscription, key);
    const path = `${service.url}/subscriptions/${String(body['id'])}/events`;
    const [holding, leaving] = [new AbortController(), new AbortController()];
    const partitions = { partitions: [{ event_type: name, partition: '0' }], batch_flush_timeout: 1 };
    const held = await fetch(path, {
      method: 'POST',
      headers: key,
      body: JSON.stringify(partitions),
      signal: holding.signal,
    });
    expect(held.status).to.equal(200);
    const answer = await ask(service, await accessToken('consumer any-application'), {
      subscription_id: String(body['id']),
    });
    expect(answer.status, answer.text).to.equal(201);
    const token = String(answer.body['token']);
    const openIt = (more: string, signal?: AbortSignal): Promise<Response> =>
      fetch(`${path}?batch_flush_timeout=1&stream_timeout=1&stream_token=${token}${more}`, signal ? { signal } : {});
    // No slot is free: it is refused, or waits for one and goes.
    const refused = await openIt('');
    expect(refused.status, await refused.text()).to.equal(409);
    const waiting = openIt('&wait_for_slot=30', leaving.signal).then(
      ({ status }) => status,
      () => 'gone',
    );
    setTimeout(() => leaving.abort(), 300);
    expect(await waiting).to.equal('gone');
    // As long as the slot is taken, a token that is free again is refused for that alone.
    const statusOfStream = async (): Promise<number> => {
      const opened = await openIt('');
      await opened.text();
      return opened.status;
    };
    await eventually(async () => (await statusOfStream()) === 409);
    holding.abort();
    await eventually(async () => (await statusOfStream()) === 200);
    expect(await statusOfStream()).to.equal(401);
  });

  it('open a stream of the process that follows a killed one, which knows used ones on a cluster alone', async () => {
    const folder = await temporaryFolder();
    folders.push(folder);
    const killed = await start({}, folder);
    const [unused, used] = [await issue(killed), await issue(killed)];
    expect(await open(killed, used)).to.equal(200);
    services.splice(services.indexOf(killed), 1);
    await killed.kill();
    const next = await start({}, folder);
    expect(await open(next, unused)).to.equal(200);
    expect(await open(next, unused)).to.equal(401);
    expect(await open(next, used)).to.equal(isClusterUnderTest() ? 401 : 200);
  });

  it('open one stream at another process', async function () {
    if (!isClusterUnderTest()) {
      process.stdout.write('      skipped: only a cluster has two processes\n');
      this.skip();
    }
    const [first, second] = [common, await start()];
    // Both make the secret at once.
    for (const token of await Promise.all([issue(first), issue(second), issue(first)])) {
      const opened = await Promise.all([open(first, token), open(second, token)]);
      expect(opened).to.have.members([200, 401]);
    }
  });
});

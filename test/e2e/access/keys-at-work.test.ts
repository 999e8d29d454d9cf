import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createKey } from '../../support/access/created-key.ts';
import { clusterUnderTest } from '../../support/backend-under-test.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';
import { eventually, soonEnough } from '../../support/eventually.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

const administrator = 'the-key-of-an-administrator';

/** How soon a revocation has ended what it forbids. Milliseconds. */
const revocationMilliseconds = 1_000;

describe('API keys at work', function () {
  this.timeout(60_000);
  let folder: string;
  let service: Service;
  let names = 0;

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder, { API_KEYS: administrator, ROLES: 'serve', ...clusterUnderTest() });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  // No process of this test decides commands.
  const send = (key: string, method: string, path: string, body?: unknown): Promise<HttpResponse> =>
    call(`${service.url}${path}`, method, body, { apikey: key, Prefer: 'wait=0' });

  /** The text of a new key. */
  async function keyOf(application: string, scopes: readonly string[], more: object = {}): Promise<string> {
    names += 1;
    const wanted = { name: `key-${process.pid}-${names}`, owning_application: application, scopes, ...more };
    return (await createKey(service.url, administrator, wanted)).key;
  }

  function nameOfLastKey(): string {
    return `key-${process.pid}-${names}`;
  }

  async function eventTypeOf(application: string, more: object = {}): Promise<string> {
    names += 1;
    const name = `access-${process.pid}-${names}`;
    const definition = { ...eventTypeBody(name), owning_application: application, ...more };
    const { status, text } = await send(administrator, 'POST', '/event-types', definition);
    expect(status, text).to.equal(201);
    return name;
  }

  it('are shown once, listed without themselves, and refused when they are revoked', async () => {
    const key = await keyOf('shop', ['consumer']);
    const name = nameOfLastKey();
    expect(key).to.match(/^lendstream_[\w-]{43}$/);
    const shown = await send(administrator, 'GET', `/api-keys/${name}`);
    expect([shown.status, shown.body['scopes'], shown.body['created_by']]).to.deep.equal([
      200,
      ['consumer'],
      'environment-key-1',
    ]);
    const listed = await send(administrator, 'GET', '/api-keys');
    expect(`${listed.text}${shown.text}`).to.not.contain(key.slice('lendstream_'.length));
    expect((await send(key, 'GET', '/subscriptions')).status).to.equal(200);
    expect((await send(administrator, 'DELETE', `/api-keys/${name}`)).status).to.equal(204);
    expect((await send(key, 'GET', '/subscriptions')).status).to.equal(401);
    expect((await send(administrator, 'DELETE', `/api-keys/${name}`)).status).to.equal(404);
  });

  it('have names of their own, and give no more than their creator has', async () => {
    const creator = await keyOf('shop', ['keys:manage', 'consumer']);
    const wanted = { name: nameOfLastKey(), owning_application: 'shop', scopes: ['consumer'] };
    expect((await send(creator, 'POST', '/api-keys', wanted)).status).to.equal(409);
    const more = { ...wanted, name: `more-${process.pid}`, scopes: ['producer'] };
    const refused = await send(creator, 'POST', '/api-keys', more);
    expect(refused.status).to.equal(403);
    expect(refused.body['detail']).to.contain('events:publish');
    const elsewhere = { ...wanted, name: `elsewhere-${process.pid}`, owning_application: 'bank' };
    expect((await send(creator, 'POST', '/api-keys', elsewhere)).status).to.equal(403);
  });

  it('say who published, on every event', async () => {
    const type = await eventTypeOf('shop');
    const producer = await keyOf('shop', ['producer', 'events:read']);
    const name = nameOfLastKey();
    const published = await send(producer, 'POST', `/event-types/${type}/events`, [{ metadata: exampleMetadata() }]);
    expect(published.status, published.text).to.equal(200);
    const found = await send(producer, 'GET', `/event-types/${type}/retained-events`);
    expect(found.text).to.contain(`"published_by":"${name}"`);
  });

  it('hide the event types and subscriptions of others, in the words for what does not exist', async () => {
    const guarded = { readers: [{ data_type: 'application', value: 'bank' }] };
    const nobody = [{ data_type: 'application', value: 'nobody' }];
    const type = await eventTypeOf('bank', { authorization: { ...guarded, writers: nobody, admins: nobody } });
    const [bank, shop] = [await keyOf('bank', ['consumer']), await keyOf('shop', ['consumer'])];
    const identity = { owning_application: 'bank', event_types: [type] };
    const created = await send(bank, 'POST', '/subscriptions', identity);
    expect(created.status, created.text).to.equal(201);
    const id = String(created.body['id']);
    for (const path of [`/subscriptions/${id}`, `/subscriptions/${id}/cursors`, `/event-types/${type}`]) {
      expect((await send(bank, 'GET', path)).status, path).to.equal(200);
      const [hidden, missing] = [
        await send(shop, 'GET', path),
        await send(shop, 'GET', path.replace(id, 'x').replace(type, 'x')),
      ];
      expect([hidden.status, hidden.text.replace(id, 'x').replace(type, 'x')], path).to.deep.equal([404, missing.text]);
    }
    expect((await send(shop, 'GET', '/subscriptions?limit=1000')).text).to.not.contain(id);
    expect((await send(shop, 'GET', '/event-types')).text).to.not.contain(`"${type}"`);
    expect((await send(shop, 'POST', '/subscriptions', { ...identity, owning_application: 'shop' })).status).to.equal(
      403,
    );
    expect((await send(shop, 'POST', '/subscriptions', identity)).status).to.equal(403);
  });

  it('publish to event types of their application, and not to others', async () => {
    const [own, other] = [await eventTypeOf('shop'), await eventTypeOf('bank')];
    const producer = await keyOf('shop', ['producer']);
    const publish = (type: string): Promise<HttpResponse> =>
      send(producer, 'POST', `/event-types/${type}/events`, [{ metadata: exampleMetadata() }]);
    const statusOf = async (type: string): Promise<number> => (await publish(type)).status;
    expect([await statusOf(own), await statusOf(other)]).to.deep.equal([200, 403]);
    const keyName = nameOfLastKey();
    const everybody = [{ data_type: '*', value: '*' }];
    const nobody = [{ data_type: 'application', value: 'nobody' }];
    const closed = await eventTypeOf('bank', {
      authorization: { readers: everybody, writers: nobody, admins: everybody },
    });
    expect([(await publish(other)).body['detail'], (await publish(closed)).body['detail']]).to.deep.equal([
      `This event type has no authorization, so only its owning application has that right, not ${keyName}.`,
      `The authorization of this event type does not name ${keyName} among its writers.`,
    ]);
    const writers = [{ data_type: 'key', value: keyName }];
    const named = await eventTypeOf('bank', {
      authorization: { readers: writers, writers, admins: [{ data_type: '*', value: '*' }] },
    });
    expect(await statusOf(named)).to.equal(200);
  });

  it('send the commands that they may send, one by one and as events', async () => {
    const officer = await keyOf('branch', ['loans:read', 'loan-commands:REPAY']);
    const repaid = await send(officer, 'POST', '/loans/unknown/repayment-transactions', { amount: 1 });
    expect(repaid.status, repaid.text).to.equal(202);
    const refused = await send(officer, 'POST', '/loans/unknown:writeOff', {});
    expect([refused.status, refused.text]).to.deep.equal([
      403,
      '{"errors":[{"errorCode":15,"errorReason":"INVALID_PERMISSIONS","errorSource":"This needs the permission loan-commands:WRITE_OFF."}]}',
    ]);
    const command = { metadata: exampleMetadata(), type: 'WRITE_OFF', loanAccountId: 'unknown', payload: {} };
    const published = await send(officer, 'POST', '/event-types/lendstream.loan-commands/events', [command]);
    expect(published.status, published.text).to.equal(403);
    const repayment = { ...command, type: 'REPAY', payload: { amount: 1 } };
    const allowed = await send(officer, 'POST', '/event-types/lendstream.loan-commands/events', [repayment]);
    expect(allowed.status, allowed.text).to.equal(200);
    const elsewhere = await send(officer, 'POST', '/event-types/loan_balance_changed/events', [repayment]);
    expect(elsewhere.status, elsewhere.text).to.equal(403);
  });

  /** The last line of a stream, and how long after `act` it came. */
  async function lastLineAfter(key: string, path: string, act: () => Promise<unknown>): Promise<[string, number]> {
    const response = await fetch(`${service.url}${path}?batch_flush_timeout=1`, { headers: { apikey: key } });
    expect(response.status).to.equal(200);
    let text = '';
    const ended = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })();
    await eventually(() => text.includes('\n'));
    await act();
    const began = performance.now();
    await ended;
    return [text.trim().split('\n').at(-1) ?? '', performance.now() - began];
  }

  const revocations: [title: string, act: (name: string, type: string) => Promise<unknown>][] = [
    ['its key is revoked', (name) => send(administrator, 'DELETE', `/api-keys/${name}`)],
    [
      'the event type is closed to it',
      (_name, type) => {
        const others = [{ data_type: 'application', value: 'others' }];
        const authorization = { readers: others, writers: others, admins: others };
        return send(administrator, 'PUT', `/event-types/${type}`, {
          ...eventTypeBody(type),
          owning_application: 'bank',
          authorization,
        });
      },
    ],
  ];
  for (const [title, act] of revocations) {
    it(`end a stream within a second when ${title}, with the reason`, async () => {
      await soonEnough(revocationMilliseconds, async () => {
        const type = await eventTypeOf('bank');
        const key = await keyOf('shop', ['consumer']);
        const name = nameOfLastKey();
        const identity = { owning_application: 'shop', event_types: [type] };
        const id = String((await send(key, 'POST', '/subscriptions', identity)).body['id']);
        const [line, milliseconds] = await lastLineAfter(key, `/subscriptions/${id}/events`, () => act(name, type));
        expect(line).to.contain('"code":"access_revoked"');
        return milliseconds;
      });
    });
  }

  it('end a stream, and are refused, when they expire', async () => {
    const type = await eventTypeOf('shop');
    const expires_at = new Date(Date.now() + 3_000).toISOString();
    const key = await keyOf('shop', ['consumer'], { expires_at });
    const [line] = await lastLineAfter(key, `/event-types/${type}/events`, () => Promise.resolve());
    expect(line).to.contain('"code":"access_revoked"');
    expect((await send(key, 'GET', '/event-types')).status).to.equal(401);
  });

  it('are known to themselves', async () => {
    const key = await keyOf('shop', ['officer']);
    const { body } = await send(key, 'GET', '/access');
    const { name, permissions } = body['principal'] as { name: string; permissions: readonly string[] };
    expect([body['open'], name, permissions.includes('loans:read')]).to.deep.equal([false, nameOfLastKey(), true]);
  });
});

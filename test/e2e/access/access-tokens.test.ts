import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { IdentityProvider, audience, issuer } from '../../support/access/identity-provider.ts';
import { call } from '../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const eventType = {
  category: 'business',
  enrichment_strategies: ['metadata_enrichment'],
  schema: { type: 'json_schema', schema: '{}' },
};

const event = { metadata: { eid: '4ae5011e-eb01-11e5-8b4a-1c6f65464fc6', occurred_at: '2026-03-15T23:47:15Z' } };

describe('a service with an identity provider', function () {
  this.timeout(60_000);
  let provider: IdentityProvider;
  let folder: string;
  let service: ServiceHere;

  before(async () => {
    provider = await IdentityProvider.start();
    folder = await temporaryFolder();
    service = await startServiceHere(folder, {
      OAUTH_ISSUER: issuer,
      OAUTH_AUDIENCE: audience,
      OAUTH_JWKS_URL: provider.keysUrl,
      OAUTH_ALGORITHMS: 'ES256',
      OAUTH_CLOCK_SKEW_SECONDS: '0',
    });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
    provider.stop();
  });

  const tokenOf = (scope: string, secondsLeft = 60): Promise<string> => {
    const expiresAt = Math.ceil(Date.now() / 1_000) + secondsLeft;
    return provider.tokenOf(expiresAt, { client_id: 'shop', scope });
  };

  const send = (token: string, method: string, path: string, body?: unknown) =>
    call(`${service.url}${path}`, method, body, { Authorization: `Bearer ${token}` });

  it('refuses requests without a token, and says why one is not valid', async () => {
    const without = await call(`${service.url}/event-types`, 'GET');
    expect([without.status, without.headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer']);
    const invalid = await send(`${await tokenOf('admin')}x`, 'GET', '/event-types');
    expect([invalid.status, invalid.headers.get('www-authenticate')]).to.deep.equal([
      401,
      'Bearer error="invalid_token"',
    ]);
  });

  it('gives the holder of a token the rights of its scopes, and its name to what it publishes', async () => {
    const producer = await tokenOf('producer events:read');
    const definition = { ...eventType, name: 'orders', owning_application: 'shop' };
    expect((await send(producer, 'POST', '/event-types', definition)).status).to.equal(201);
    expect((await send(producer, 'POST', '/event-types/orders/events', [event])).status).to.equal(200);
    const { text } = await send(producer, 'GET', '/event-types/orders/retained-events');
    expect(text).to.contain('"published_by":"user:alice"');
    const refused = await send(producer, 'GET', '/loans');
    expect([refused.status, refused.text]).to.deep.equal([
      403,
      '{"errors":[{"errorCode":15,"errorReason":"INVALID_PERMISSIONS","errorSource":"This needs the permission loans:read."}]}',
    ]);
  });

  it('ends the stream of a token that has expired', async () => {
    const consumer = await tokenOf('consumer', 2);
    const path = '/event-types/loan_balance_changed/events?batch_flush_timeout=1';
    const response = await fetch(`${service.url}${path}`, { headers: { Authorization: `Bearer ${consumer}` } });
    expect(await response.text()).to.contain('"code":"access_revoked"');
    expect((await send(consumer, 'GET', '/event-types')).status).to.equal(401);
  });
});

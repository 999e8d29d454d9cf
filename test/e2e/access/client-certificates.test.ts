import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { join } from 'node:path';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { Authority, writeCertificates, type Certified } from '../../support/tls/certificates.ts';
import { callOverTls, openOverTls, type TlsResponse } from '../../support/tls/tls-client.ts';

const administrator = 'the-key-of-an-administrator';

const subject = 'CN=payments,O=Bank';

const eventType = {
  category: 'business',
  enrichment_strategies: ['metadata_enrichment'],
  schema: { type: 'json_schema', schema: '{}' },
};

const event = { metadata: { eid: '4ae5011e-eb01-11e5-8b4a-1c6f65464fc6', occurred_at: '2026-03-15T23:47:15Z' } };

describe('keys for certificates', function () {
  this.timeout(60_000);
  let folder: string;
  let service: ServiceHere;
  let authority: Authority;
  let known: Certified;
  let unknown: Certified;

  before(async () => {
    folder = await temporaryFolder();
    authority = await Authority.create();
    [known, unknown] = await Promise.all([
      // In the order of the certificate, which RFC 4514 turns round.
      authority.sign({ subject: 'O=Bank,CN=payments', purpose: 'client' }),
      authority.sign({ subject: 'C=IE,O=Bank,CN=payments', purpose: 'client' }),
    ]);
    const files = writeCertificates(join(folder, 'tls'), await authority.sign(), authority.certificate);
    service = await startServiceHere(join(folder, 'data'), {
      API_KEYS: administrator,
      TLS_CERTIFICATE: files.certificate,
      TLS_KEY: files.key,
      TLS_CLIENT_CA: files.ca,
      TLS_CLIENT_CERTIFICATES: 'optional',
      TRUSTED_PROXIES: '127.0.0.2',
      CLIENT_CERTIFICATE_HEADER: 'X-Client-Certificate',
    });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const send = (method: string, path: string, more: { client?: Certified; headers?: object; body?: unknown } = {}) =>
    callOverTls(`${service.url}${path}`, {
      ca: authority.certificate,
      method,
      ...(more as { client?: Certified; headers?: Record<string, string>; body?: unknown }),
    });

  const administer = (method: string, path: string, body?: unknown): Promise<TlsResponse> =>
    send(method, path, { headers: { apikey: administrator }, body });

  const wanted = (name: string, certificate_subject: string) => ({
    name,
    owning_application: 'payments',
    scopes: ['producer', 'events:read'],
    certificate_subject,
  });

  it('have no secret, and one for each subject', async () => {
    const created = await administer('POST', '/api-keys', wanted('payments-certificate', subject));
    expect(created.status, created.text).to.equal(201);
    expect(JSON.parse(created.text)).to.include({ key: null, certificate_subject: subject });
    expect((await administer('POST', '/api-keys', wanted('another', subject))).status).to.equal(409);
    expect((await administer('POST', '/api-keys', wanted('another', 'CN=Zoë'))).status).to.equal(422);
    expect((await administer('POST', '/api-keys', wanted('another', ''))).status).to.equal(422);
  });

  it('let their holders in, under their name and with their permissions', async () => {
    const definition = { ...eventType, name: 'payments.made', owning_application: 'payments' };
    expect((await send('POST', '/event-types', { client: known, body: definition })).status).to.equal(201);
    const events = [event];
    expect((await send('POST', '/event-types/payments.made/events', { client: known, body: events })).status).to.equal(
      200,
    );
    const { text } = await send('GET', '/event-types/payments.made/retained-events', { client: known });
    expect(text).to.contain('"published_by":"payments-certificate"');
    expect((await send('GET', '/loans', { client: known })).status).to.equal(403);
  });

  it('end the streams of a certificate that expires, with the reason', async () => {
    const expiresAt = Math.ceil(Date.now() / 1_000 + 8) * 1_000;
    const client = await authority.sign({ subject: 'O=Bank,CN=payments', purpose: 'client', expiresAt });
    const path = '/event-types/payments.made/events?batch_flush_timeout=1';
    const stream = await openOverTls(`${service.url}${path}`, { ca: authority.certificate, client });
    expect(stream.statusCode).to.equal(200);
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    expect(text.trimEnd().split('\n').at(-1)).to.contain('access_revoked');
    expect(Date.now() - expiresAt).to.be.within(0, 5_000);
  });

  it('let no others in: no other subject, no client without a certificate, no header of a stranger', async () => {
    expect((await send('GET', '/event-types', { client: unknown })).status).to.equal(401);
    expect((await send('GET', '/event-types')).status).to.equal(401);
    expect((await send('GET', '/event-types', { headers: { 'X-Client-Certificate': subject } })).status).to.equal(401);
  });

  it('end with their revocation', async () => {
    expect((await administer('DELETE', '/api-keys/payments-certificate')).status).to.equal(204);
    expect((await send('GET', '/event-types', { client: known })).status).to.equal(401);
  });
});

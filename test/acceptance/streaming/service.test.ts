import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { gzipSync } from 'node:zlib';
import { eventOf, startStreamingApi, type StreamingApi } from './streaming-api.ts';

describe('the service', () => {
  let api: StreamingApi;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  it('says that it is healthy', async () => {
    const { status, headers, text } = await api.call('GET', '/health');
    expect([status, text]).to.deep.equal([200, 'OK']);
    expect(headers.get('content-type')).to.match(/^text\/plain/);
  });

  it('shows its metrics to clients that read JSON', async () => {
    const { status, body } = await api.call('GET', '/metrics');
    expect(status).to.equal(200);
    for (const group of ['counters', 'gauges', 'histograms', 'meters', 'timers']) {
      expect(body[group], group).to.be.an('object');
    }
  });

  it('refuses a path with an empty segment', async () => {
    const { status, body } = await api.call('GET', '//');
    expect([status, body['status']]).to.deep.equal([400, 400]);
  });

  it('takes events in a compressed body', async () => {
    const type = await api.createEventType();
    const response = await fetch(`${api.url}/event-types/${type}/events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      body: gzipSync(JSON.stringify([eventOf(1), eventOf(2)])),
    });
    expect([response.status, await response.text()]).to.deep.equal([200, '']);
    const { body } = await api.call('GET', `/event-types/${type}/partitions/0`);
    expect(body['newest_available_offset']).to.equal('001-0001-000000000000000001');
  });

  it('refuses a GET that says its body is compressed', async () => {
    const { status, body } = await api.call('GET', '/event-types', undefined, { 'Content-Encoding': 'gzip' });
    expect(status).to.equal(406);
    expect(body['detail']).to.equal("GET method doesn't support gzip content encoding");
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { systemClock } from '../../../src/clock.ts';
import { request } from 'node:http';
import { Health } from '../../../src/health.ts';
import { createOperationsRouter } from '../../../src/http/edge/health-and-metrics.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { schemaFaults } from '../../support/http/response-contract.ts';
import { call } from '../../support/http/client.ts';
import { serve, type Served } from '../../support/subscription-store.ts';

describe('the endpoints for operators', () => {
  const health = new Health({ ...systemClock, now: () => Date.UTC(2026, 10, 22, 14), monotonic: () => 0 });
  const disk = health.part('disk');
  const accounts = health.part('accounts-copy');
  const metrics = createMetrics();
  const serveOperations = (): Promise<Served> =>
    serve([
      createOperationsRouter({
        metrics,
        refreshMetrics: async () => {},
        health,
        version: '1.2.3',
        release: 'v9.9.1',
      }),
    ]);

  it('report the reasons why the service is not ready, and 200 once there are none', async () => {
    const reasons = ['The disk of the data folder is full.'];
    disk.reportNotReady('The disk of the data folder is full.');
    disk.reportNotReady('The disk of the data folder is full.');
    const server = await serveOperations();
    const starting = await call(`${server.url}/ready`, 'GET');
    expect([starting.status, starting.body]).to.deep.equal([503, { ready: false, reasons }]);
    expect(starting.headers.get('retry-after')).to.equal('1');
    expect((await call(`${server.url}/health`, 'GET')).text).to.equal('OK');
    const json = { headers: { accept: 'application/json' } };
    const parts = (await fetch(`${server.url}/health`, json)).json();
    expect(await parts).to.deep.equal({
      ready: false,
      parts: [
        { name: 'disk', ready: false, since: '2026-11-22T14:00:00.000Z', reason: reasons[0], progress: null },
        { name: 'accounts-copy', ready: true, since: '2026-11-22T14:00:00.000Z', reason: null, progress: null },
      ],
    });
    disk.reportReady();
    const ready = await call(`${server.url}/ready`, 'GET');
    expect([ready.status, ready.body]).to.deep.equal([200, { ready: true, reasons: [] }]);
    expect(ready.headers.get('retry-after')).to.equal(null);
    const statuses: number[] = [];
    for (const path of ['/health/', '/ready/', '/HEALTH', '/Ready', '/health/x']) {
      statuses.push((await call(`${server.url}${path}`, 'GET')).status);
    }
    expect(statuses).to.deep.equal([200, 200, 404, 404, 404]);
    expect((await call(`${server.url}/version`, 'GET')).body).to.deep.equal({ version: '1.2.3', release: 'v9.9.1' });
    await server.close();
  });

  it('show how far a part is that reads what it needs before it is ready', async () => {
    const partitions = [
      { partition: 0, recordsRead: 5, records: 10 },
      { partition: 1, recordsRead: 2, records: 5 },
    ];
    const progress = { recordsRead: 7, records: 15, percent: 46, partitions };
    accounts.reportReading(() => ({ reason: 'It is being read.', progress }));
    const server = await serveOperations();
    const { body } = await call(`${server.url}/health`, 'GET', undefined, { Accept: 'application/json' });
    const readiness = await call(`${server.url}/ready`, 'GET');
    await server.close();
    accounts.reportReady();
    expect(schemaFaults({ $ref: '#/components/schemas/Health' }, body)).to.deep.equal([]);
    expect((body['parts'] as { progress: unknown }[])[1]?.progress).to.deep.equal({
      records_read: 7,
      records: 15,
      percent: 46,
      partitions: [
        { partition: '0', records_read: 5, records: 10 },
        { partition: '1', records_read: 2, records: 5 },
      ],
    });
    expect(readiness.body).to.deep.equal({ ready: false, reasons: ['It is being read.'] });
  });

  describe('for metrics', () => {
    /** The media type of the response; an undefined header is not sent at all. */
    async function typeFor(accept: string | undefined): Promise<string | undefined> {
      const server = await serveOperations();
      const type = await new Promise<string | undefined>((resolve, reject) => {
        const headers = accept === undefined ? {} : { Accept: accept };
        const sent = request(`${server.url}/metrics`, { headers }, (response) => {
          expect(response.headers.vary).to.match(/\bAccept\b/);
          response.resume().on('end', () => resolve(response.headers['content-type']?.split(';')[0]));
        });
        sent.on('error', reject).end();
      });
      await server.close();
      return type;
    }

    const prometheus = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1';
    for (const [accept, type] of [
      [prometheus, 'text/plain'],
      ['TEXT/PLAIN', 'text/plain'],
      ['application/openmetrics-text', 'text/plain'],
      ['text/*', 'text/plain'],
      ['application/json', 'application/json'],
      ['application/json, text/plain, */*', 'application/json'],
      ['*/*', 'application/json'],
      ['', 'application/json'],
      [undefined, 'application/json'],
    ] as const) {
      it(`return ${type} for ${accept === undefined ? 'a client that sends no Accept' : `Accept: ${accept}`}`, async () => {
        expect(await typeFor(accept)).to.equal(type);
      });
    }

    it('return the same values in JSON as in text, as the description says', async () => {
      metrics.publishedEvents.inc({ event_type: 'a "quoted" name' }, 3);
      metrics.openStreams.set({ subscription_id: 's' }, 2);
      metrics.subscriptionLag.set({ subscription_id: 's', event_type: 't' }, Number.NaN);
      metrics.commitSeconds.observe(0.002);
      metrics.commitSeconds.observe(99);
      const server = await serveOperations();
      const { body } = await call(`${server.url}/metrics`, 'GET', undefined, { Accept: 'application/json' });
      await server.close();
      expect(schemaFaults({ $ref: '#/components/schemas/Metrics' }, body)).to.deep.equal([]);
      expect(body['counters']).to.deep.include({
        'lendstream_published_events_total{event_type="a \\"quoted\\" name"}': { count: 3 },
      });
      expect(body['gauges']).to.deep.include({
        'lendstream_open_streams{subscription_id="s"}': { value: 2 },
        'lendstream_subscription_unconsumed_events{subscription_id="s",event_type="t"}': { value: null },
      });
      const histogram = (body['histograms'] as Record<string, { buckets: Record<string, number> }>)[
        'lendstream_commit_seconds'
      ];
      expect(histogram).to.deep.include({ count: 2, sum: 99.002 });
      expect(histogram?.buckets).to.deep.include({ '0.001': 0, '0.0025': 1, '10': 1, '+Inf': 2 });
    });
  });
});

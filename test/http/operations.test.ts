import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createOperationsRouter } from '../../src/http/operations.ts';
import { createMetrics } from '../../src/metrics.ts';
import { call } from '../support/client.ts';
import { serve } from '../support/subscription-store.ts';

describe('what operators ask', () => {
  it('is answered with the reasons why the service is not ready, and 200 once there are none', async () => {
    let reasons = ['The lending worker has not read the loans yet.'];
    const server = await serve([
      createOperationsRouter({
        metrics: createMetrics(),
        refreshMetrics: async () => {},
        notReadyReasons: () => reasons,
        version: '1.2.3',
      }),
    ]);
    const starting = await call(`${server.url}/ready`, 'GET');
    expect([starting.status, starting.body]).to.deep.equal([503, { ready: false, reasons }]);
    expect((await call(`${server.url}/health`, 'GET')).text).to.equal('OK');
    reasons = [];
    const ready = await call(`${server.url}/ready`, 'GET');
    expect([ready.status, ready.body]).to.deep.equal([200, { ready: true, reasons: [] }]);
    expect((await call(`${server.url}/version`, 'GET')).body).to.deep.equal({ version: '1.2.3' });
    await server.close();
  });
});

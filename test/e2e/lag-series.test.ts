import { expect } from 'chai';
import { describe, it } from 'mocha';
import { call } from '../support/http/client.ts';
import { startServiceHere } from '../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { readExposition } from '../support/prometheus.ts';

describe('METRICS_LAGS_MAXIMUM', () => {
  it('limits the series of lags to the largest ones, while the total counts the others too', async () => {
    const folder = await temporaryFolder();
    const service = await startServiceHere(folder, { METRICS_LAGS_MAXIMUM: '1' });
    try {
      const { url } = service;
      for (const [name, count] of Object.entries({ 'lags.small': 2, 'lags.large': 3 })) {
        await call(`${url}/event-types`, 'POST', {
          name,
          owning_application: 'tests',
          category: 'undefined',
          schema: { type: 'json_schema', schema: '{"type":"object"}' },
        });
        const events = Array.from({ length: count }, () => ({}));
        expect((await call(`${url}/event-types/${name}/events`, 'POST', events)).status).to.equal(200);
        const subscription = { owning_application: 'tests', event_types: [name], read_from: 'begin' };
        expect((await call(`${url}/subscriptions`, 'POST', subscription)).status).to.equal(201);
      }
      const { text } = await call(`${url}/metrics`, 'GET', undefined, { Accept: 'text/plain' });
      const samples = readExposition(text);
      const valuesOf = (wanted: string) => samples.filter(({ name }) => name === wanted).map(({ value }) => value);
      expect(valuesOf('lendstream_subscription_unconsumed_events')).to.deep.equal([3]);
      expect(valuesOf('lendstream_hidden_subscription_lags')).to.deep.equal([1]);
      expect(valuesOf('lendstream_unconsumed_events')).to.deep.equal([5]);
    } finally {
      await service.stop();
      await removeFolder(folder);
    }
  });
});

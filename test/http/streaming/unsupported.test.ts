import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';
import { call } from '../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

describe('the features that docs/compatibility.md lists as unsupported', () => {
  let folder = '';
  let service: ServiceHere;

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder);
    expect((await call(`${service.url}/event-types`, 'POST', eventTypeBody('orders'))).status).to.equal(201);
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const avro = { type: 'avro_schema', schema: '{"type":"record","name":"a","fields":[]}' };
  type Case = [string, string, unknown, Record<string, string>, number, RegExp];
  const cases: Case[] = [
    ['POST', '/event-types', eventTypeBody('avro', { schema: avro }), {}, 422, /avro_schema/],
    ['POST', '/event-types/orders/schemas', avro, {}, 422, /avro_schema/],
    ['GET', '/event-types/orders/events', undefined, { Accept: 'application/avro-binary' }, 422, /Avro/],
    ['GET', '/subscriptions/any/events', undefined, { Accept: 'application/avro-binary' }, 422, /Avro/],
    ...['application/avro-binary;q=1', 'application/avro-binary; charset=x', 'Application/Avro-Binary'].flatMap(
      (Accept) =>
        ['/event-types/orders/events', '/subscriptions/any/events'].map((path): Case => [
          'GET',
          path,
          undefined,
          { Accept },
          422,
          /Avro/,
        ]),
    ),
    ...['application/avro-binary; charset=utf-8', 'APPLICATION/avro-binary'].flatMap((type) =>
      ['events', 'deleted-events'].map((path): Case => [
        'POST',
        `/event-types/orders/${path}`,
        '[]',
        { 'Content-Type': type },
        422,
        /Avro/,
      ]),
    ),
    ['POST', '/event-types/orders/events', 'Obj', { 'Content-Type': 'application/avro-binary' }, 422, /Avro/],
    ['POST', '/event-types/orders/deleted-events', '[]', { 'Content-Type': 'application/avro-binary' }, 422, /Avro/],
    ['POST', '/event-types/orders/events', '[]', { 'Content-Encoding': 'br' }, 415, /br/],
    ['GET', '/event-types/orders/timelines', undefined, {}, 501, /no timelines/],
    ['POST', '/event-types/orders/timelines', { storage_id: 'default' }, {}, 501, /no timelines/],
    ['GET', '/storages', undefined, {}, 501, /no storages/],
    ['POST', '/storages', { id: 'second', storage_type: 'kafka' }, {}, 501, /no storages/],
    ['GET', '/storages/default', undefined, {}, 501, /no storages/],
    ['DELETE', '/storages/second', undefined, {}, 501, /no storages/],
    ['PUT', '/storages/default/second', undefined, {}, 501, /no storages/],
    ['GET', '/avro-schemas/batch.publishing/versions', undefined, {}, 501, /no Avro/],
    ['GET', '/avro-schemas/batch.publishing/versions/1', undefined, {}, 501, /no Avro/],
    ['GET', '/settings/admins', undefined, {}, 501, /no list of administrators/],
    ['POST', '/settings/admins', { admins: [], readers: [], writers: [] }, {}, 501, /no list of administrators/],
    ['POST', '/event-types/orders/events', '[]', { 'X-CONSUMER-TAG': 'a=b' }, 422, /X-CONSUMER-TAG is not supported/],
    ['POST', '/event-types/orders/events', '[]', { 'X-CONSUMER-TAG': '' }, 422, /X-CONSUMER-TAG is not supported/],
    [
      'POST',
      '/event-types',
      eventTypeBody('owned', { event_owner_selector: { type: 'static', name: 'a', value: 'b' } }),
      {},
      422,
      /"event_owner_selector" is not supported/,
    ],
  ];
  for (const [method, path, body, headers, status, detail] of cases) {
    const name = Object.keys(headers).map((header) => ` with ${header}: ${headers[header]}`)[0] ?? '';
    it(`are refused with ${status} and the reason: ${method} ${path}${name}`, async () => {
      const response = await call(`${service.url}${path}`, method, body, headers);
      expect(response.status, response.text).to.equal(status);
      expect(response.headers.get('content-type')).to.match(/^application\/problem\+json/);
      expect(response.body['detail']).to.match(detail);
    });
  }

  it('are not stored either: a refused event type does not exist', async () => {
    for (const name of ['avro', 'owned']) {
      expect((await call(`${service.url}/event-types/${name}`, 'GET')).status).to.equal(404);
    }
    expect((await call(`${service.url}/subscriptions`, 'GET')).body['items']).to.deep.equal([]);
  });
});

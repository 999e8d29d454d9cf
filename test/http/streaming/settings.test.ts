import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { switchableFeatures } from '../../../src/broker/definitions/feature-switches.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';
import { call, lastCursors, openStream, type HttpResponse } from '../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

describe('/settings', () => {
  let folder: string;
  let service: ServiceHere;
  let names = 0;
  let type: string;

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder);
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const send = (method: string, path: string, body?: unknown): Promise<HttpResponse> =>
    call(`${service.url}${path}`, method, body);

  beforeEach(async () => {
    names += 1;
    type = `orders-${names}`;
    expect((await send('POST', '/event-types', eventTypeBody(type))).status).to.equal(201);
  });

  const subscribe = async (owner = 'core'): Promise<string> => {
    const identity = { owning_application: owner, event_types: [type], read_from: 'begin' };
    return String((await send('POST', '/subscriptions', identity)).body['id']);
  };

  const publish = () => send('POST', `/event-types/${type}/events`, [{ metadata: exampleMetadata() }]);

  const during = async (blocked: string, work: () => Promise<void>): Promise<void> => {
    expect((await send('PUT', `/settings/blacklist/${blocked}`)).status).to.equal(204);
    await work();
    expect((await send('DELETE', `/settings/blacklist/${blocked}`)).status).to.equal(204);
  };

  const switched = async (feature: string, work: () => Promise<void>): Promise<void> => {
    expect((await send('POST', '/settings/features', { feature, enabled: true })).status).to.equal(204);
    await work();
    expect((await send('POST', '/settings/features', { feature, enabled: false })).status).to.equal(204);
  };

  it('blacklist: a blocked application gets no stream of its subscriptions, other applications do', async () => {
    await publish();
    const [mine, other] = [await subscribe('mine'), await subscribe('other')];
    await during('CONSUMER_APP/mine', async () => {
      const refused = await send('GET', `/subscriptions/${mine}/events`);
      expect([refused.status, refused.body['title']]).to.deep.equal([403, 'Forbidden']);
      const stream = await openStream(service.url, other);
      stream.close();
    });
    const stream = await openStream(service.url, mine);
    await stream.until((batches) => batches.some(({ events }) => events !== undefined));
    stream.close();
  });

  it('blacklist: a blocked consumer cannot commit', async () => {
    await publish();
    const stream = await openStream(service.url, await subscribe());
    await stream.until((batches) => batches.some(({ events }) => events !== undefined));
    await during(`consumer_et/${type}`, async () => {
      await stream.ended;
      expect(stream.batches.at(-1)?.info?.code).to.equal('consumption_blocked');
      const refused = await stream.commit(lastCursors(stream.batches));
      expect([refused.status, refused.body['detail']]).to.deep.equal([403, 'Application or subscription is blocked']);
    });
  });

  it('blacklist: a blocked owner of an event type gets nothing published to it', async () => {
    await during('PRODUCER_APP/core', async () => {
      expect((await publish()).status).to.equal(403);
      const deletion = await send('POST', `/event-types/${type}/deleted-events`, []);
      expect([deletion.status, deletion.body['detail']]).to.deep.equal([403, 'Application or event type is blocked']);
      expect((await send('POST', '/event-types/unknown/events', [])).status).to.equal(404);
    });
    expect((await publish()).status).to.equal(200);
  });

  it('blacklist: refuses other types, names that are too long, and other methods', async () => {
    for (const method of ['PUT', 'DELETE']) {
      const refused = await send(method, '/settings/blacklist/CONSUMER/x');
      expect([refused.status, refused.headers.get('content-type')]).to.deep.equal([400, 'application/problem+json']);
    }
    expect((await send('PUT', `/settings/blacklist/CONSUMER_ET/${'n'.repeat(255)}`)).status).to.equal(204);
    expect((await send('PUT', `/settings/blacklist/CONSUMER_ET/${'n'.repeat(256)}`)).status).to.equal(422);
    expect((await send('DELETE', `/settings/blacklist/CONSUMER_ET/${'n'.repeat(255)}`)).status).to.equal(204);
    expect((await send('POST', '/settings/blacklist')).status).to.equal(405);
    expect((await send('GET', '/settings/blacklist/CONSUMER_ET/x')).status).to.equal(405);
    expect((await send('GET', '/settings/blacklist')).body).to.deep.equal({
      consumers: { event_types: [], apps: [] },
      producers: { event_types: [], apps: [] },
    });
  });

  it('features: all are listed and off at first', async () => {
    const { status, body } = await send('GET', '/settings/features');
    expect(status).to.equal(200);
    expect(body['items']).to.deep.equal(switchableFeatures.map((feature) => ({ feature, enabled: false })));
  });

  it('features: no event type is created, or deleted, while that is switched off', async () => {
    await switched('disable_event_type_creation', async () => {
      const { status, body } = await send('POST', '/event-types', eventTypeBody('another'));
      expect([status, body['detail']]).to.deep.equal([501, 'Event Type creation is disabled']);
    });
    await switched('disable_event_type_deletion', async () => {
      const { status, body } = await send('DELETE', `/event-types/${type}`);
      expect([status, body['detail']]).to.deep.equal([403, 'Event Type deletion is disabled']);
    });
    expect((await send('DELETE', `/event-types/${type}`)).status).to.equal(200);
  });

  it('features: no subscription is created while that is switched off, and one that exists is found', async () => {
    const id = await subscribe();
    await switched('DISABLE_SUBSCRIPTION_CREATION', async () => {
      expect(await subscribe()).to.equal(id);
      const { status, body, headers } = await send('POST', '/subscriptions', {
        owning_application: 'new',
        event_types: [type],
      });
      expect([status, body['detail']]).to.deep.equal([503, 'Subscription creation is disabled']);
      expect(headers.get('retry-after')).to.equal('1');
    });
  });

  it('features: authorization is demanded of new event types and subscriptions', async () => {
    await switched('force_event_type_authz', async () => {
      const { status, body } = await send('POST', '/event-types', eventTypeBody('unprotected'));
      expect([status, body['detail']]).to.deep.equal([422, 'Authorization section is mandatory']);
      const everyone = [{ data_type: '*', value: '*' }];
      const authorization = { admins: everyone, readers: everyone, writers: everyone };
      expect((await send('POST', '/event-types', eventTypeBody('protected', { authorization }))).status).to.equal(201);
    });
    await switched('force_subscription_authz', async () => {
      const { status } = await send('POST', '/subscriptions', { owning_application: 'open', event_types: [type] });
      expect(status).to.equal(422);
    });
  });

  it('features: with subscriptions, an event type is deleted only if it may be deleted', async () => {
    await switched('delete_event_type_with_subscriptions', async () => {
      const refused = await send('DELETE', '/event-types/loan_fee_event');
      expect(refused.status).to.equal(403);
      expect((await send('DELETE', '/event-types/unknown')).status).to.equal(404);
      const id = await subscribe();
      await switched('disable_event_type_deletion', async () => {
        expect((await send('DELETE', `/event-types/${type}`)).status).to.equal(403);
        expect((await send('GET', `/subscriptions/${id}`)).status).to.equal(200);
      });
      expect((await send('DELETE', `/event-types/${type}`)).status).to.equal(200);
      expect((await send('GET', `/subscriptions/${id}`)).status).to.equal(404);
    });
  });

  it('features: refuses what is no feature, no switch, or a feature without a part here', async () => {
    const post = async (body: unknown): Promise<number> => (await send('POST', '/settings/features', body)).status;
    expect(await post({ feature: 'made_up', enabled: true })).to.equal(400);
    expect(await post({ feature: 'disable_event_type_creation' })).to.equal(400);
    expect(await post({ feature: 'disable_event_type_creation', enabled: 'yes' })).to.equal(400);
    expect(await post({ enabled: true })).to.equal(400);
    expect(await post({ feature: 'audit_log_collection', enabled: true })).to.equal(501);
    expect((await send('PUT', '/settings/features')).status).to.equal(405);
  });
});

import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { isClusterUnderTest } from '../../support/backend-under-test.ts';
import { openClusterAlone, type ClusterAlone } from '../../support/clusters/cluster-alone.ts';
import { eventually } from '../../support/eventually.ts';
import { eventOf, eventTypeOf, newName, startStreamingApi, type StreamingApi } from './streaming-api.ts';

/**
 * Settings hold for a whole service, so on the cluster no other test has one meanwhile. Its second process is the one
 * on which the settings take effect.
 */
describe('settings of operators', () => {
  let cluster: ClusterAlone | undefined;
  let near: StreamingApi;
  let far: StreamingApi;
  const apis: StreamingApi[] = [];
  let type: string;

  before(async function () {
    this.timeout(120_000);
    cluster = isClusterUnderTest() ? await openClusterAlone() : undefined;
    const settings = cluster && { KAFKA_BROKERS: cluster.kafkaBrokers.join(','), REDIS_URL: cluster.redisUrl };
    near = await startStreamingApi(settings);
    apis.push(near);
    far = near;
    if (settings === undefined) return;
    far = await startStreamingApi(settings);
    apis.push(far);
  });

  after(async () => {
    await Promise.all(apis.map((api) => api.stop()));
    await cluster?.stop();
  });

  beforeEach(async () => {
    type = await near.createEventType();
    await near.publish(type, [0]);
  });

  afterEach(async () => {
    for (const feature of ['disable_db_write_operations', 'delete_event_type_with_subscriptions']) {
      await near.call('POST', '/settings/features', { feature, enabled: false });
    }
  });

  const setBlocked = async (method: 'PUT' | 'DELETE', kind: string, name = type): Promise<void> => {
    const response = await near.call(method, `/settings/blacklist/${kind}/${name}`);
    expect([response.status, response.text]).to.deep.equal([204, '']);
  };

  const switchOn = async (feature: string): Promise<void> => {
    const response = await near.call('POST', '/settings/features', { feature, enabled: true });
    expect([response.status, response.text]).to.deep.equal([204, '']);
    await eventually(async () => {
      const { body } = await far.call('GET', '/settings/features');
      return (body['items'] as { feature: string; enabled: boolean }[]).some(
        (item) => item.feature === feature && item.enabled,
      );
    });
  };

  const blocked = async (): Promise<Record<string, { event_types: string[]; apps: string[] }>> =>
    (await far.call('GET', '/settings/blacklist')).body as Record<string, { event_types: string[]; apps: string[] }>;

  it('list a consumer that was blocked by its event type', async () => {
    await setBlocked('PUT', 'CONSUMER_ET');
    expect((await blocked())['consumers']?.event_types).to.include(type);
    await setBlocked('DELETE', 'CONSUMER_ET');
  });

  it('list a consumer no longer when it was unblocked', async () => {
    await setBlocked('PUT', 'CONSUMER_ET');
    await setBlocked('DELETE', 'CONSUMER_ET');
    expect((await blocked())['consumers']?.event_types).not.to.include(type);
  });

  it('list all who are blocked, by event type and by application', async () => {
    const kinds = ['CONSUMER_ET', 'CONSUMER_APP', 'PRODUCER_ET', 'PRODUCER_APP'];
    for (const kind of kinds) await setBlocked('PUT', kind, `${type}.${kind}`);
    const { consumers, producers } = await blocked();
    expect(consumers).to.deep.equal({ event_types: [`${type}.CONSUMER_ET`], apps: [`${type}.CONSUMER_APP`] });
    expect(producers).to.deep.equal({ event_types: [`${type}.PRODUCER_ET`], apps: [`${type}.PRODUCER_APP`] });
    for (const kind of kinds) await setBlocked('DELETE', kind, `${type}.${kind}`);
  });

  it('refuse a feature that does not exist', async () => {
    const { status } = await near.call('POST', '/settings/features', { feature: 'made_up', enabled: true });
    expect(status).to.equal(400);
  });

  it('refuse a stream of a blocked event type, and accept it when it is unblocked', async () => {
    const id = await far.subscribe([type]);
    await setBlocked('PUT', 'CONSUMER_ET');
    await eventually(async () => (await blocked())['consumers']?.event_types.includes(type) === true);
    const { status, detail } = await (await far.open(id)).problem();
    expect([status, detail]).to.deep.equal([403, 'Application or event type is blocked']);
    await setBlocked('DELETE', 'CONSUMER_ET');
    await eventually(async () => (await blocked())['consumers']?.event_types.includes(type) === false);
    const stream = await far.open(id);
    await stream.until(() => stream.numbers.length === 1);
  });

  it('end a running stream with a last line that says so', async () => {
    const stream = await far.open(await far.subscribe([type]));
    await stream.until(() => stream.numbers.length === 1);
    await setBlocked('PUT', 'CONSUMER_ET');
    await stream.ended;
    expect(stream.batches.at(-1)?.events).to.equal(undefined);
    expect(stream.lastInfo).to.deep.equal({ debug: 'Consumption is blocked', code: 'consumption_blocked' });
    await setBlocked('DELETE', 'CONSUMER_ET');
  });

  it('refuse to stream a blocked event type without a subscription', async () => {
    await setBlocked('PUT', 'CONSUMER_ET');
    await eventually(async () => (await blocked())['consumers']?.event_types.includes(type) === true);
    const { status, detail } = await (await far.openEventType(type)).problem();
    expect([status, detail]).to.deep.equal([403, 'Application or event type is blocked']);
    await setBlocked('DELETE', 'CONSUMER_ET');
  });

  it('end a running stream without a subscription', async () => {
    const stream = await far.openEventType(type);
    await setBlocked('PUT', 'CONSUMER_ET');
    await stream.ended;
    expect(stream.lastInfo).to.deep.equal({ debug: 'Consumption is blocked', code: 'consumption_blocked' });
    await setBlocked('DELETE', 'CONSUMER_ET');
  });

  it('refuse events of a blocked event type, and take them when it is unblocked', async () => {
    const publish = () => far.call('POST', `/event-types/${type}/events`, [eventOf(1)]);
    await setBlocked('PUT', 'PRODUCER_ET');
    await eventually(async () => (await publish()).status === 403);
    expect((await publish()).body['detail']).to.equal('Application or event type is blocked');
    await setBlocked('DELETE', 'PRODUCER_ET');
    await eventually(async () => (await publish()).status === 200);
  });

  it('refuse every change of a definition while those can only be read', async () => {
    const id = await far.subscribe([type]);
    const definition = (await far.call('GET', `/event-types/${type}`)).body;
    const subscription = (await far.call('GET', `/subscriptions/${id}`)).body;
    await switchOn('disable_db_write_operations');
    const changes: [string, string, unknown?][] = [
      ['POST', '/event-types', eventTypeOf(newName(), 1)],
      ['PUT', `/event-types/${type}`, definition],
      ['DELETE', `/event-types/${type}`],
      ['POST', `/event-types/${type}/schemas`, { type: 'json_schema', schema: '{"type":"object"}' }],
      ['PUT', `/event-types/${type}/partition-count`, { partition_count: 2 }],
      ['POST', '/subscriptions', { owning_application: newName('app'), event_types: [type] }],
      ['PUT', `/subscriptions/${id}`, subscription],
      ['DELETE', `/subscriptions/${id}`],
    ];
    for (const [method, path, body] of changes) {
      const { status, body: problem } = await far.call(method, path, body);
      expect([status, problem['title']], `${method} ${path}`).to.deep.equal([503, 'Service Unavailable']);
    }
    const { owning_application, event_types } = subscription;
    const again = await far.call('POST', '/subscriptions', { owning_application, event_types });
    expect(again.status).to.equal(200);
    await far.publish(type, [1]);
  });

  it('let an event type be deleted with its subscriptions', async () => {
    const id = await far.subscribe([type]);
    await switchOn('delete_event_type_with_subscriptions');
    const deleted = await far.call('DELETE', `/event-types/${type}`);
    expect([deleted.status, deleted.text]).to.deep.equal([200, '']);
    expect((await far.call('GET', `/subscriptions/${id}`)).status).to.equal(404);
    expect((await far.call('GET', `/event-types/${type}`)).status).to.equal(404);
  });
});

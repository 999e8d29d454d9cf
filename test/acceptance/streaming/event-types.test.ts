import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { eventOf, eventTypeOf, newName, startStreamingApi, type StreamingApi } from './streaming-api.ts';

describe('event types', () => {
  let api: StreamingApi;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  const show = async (name: string): Promise<Record<string, unknown>> => {
    const { status, body } = await api.call('GET', `/event-types/${name}`);
    expect(status).to.equal(200);
    return body;
  };

  const create = async (changes: Record<string, unknown> = {}): Promise<string> => api.createEventType(1, changes);

  /** Puts the definition that is shown, with changes. */
  const change = async (name: string, changes: Record<string, unknown>) =>
    api.call('PUT', `/event-types/${name}`, { ...(await show(name)), ...changes });

  const names = async (query = ''): Promise<string[]> => {
    const { body } = await api.call('GET', `/event-types${query}`);
    return (body as unknown as { name: string }[]).map(({ name }) => name);
  };

  it('are listed', async () => {
    const name = await create();
    expect(await names()).to.include(name);
  });

  it('are listed by one of their writers and by owning application', async () => {
    const [writer, owner] = [newName('writer'), newName('app')];
    const everyone = [{ data_type: '*', value: '*' }];
    const authorization = { admins: everyone, readers: everyone, writers: [{ data_type: 'user', value: writer }] };
    const wanted = await create({ authorization, owning_application: owner });
    const others = [await create({ authorization }), await create({ owning_application: owner })];
    expect(await names(`?writer=user:${writer}&owning_application=${owner}`)).to.deep.equal([wanted]);
    expect(await names(`?writer=user:${writer}`)).to.have.members([wanted, others[0]]);
    expect(await names(`?owning_application=${owner}`)).to.have.members([wanted, others[1]]);
  });

  it('are created with an empty response', async () => {
    const created = await api.call('POST', '/event-types', eventTypeOf(newName(), 1));
    expect([created.status, created.text]).to.deep.equal([201, '']);
  });

  it('are refused with a name that is too long', async () => {
    const { status, body } = await api.call('POST', '/event-types', eventTypeOf('a'.repeat(256), 1));
    expect(status).to.equal(422);
    expect(body['detail']).to.match(/^Field "name" the length of the name must be >= 1 and <= /);
  });

  it('are changed with an empty response', async () => {
    const changed = await change(await create(), { audience: 'company-internal' });
    expect([changed.status, changed.text]).to.deep.equal([200, '']);
  });

  it('are gone with their events when they are deleted, and may be created again', async () => {
    const name = await create();
    await api.publish(name, [0, 1]);
    const deleted = await api.call('DELETE', `/event-types/${name}`);
    expect([deleted.status, deleted.text]).to.deep.equal([200, '']);
    expect((await api.call('GET', `/event-types/${name}`)).status).to.equal(404);
    expect((await api.call('POST', '/event-types', eventTypeOf(name, 1))).status).to.equal(201);
    const { body } = await api.call('GET', `/event-types/${name}/partitions/0`);
    expect(body['newest_available_offset']).to.equal('001-0001--1');
  });

  it('may change from random partitions to those of a hash', async () => {
    const name = await create({ partition_strategy: 'random' });
    const changed = await change(name, { partition_strategy: 'hash', partition_key_fields: ['number'] });
    expect(changed.status).to.equal(200);
    expect(await show(name)).to.deep.include({ partition_strategy: 'hash', partition_key_fields: ['number'] });
  });

  it('may not change to a partition strategy that does not exist', async () => {
    const name = await create({ partition_strategy: 'random' });
    const changed = await change(name, { partition_strategy: 'made_up' });
    expect(changed.status).to.equal(422);
    expect(await show(name)).to.include({ partition_strategy: 'random' });
  });

  it('show a changed retention time', async () => {
    const name = await create({ options: { retention_time: 172_800_000 } });
    expect((await change(name, { options: { retention_time: 345_600_000 } })).status).to.equal(200);
    expect((await show(name))['options']).to.deep.equal({ retention_time: 345_600_000 });
  });

  it('may change from deleting to deleting and compacting, and then need a key for each event', async () => {
    const name = await create();
    await api.publish(name, [0]);
    expect((await change(name, { cleanup_policy: 'compact_and_delete' })).status).to.equal(200);
    const refused = await api.call('POST', `/event-types/${name}/events`, [eventOf(1)]);
    expect(refused.status).to.equal(422);
    const { metadata } = eventOf(2) as { metadata: object };
    const keyed = { metadata: { ...metadata, partition_compaction_key: 'k' }, number: 2 };
    expect((await api.call('POST', `/event-types/${name}/events`, [keyed])).status).to.equal(200);
  });

  it('that are compacted take events with a key, and no others', async () => {
    const name = await create({ cleanup_policy: 'compact' });
    const { metadata } = eventOf(0) as { metadata: object };
    const keyed = { metadata: { ...metadata, partition_compaction_key: 'k' }, number: 0 };
    expect((await api.call('POST', `/event-types/${name}/events`, [keyed])).status).to.equal(200);
    const refused = await api.call('POST', `/event-types/${name}/events`, [eventOf(1)]);
    expect(refused.status).to.equal(422);
    expect(refused.text).to.include('partition_compaction_key');
  });

  it('keep their retention time when a change has none', async () => {
    const name = await create({ options: { retention_time: 200_000_000 } });
    expect((await change(name, { options: { retention_time: null } })).status).to.equal(200);
    expect((await show(name))['options']).to.deep.equal({ retention_time: 200_000_000 });
  });

  it('may have a name that ends like a file name', async () => {
    const name = `${newName()}.ps`;
    expect((await api.call('POST', '/event-types', eventTypeOf(name, 1))).status).to.equal(201);
    expect((await show(name))['name']).to.equal(name);
  });

  const everyone = [{ data_type: '*', value: '*' }];

  it('show their authorization', async () => {
    const authorization = { admins: [{ data_type: 'user', value: 'me' }], readers: everyone, writers: everyone };
    expect((await show(await create({ authorization })))['authorization']).to.deep.equal(authorization);
  });

  it('may not lose their authorization', async () => {
    const name = await create({ authorization: { admins: everyone, readers: everyone, writers: everyone } });
    const { status, body } = await change(name, { authorization: null });
    expect(status).to.equal(422);
    expect(body['detail']).to.equal('Changing authorization object to `null` is not possible due to existing one');
  });

  it('show their annotations and labels', async () => {
    const written = { annotations: { 'nakadi.io/internal': 'a text' }, labels: { 'nakadi.io/team': 'orders' } };
    expect(await show(await create(written))).to.deep.include(written);
  });

  it('keep their annotations and labels when a change has none', async () => {
    const written = { annotations: { 'nakadi.io/internal': 'a text' }, labels: { 'nakadi.io/team': 'orders' } };
    const name = await create(written);
    const { annotations: _annotations, labels: _labels, ...definition } = await show(name);
    expect((await api.call('PUT', `/event-types/${name}`, definition)).status).to.equal(200);
    expect(await show(name)).to.deep.include(written);
  });

  it('are refused with every wrong annotation and label at once', async () => {
    const written = { annotations: { '': 'no key' }, labels: { '-team': 'x' } };
    const { status, body } = await api.call('POST', '/event-types', eventTypeOf(newName(), 1, written));
    expect(status).to.equal(422);
    expect(body['detail']).to.include('Key cannot be empty');
    expect(body['detail']).to.include('Key name should start and end with a letter or a digit');
  });
});

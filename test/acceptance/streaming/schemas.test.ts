import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { startStreamingApi, type StreamingApi } from './streaming-api.ts';

const second = '{"type":"object","properties":{"number":{"type":"integer"},"name":{"type":"string"}}}';

describe('schemas of an event type', () => {
  let api: StreamingApi;
  let type: string;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  beforeEach(async () => {
    type = await api.createEventType();
    const added = await api.call('POST', `/event-types/${type}/schemas`, { type: 'json_schema', schema: second });
    expect(added.status).to.equal(200);
  });

  const list = async (query = '') => {
    const { body } = await api.call('GET', `/event-types/${type}/schemas${query}`);
    const { items, _links } = body as unknown as { items: { version: string }[]; _links: unknown };
    return { versions: items.map(({ version }) => version), links: _links };
  };

  it('are listed, the newest first', async () => {
    expect(await list()).to.deep.equal({ versions: ['1.1.0', '1.0.0'], links: {} });
  });

  it('are listed in pages, with links to those before and after', async () => {
    const link = (offset: number) => ({ href: `/event-types/${type}/schemas?offset=${offset}&limit=1` });
    expect(await list('?offset=0&limit=1')).to.deep.equal({ versions: ['1.1.0'], links: { next: link(1) } });
    expect(await list('?offset=1&limit=1')).to.deep.equal({ versions: ['1.0.0'], links: { prev: link(0) } });
  });

  it('have empty pages beyond the end, without links', async () => {
    expect(await list('?offset=10&limit=1')).to.deep.equal({ versions: [], links: {} });
  });

  it('are not listed for an event type that does not exist', async () => {
    expect((await api.call('GET', '/event-types/unknown/schemas')).status).to.equal(404);
  });

  it('are found by their content', async () => {
    const { status, body } = await api.call('POST', `/event-types/${type}/schemas?fetch=true`, {
      type: 'json_schema',
      schema: second,
    });
    expect(status).to.equal(200);
    expect(body).to.include({ version: '1.1.0', schema: second });
  });
});

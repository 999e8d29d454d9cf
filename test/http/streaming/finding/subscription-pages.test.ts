import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { eventTypeBody } from '../../../support/broker-on-embedded-log.ts';
import { call } from '../../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../../support/processes/service.ts';

interface Page {
  readonly items: readonly { readonly id: string; readonly owning_application: string }[];
  readonly _links: { readonly prev?: { readonly href: string }; readonly next?: { readonly href: string } };
}

describe('GET /subscriptions with a token', () => {
  let folder: string;
  let service: Service;
  /** In the order of pages by token. */
  const ids: string[] = [];

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder);
    for (const type of ['orders', 'payments']) {
      await call(`${service.url}/event-types`, 'POST', eventTypeBody(type));
    }
    for (const group of ['a', 'b', 'c', 'd', 'e']) ids.push(await subscribe('mine', group));
    ids.sort((left, right) => (left < right ? -1 : 1));
    await subscribe('other', 'a');
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  async function subscribe(owner: string, group: string): Promise<string> {
    const identity = { owning_application: owner, event_types: ['orders'], consumer_group: group };
    return String((await call(`${service.url}/subscriptions`, 'POST', identity)).body['id']);
  }

  async function pageAt(href: string): Promise<Page> {
    const { status, body, text } = await call(`${service.url}${href}`, 'GET');
    expect(status, text).to.equal(200);
    return body as unknown as Page;
  }

  it('leads from page to page and back, with all that the request asks for', async () => {
    const filter = 'event_type=orders&owning_application=mine';
    const first = await pageAt(`/subscriptions?${filter}&token=&limit=2&show_status=true`);
    expect(first.items.map(({ id }) => id)).to.deep.equal(ids.slice(0, 2));
    const next = `/subscriptions?${filter}&token=W${ids[2]}&limit=2&show_status=true`;
    expect(first._links).to.deep.equal({ next: { href: next } });
    const second = await pageAt(next);
    expect(second.items.map(({ id }) => id)).to.deep.equal(ids.slice(2, 4));
    const last = await pageAt(second._links.next?.href ?? '');
    expect(last.items.map(({ id }) => id)).to.deep.equal(ids.slice(4));
    expect(last._links.next).to.equal(undefined);
    const back = await pageAt(last._links.prev?.href ?? '');
    expect(back.items.map(({ id }) => id)).to.deep.equal(ids.slice(2, 4));
    expect((await pageAt(back._links.prev?.href ?? ''))._links).to.deep.equal(first._links);
  });

  it('has no links when everything is on one page, and lists all owners without a filter', async () => {
    const { items, _links } = await pageAt('/subscriptions?token=&limit=6');
    expect([items.length, _links]).to.deep.equal([6, {}]);
    expect(items.map(({ id }) => id)).to.include.members(ids);
    expect((await pageAt('/subscriptions?token=&event_type=payments')).items).to.deep.equal([]);
  });

  it('is refused for what is no token', async () => {
    for (const token of ['x', 'W', 'Zabc', `W${'a'.repeat(65)}`]) {
      const { status, body } = await call(`${service.url}/subscriptions?token=${token}`, 'GET');
      expect(status, token).to.equal(400);
      expect(body['detail']).to.match(/'token' parameter/);
    }
    expect((await pageAt(`/subscriptions?token=W${'a'.repeat(64)}`)).items.length).to.be.at.most(6);
  });
});

import { expect } from 'chai';
import { before, it } from 'mocha';
import type { Page } from 'playwright-core';
import { createKey } from '../../support/access/created-key.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { describeAdminPage } from './admin-browser.ts';

const administrator = 'the-key-of-an-administrator';

describeAdminPage(
  'an event type that is deleted on the admin page, while the service deletes subscriptions with it',
  (admin) => {
    const { button, text, dialog, link } = admin;
    const feature = 'delete_event_type_with_subscriptions';

    const api = (method: string, path: string, body?: unknown): Promise<HttpResponse> =>
      call(`${admin.service.url}${path}`, method, body, { apikey: administrator });

    const switchFeature = async (enabled: boolean): Promise<void> => {
      expect((await api('POST', '/settings/features', { feature, enabled })).status).to.equal(204);
    };

    async function define(...names: readonly string[]): Promise<void> {
      for (const name of names) {
        const body = { ...eventTypeBody(name), owning_application: 'shop' };
        expect((await api('POST', '/event-types', body)).status).to.equal(201);
      }
    }

    async function subscribe(application: string, ...event_types: readonly string[]): Promise<string> {
      const { status, body } = await api('POST', '/subscriptions', { owning_application: application, event_types });
      expect(status).to.equal(201);
      return String(body['id']);
    }

    const statusOf = async (path: string): Promise<number> => (await api('GET', path)).status;

    async function signIn(page: Page, path: string, key: string): Promise<void> {
      await page.goto(`${admin.service.url}/admin${path}`);
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
    }

    before(() => signIn(admin.page, '/event-types', administrator));

    it('takes the subscriptions with it that the question names, also what else they read', async () => {
      await define('deleted.paid', 'deleted.shipped');
      const [one, both] = [
        await subscribe('shop', 'deleted.paid'),
        await subscribe('ledger', 'deleted.paid', 'deleted.shipped'),
      ];
      await switchFeature(true);
      await admin.visit('/event-types/deleted.paid');
      await button('Delete').click();
      await text('Its events are deleted with it, and so are these subscriptions with their cursors.').waitFor();
      await dialog().getByRole('link', { name: 'shop / default' }).waitFor();
      await text('ledger / default').waitFor();
      await dialog().getByText(', which reads 1 other event type').waitFor();
      expect(await admin.faults()).to.deep.equal([]);
      await admin.screenshot('event-type-deletion');
      await dialog().getByRole('button', { name: 'Delete it and 2 subscriptions' }).click();
      await admin.heading('Event types').waitFor();
      for (const path of ['/event-types/deleted.paid', `/subscriptions/${one}`, `/subscriptions/${both}`]) {
        expect(await statusOf(path), path).to.equal(404);
      }
      expect(await statusOf('/event-types/deleted.shipped')).to.equal(200);
    });

    it('names as many as fit, and leads to all of them', async () => {
      await define('deleted.many');
      for (let at = 0; at < 11; at += 1) await subscribe(`reader-${at}`, 'deleted.many');
      await admin.visit('/event-types/deleted.many');
      await button('Delete').click();
      await dialog().getByRole('button', { name: 'Delete it and 11 subscriptions' }).waitFor();
      expect(await dialog().getByRole('listitem').count()).to.equal(11);
      await link('all 11').waitFor();
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      expect(await statusOf('/event-types/deleted.many')).to.equal(200);
    });

    it('asks again when the service no longer does so while the question is shown', async () => {
      await define('deleted.late');
      const id = await subscribe('shop', 'deleted.late');
      await admin.visit('/event-types/deleted.late');
      await button('Delete').click();
      const remove = dialog().getByRole('button', { name: 'Delete it and 1 subscription' });
      await remove.waitFor();
      await switchFeature(false);
      // The page may have noticed first: the button has another name then.
      await remove.click({ timeout: 1_000 }).catch(() => undefined);
      await text('It cannot be deleted while subscriptions read it.').waitFor();
      expect(await dialog().getByRole('button', { name: 'Delete', exact: true }).isDisabled()).to.equal(true);
      expect(await statusOf(`/subscriptions/${id}`)).to.equal(200);
      await switchFeature(true);
      await remove.click();
      await admin.heading('Event types').waitFor();
      expect(await statusOf(`/subscriptions/${id}`)).to.equal(404);
    });

    it('is asked about in words that hold for who sees neither the features nor the subscriptions', async () => {
      await define('deleted.unseen');
      const id = await subscribe('ledger', 'deleted.unseen');
      const wanted = { name: 'unseeing-producer', owning_application: 'shop', scopes: ['producer'] };
      const { key } = await createKey(admin.service.url, administrator, wanted);
      const page = await admin.newPage();
      await signIn(page, '/event-types/deleted.unseen', key);
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText('Its subscriptions cannot be shown.').waitFor();
      await page.getByText('Subscriptions that read it stand in the way of this, or are deleted with it').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('heading', { name: 'Event types', exact: true }).waitFor();
      await page.close();
      expect(await statusOf(`/subscriptions/${id}`)).to.equal(404);
    });
  },
  { API_KEYS: administrator },
);

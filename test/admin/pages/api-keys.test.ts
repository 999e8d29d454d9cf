import { expect } from 'chai';
import { it } from 'mocha';
import { call } from '../../support/http/client.ts';
import { describeAdminPage } from './admin-browser.ts';

const administrator = 'the-key-of-an-administrator';

describeAdminPage(
  'the API keys of the admin page',
  (admin) => {
    const { visit, button, text, row, dialog } = admin;

    const signIn = async (key: string): Promise<void> => {
      await admin.page.getByLabel('API key').fill(key);
      await button('Sign in').click();
    };

    const statusOf = async (key: string, path: string): Promise<number> =>
      (await call(`${admin.service.url}${path}`, 'GET', undefined, { apikey: key })).status;

    it('creates a key that is shown once, and revokes it', async () => {
      await visit('/api-keys');
      await signIn(administrator);
      await text('You are environment-key-1, with admin.').waitFor();
      await button('Create a key').click();
      await dialog().getByLabel('Name', { exact: true }).fill('shop-consumer');
      await dialog().getByLabel('Application', { exact: true }).fill('shop');
      await dialog().getByLabel('consumer', { exact: true }).check();
      await admin.screenshot('api-keys-create');
      await dialog().getByRole('button', { name: 'Create' }).click();
      const key = (await admin.page.getByText(/^lendstream_/).textContent()) ?? '';
      await row('shop-consumer').waitFor();
      await admin.screenshot('api-keys');
      expect([await statusOf(key, '/subscriptions'), await statusOf(key, '/loans')]).to.deep.equal([200, 403]);
      expect(await admin.faults()).to.deep.equal([]);
      await admin.page.reload();
      await row('shop-consumer').waitFor();
      expect(await admin.page.content()).to.not.contain(key);
      await button('Revoke shop-consumer').click();
      await dialog().getByRole('button', { name: 'Revoke' }).click();
      await text('shop-consumer is revoked.').waitFor();
      expect(await statusOf(key, '/subscriptions')).to.equal(401);
    });

    it('shows in the dialog why a key was not created', async () => {
      await visit('/api-keys');
      await button('Create a key').click();
      await dialog().getByLabel('Name', { exact: true }).fill('Shop Consumer');
      await dialog().getByRole('button', { name: 'Create' }).click();
      await dialog()
        .getByText(/lower case letters/)
        .last()
        .waitFor();
      await dialog()
        .getByText(/must contain at least one element/)
        .waitFor();
      expect(await admin.faults()).to.deep.equal([]);
      await dialog().getByRole('button', { name: 'Cancel' }).click();
    });

    it('shows a holder the sections that it may see, and begins with the first of them', async () => {
      const wanted = { name: 'branch-officer', owning_application: 'branch', scopes: ['officer'] };
      const headers = { apikey: administrator };
      const { body } = await call(`${admin.service.url}/api-keys`, 'POST', wanted, headers);
      const page = await admin.newPage();
      await page.goto(`${admin.service.url}/admin`);
      await page.getByLabel('API key').fill(String(body['key']));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Loans', exact: true }).waitFor();
      const sections = await page.getByRole('navigation', { name: 'Sections' }).getByRole('link').allTextContents();
      expect(sections).to.deep.equal(['Loans', 'Products', 'Toggles']);
      await page.close();
    });

    it('fits a narrow screen', async () => {
      const narrow = await admin.newPage(360);
      await narrow.goto(`${admin.service.url}/admin/api-keys`);
      await narrow.getByLabel('API key').fill(administrator);
      await narrow.getByRole('button', { name: 'Sign in' }).click();
      await narrow.getByRole('button', { name: 'Create a key' }).click();
      await narrow.getByRole('dialog').waitFor();
      expect(await narrow.evaluate('document.documentElement.scrollWidth')).to.equal(360);
      await narrow.close();
    });
  },
  { API_KEYS: administrator },
);

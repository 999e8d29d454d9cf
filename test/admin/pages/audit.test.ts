import { expect } from 'chai';
import { it } from 'mocha';
import { call } from '../../support/http/client.ts';
import { describeAdminPage } from './admin-browser.ts';

const administrator = 'the-key-of-an-administrator';
const headers = { apikey: administrator };

describeAdminPage(
  'the audit on the admin page',
  (admin) => {
    const { visit, button, row } = admin;

    const toggle = async (name: string, enabled: boolean): Promise<void> => {
      const { status } = await call(`${admin.service.url}/toggles/${name}`, 'PUT', { enabled }, headers);
      expect(status).to.equal(200);
    };

    const keyWith = async (name: string, role: string): Promise<string> => {
      const wanted = { name, owning_application: 'shop', scopes: [role] };
      return String((await call(`${admin.service.url}/api-keys`, 'POST', wanted, headers)).body['key']);
    };

    it('finds who changed something, and shows what it was before and after', async () => {
      await toggle('PRINCIPAL_OVERPAYMENT', true);
      await keyWith('another-change', 'consumer');
      await visit('/audit');
      await admin.page.getByLabel('API key').fill(administrator);
      await button('Sign in').click();
      await row('another-change').first().waitFor();
      await admin.page.getByLabel('Who').fill('environment-key-1');
      await admin.page.getByLabel('Subject').fill('PRINCIPAL_OVERPAYMENT');
      await button('Find').click();
      await admin.page.getByText('2 records shown').waitFor();
      expect(await row('another-change').count()).to.equal(0);
      expect(new URL(admin.page.url()).search).to.equal('?who=environment-key-1&subject=PRINCIPAL_OVERPAYMENT');
      await row('done, 200').getByRole('button', { name: 'switchToggle' }).click();
      const region = (name: string) => admin.page.getByRole('region', { name, exact: true });
      expect(await region('After').textContent()).to.contain('"enabled": true');
      await region('Before').waitFor();
      await admin.screenshot('audit');
      expect(await admin.faults()).to.deep.equal([]);
      await admin.page.reload();
      await admin.page.getByText('2 records shown').waitFor();
    });

    it('shows older records on request, and those before a time', async () => {
      for (let at = 0; at < 30; at += 1) await toggle('ALLOW_NON_SCHEDULED_FEES', at % 2 === 0);
      await visit('/audit?subject=ALLOW_NON_SCHEDULED_FEES');
      await admin.page.getByText('50 records shown').waitFor();
      await button('Show older ones').click();
      await admin.page.getByText('60 records shown').waitFor();
      await visit('/audit?before=2020-01-01T00:00:00.000Z');
      await admin.page.getByText('No record is found.').waitFor();
      await button('Clear').click();
      await admin.page.getByText('50 records shown').waitFor();
    });

    it('says why it cannot be shown', async () => {
      await visit('/audit?before=never');
      await admin.page.getByRole('alert').getByText('The audit cannot be shown.').waitFor();
      expect(await admin.faults()).to.deep.equal([]);
      admin.complaints.splice(0);
    });

    it('is a section of those alone who may see it', async () => {
      const sectionsOf = async (key: string): Promise<string[]> => {
        const page = await admin.newPage();
        await page.goto(`${admin.service.url}/admin`);
        await page.getByLabel('API key').fill(key);
        await page.getByRole('button', { name: 'Sign in' }).click();
        const links = page.getByRole('navigation', { name: 'Sections' }).getByRole('link');
        await page.getByRole('heading', { name: 'Sign in' }).waitFor({ state: 'detached' });
        const sections = await links.allTextContents();
        await page.close();
        return sections;
      };
      expect(await sectionsOf(await keyWith('page-auditor', 'auditor'))).to.include('Audit');
      expect(await sectionsOf(await keyWith('page-operator', 'operator'))).to.not.include('Audit');
    });
  },
  { API_KEYS: administrator },
);

import { expect } from 'chai';
import { before, it } from 'mocha';
import { describeAdminPage } from './admin-browser.ts';

describeAdminPage(
  'the admin page while the service is away',
  (admin) => {
    const { open, visit, button, text, api, screenshot } = admin;

    let demoType = '';

    before(async () => {
      demoType = await admin.loadDemoData();
    });

    it('continues after the service was away and is back', async () => {
      expect((await api('PUT', '/toggles/ALLOW_NON_SCHEDULED_FEES', { enabled: true })).status).to.equal(200);
      await open('/toggles');
      await button('Switch off ALLOW_NON_SCHEDULED_FEES').waitFor();
      await admin.kill();
      await text('The service does not respond.').waitFor();
      await text('ALLOW_NON_SCHEDULED_FEES').waitFor();
      await admin.restart();
      await text('The service does not respond.').waitFor({ state: 'detached' });
      await button('Switch off ALLOW_NON_SCHEDULED_FEES').click();
      await admin.page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
      await text('ALLOW_NON_SCHEDULED_FEES is off now.').waitFor();
    });

    it('shows no live events while the service is away, and resumes at the last one shown when it is back', async () => {
      await visit(`/event-types/${demoType}/events`);
      const live = admin.page.getByText('live', { exact: true });
      await live.waitFor();
      await text('bom dia').waitFor();
      await admin.kill();
      await admin.page.getByText('not connected', { exact: true }).waitFor();
      await text('The service does not respond.').waitFor();
      expect(await live.count()).to.equal(0);
      await screenshot('stopped-live-events');
      await admin.restart();
      const metadata = { eid: crypto.randomUUID(), occurred_at: new Date().toISOString() };
      await api('POST', `/event-types/${demoType}/events`, [{ metadata, greeting: 'good evening' }]);
      await live.waitFor();
      await text('good evening').waitFor();
      expect(await admin.page.getByText('bom dia').count()).to.equal(1);
    });

    it('validates a definition and an event again when the service is back, without a key being pressed', async () => {
      const other = await admin.newPage();
      const forms = [
        [admin.page, 'edit', /stays at version/, 'JSON Schema', '{"title":"x"}', /This change cannot be saved/],
        [other, 'try', /accepts this event/, 'Event', '{"no":"metadata"}', /would reject/],
      ] as const;
      for (const [page, path, before, label] of forms) {
        await page.goto(`${admin.service.url}/admin/event-types/${demoType}/${path}`);
        await page.getByText(before).first().waitFor();
        // The editor is loaded by itself.
        await page.getByLabel(label, { exact: true }).waitFor();
      }
      await admin.kill();
      for (const [page, , , label, change] of forms) {
        await page.getByLabel(label, { exact: true }).fill(change);
        await page.getByText('Validation is not available.').first().waitFor();
        expect(await page.getByText('Checking').count()).to.equal(0);
      }
      await screenshot('stopped-edit-form');
      await admin.restart();
      for (const [page, , , , , after] of forms) {
        await page.getByText(after).first().waitFor();
        expect(await page.getByText('Validation is not available.').count()).to.equal(0);
      }
      await other.close();
    });

    it('loads the code of an editor again when it could not', async () => {
      const page = await admin.newPage();
      let attempts = 0;
      await page.route('**/json-editor-*.js', async (route) => {
        attempts += 1;
        await (attempts === 1 ? route.abort() : route.continue());
      });
      await page.goto(`${admin.service.url}/admin/event-types/${demoType}/try`);
      await page.getByLabel('Event', { exact: true }).waitFor();
      expect(attempts).to.be.greaterThan(1);
      await page.close();
    });

    it('validates again after the service could not', async () => {
      await admin.page.route('**/registry/event-type-checks', (route) =>
        route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail":"The log is away."}' }),
      );
      await open(`/event-types/${demoType}/edit`);
      await text('The log is away.').waitFor();
      await admin.page.unroute('**/registry/event-type-checks');
      await text('The schema stays at version 1.0.0.').waitFor();
    });
  },
  {},
  'process',
);

describeAdminPage('the admin page when the service asks for a key', (admin) => {
  const { open, button, link, text, dialog } = admin;

  const owner = () => admin.page.getByLabel('Owning application');

  before(async () => {
    await admin.loadDemoData();
  });

  it('asks for an API key when the service requires one, and keeps it for the tab', async () => {
    await admin.service.stop();
    await admin.restart({ API_KEYS: 'the-right-key-of-all' });
    await open('/loans');
    const key = admin.page.getByLabel('API key', { exact: true });
    await key.fill('a-wrong-key-at-first');
    await button('Sign in').click();
    await text('The service does not accept this key.').waitFor();
    expect(await admin.faults()).to.deep.equal([]);
    await key.fill('the-right-key-of-all');
    await button('Sign in').click();
    await admin.page
      .getByRole('link', { name: /^loan-/ })
      .first()
      .waitFor();
    await admin.page.reload();
    await admin.page
      .getByRole('link', { name: /^loan-/ })
      .first()
      .waitFor();
  });

  it('keeps unsaved work while it asks for another key, and saves it afterwards', async () => {
    await open('/event-types');
    await link(/^demo\./)
      .first()
      .click();
    await link('Edit').click();
    await owner().waitFor();
    await admin.service.stop();
    // The check of this change cannot succeed any more, so the page sends it again when the service is back.
    await owner().fill('somebody else');
    const title = await admin.page.title();
    await admin.restart({ API_KEYS: 'the-next-key-of-them-all' });
    const key = admin.page.getByLabel('API key', { exact: true });
    await key.waitFor();
    expect(await admin.faults()).to.deep.equal([]);
    expect(await owner().isVisible()).to.equal(false);
    await link('Loans').click();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await key.fill('the-next-key-of-them-all');
    await button('Sign in').click();
    await text(/stays at version/).waitFor();
    expect([await owner().inputValue(), await admin.page.title()]).to.deep.equal(['somebody else', title]);
    await button('Save').click();
    await text('somebody else').waitFor();
  });
});

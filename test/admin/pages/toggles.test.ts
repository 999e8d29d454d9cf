import { before, it } from 'mocha';
import { describeAdminPage } from './admin-browser.ts';

describeAdminPage('the toggles of the admin page', (admin) => {
  const { visit, button, text, row } = admin;

  before(async () => {
    await admin.loadDemoData();
  });

  it('switches a toggle after a confirmation, and then uses the other names of balances', async () => {
    await visit('/toggles');
    await text('Never switched.').waitFor();
    await button('Switch on ALLOW_NON_SCHEDULED_FEES').click();
    await admin.page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).click();
    await text('ALLOW_NON_SCHEDULED_FEES is on now.').waitFor();
    await text(/^Switched on/).waitFor();
    await visit('/loans');
    await admin.page
      .getByRole('link', { name: /^loan-/ })
      .first()
      .click();
    await row('scheduledFeesBalance').waitFor();
    await text('Field names with ALLOW_NON_SCHEDULED_FEES on.').waitFor();
  });

  it('shows in the dialog why a toggle was not switched', async () => {
    await visit('/toggles');
    await admin.page.route('**/toggles/PRINCIPAL_OVERPAYMENT', (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail":"The log is away."}' }),
    );
    await button('Switch on PRINCIPAL_OVERPAYMENT').click();
    await admin.page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).click();
    await admin.page.getByRole('dialog').getByText('The log is away.').waitFor();
    await admin.page.unroute('**/toggles/PRINCIPAL_OVERPAYMENT');
  });
});

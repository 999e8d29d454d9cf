import { expect } from 'chai';
import { before, it } from 'mocha';
import { describeAdminPage } from './admin-browser.ts';

describeAdminPage(
  'the loans of the admin page',
  (admin) => {
    const { visit, button, link, text, api, row, tabTo, screenshot } = admin;

    before(async () => {
      await admin.loadDemoData();
    });

    it('finds a loan and shows its balances, its schedule and its events in order', async () => {
      await visit('/loans');
      const [first] = JSON.parse((await api('GET', '/loans?sortBy=id:ASC')).text) as { id: string }[];
      const id = first?.id ?? '';
      const search = admin.page.getByLabel('Part of an id, or encoded key');
      await search.fill('missing');
      await text('No loan has “missing” in its id.').waitFor();
      await search.fill(id.slice(4, -1).toUpperCase());
      await text('1 to 3 of 3').waitFor();
      await search.fill(id);
      await text('1 to 1 of 1').waitFor();
      await link(id).click();
      await admin.heading(id).waitFor();
      await row('principalBalance').getByText('834.53').waitFor();
      await row('feesBalance').waitFor();
      // What an account does not have is not in its response.
      expect(await admin.page.locator('main').innerText()).not.to.match(/undefined|null/);
      await link('Schedule').click();
      await row('partially paid').getByText('215.47').waitFor();
      await row('Total of 4 installments').getByText('1,311.88').waitFor();
      await admin.page.getByRole('img', { name: /^Principal falls from 1,000.00 to 0 over 4 installments/ }).waitFor();
      await link('Transactions').click();
      await row('Repayment').getByText('165.47', { exact: true }).waitFor();
      await text('1 to 3 of 3').waitFor();
      await link('Events').click();
      await text('#14').waitFor();
      const summaries = await admin.page.locator('summary').allTextContents();
      expect(summaries.map((summary) => /#(\d+)/.exec(summary)?.[1])).to.deep.equal(
        summaries.map((_, index) => String(index + 1)),
      );
      await visit('/loans/missing');
      await admin.page.getByRole('alert').getByText('There is no loan “missing”.').waitFor();
    });

    it('closes the day after a confirmation, shows how far it is, and then that a loan is late', async () => {
      const [{ productTypeKey = '' } = {}] = JSON.parse((await api('GET', '/loans?sortBy=id:ASC')).text) as {
        productTypeKey?: string;
      }[];
      await api('POST', '/loans', { id: 'unpaid', productTypeKey, loanAmount: 1000 });
      await api('POST', '/loans/unpaid:changeState', { action: 'APPROVE' });
      const valueDate = new Date(Date.now() - 60 * 86_400_000).toISOString().slice(0, 10);
      const disbursed = await api('POST', '/loans/unpaid/disbursement-transactions', { valueDate });
      expect(disbursed.status, disbursed.text).to.equal(201);
      await visit('/loans');
      await row('unpaid').getByText('active', { exact: true }).waitFor();
      await text('none yet').waitFor();
      await text(/^0 0 29 2 \*, next on /).waitFor();
      await admin.page.route('**/organization:endOfDay', (route) =>
        route.fulfill({
          status: 400,
          json: { errors: [{ errorCode: 4, errorReason: 'INVALID_PARAMETERS', errorSource: 'businessDate' }] },
        }),
      );
      await tabTo(button(/^Close day \d{4}-\d\d-\d\d$/));
      await admin.page.keyboard.press('Enter');
      const confirm = admin.page.getByRole('dialog').getByRole('button', { name: 'Close day' });
      await confirm.click();
      await admin.page.getByRole('dialog').getByText('Invalid parameters (businessDate)').waitFor();
      await admin.page.unroute('**/organization:endOfDay');
      // The service responds like this when the end of a day takes longer than it waits. The page asks again.
      let answer = (): void => {};
      const looked = new Promise<void>((resolve) => (answer = resolve));
      await admin.page.route(
        '**/organization:endOfDay',
        async (route) => {
          await looked;
          await route.fulfill({ status: 202, json: { ...route.request().postDataJSON(), status: 'PENDING' } });
        },
        { times: 1 },
      );
      await confirm.click();
      await admin.page.getByRole('dialog').waitFor({ state: 'detached' });
      await admin.page.getByRole('progressbar', { name: /^Closing / }).waitFor();
      await text(/^0 of \d+ partitions closed, [1-9]\d* accounts? left$/).waitFor();
      await screenshot('business-day-closing');
      answer();
      await text(/^\d{4}-\d\d-\d\d is closed\.$/).waitFor();
      await admin.page.getByRole('progressbar').waitFor({ state: 'detached' });
      await admin.page.getByText('none yet').first().waitFor({ state: 'detached' });
      await row('unpaid').getByText('active in arrears').waitFor();
      await screenshot('business-day');
    });

    it('lists the products, and the loans of one of them', async () => {
      await visit('/products');
      await row('Annuity over 4 months').getByText('fixed term loan').waitFor();
      await link('its loans').click();
      await admin.heading('Loans').waitFor();
      await text('1 to 4 of 4').waitFor();
      await admin.page.getByRole('combobox', { name: 'State' }).selectOption('CLOSED');
      await text('No loan matches.').waitFor();
      expect(admin.address()).to.match(/^\/loans\?product=annuity-\w+&state=CLOSED$/);
    });
  },
  { END_OF_DAY_SCHEDULE: '0 0 29 2 *' },
);

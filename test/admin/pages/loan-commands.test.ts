import { expect } from 'chai';
import { it } from 'mocha';
import { call } from '../../support/http/client.ts';
import { describeAdminPage } from './admin-browser.ts';

describeAdminPage('the loan commands of the admin page', (admin) => {
  const { open, visit, button, link, text, api, dialog, heading, screenshot } = admin;
  const field = (name: string) => admin.page.getByLabel(name, { exact: true });
  const command = () => admin.page.getByRole('combobox', { name: 'Command', exact: true });
  const outcome = () => admin.page.getByRole('status', { name: 'Outcome' });
  const confirm = (action: string) => dialog().getByRole('button', { name: action, exact: true }).click();

  /** Sends the command that is shown. */
  async function send(): Promise<void> {
    await text('The form is valid').waitFor();
    await button('Send').click();
    await confirm('Send');
  }

  it('creates a product and a loan with forms, and fills in the JSON meanwhile', async () => {
    await open('/loans/+new');
    await text('A loan is opened under an active product, and there is none.').waitFor();
    await link('Create one').click();
    await heading('Create a product').waitFor();
    await field('Id').fill('four-months');
    await field('Name (required)').fill('Four months');
    await admin.page.getByText('Interest settings', { exact: true }).click();
    await field('Interest rate, default value').fill('12.75');
    expect(await admin.editorText('Payload')).to.include('"defaultValue": 12.75');
    await screenshot('product-new');
    await button('Create').click();
    await confirm('Create');
    await heading('Four months').waitFor();
    await text('12.75 %, every month').waitFor();
    expect(admin.address()).to.equal('/products/four-months');
    await link('Open a loan').click();
    await field('Id').fill('commanded');
    await field('Loan amount (required)').fill('');
    await text('The service would not store this command.').waitFor();
    await text(/required key \[loanAmount\] not found/).waitFor();
    await field('Loan amount (required)').fill('1200.00');
    await text('The form is valid').waitFor();
    await button('Open the loan').click();
    await confirm('Open the loan');
    await heading('commanded').waitFor();
    await text('1,200.00 EUR').waitFor();
  });

  it('takes a loan from its application to a repayment, and shows the events of each command', async () => {
    await link('Send a command').click();
    await send();
    await outcome().getByText('done').waitFor();
    await outcome().getByText('Loan approved, now approved').waitFor();
    // What was sent is shown until another one is chosen.
    expect(await command().inputValue()).to.equal('CHANGE_STATE');
    await command().selectOption('DISBURSE');
    await send();
    await outcome().getByText('Loan disbursed, 1,200.00').waitFor();
    await command().selectOption('REPAY');
    await field('Amount (required)').fill('100.50');
    await send();
    await outcome().getByText('Loan repayment, 100.50').waitFor();
    await outcome()
      .getByText(/^Balances changed: interest balance [\d.,]+ \(−100\.50\)/)
      .waitFor();
    await screenshot('command-done');
    expect(await admin.faults()).to.deep.equal([]);
    expect(admin.address()).to.equal('/loans/commanded/commands?command=REPAY');
  });

  it('shows why a command is refused', async () => {
    await field('Amount (required)').fill('99999');
    await send();
    await outcome().getByText('refused', { exact: true }).waitFor();
    await outcome().getByText('Excess repayment error').first().waitFor();
    await screenshot('command-refused');
    await admin.page.getByLabel('Payload').fill('{ "amount": }');
    await button('Line 1').waitFor();
    expect(await button('Send').isDisabled()).to.equal(true);
    expect(await field('Amount (required)').isDisabled()).to.equal(true);
    await button('Reset').click();
  });

  it('charges a fee once although the answer was lost', async () => {
    await visit('/loans/commanded/commands?command=APPLY_FEE');
    await field('Amount').fill('7.77');
    await admin.page.route(
      '**/event-types/lendstream.loan-commands/events',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await send();
    await text('It is not known whether the command was stored.').waitFor();
    await admin.page.getByText('The service does not respond. What you see').waitFor({ state: 'detached' });
    await button('Send again').click();
    await confirm('Send');
    await outcome().getByText('Fee applied, 7.77', { exact: true }).waitFor();
    const { items } = (await api('GET', '/loans/commanded/events')).body as { items: { feeEvent?: string }[] };
    expect(items.filter(({ feeEvent }) => feeEvent !== undefined).length).to.equal(1);
  });

  it('undoes a transaction from where it is listed', async () => {
    await visit('/loans/commanded/transactions');
    await admin.page.getByText('Fee charged', { exact: true }).click();
    await link('Undo it').click();
    await field('Transaction id (required)').waitFor();
    await send();
    await outcome().getByText('done').waitFor();
    await link('Transactions').click();
    await text('adjusted').waitFor();
  });

  it('asks before an edited command is left', async () => {
    await visit('/loans/commanded/commands?command=APPLY_FEE');
    await field('Amount').fill('8');
    await link('Schedule').click();
    await dialog().getByText('Leave without saving?').waitFor();
    await confirm('Cancel');
    expect(await field('Amount').inputValue()).to.equal('8');
    await button('Reset').click();
  });

  it('sends commands with a key that may not see event types', async () => {
    const keys = { API_KEYS: 'the-only-key-of-all' };
    await admin.service.stop();
    await admin.restart(keys);
    const created = await call(
      `${admin.service.url}/api-keys`,
      'POST',
      { name: 'desk', owning_application: 'desk', scopes: ['officer', 'events:publish'] },
      { Authorization: `Bearer ${keys.API_KEYS}` },
    );
    await open('/loans/commanded/commands?command=REPAY');
    await field('API key').fill(String(created.body['key']));
    await button('Sign in').click();
    await field('Amount (required)').fill('20.25');
    await text('the form is checked when it is sent').waitFor();
    await screenshot('command-officer');
    await button('Send').click();
    await confirm('Send');
    await outcome().getByText('Loan repayment, 20.25').waitFor();
    await field('Amount (required)').fill('twenty');
    await button('Send').click();
    await confirm('Send');
    await text('The command was not stored.').waitFor();
    await button('Reset').click();
    await button('Sign out').click();
    await admin.service.stop();
    await admin.restart();
  });

  it('changes, deactivates, activates and deletes a product', async () => {
    await open('/products');
    await link('Four months').click();
    await heading('Four months').waitFor();
    await link('Edit').click();
    await field('Name (required)').fill('Quarter and a month');
    // Another person changes it in the meantime.
    await api('PATCH', '/loanproducts/four-months', [{ op: 'REPLACE', path: '/name', value: 'Changed elsewhere' }]);
    await text('The form is valid').waitFor();
    await button('Save').click();
    await confirm('Save');
    await outcome().getByText('The product was changed in the meantime').waitFor();
    await open('/products/four-months/edit');
    await field('Name (required)').fill('Quarter and a month');
    await text('The form is valid').waitFor();
    await button('Save').click();
    await confirm('Save');
    await heading('Quarter and a month').waitFor();
    await button('Deactivate').click();
    await confirm('Deactivate');
    await text('inactive').waitFor();
    await button('Activate').click();
    await confirm('Activate');
    await link('Open a loan').waitFor();
    await button('Delete').click();
    await confirm('Delete');
    await dialog().getByRole('alert').waitFor();
    await confirm('Cancel');
    await link('Clone').click();
    await field('Id').fill('never-used');
    await text('The form is valid').waitFor();
    await button('Create').click();
    await confirm('Create');
    await button('Delete').click();
    await confirm('Delete');
    await heading('Products').waitFor();
    // Not the copy that the page has from before.
    await admin.visit('/products/never-used');
    await text('There is no product “never-used”.').waitFor();
  });
});

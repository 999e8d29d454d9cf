import { expect } from 'chai';
import { it } from 'mocha';
import { describeAdminPage } from './admin-browser.ts';

describeAdminPage('the event types of the admin page', (admin) => {
  const { open, button, link, text, row, api, tabTo } = admin;

  it('leads from an empty system to the first event type with the keyboard only', async () => {
    await open('/event-types');
    await text('No event types of your own yet').waitFor();
    await tabTo(link('Define the first one'));
    await admin.page.keyboard.press('Enter');
    await admin.page.getByRole('heading', { name: 'Define an event type' }).waitFor();
    await tabTo(admin.page.getByLabel('Name', { exact: true }));
    await admin.page.keyboard.type('orders placed');
    await admin.page.getByText('format not allowed').waitFor();
    await admin.page.keyboard.press('Control+A');
    await admin.page.keyboard.type('orders.placed');
    await tabTo(admin.page.getByLabel('Owning application'));
    await admin.page.keyboard.type('shop');
    await tabTo(admin.page.getByLabel('JSON Schema'));
    await admin.page.keyboard.press('Control+A');
    await admin.page.keyboard.insertText(
      '{\n  "type": "object",\n  "properties": {\n    "order": { "type": "strin" }\n  },\n}',
    );
    await text('Line 6').waitFor();
    await text('The schema is not valid JSON yet.').waitFor();
    await admin.page.keyboard.press('Control+A');
    await admin.page.keyboard.insertText(
      '{\n  "type": "object",\n  "properties": {\n    "order": { "type": "strin" }\n  }\n}',
    );
    await button('Line 4').waitFor();
    await admin.page.keyboard.press('Control+A');
    await admin.page.keyboard.insertText(
      '{\n  "type": "object",\n  "properties": {\n    "order": { "type": "string" }\n  },\n  "required": ["order"]\n}',
    );
    await text('Valid: creates schema version 1.0.0.').waitFor();
    await tabTo(button('Create'));
    await admin.page.keyboard.press('Enter');
    await admin.page.getByRole('heading', { name: 'orders.placed' }).waitFor();
    expect((await api('GET', '/event-types/orders.placed')).body).to.include({ owning_application: 'shop' });
  });

  it('reports that a name is taken, before and when the event type is created', async () => {
    await open('/event-types/+new');
    await admin.page.getByLabel('Name', { exact: true }).fill('orders.placed');
    await admin.page.getByLabel('Owning application').fill('other');
    await text('An event type with this name already exists.').waitFor();
    await button('Create').click();
    await admin.page.getByRole('alert').getByText('already exists').waitFor();
  });

  it('validates a change before it is saved', async () => {
    await open('/event-types/orders.placed/edit');
    const schema = admin.page.getByLabel('JSON Schema');
    const current = await admin.editorText('JSON Schema');
    await schema.fill(current.replace('"string"', '"number"'));
    await button('Line 4').waitFor();
    await text('This change cannot be saved.').waitFor();
    await schema.fill(current.replace('"order":', '"note": { "type": "string" },\n    "order":'));
    await text('the schema gets version 1.1.0').waitFor();
    await button('Save').click();
    await text('Schema 1.1.0').waitFor();
    await link('Versions').click();
    await row('1.0.0').waitFor();
    await text('Compatible: consumers of 1.0.0 understand events of 1.1.0.').waitFor();
    await text('extending').waitFor();
    await admin.page.getByText('#/properties/note', { exact: true }).waitFor();
    await admin.page.getByLabel('Later schema').getByText('"note"').waitFor();
    expect(await admin.page.getByLabel('Earlier schema').getByText('"note"').count()).to.equal(0);
    await link('Consumers').click();
    await text('No subscription reads this event type.').waitFor();
    await link('Partitions').click();
    await row('001-0001--1').waitFor();
  });

  it('tries an event against the schema, beginning with an example that fits it, and publishes it', async () => {
    await open('/event-types/orders.placed/try');
    await text('Valid: the schema accepts this event.').waitFor();
    const event = admin.page.getByLabel('Event', { exact: true });
    const { metadata } = JSON.parse(await admin.editorText('Event')) as { metadata: unknown };
    await event.fill(JSON.stringify({ metadata, order: 7 }, null, 2));
    await button('Line 6').waitFor();
    await text('Publishing would reject this event.').waitFor();
    expect(await button('Publish').isDisabled()).to.equal(true);
    await event.fill(JSON.stringify({ metadata, order: 'tried' }, null, 2));
    await text('Valid: the schema accepts this event.').waitFor();
    await button('Publish').click();
    await admin.dialog().getByRole('button', { name: 'Publish' }).click();
    await text('Published.').waitFor();
    await admin.visit('/event-types/orders.placed/events');
    await text('"order":"tried"').waitFor();
    await link('Publishers').click();
    await row('unauthenticated').getByRole('cell', { name: '1', exact: true }).waitFor();
    await text('Of the only event that is there.').waitFor();
    await row('unauthenticated').getByRole('link').click();
    await text('1 event shown').waitFor();
  });

  it('shows what stands in the way of a deletion, even if it came after the question', async () => {
    await admin.visit('/event-types/orders.placed');
    await button('Delete').click();
    await text('Its events are deleted with it.').waitFor();
    await api('POST', '/subscriptions', { owning_application: 'shop', event_types: ['orders.placed'] });
    // The page may have noticed first: the button is disabled then.
    const remove = admin.dialog().getByRole('button', { name: 'Delete' });
    await remove.click({ timeout: 1_000 }).catch(() => undefined);
    await text('It cannot be deleted while subscriptions read it.').waitFor();
    await admin.dialog().getByRole('link', { name: 'shop / default' }).waitFor();
    expect(await remove.isDisabled()).to.equal(true);
  });

  it('loads the demo data with one click', async () => {
    await open('/event-types/orders.placed');
    await button('Delete').click();
    await text('It cannot be deleted while subscriptions read it.').waitFor();
    expect(await admin.dialog().getByRole('button', { name: 'Delete' }).isDisabled()).to.equal(true);
    await link('shop / default').click();
    await button('Delete').click();
    await admin.dialog().getByRole('button', { name: 'Delete' }).click();
    await text('No subscriptions yet').waitFor();
    expect((await api('DELETE', '/event-types/orders.placed')).status).to.equal(200);
    await admin.visit('/event-types');
    await button('Load demo data').click();
    await link(/^demo\.greeting-/).waitFor();
    await admin.page.getByLabel('Search by name or owner').fill('demo');
    await admin.page.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await admin.page.getByLabel('Search by name or owner').fill('nothing like it');
    await text('No event type matches “nothing like it”.').waitFor();
  });
});

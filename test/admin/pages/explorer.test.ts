import { expect } from 'chai';
import { before, it } from 'mocha';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { describeAdminPage } from './admin-browser.ts';

/** More than one page of the list. */
const eventCount = 120;

const eventType = 'shop.order-paid';

describeAdminPage('the events on the admin page', (admin) => {
  const { visit, button, text, row, api } = admin;
  const events = `/event-types/${eventType}/events`;
  const eids = Array.from({ length: eventCount }, () => crypto.randomUUID());

  const publish = async (orders: readonly number[]): Promise<void> => {
    const published = await api(
      'POST',
      `/event-types/${eventType}/events`,
      orders.map((order) => ({
        metadata: { eid: eids[order] ?? crypto.randomUUID(), occurred_at: new Date().toISOString() },
        order: { id: `A-${order}`, paid: order % 2 === 0 },
        name: `order ${order}`,
      })),
    );
    expect(published.status, published.text).to.equal(200);
  };

  before(async () => {
    const made = await api('POST', '/event-types', {
      name: eventType,
      owning_application: 'shop',
      category: 'business',
      enrichment_strategies: ['metadata_enrichment'],
      partition_strategy: 'hash',
      partition_key_fields: ['order.id'],
      default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: 3, write_parallelism: 3 },
      schema: { type: 'json_schema', schema: '{"properties":{"order":{"properties":{"id":{"type":"string"}}}}}' },
    });
    expect(made.status, made.text).to.equal(201);
    // Events of one request are stored at the same time, in the order of their partitions.
    const orders = eids.map((_, order) => order);
    await publish(orders.slice(0, 1));
    await publish(orders.slice(1, -1));
    await publish(orders.slice(-1));
  });

  it('lists the events of all partitions, newest first, and older ones on request', async () => {
    await visit(events);
    await row('order 119').getByText('A-119', { exact: true }).waitFor();
    await text('50 events shown; 50 of 120 read').waitFor();
    await button('Show older ones').click();
    await text('100 events shown; 100 of 120 read').waitFor();
    await button('Show older ones').click();
    await text('120 events shown; 120 of 120 read').waitFor();
    expect(await button('Show older ones').count()).to.equal(0);
    await admin.page.getByLabel('Begin at').selectOption('oldest');
    await button('Find').click();
    await row('order 0').first().waitFor();
    expect(admin.address()).to.equal(`${events}?order=oldest`);
    await admin.page.goBack();
    await text('120 events shown; 120 of 120 read').waitFor();
  });

  it('finds an event by its id, key, flow, text, and by a field, and keeps the question in the address', async () => {
    await visit(events);
    const questions: [label: string, value: string][] = [
      ['Event id (eid)', eids[77] ?? ''],
      ['Key', 'A-77'],
      ['Text', '"A-77"'],
      ['Field = value', 'order.id = A-77'],
    ];
    for (const [label, value] of questions) {
      await button('Clear').click();
      await admin.page.getByRole('textbox', { name: label, exact: true }).fill(value);
      await admin.page.keyboard.press('Enter');
      await text('1 event shown; 120 of 120 read').waitFor();
      await row('order 77').waitFor();
    }
    expect(admin.address()).to.equal(`${events}?field=order.id+%3D+A-77`);
    await admin.page.reload();
    await row('order 77').waitFor();
    expect(await admin.page.getByRole('textbox', { name: 'Field = value' }).inputValue()).to.equal('order.id = A-77');
    await admin.page.getByRole('textbox', { name: 'Field = value' }).fill('order.paid = true');
    await button('Find').click();
    await text('50 events shown').waitFor();
    await admin.page.getByRole('textbox', { name: 'Flow id' }).fill('no-such-flow');
    await button('Find').click();
    await text('No event is found.').waitFor();
  });

  it('begins at an offset of a partition, and at a time', async () => {
    await visit(`${events}?partition=0`);
    await button(/^0:\d+$/)
      .first()
      .waitFor();
    await admin.page.getByLabel('Begin at').selectOption('offset');
    await admin.page.getByRole('textbox', { name: 'Offset' }).fill('001-0001-000000000000000003');
    await button('Find').click();
    await button('0:3').waitFor();
    expect(
      await button(/^\d:\d+$/)
        .first()
        .textContent(),
    ).to.equal('0:3');
    await admin.page.getByLabel('Begin at').selectOption('time');
    await admin.page.getByLabel('Time, in your time zone').fill('2020-01-31T08:00');
    await button('Find').click();
    await button('0:0').waitFor();
    await admin.page.getByLabel('Time, in your time zone').fill('2099-01-31T08:00');
    await button('Find').click();
    await text('No event is found.').waitFor();
  });

  it('reports what the service refuses', async () => {
    await visit(`${events}?partition=99`);
    await admin.page.getByRole('alert').waitFor();
    await visit('/event-types/missing/events');
    await admin.page.getByRole('alert').getByText('does not exist').waitFor();
  });

  it('shows new events as they arrive, but not while one is open or the list is paused', async () => {
    await visit(events);
    await admin.page.getByText('live', { exact: true }).waitFor();
    await publish([200]);
    await row('order 200').waitFor();
    await button(/^\d:\d+$/)
      .first()
      .click();
    await button('Copy event').waitFor();
    const opened = await button('Copy event').boundingBox();
    await publish([201, 202]);
    await button('2 new events').waitFor();
    expect(await row('order 201').count()).to.equal(0);
    expect((await button('Copy event').boundingBox())?.x).to.equal(opened?.x);
    await button('2 new events').click();
    await row('order 201').waitFor();
    await button('Pause').click();
    await admin.page.getByText('paused', { exact: true }).waitFor();
    await publish([203]);
    // Long enough for an event to be shown if it were not held back.
    await setTimeout(1_500);
    expect(await row('order 203').count()).to.equal(0);
    await admin.page.reload();
    await row('order 203').waitFor();
    await admin.page.getByText('paused', { exact: true }).waitFor();
    await button('Resume').click();
    await admin.page.getByText('live', { exact: true }).waitFor();
  });

  it('shows fields of the events as columns, which stay in the address', async () => {
    await visit(events);
    await row('order 119').waitFor();
    await text('Columns').click();
    await admin.page.getByRole('checkbox', { name: 'order.paid' }).check();
    await admin.page.getByRole('checkbox', { name: 'Time' }).uncheck();
    await admin.page.getByRole('columnheader', { name: 'order.paid' }).waitFor();
    await admin.page.reload();
    await admin.page.getByRole('columnheader', { name: 'order.paid' }).waitFor();
    expect(await admin.page.getByRole('columnheader', { name: 'Time' }).count()).to.equal(0);
    await row('order 118').getByText('true', { exact: true }).waitFor();
  });

  it('downloads what is found', async () => {
    await visit(`${events}?text=A-7`);
    await row('order 77').waitFor();
    const downloading = admin.page.waitForEvent('download');
    await button('Download NDJSON').click();
    const download = await downloading;
    expect(download.suggestedFilename()).to.equal(`${eventType}.ndjson`);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
    const found = lines.map((line) => JSON.parse(line) as { event?: { name: string } }).filter(({ event }) => event);
    expect(found.length).to.equal(11);
  });
});

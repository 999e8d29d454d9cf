import { expect } from 'chai';
import { before, it } from 'mocha';
import { openStream } from '../../support/http/client.ts';
import type { Locator } from 'playwright-core';
import { describeAdminPage } from './admin-browser.ts';

/** A lag that grows and falls again. */
function hillOf(length: number): number[] {
  return Array.from({ length }, (_, index) => Math.round(89 * Math.sin((Math.PI * index) / (length - 1))));
}

describeAdminPage('the subscriptions of the admin page', (admin) => {
  const { visit, button, link, text, api, row } = admin;

  let eventType = '';

  before(async () => {
    eventType = await admin.loadDemoData();
  });

  it('shows the lag of a subscription, its open streams and why the last stream ended', async () => {
    await visit('/subscriptions');
    await row('demo /')
      .getByRole('cell', { name: /^[1-9]\d*$/ })
      .first()
      .waitFor();
    const { items } = (await api('GET', '/subscriptions')).body as { items: { id: string }[] };
    const id = items[0]?.id ?? '';
    const ended = await openStream(admin.service.url, id, '?stream_limit=1&batch_limit=1');
    await ended.until((batches) => batches.some(({ events }) => events !== undefined));
    await ended.commit(ended.batches.filter(({ events }) => events !== undefined).map(({ cursor }) => cursor));
    await ended.ended;
    const consumer = await openStream(admin.service.url, id);
    admin.consumers.push(consumer);
    await link(/^demo \//).click();
    await row(consumer.streamId).waitFor();
    await row('Stream limit in events reached').waitFor();
    await row('assigned')
      .getByText(/^[1-9]/)
      .first()
      .waitFor();
  });

  it('draws the last hour of the lag, in the list and of one subscription', async () => {
    const address = admin.address();
    const picture = (): Locator => admin.page.getByRole('img', { name: /^Lag in events, at most [1-9]/ });
    await admin.page.getByText(/^From \d.* to [1-9]\d* events$/).waitFor({ timeout: 30_000 });
    const history = { interval_seconds: 10, last_at: '2026-01-31T08:00:00Z', unconsumed_events: hillOf(360) };
    await admin.page.route('**/lag-history', (route) => route.fulfill({ json: history }));
    await admin.page.getByRole('img', { name: 'Lag in events, at most 89 in the last hour' }).waitFor();
    await admin.screenshot('subscription-lag-history');
    await admin.page.unroute('**/lag-history');
    await admin.page.route('**/subscriptions?*show_lag_history=true*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { items: { lag: { unconsumed_events: number } }[] };
      const items = body.items.map((item) => ({
        ...item,
        lag: { ...item.lag, history: { ...history, interval_seconds: 60, unconsumed_events: hillOf(60) } },
      }));
      await route.fulfill({ response, json: { ...body, items } });
    });
    await visit('/subscriptions');
    await picture().first().waitFor();
    await admin.screenshot('subscriptions-lag-history');
    expect(await admin.faults()).to.deep.equal([]);
    await admin.page.unroute('**/subscriptions?*show_lag_history=true*');
    await visit(address);
  });

  it('moves cursors after showing what that sends again, and the command for it', async () => {
    await button('Move cursors').click();
    await admin.dialog().getByLabel('Event type', { exact: true }).selectOption(eventType);
    await admin.dialog().getByLabel('Move to').selectOption('begin');
    await row('sent again').first().waitFor();
    await text(/events? (is|are) sent again\. The open stream ends/).waitFor();
    expect(await admin.faults()).to.deep.equal([]);
    await admin.dialog().getByLabel('Move to').selectOption('end');
    await text(/events? (is|are) skipped\./).waitFor();
    await admin.screenshot('move-cursors');
    // Otherwise it would have some time to commit what it was sent.
    for (const consumer of admin.consumers) consumer.close();
    await admin
      .dialog()
      .getByRole('button', { name: /^Move \d cursors?$/ })
      .click();
    await admin.dialog().waitFor({ state: 'detached' });
    await text('No stream is open.').waitFor();
    const id = admin.address().split('/').at(-1) ?? '';
    const { items } = (await api('GET', `/subscriptions/${id}/stats`)).body as {
      items: { event_type: string; partitions: { unconsumed_events: number }[] }[];
    };
    const moved = items.find((each) => each.event_type === eventType);
    expect(moved?.partitions.map((each) => each.unconsumed_events)).to.deep.equal([0, 0]);
  });

  it('clones a subscription', async () => {
    const original = admin.page.url();
    await link('Clone').click();
    await admin.heading('Clone a subscription').waitFor();
    await button('Copy as curl').waitFor();
    const group = admin.page.getByLabel('Consumer group');
    const name = await group.inputValue();
    await group.fill(`${name}-2`);
    await button('Create').click();
    await admin.heading(`demo / ${name}-2`).waitFor();
    await admin.page.goto(original);
  });

  it('deletes a subscription after a confirmation, and reports the deletion', async () => {
    const address = admin.page.url();
    await button('Delete').click();
    await admin.page.getByRole('dialog').waitFor();
    await admin.page.keyboard.press('Escape');
    await admin.page.getByRole('dialog').waitFor({ state: 'detached' });
    await button('Delete').click();
    await admin.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await admin.heading('Subscriptions').waitFor();
    await admin.page.goto(address);
    await admin.page.getByRole('alert').getByText('does not exist').waitFor();
  });
});

import { expect } from 'chai';
import { before, it } from 'mocha';
import { openStream } from '../../support/http/client.ts';
import { describeAdminPage } from './admin-browser.ts';

/** More streams than the policy of the subscription allows an event to fail in. */
const streamsMaximum = 10;

describeAdminPage('the dead letters on the admin page', (admin) => {
  const { visit, button, link, text, row, api } = admin;

  before(async () => {
    await admin.loadDemoData();
    const made = await api('POST', '/subscriptions', {
      owning_application: 'shop',
      event_types: ['loan_state_changed'],
      read_from: 'begin',
      annotations: {
        'nakadi.zalando.org/subscription-max-event-send-count': '2',
        'nakadi.zalando.org/subscription-unprocessable-event-policy': 'DEAD_LETTER_QUEUE',
      },
    });
    expect(made.status, made.text).to.equal(201);
    const letters = async (): Promise<number> =>
      ((await api('GET', '/dead-letters/subscriptions')).body['items'] as unknown[]).length;
    for (let streams = 0; (await letters()) === 0 && streams < streamsMaximum; streams += 1) {
      const consumer = await openStream(admin.service.url, String(made.body['id']), '?batch_limit=1');
      await consumer.until((batches) => batches.some(({ events }) => events !== undefined));
      consumer.close();
      await consumer.ended;
    }
  });

  it('leads from the overview to a letter, shows why it was passed over, and marks it', async () => {
    await visit('');
    await link('Dead letters of consumers').click();
    await row('open').first().waitFor();
    await button(/^\d:\d+$/)
      .first()
      .click();
    await button('Mark as dealt with').click();
    await admin.dialog().getByRole('button', { name: 'Mark' }).click();
    await admin.dialog().waitFor({ state: 'detached' });
    await row('dealt with').first().waitFor();
    await button('Open again').click();
    await admin.dialog().getByRole('button', { name: 'Open again' }).click();
    await row('open').first().waitFor();
    expect(await button('Send again').count()).to.equal(0);
    expect(await admin.faults()).to.deep.equal([]);
  });

  it('shows that no command is a dead letter', async () => {
    await visit('/event-types/lendstream.loan-commands/dead-letters');
    await text('No events yet.').waitFor();
  });
});

import { expect } from 'chai';
import { it } from 'mocha';
import { describeAdminPage } from './admin-browser.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';

/** Runs in a page that takes text for markup: from an attribute, and from an element. */
const markup = `"'><img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>`;

describeAdminPage('markup in what clients may choose', (admin) => {
  it('is shown as text on each page, and never runs', async () => {
    const name = 'markup.test';
    const schema = JSON.stringify({ title: markup, properties: { [markup]: { type: 'string' } } });
    const send = async (method: string, path: string, body: unknown, status: number): Promise<string> => {
      const answer = await admin.api(method, path, body);
      expect(answer.status, `${path}: ${answer.text}`).to.equal(status);
      return String(answer.body['id']);
    };
    const definition = {
      owning_application: markup,
      annotations: { note: markup },
      schema: { type: 'json_schema', schema },
    };
    await send('POST', '/event-types', { ...eventTypeBody(name), ...definition }, 201);
    await send('POST', `/event-types/${name}/events`, [{ metadata: exampleMetadata(), [markup]: markup }], 200);
    const identity = { owning_application: markup, event_types: [name], consumer_group: markup, read_from: 'begin' };
    const id = await send('POST', '/subscriptions', identity, 201);
    const product = {
      id: 'product',
      name: markup,
      type: 'FIXED_TERM_LOAN',
      currency: { code: 'EUR' },
      scheduleSettings: { numInstallments: { defaultValue: 4 } },
    };
    await send('POST', '/loanproducts', product, 201);
    const loan = { id: 'loan', productTypeKey: 'product', loanAmount: 1000, loanName: markup, notes: markup };
    await send('POST', '/loans', loan, 201);
    const pages: [path: string, sign: string][] = [
      ['', 'Largest lags'],
      ['/event-types', name],
      [`/event-types/${name}`, 'Schema 1.0.0'],
      [`/event-types/${name}/events`, '1 event shown'],
      ['/subscriptions', `${markup} / ${markup}`],
      [`/subscriptions/${id}`, 'Move cursors'],
      ['/products', markup],
      ['/products/product', 'All settings'],
      ['/loans', 'loan'],
      ['/loans/loan', 'principalBalance'],
      ['/event-types/lendstream.loan-commands/dead-letters', 'No events yet.'],
      ['/audit', 'createLoan'],
      ['/api-keys', 'There are no keys but those of the settings of the service.'],
      [`/event-types/${encodeURIComponent(markup)}`, 'does not exist'],
    ];
    let shown = 0;
    for (const [path, sign] of pages) {
      await admin.visit(path);
      await admin.text(sign).waitFor();
      const { hasRun, text } = await admin.page.evaluate<{ hasRun: boolean; text: string }>(
        `({ hasRun: 'ran' in globalThis, text: document.body.innerText })`,
      );
      expect(hasRun, path).to.equal(false);
      if (text.includes('<img src=x')) shown += 1;
    }
    expect(shown, 'pages that show it').to.be.at.least(4);
  });
});

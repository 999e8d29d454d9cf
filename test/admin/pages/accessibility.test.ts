import { expect } from 'chai';
import { before, it } from 'mocha';
import { eventually } from '../../support/eventually.ts';
import { openStream } from '../../support/http/client.ts';
import { partOrWhole } from '../../support/values/extent.ts';
import { describeAdminPage } from './admin-browser.ts';

/** The rules of axe that a theme can break: the others look at the same document in each. */
const rulesOfColors = ['color-contrast', 'link-in-text-block'];

/** Those that a narrow screen can break, which shows and hides parts of the same document. */
const rulesOfLayout = [
  'color-contrast',
  'scrollable-region-focusable',
  'aria-hidden-focus',
  'nested-interactive',
  'button-name',
  'link-name',
  'label',
  'target-size',
];

/** The pages with all that others are made of, too: tiles, lists, forms, editors, charts, switches. */
const varied = /^$|\/(?:edit|events|schedule|commands|consumers)$|^\/(?:subscriptions\/\w|loans$|toggles)/;

describeAdminPage('the accessibility of the admin page', (admin) => {
  const { visit, text, api } = admin;

  before(async () => {
    await admin.loadDemoData();
  });

  it('passes axe at both widths, its colors in both themes, and fits a narrow screen', async function () {
    this.timeout(180_000);
    await openPagesOfEverything(async (path) => {
      const isVaried = partOrWhole(varied.test(path), true);
      await admin.page.emulateMedia({ colorScheme: 'light' });
      for (const width of isVaried ? [3840, 1280, 360] : [1280, 360]) {
        await admin.page.setViewportSize({ width, height: 800 });
        // A picture is drawn again for its new width.
        let overflow = Number.NaN;
        const isDrawn = eventually(async () => {
          overflow = await admin.page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth);
          return overflow === 0;
        }, 5_000);
        await isDrawn.catch(() => expect(overflow, `what is beside ${path}, ${width} wide`).to.equal(0));
        // What axe looks at does not grow with the screen.
        if (width === 3840 || (width === 360 && !isVaried)) continue;
        const rules = width === 1280 ? undefined : rulesOfLayout;
        expect(await admin.faults(rules), `${path}, ${width} wide`).to.deep.equal([]);
      }
      // A narrow screen has the same colors.
      await admin.page.setViewportSize({ width: 1280, height: 800 });
      if (!isVaried) return;
      await admin.page.emulateMedia({ colorScheme: 'dark' });
      expect(await admin.faults(rulesOfColors), `${path} in dark`).to.deep.equal([]);
    });
  });

  async function openPagesOfEverything(look: (path: string) => Promise<void>): Promise<void> {
    const subscribed = await api('POST', '/subscriptions', {
      owning_application: 'shop',
      event_types: ['loan_balance_changed'],
      read_from: 'begin',
    });
    const id = String(subscribed.body['id']);
    const consumer = await openStream(admin.service.url, id);
    admin.consumers.push(consumer);
    const [loan] = JSON.parse((await api('GET', '/loans?sortBy=id:ASC')).text) as { id: string }[];
    const types = JSON.parse((await api('GET', '/event-types?owning_application=demo')).text) as { name: string }[];
    const [product] = JSON.parse((await api('GET', '/loanproducts')).text) as { id: string }[];
    const type = `/event-types/${types[0]?.name ?? ''}`;
    const places: [path: string, sign: string | RegExp][] = [
      ['', 'Largest lags'],
      ['/event-types', types[0]?.name ?? ''],
      ['/event-types/+new', 'JSON Schema'],
      [type, 'Schema 1.0.0'],
      [`${type}/edit`, 'The schema stays at version'],
      [`${type}/try`, 'Valid: the schema accepts this event.'],
      [`${type}/versions`, 'Copy schema 1.0.0'],
      [`${type}/consumers`, 'demo /'],
      [`${type}/publishers`, 'unauthenticated'],
      [`${type}/partitions`, 'Newest offset'],
      [`${type}/events`, '"greeting"'],
      ['/event-types/lendstream.loan-commands/dead-letters', 'No events yet.'],
      ['/subscriptions', 'shop / default'],
      [`/subscriptions/${id}`, consumer.streamId],
      ['/subscriptions/+new', 'Consumer group'],
      ['/loans', loan?.id ?? ''],
      [`/loans/${loan?.id ?? ''}`, 'principalBalance'],
      [`/loans/${loan?.id ?? ''}/schedule`, '215.47'],
      [`/loans/${loan?.id ?? ''}/transactions`, 'Disbursement'],
      [`/loans/${loan?.id ?? ''}/events`, '#14'],
      [`/loans/${loan?.id ?? ''}/commands`, 'The form is valid'],
      ['/loans/+new', 'The form is valid'],
      ['/products', 'Annuity over 4 months'],
      [`/products/${product?.id ?? ''}`, 'All settings'],
      ['/products/+new', 'The form is valid'],
      ['/toggles', 'fixInstallmentTaxOnPenalty'],
      ['/api-keys', 'There are no keys but those of the settings of the service.'],
      ['/nowhere', 'There is no page at this address.'],
    ];
    for (const [path, sign] of places) {
      await visit(path);
      await text(sign).waitFor();
      await look(path);
    }
  }
});

import axe from 'axe-core';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Browser, Locator, Page } from 'playwright-core';
import { adminBundleFolder } from '../../src/http/edge/admin-page.ts';
import { chromiumOrSkip, startChromium } from '../support/http/chromium.ts';
import { call, openStream, type OpenStream } from '../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

/** The maximum size of the page as it is sent. Bytes. */
const bundleBytesMaximum = 150 * 1024;

/** The rules of axe that a theme can break: the others look at the same document in each. */
const rulesOfColors = ['color-contrast', 'link-in-text-block'];

/** The maximum time until anything appears. Milliseconds. */
const patienceMilliseconds = 10_000;

describe('the bundle of the admin page', () => {
  const files = readdirSync(adminBundleFolder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('.'))
    .map((name) => ({ name, bytes: readFileSync(join(adminBundleFolder, name)) }));

  it('is small', () => {
    const sent = files.map(({ bytes }) => gzipSync(bytes).length).reduce((sum, length) => sum + length, 0);
    expect(files.map(({ name }) => name)).to.include('index.html');
    expect(sent).to.be.lessThan(bundleBytesMaximum);
  });

  it('contains no address of another site', () => {
    const addresses = files.flatMap(({ bytes }) => bytes.toString().match(/https?:\/\/[^\s"'`)]+/g) ?? []);
    // Names of XML vocabularies, which are not requested.
    expect(addresses.filter((address) => !address.startsWith('http://www.w3.org/'))).to.deep.equal([]);
  });
});

describe('the admin page in a browser', function () {
  this.timeout(60_000);
  let browser: Browser;
  let folder = '';
  let service: Service;
  let page: Page;
  const consumers: OpenStream[] = [];
  const foreignRequests: string[] = [];
  const complaints: string[] = [];

  before(async function () {
    const program = chromiumOrSkip(this);
    folder = await temporaryFolder();
    service = await startService(folder, { END_OF_DAY_SCHEDULE: '0 0 29 2 *' });
    browser = await startChromium(program);
    page = await newPage();
  });

  afterEach(() => {
    expect(complaints.splice(0), 'what the browser reported').to.deep.equal([]);
  });

  after(async () => {
    for (const consumer of consumers) consumer.close();
    await browser?.close();
    await service?.stop();
    if (folder !== '') await removeFolder(folder);
  });

  async function newPage(width = 1280): Promise<Page> {
    const made = await browser.newPage({ viewport: { width, height: 800 }, locale: 'en-GB' });
    made.setDefaultTimeout(patienceMilliseconds);
    made.on('request', (request) => {
      if (!request.url().startsWith(service.url)) foreignRequests.push(request.url());
    });
    made.on('pageerror', (error) => complaints.push(String(error)));
    made.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) complaints.push(message.text());
    });
    return made;
  }

  const open = (path: string) => page.goto(`${service.url}/admin${path}`);
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const link = (name: string | RegExp) => page.getByRole('link', { name, exact: true });
  const text = (words: string | RegExp) => page.getByText(words).first();
  const row = (words: string): Locator => page.getByRole('row').filter({ hasText: words });
  const api = (method: string, path: string, body?: unknown) => call(`${service.url}${path}`, method, body);

  /** Saves a picture of the page, for a person to look at, in the folder that SCREENSHOTS names. */
  async function screenshot(name: string): Promise<void> {
    const pictures = process.env['SCREENSHOTS'];
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) });
  }

  /** Presses the Tab key until the target has the focus. */
  async function tabTo(target: Locator): Promise<void> {
    await target.waitFor();
    for (let presses = 0; presses < 80; presses += 1) {
      if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error('The Tab key did not lead there');
  }

  it('leads from an empty system to the first event type with the keyboard only', async () => {
    await open('');
    await text('No event types of your own yet').waitFor();
    await tabTo(link('Define the first one'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Define an event type' }).waitFor();
    await tabTo(page.getByLabel('Name', { exact: true }));
    await page.keyboard.type('orders placed');
    await page.getByText('format not allowed').waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('orders.placed');
    await tabTo(page.getByLabel('Owning application'));
    await page.keyboard.type('shop');
    await tabTo(page.getByLabel('JSON Schema'));
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(
      '{\n  "type": "object",\n  "properties": {\n    "order": { "type": "strin" }\n  },\n}',
    );
    await text('Line 6').waitFor();
    await text('The schema is not valid JSON yet.').waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(
      '{\n  "type": "object",\n  "properties": {\n    "order": { "type": "strin" }\n  }\n}',
    );
    await button('Line 4').waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(
      '{\n  "type": "object",\n  "properties": {\n    "order": { "type": "string" }\n  },\n  "required": ["order"]\n}',
    );
    await text('Valid: creates schema version 1.0.0.').waitFor();
    await tabTo(button('Create'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'orders.placed' }).waitFor();
    expect((await api('GET', '/event-types/orders.placed')).body).to.include({ owning_application: 'shop' });
  });

  it('reports that a name is taken, before and when the event type is created', async () => {
    await open('/event-types/+new');
    await page.getByLabel('Name', { exact: true }).fill('orders.placed');
    await page.getByLabel('Owning application').fill('other');
    await text('An event type with this name already exists.').waitFor();
    await button('Create').click();
    await page.getByRole('alert').getByText('already exists').waitFor();
  });

  it('validates a change before it is saved', async () => {
    await open('/event-types/orders.placed/edit');
    const schema = page.getByLabel('JSON Schema');
    const current = await schema.inputValue();
    await schema.fill(current.replace('"string"', '"number"'));
    await button('Line 4').waitFor();
    await text('This change cannot be saved.').waitFor();
    await schema.fill(current.replace('"order":', '"note": { "type": "string" },\n    "order":'));
    await text('the schema gets version 1.1.0').waitFor();
    await button('Save').click();
    await text('Schema 1.1.0').waitFor();
  });

  it('tries an event against the schema', async () => {
    await open('/event-types/orders.placed/try');
    const event = page.getByLabel('Event', { exact: true });
    await text('Publishing would reject this event.').waitFor();
    const metadata = (JSON.parse(await event.inputValue()) as { metadata: unknown }).metadata;
    await event.fill(JSON.stringify({ metadata, order: 7 }, null, 2));
    await button('Line 6').waitFor();
    await event.fill(JSON.stringify({ metadata, order: 'a' }, null, 2));
    await text('Valid: the schema accepts this event.').waitFor();
  });

  const publish = (order: string) =>
    api('POST', '/event-types/orders.placed/events', [
      { metadata: { eid: crypto.randomUUID(), occurred_at: new Date().toISOString() }, order },
    ]);

  it('shows the latest events as they arrive, until it is paused', async () => {
    expect((await publish('before')).status).to.equal(200);
    await open('/event-types/orders.placed/events');
    await text('"order":"before"').waitFor();
    await publish('during');
    await text('"order":"during"').waitFor();
    await button('Pause').click();
    await page.getByText('paused', { exact: true }).waitFor();
    const shown = page.getByText('"order":"later"');
    expect((await publish('later')).status).to.equal(200);
    // Long enough for an event to be shown if it were not held back.
    await setTimeout(500);
    expect(await shown.count()).to.equal(0);
    await button('Resume').click();
    await shown.first().waitFor();
    await open('/event-types/missing/events');
    await page.getByRole('alert').getByText('does not exist').waitFor();
  });

  it('loads the demo data with one click', async () => {
    expect((await api('DELETE', '/event-types/orders.placed')).status).to.equal(200);
    await open('/event-types');
    await button('Load demo data').click();
    await link(/^demo\.greeting-/).waitFor();
    await page.getByLabel('Search by name or owner').fill('demo');
    await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
    await page.getByLabel('Search by name or owner').fill('nothing like it');
    await text('No event type matches “nothing like it”.').waitFor();
  });

  it('shows the lag of a subscription, its open streams and why the last stream ended', async () => {
    await open('/subscriptions');
    await row('demo /').getByText('never streamed').waitFor();
    const { items } = (await api('GET', '/subscriptions')).body as { items: { id: string }[] };
    const id = items[0]?.id ?? '';
    const ended = await openStream(service.url, id, '?stream_limit=1&batch_limit=1');
    await ended.until((batches) => batches.some(({ events }) => events !== undefined));
    await ended.commit(ended.batches.filter(({ events }) => events !== undefined).map(({ cursor }) => cursor));
    await ended.ended;
    const consumer = await openStream(service.url, id);
    consumers.push(consumer);
    await link(/^demo \//).click();
    await row(consumer.streamId).waitFor();
    await row('Stream limit in events reached').waitFor();
    await row('assigned')
      .getByText(/^[1-9]/)
      .first()
      .waitFor();
  });

  it('deletes a subscription after a confirmation, and reports the deletion', async () => {
    const address = page.url();
    await button('Delete').click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await button('Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await text('No subscriptions yet').waitFor();
    await page.goto(address);
    await page.getByRole('alert').getByText('does not exist').waitFor();
  });

  it('finds a loan and shows its balances, its schedule and its events in order', async () => {
    await open('/loans');
    const [first] = JSON.parse((await api('GET', '/loans?sortBy=id:ASC')).text) as { id: string }[];
    const id = first?.id ?? '';
    await page.getByLabel('Id or encoded key of a loan').fill('missing');
    await button('Find').click();
    await text('There is no loan “missing”.').waitFor();
    await page.getByLabel('Id or encoded key of a loan').fill(id);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: id }).waitFor();
    await row('principalBalance').getByText('834.53').waitFor();
    await row('feesBalance').waitFor();
    // What an account does not have is not in its response.
    expect(await page.locator('main').innerText()).not.to.match(/undefined|null/);
    await link('Schedule').click();
    await row('partially paid').getByText('215.47').waitFor();
    await link('Events').click();
    await text('#14').waitFor();
    const summaries = await page.locator('summary').allTextContents();
    expect(summaries.map((summary) => /#(\d+)/.exec(summary)?.[1])).to.deep.equal(
      summaries.map((_, index) => String(index + 1)),
    );
    await open('/loans/missing');
    await page.getByRole('alert').getByText('There is no loan “missing”.').waitFor();
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
    await open('/loans');
    await row('unpaid').getByText('active', { exact: true }).waitFor();
    await text('none yet').waitFor();
    await text(/^0 0 29 2 \*, next on /).waitFor();
    await page.route('**/organization:endOfDay', (route) =>
      route.fulfill({
        status: 400,
        json: { errors: [{ errorCode: 4, errorReason: 'INVALID_PARAMETERS', errorSource: 'businessDate' }] },
      }),
    );
    await tabTo(button(/^Close day \d{4}-\d\d-\d\d$/));
    await page.keyboard.press('Enter');
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Close day' });
    await confirm.click();
    await page.getByRole('dialog').getByText('Invalid parameters (businessDate)').waitFor();
    await page.unroute('**/organization:endOfDay');
    // The service responds like this when the end of a day takes longer than it waits. The page asks again.
    let answer = (): void => {};
    const looked = new Promise<void>((resolve) => (answer = resolve));
    await page.route(
      '**/organization:endOfDay',
      async (route) => {
        await looked;
        await route.fulfill({ status: 202, json: { ...route.request().postDataJSON(), status: 'PENDING' } });
      },
      { times: 1 },
    );
    await confirm.click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('progressbar', { name: /^Closing / }).waitFor();
    await text(/^0 of \d+ partitions closed, [1-9]\d* accounts? left$/).waitFor();
    await screenshot('business-day-closing');
    answer();
    await text(/^\d{4}-\d\d-\d\d is closed\.$/).waitFor();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    await page.getByText('none yet').first().waitFor({ state: 'detached' });
    await row('unpaid').getByText('active in arrears').waitFor();
    await screenshot('business-day');
  });

  it('switches a toggle after a confirmation, and then uses the other names of balances', async () => {
    await open('/toggles');
    await text('Never switched.').waitFor();
    await button('Switch on ALLOW_NON_SCHEDULED_FEES').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).click();
    await text('ALLOW_NON_SCHEDULED_FEES is on now.').waitFor();
    await text(/^Switched on/).waitFor();
    await open('/loans');
    await page
      .getByRole('link', { name: /^loan-/ })
      .first()
      .click();
    await row('scheduledFeesBalance').waitFor();
    await text('Field names with ALLOW_NON_SCHEDULED_FEES on.').waitFor();
  });

  it('shows in the dialog why a toggle was not switched', async () => {
    await open('/toggles');
    await page.route('**/toggles/PRINCIPAL_OVERPAYMENT', (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail":"The log is away."}' }),
    );
    await button('Switch on PRINCIPAL_OVERPAYMENT').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).click();
    await page.getByRole('dialog').getByText('The log is away.').waitFor();
    await page.unroute('**/toggles/PRINCIPAL_OVERPAYMENT');
  });

  it('passes axe at both widths, its colors in both themes, and fits a narrow screen', async function () {
    this.timeout(180_000);
    await openPagesOfEverything(async (path) => {
      await page.emulateMedia({ colorScheme: 'light' });
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.locator('html').evaluate((html) => html.scrollWidth), `width of ${path}`).to.equal(width);
        expect(await faultsOf(page), `${path}, ${width} wide`).to.deep.equal([]);
      }
      // A narrow screen has the same colors.
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await faultsOf(page, rulesOfColors), `${path} in dark`).to.deep.equal([]);
    });
  });

  async function openPagesOfEverything(look: (path: string) => Promise<void>): Promise<void> {
    const subscribed = await api('POST', '/subscriptions', {
      owning_application: 'shop',
      event_types: ['loan_balance_changed'],
      read_from: 'begin',
    });
    const id = String(subscribed.body['id']);
    const consumer = await openStream(service.url, id);
    consumers.push(consumer);
    const [loan] = JSON.parse((await api('GET', '/loans?sortBy=id:ASC')).text) as { id: string }[];
    const types = JSON.parse((await api('GET', '/event-types?owning_application=demo')).text) as { name: string }[];
    const type = `/event-types/${types[0]?.name ?? ''}`;
    const places: [path: string, sign: string | RegExp][] = [
      ['/event-types', types[0]?.name ?? ''],
      ['/event-types/+new', 'JSON Schema'],
      [type, 'Schema 1.0.0'],
      [`${type}/edit`, 'The schema stays at version'],
      [`${type}/try`, 'Publishing would reject this event.'],
      [`${type}/events`, '"greeting"'],
      ['/subscriptions', 'shop / default'],
      [`/subscriptions/${id}`, consumer.streamId],
      ['/loans', loan?.id ?? ''],
      [`/loans/${loan?.id ?? ''}`, 'principalBalance'],
      [`/loans/${loan?.id ?? ''}/schedule`, '215.47'],
      [`/loans/${loan?.id ?? ''}/events`, '#14'],
      ['/toggles', 'fixInstallmentTaxOnPenalty'],
      ['/nowhere', 'There is no page at this address.'],
    ];
    for (const [path, sign] of places) {
      await open(path);
      await text(sign).waitFor();
      await look(path);
    }
  }

  /** @param rules All of them by default. */
  async function faultsOf(shown: Page, rules?: readonly string[]): Promise<string[]> {
    // The browser's tools run the library, and the policy of the page does not apply to them.
    if (!(await shown.evaluate<boolean>("'axe' in window"))) await shown.evaluate(axe.source);
    const options = JSON.stringify(rules === undefined ? {} : { runOnly: rules });
    return shown.evaluate<string[]>(
      `axe.run(document, ${options})
        .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
    );
  }

  it('continues after the service was away and is back', async () => {
    await open('/toggles');
    await button('Switch off ALLOW_NON_SCHEDULED_FEES').waitFor();
    await service.kill();
    await text('The service does not respond.').waitFor();
    await text('ALLOW_NON_SCHEDULED_FEES').waitFor();
    service = await startService(folder, { PORT: new URL(service.url).port });
    await text('The service does not respond.').waitFor({ state: 'detached' });
    await button('Switch off ALLOW_NON_SCHEDULED_FEES').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
    await text('ALLOW_NON_SCHEDULED_FEES is off now.').waitFor();
  });

  it('does not show live events while the service is away, and does when it is back', async () => {
    const types = JSON.parse((await api('GET', '/event-types?owning_application=demo')).text) as { name: string }[];
    await open(`/event-types/${types[0]?.name ?? ''}/events`);
    const live = page.getByText('live', { exact: true });
    await live.waitFor();
    await service.kill();
    await page.getByText('not connected', { exact: true }).waitFor();
    await text('The service does not respond.').waitFor();
    expect(await live.count()).to.equal(0);
    await screenshot('stopped-live-events');
    service = await startService(folder, { PORT: new URL(service.url).port });
    await live.waitFor();
  });

  for (const [what, path, before, label, change, after] of [
    ['a definition', 'edit', /stays at version/, 'JSON Schema', '{"title":"x"}', /This change cannot be saved/],
    ['an event', 'try', /would reject/, 'Event', '{"no":"metadata"}', /would reject/],
  ] as const) {
    it(`validates ${what} again when the service is back, without a key being pressed`, async () => {
      const types = JSON.parse((await api('GET', '/event-types?owning_application=demo')).text) as { name: string }[];
      await open(`/event-types/${types[0]?.name ?? ''}/${path}`);
      await text(before).waitFor();
      await service.kill();
      await page.getByLabel(label, { exact: true }).fill(change);
      await text('Validation is not available.').waitFor();
      expect(await page.getByText('Checking').count()).to.equal(0);
      if (path === 'edit') await screenshot('stopped-edit-form');
      service = await startService(folder, { PORT: new URL(service.url).port });
      await text(after).waitFor();
      expect(await page.getByText('Validation is not available.').count()).to.equal(0);
    });
  }

  it('validates again after the service could not', async () => {
    const types = JSON.parse((await api('GET', '/event-types?owning_application=demo')).text) as { name: string }[];
    await page.route('**/registry/event-type-checks', (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"detail":"The log is away."}' }),
    );
    await open(`/event-types/${types[0]?.name ?? ''}/edit`);
    await text('The log is away.').waitFor();
    await page.unroute('**/registry/event-type-checks');
    await text('The schema stays at version 1.0.0.').waitFor();
  });

  const owner = () => page.getByLabel('Owning application');
  const dialog = () => page.getByRole('dialog');

  async function edit(): Promise<string> {
    const types = JSON.parse((await api('GET', '/event-types?owning_application=demo')).text) as { name: string }[];
    const name = types[0]?.name ?? '';
    await open('/event-types');
    await link(name).click();
    await link('Edit').click();
    await owner().waitFor();
    return name;
  }

  it('asks before following a link that would lose unsaved work, and stays when the user cancels', async () => {
    await edit();
    await owner().fill('somebody else');
    await link('Loans').click();
    await dialog().getByText('Leave without saving?').waitFor();
    expect(await faultsOf(page)).to.deep.equal([]);
    await screenshot('unsaved-dialog');
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    expect([await owner().inputValue(), new URL(page.url()).pathname.endsWith('/edit')]).to.deep.equal([
      'somebody else',
      true,
    ]);
    await link('Loans').click();
    await dialog().getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Loans' }).waitFor();
    expect(new URL(page.url()).pathname).to.equal('/admin/loans');
  });

  /** The browser may take time to move through the history: nothing may be asked before it has arrived. */
  for (const [speed, milliseconds] of [
    ['fast', 0],
    ['slow', 300],
  ] as const) {
    async function editSlowly(): Promise<string> {
      const name = await edit();
      const slower = `const go = history.go.bind(history);
          history.go = (steps) => setTimeout(() => go(steps), ${milliseconds});`;
      if (milliseconds > 0) await page.evaluate(slower);
      return name;
    }
    const answer = (choice: string) => dialog().getByRole('button', { name: choice }).click();
    const pathname = () => new URL(page.url()).pathname;

    it(`asks before going back loses work, and then goes back as far as requested (${speed} history)`, async () => {
      const name = await editSlowly();
      await owner().fill('somebody else');
      await page.evaluate('history.go(-2)');
      await answer('Cancel');
      expect([await owner().inputValue(), pathname()]).to.deep.equal([
        'somebody else',
        `/admin/event-types/${name}/edit`,
      ]);
      await page.evaluate('history.back()');
      await answer('Leave');
      await page.getByRole('heading', { name, exact: true }).waitFor();
      expect(pathname()).to.equal(`/admin/event-types/${name}`);
      await page.goForward();
      await owner().fill('somebody else');
      await page.evaluate('history.go(-2)');
      await answer('Leave');
      await page.getByRole('heading', { name: 'Event types' }).waitFor();
      expect(pathname()).to.equal('/admin/event-types');
    });

    it(`asks correctly when the user goes back again before the question, or instead of answering (${speed} history)`, async () => {
      const name = await editSlowly();
      await link('Loans').click();
      await link('Toggles').click();
      await page.getByRole('heading', { name: 'Toggles' }).waitFor();
      await page.evaluate('history.go(-2)');
      await owner().fill('somebody else');
      await page.evaluate('history.back(), history.back()');
      await answer('Cancel');
      expect([await owner().inputValue(), pathname()]).to.deep.equal([
        'somebody else',
        `/admin/event-types/${name}/edit`,
      ]);
      await page.evaluate('history.back()');
      await dialog().waitFor();
      await page.evaluate(`new Promise((resolve) => {
        addEventListener('popstate', () => location.pathname.endsWith('/edit') && resolve());
        history.forward();
      })`);
      await answer('Leave');
      await page.getByRole('heading', { name: 'Loans' }).waitFor();
      expect(pathname()).to.equal('/admin/loans');
    });

    it(`asks about a link that was followed while the browser was going back (${speed} history)`, async () => {
      await editSlowly();
      await owner().fill('somebody else');
      await page.evaluate(`new Promise((resolve) => {
          addEventListener('popstate', () => {
            document.querySelector('nav a[href="/admin/toggles"]').click();
            resolve();
          }, { once: true });
          history.back();
        })`);
      await answer('Leave');
      await page.getByRole('heading', { name: 'Toggles' }).waitFor();
      expect(pathname()).to.equal('/admin/toggles');
      await page.evaluate('history.back()');
      await owner().waitFor();
    });
  }

  it('goes back after the user used the skip link, however often', async () => {
    const name = await edit();
    await owner().fill('somebody else');
    const skip = link('Skip to content');
    for (const _ of ['once', 'twice']) {
      await skip.focus();
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).to.equal('content');
    }
    await page.evaluate('history.back()');
    await dialog().getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name, exact: true }).waitFor();
  });

  it('guards a change immediately after it is made', async () => {
    await edit();
    const asked = await page.evaluate<boolean[]>(`(async () => {
      const owner = document.querySelector('section input:not([readonly])');
      const isAsked = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }));
      const before = isAsked();
      owner.value = 'somebody else';
      owner.dispatchEvent(new InputEvent('input', { bubbles: true }));
      await null;
      return [before, isAsked()];
    })()`);
    expect(asked).to.deep.equal([false, true]);
  });

  it('lets the browser ask before closing or reloading the tab loses work', async () => {
    await edit();
    await owner().fill('somebody else');
    const asked = new Promise<string>((resolve) => {
      page.once('dialog', (shown) => {
        resolve(shown.type());
        void shown.accept();
      });
    });
    await page.reload();
    expect(await asked).to.equal('beforeunload');
  });

  it('asks nothing when nothing was changed, or the change was undone or saved', async () => {
    await edit();
    const before = await owner().inputValue();
    await owner().fill('somebody else');
    await owner().fill(before);
    await link('Loans').click();
    await page.getByRole('heading', { name: 'Loans' }).waitFor();
    await page.goBack();
    await owner().fill('demo');
    await page.getByLabel('Retention in hours').fill('24');
    await button('Save').click();
    await text('24 h').waitFor();
    await link('Loans').click();
    await page.getByRole('heading', { name: 'Loans' }).waitFor();
    expect(await dialog().count()).to.equal(0);
  });

  it('resumes live events at the last one shown when the service is back', async () => {
    const types = JSON.parse((await api('GET', '/event-types?owning_application=demo')).text) as { name: string }[];
    const name = types[0]?.name ?? '';
    await open(`/event-types/${name}/events`);
    await text('bom dia').waitFor();
    await service.kill();
    await text('The service does not respond.').waitFor();
    service = await startService(folder, { PORT: new URL(service.url).port });
    const metadata = { eid: crypto.randomUUID(), occurred_at: new Date().toISOString() };
    await api('POST', `/event-types/${name}/events`, [{ metadata, greeting: 'good evening' }]);
    await text('good evening').waitFor();
    expect(await page.getByText('bom dia').count()).to.equal(2);
  });

  it('asks for an API key when the service requires one, and keeps it for the tab', async () => {
    await service.stop();
    service = await startService(folder, { PORT: new URL(service.url).port, API_KEYS: 'the-right-key-of-all' });
    await open('/loans');
    const key = page.getByLabel('API key', { exact: true });
    await key.fill('a-wrong-key-at-first');
    await button('Sign in').click();
    await text('The service does not accept this key.').waitFor();
    expect(await faultsOf(page)).to.deep.equal([]);
    await key.fill('the-right-key-of-all');
    await button('Sign in').click();
    await page
      .getByRole('link', { name: /^loan-/ })
      .first()
      .waitFor();
    await page.reload();
    await page
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
    await service.stop();
    // The check of this change cannot succeed any more, so the page sends it again when the service is back.
    await owner().fill('somebody else');
    const title = await page.title();
    service = await startService(folder, { PORT: new URL(service.url).port, API_KEYS: 'the-next-key-of-them-all' });
    const key = page.getByLabel('API key', { exact: true });
    await key.waitFor();
    expect(await faultsOf(page)).to.deep.equal([]);
    expect(await owner().isVisible()).to.equal(false);
    await link('Loans').click();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await key.fill('the-next-key-of-them-all');
    await button('Sign in').click();
    await text(/stays at version/).waitFor();
    expect([await owner().inputValue(), await page.title()]).to.deep.equal(['somebody else', title]);
    await button('Save').click();
    await text('somebody else').waitFor();
  });

  it('never sends a request to another site', () => {
    expect(foreignRequests).to.deep.equal([]);
  });
});

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { packageRoot } from '../src/package-root.ts';
import { chromiumProgram, startChromium } from '../test/support/http/chromium.ts';
import { openStream } from '../test/support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../test/support/processes/service.ts';
import { chromiumBrowser, provide } from './local-cluster/prerequisites.ts';
import { endIfHelpIsAsked } from './read-usage.ts';

/**
 * Takes a picture of each page of the admin page, at both widths and in both themes, on its own service with the demo
 * data. Run it with: npm run screenshots [folder]
 */
endIfHelpIsAsked('screenshots');

const folder = process.argv[2] ?? join(packageRoot, 'data/screenshots');

const widths = [360, 1280];
const themes = ['light', 'dark'] as const;

/** How long a page has to show the data it requested from the service. Milliseconds. */
const settleMilliseconds = 600;

interface Picture {
  readonly name: string;
  readonly path: string;
  /** Steps on the page before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** Captures only the window, for content that overlays the page. */
  readonly windowOnly?: boolean;
}

await provide([chromiumBrowser], (line) => console.error(line));
const program = chromiumProgram();
if (program === undefined) throw new Error('Chromium was not found');
const dataFolder = await temporaryFolder();
const service = await startService(dataFolder);
const browser = await startChromium(program);
try {
  await mkdir(folder, { recursive: true });
  await takeAll(browser, service, [{ name: 'empty', path: '/event-types' }]);
  const pictures = await fill(browser, service);
  await takeAll(browser, service, pictures);
  console.log(`The pictures are in ${folder}`);
} finally {
  await browser.close();
  await service.stop();
  await removeFolder(dataFolder);
}

/** Loads the demo data with the page's own button, and leaves open streams of a consumer. */
async function fill(browser: Browser, { url }: Service): Promise<Picture[]> {
  const page = await browser.newPage();
  await page.goto(`${url}/admin/event-types`);
  await page.getByRole('button', { name: 'Load demo data' }).click();
  const link = page.getByRole('link', { name: /^demo\.greeting/ });
  await link.waitFor();
  const eventType = (await link.textContent()) ?? '';
  await page.goto(`${url}/admin/loans`);
  const loan = (await page.getByRole('link', { name: /^loan-.*-1$/ }).textContent()) ?? '';
  await page.close();
  const { items } = (await (await fetch(`${url}/subscriptions`)).json()) as { items: { id: string }[] };
  const subscription = items[0]?.id ?? '';
  const former = await openStream(url, subscription, '?stream_limit=1&batch_limit=1');
  await former.until((batches) => batches.some(({ events }) => events !== undefined));
  await former.commit(former.batches.filter(({ events }) => events !== undefined).map(({ cursor }) => cursor));
  await former.ended;
  await openStream(url, subscription, '?batch_limit=2&max_uncommitted_events=2');
  const fillForm = async (page: Page): Promise<void> => {
    const schema = page.getByLabel('JSON Schema');
    await schema.fill('{\n  "type": "object",\n  "properties": {\n    "greeting": { "type": "strin" }\n  }\n}');
    await page.getByRole('button', { name: 'Line 4' }).waitFor();
  };
  const extend = async (page: Page): Promise<void> => {
    const schema = page.getByLabel('JSON Schema');
    const lines = schema.locator('.cm-line');
    await lines.first().waitFor();
    const text = (await lines.allTextContents()).join('\n');
    await schema.fill(text.replace('"properties": {', '"properties": {\n    "mood": { "type": "string" },'));
    await page.getByText('the schema gets version').waitFor();
  };
  const moveToBegin = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Move cursors' }).click();
    await page.getByLabel('Move to').selectOption('begin');
    await page.getByText('sent again').first().waitFor();
  };
  const search = async (page: Page): Promise<void> => {
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Search everything' }).fill('loan');
  };
  return [
    { name: 'overview', path: '' },
    { name: 'search', path: '', prepare: search, windowOnly: true },
    { name: 'event-types', path: '/event-types' },
    { name: 'event-type', path: `/event-types/${eventType}` },
    { name: 'event-type-edit', path: `/event-types/${eventType}/edit`, prepare: extend },
    { name: 'event-type-edit-wrong', path: `/event-types/${eventType}/edit`, prepare: fillForm },
    { name: 'event-type-new', path: '/event-types/+new' },
    { name: 'event-type-try', path: `/event-types/${eventType}/try` },
    { name: 'event-type-events', path: `/event-types/${eventType}/events` },
    {
      name: 'event-type-event-opened',
      path: '/event-types/loan_transaction_posted/events',
      prepare: (page) => page.locator('.row-toggle').first().click(),
    },
    { name: 'event-type-versions', path: `/event-types/${eventType}/versions` },
    { name: 'event-type-consumers', path: `/event-types/${eventType}/consumers` },
    { name: 'event-type-partitions', path: `/event-types/${eventType}/partitions` },
    { name: 'subscriptions', path: '/subscriptions' },
    { name: 'subscription', path: `/subscriptions/${subscription}` },
    { name: 'subscription-move', path: `/subscriptions/${subscription}`, prepare: moveToBegin, windowOnly: true },
    { name: 'subscription-clone', path: `/subscriptions/+new?from=${subscription}` },
    { name: 'loans', path: '/loans' },
    { name: 'loan-balances', path: `/loans/${loan}` },
    { name: 'loan-schedule', path: `/loans/${loan}/schedule` },
    { name: 'loan-transactions', path: `/loans/${loan}/transactions` },
    { name: 'loan-events', path: `/loans/${loan}/events` },
    { name: 'products', path: '/products' },
    { name: 'toggles', path: '/toggles' },
    {
      name: 'toggle-confirmation',
      path: '/toggles',
      prepare: (page) => page.getByRole('button', { name: 'Switch on ALLOW_NON_SCHEDULED_FEES' }).click(),
      windowOnly: true,
    },
  ];
}

async function takeAll(browser: Browser, { url }: Service, pictures: readonly Picture[]): Promise<void> {
  for (const colorScheme of themes) {
    for (const width of widths) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 }, locale: 'en-GB' });
      for (const { name, path, prepare, windowOnly = false } of pictures) {
        await page.goto(`${url}/admin${path}`);
        await page.waitForTimeout(settleMilliseconds);
        await prepare?.(page);
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: !windowOnly });
      }
      await page.close();
    }
  }
}

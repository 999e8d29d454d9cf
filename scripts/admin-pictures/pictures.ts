import type { Page } from 'playwright-core';
import type { Subjects } from './subjects.ts';

/** The pages of the admin page that pictures are taken of, and what is done on each before. */
export interface Picture {
  readonly name: string;
  readonly path: string;
  /** Steps on the page before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** Captures only the window, for content that overlays the page. */
  readonly windowOnly?: boolean;
  /** The number of pixels of its height that a document shows. */
  readonly height?: number;
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
  /** Shows that the service is open. */
  readonly hasNotice?: boolean;
}

const loanEvents = '/event-types/loan_transaction_posted/events';

/** Every page, for looking at it in both widths and themes. */
export function allPictures({ eventType, loan, product, subscription }: Subjects): readonly Picture[] {
  const type = `/event-types/${eventType}`;
  return [
    { name: 'overview', path: '' },
    { name: 'search', path: '', prepare: search, windowOnly: true },
    { name: 'event-types', path: '/event-types' },
    { name: 'event-type', path: type },
    { name: 'event-type-edit', path: `${type}/edit`, prepare: extendSchema },
    { name: 'event-type-edit-wrong', path: `${type}/edit`, prepare: breakSchema },
    { name: 'event-type-new', path: '/event-types/+new' },
    { name: 'event-type-try', path: `${type}/try` },
    { name: 'event-type-events', path: `${type}/events` },
    { name: 'event-type-event-opened', path: loanEvents, prepare: openFirstEvent },
    { name: 'event-type-versions', path: `${type}/versions` },
    { name: 'event-type-consumers', path: `${type}/consumers` },
    { name: 'event-type-partitions', path: `${type}/partitions` },
    { name: 'subscriptions', path: '/subscriptions' },
    { name: 'subscription', path: `/subscriptions/${subscription}` },
    { name: 'subscription-move', path: `/subscriptions/${subscription}`, prepare: moveToBegin, windowOnly: true },
    { name: 'subscription-clone', path: `/subscriptions/+new?from=${subscription}` },
    { name: 'loans', path: '/loans' },
    { name: 'loan-new', path: '/loans/+new' },
    { name: 'loan-balances', path: `/loans/${loan}` },
    { name: 'loan-schedule', path: `/loans/${loan}/schedule` },
    { name: 'loan-transactions', path: `/loans/${loan}/transactions` },
    { name: 'loan-events', path: `/loans/${loan}/events` },
    { name: 'loan-commands', path: `/loans/${loan}/commands` },
    { name: 'products', path: '/products' },
    { name: 'product', path: `/products/${product}` },
    { name: 'product-new', path: '/products/+new' },
    { name: 'api-keys', path: '/api-keys' },
    { name: 'api-key-new', path: '/api-keys', prepare: createKey, windowOnly: true },
    { name: 'audit', path: '/audit' },
    { name: 'toggles', path: '/toggles' },
    { name: 'toggle-confirmation', path: '/toggles', prepare: askForToggle, windowOnly: true },
  ];
}

/** The pictures of docs/admin.md. */
export function documentPictures(subjects: Subjects): readonly Picture[] {
  const { eventType, loan, subscription, offset, eventId } = subjects;
  const type = `/event-types/${eventType}`;
  const ofSubscription = `/subscriptions/${subscription}`;
  return [
    { name: 'overview', path: '', height: 960 },
    { name: 'offset', path: `${loanEvents}?partition=0&from=${offset}&order=oldest`, height: 420 },
    { name: 'time', path: `${loanEvents}?from=${subjects.time}&order=oldest`, height: 560 },
    { name: 'search-events', path: `${loanEvents}?field=loanAccountId+%3D+${loan}&text=repayment`, height: 420 },
    { name: 'event-id', path: `${loanEvents}?eid=${eventId}`, prepare: openFirstEvent, height: 620 },
    {
      name: 'events',
      path: `${loanEvents}?columns=time%2Cposition%2CloanAccountId%2Csequence%2Cname%2Ctransaction.amount`,
      prepare: chooseColumns,
      height: 620,
    },
    { name: 'live', path: `${type}/events`, prepare: (page) => waitForNewEvents(page, subjects), height: 520 },
    { name: 'try', path: `${type}/try`, prepare: writeWrongEvent, height: 640 },
    { name: 'publish', path: `${type}/try`, prepare: askToPublish, windowOnly: true, height: 640 },
    { name: 'edit', path: `${type}/edit`, prepare: extendSchema, height: 860 },
    { name: 'versions', path: `${type}/versions`, height: 780 },
    { name: 'consumers', path: `${type}/consumers`, height: 320 },
    { name: 'event-types', path: '/event-types?sort=-lag-events', height: 620 },
    { name: 'subscriptions', path: '/subscriptions', height: 420 },
    { name: 'subscription', path: ofSubscription, height: 720 },
    { name: 'move-cursors', path: ofSubscription, prepare: moveToBegin, windowOnly: true, height: 720 },
    { name: 'clone', path: `/subscriptions/+new?from=${subscription}`, height: 520 },
    { name: 'ended-streams', path: ofSubscription, prepare: scrollToEndedStreams, windowOnly: true, height: 560 },
    { name: 'definition', path: type, height: 480 },
    { name: 'partitions', path: `${type}/partitions`, height: 340 },
    { name: 'search', path: '/subscriptions', prepare: markAndSearch, windowOnly: true, height: 520 },
    { name: 'loan-balances', path: `/loans/${loan}`, height: 660 },
    { name: 'loan-schedule', path: `/loans/${loan}/schedule`, height: 1_000 },
    { name: 'loan-events', path: `/loans/${loan}/events`, height: 660 },
    { name: 'command', path: `/loans/${loan}/commands?command=REPAY`, prepare: repay, height: 1_080 },
    { name: 'product', path: `/products/${subjects.product}`, height: 560 },
    { name: 'open', path: '/event-types', height: 420, hasNotice: true },
    { name: 'api-keys', path: '/api-keys', height: 520 },
    { name: 'audit', path: `/audit?subject=${eventType}`, prepare: openChange, height: 900 },
    { name: 'toggles', path: '/toggles', prepare: askForToggle, windowOnly: true, height: 620 },
    { name: 'narrow', path: `/loans/${loan}/schedule`, width: 360, theme: 'dark', height: 900 },
  ];
}

async function search(page: Page): Promise<void> {
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Search everything' }).fill('loan');
}

async function markAndSearch(page: Page): Promise<void> {
  await page.getByRole('link', { name: /^demo \// }).click();
  await page.getByRole('button', { name: 'Favourite' }).click();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('/');
  await page.getByRole('option').first().waitFor();
}

async function extendSchema(page: Page): Promise<void> {
  const schema = page.getByLabel('JSON Schema');
  const lines = schema.locator('.cm-line');
  await lines.first().waitFor();
  const text = (await lines.allTextContents()).join('\n');
  await schema.fill(text.replace('"properties": {', '"properties": {\n    "mood": { "type": "string" },'));
  await page.getByText('the schema gets version').waitFor();
}

async function breakSchema(page: Page): Promise<void> {
  const schema = page.getByLabel('JSON Schema');
  await schema.fill('{\n  "type": "object",\n  "properties": {\n    "greeting": { "type": "strin" }\n  }\n}');
  await page.getByRole('button', { name: 'Line 4' }).waitFor();
}

async function openFirstEvent(page: Page): Promise<void> {
  await page.locator('.row-toggle').first().click();
}

async function chooseColumns(page: Page): Promise<void> {
  await page.locator('.menu > summary').click();
}

/** Opens an event, and lets others arrive: they wait above it. */
async function waitForNewEvents(page: Page, { publish }: Subjects): Promise<void> {
  await openFirstEvent(page);
  await publish();
  await page.locator('.waiting-events').waitFor();
}

async function writeWrongEvent(page: Page): Promise<void> {
  const event = page.getByLabel('Event', { exact: true });
  const lines = event.locator('.cm-line');
  await lines.first().waitFor();
  const text = (await lines.allTextContents()).join('\n');
  await event.fill(text.replace(/"greeting": ".*"/, '"greeting": ""'));
  await page.getByText('Publishing would reject this event.').waitFor();
}

async function askToPublish(page: Page): Promise<void> {
  await page.getByText('the schema accepts this event').waitFor();
  await page.getByRole('button', { name: 'Publish' }).click();
}

async function moveToBegin(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Move cursors' }).click();
  await page.getByLabel('Move to').selectOption('begin');
  await page.getByText('sent again').first().waitFor();
}

async function scrollToEndedStreams(page: Page): Promise<void> {
  await page.getByText('Open streams').first().scrollIntoViewIfNeeded();
  await page.getByText('are recorded since').scrollIntoViewIfNeeded();
}

async function repay(page: Page): Promise<void> {
  await page.getByLabel('Amount (required)').fill('50.25');
  await page.getByText('The form is valid').waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
  await page.getByText(/^Balances changed/).waitFor();
}

async function createKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create a key' }).click();
}

/** Opens the change of the event type, with its state before and after. */
async function openChange(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'updateEventType' }).first().click();
}

async function askForToggle(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Switch on ALLOW_NON_SCHEDULED_FEES' }).click();
}

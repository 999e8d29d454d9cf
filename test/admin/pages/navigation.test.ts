import { expect } from 'chai';
import { before, it } from 'mocha';
import { describeAdminPage } from './admin-browser.ts';

/** Enough for three pages of the list, and for a page that scrolls. */
const typeCount = 60;

/** The requests for the page of the list, and for the version and the health in the footer. */
const requestsMaximum = 4;

/** The size of a page of a list, whatever the number of definitions. Bytes, uncompressed. */
const listBytesMaximum = 30_000;

const longName = `long.${'segment-'.repeat(12)}end-of-name`;

describeAdminPage('finding the way on the admin page', (admin) => {
  const { open, button, link, text, row, api } = admin;

  before(async () => {
    const names = [longName, ...Array.from({ length: typeCount - 1 }, (_, index) => `type.number-${index + 100}`)];
    for (const name of names) {
      const made = await api('POST', '/event-types', {
        name,
        owning_application: 'shop',
        category: 'undefined',
        schema: { type: 'json_schema', schema: '{}' },
      });
      expect(made.status, made.text).to.equal(201);
    }
  });

  it('loads no editor and no charts for its first rows, and asks the service for little', async () => {
    const loaded: string[] = [];
    const record = (request: { url: () => string }): void => void loaded.push(new URL(request.url()).pathname);
    admin.page.on('request', record);
    await open('/event-types');
    await row('type.number-100').waitFor();
    admin.page.off('request', record);
    const assets = loaded.filter((path) => path.startsWith('/admin/assets/'));
    expect(assets.map((path) => path.split('.').at(-1))).to.have.members(['css', 'js']);
    const lists = loaded.filter((path) => !path.startsWith('/admin'));
    expect(lists.length, lists.join(' ')).to.be.at.most(requestsMaximum);
  });

  it('finds the search, the order, the page and the place again when going back', async () => {
    await open('/event-types');
    await admin.page.getByLabel('Search by name or owner').fill('type.number');
    await text(`1 to 25 of ${typeCount - 1}`).waitFor();
    await button('Name').click();
    await button('Name').click();
    await row('type.number-158').waitFor();
    await button('Next').click();
    await text(`26 to 50 of ${typeCount - 1}`).waitFor();
    expect(admin.address()).to.equal('/event-types?search=type.number&sort=-name&page=2');
    await link('type.number-110').scrollIntoViewIfNeeded();
    const scrolled = await admin.page.evaluate<number>('scrollY');
    expect(scrolled).to.be.greaterThan(0);
    await link('type.number-110').click();
    await admin.heading('type.number-110').waitFor();
    expect(await admin.page.evaluate<number>('scrollY')).to.equal(0);
    await admin.page.goBack();
    await text(`26 to 50 of ${typeCount - 1}`).waitFor();
    expect(await admin.page.getByLabel('Search by name or owner').inputValue()).to.equal('type.number');
    for (let now = -1; now !== scrolled; now = await admin.page.evaluate<number>('scrollY')) {
      await admin.page.waitForTimeout(20);
    }
    await admin.page.reload();
    await text(`26 to 50 of ${typeCount - 1}`).waitFor();
  });

  it('requests the page of a list that is shown, and nothing of the others', async () => {
    for (const [path, list] of [
      ['/event-types', '/event-types'],
      ['/subscriptions', '/subscriptions'],
      ['/loans', '/loans:search'],
    ] as const) {
      const requests: URL[] = [];
      const record = (request: { url: () => string }): void => void requests.push(new URL(request.url()));
      const answered = admin.page.waitForResponse((response) => new URL(response.url()).pathname === list);
      admin.page.on('request', record);
      await open(path);
      const response = await answered;
      expect((await response.body()).length, path).to.be.lessThan(listBytesMaximum);
      admin.page.off('request', record);
      const ofList = requests.filter(({ pathname }) => pathname === list);
      expect(ofList.map(({ searchParams }) => searchParams.get('limit'))).to.deep.equal(['25']);
    }
  });

  it('sorts a list on a narrow screen, which has no heads of columns', async () => {
    await admin.page.setViewportSize({ width: 360, height: 800 });
    await admin.visit('/event-types');
    const order = admin.page.getByRole('combobox', { name: 'Sort by' });
    await order.selectOption('Name');
    await row('lendstream.')
      .or(row(longName.slice(0, 20)))
      .first()
      .waitFor();
    await button('↑ ascending').click();
    await row('type.number-158').waitFor();
    expect(admin.address()).to.equal('/event-types?sort=-name');
    expect(await admin.faults()).to.deep.equal([]);
    await admin.page.setViewportSize({ width: 1280, height: 800 });
    await order.waitFor({ state: 'hidden' });
  });

  it('says that there is no page at an unknown address, also below a known one', async () => {
    for (const path of ['/nowhere', '/event-types/type.number-100/unknown', '/loans/x/unknown', '/subscriptions/x/y']) {
      await admin.visit(path);
      await admin.heading('Not found').waitFor();
    }
  });

  it('cuts a long name in its middle, and names it whole', async () => {
    await admin.visit(`/event-types?search=${longName}`);
    const shown = link(longName);
    await shown.waitFor();
    expect(await shown.evaluate((element) => element.getBoundingClientRect().height)).to.be.lessThan(30);
    expect(await shown.locator('[title]').getAttribute('title')).to.equal(longName);
  });

  it('does not move the sections when another one is chosen', async () => {
    await admin.visit('/event-types');
    const before = await link('Toggles').boundingBox();
    await link('Subscriptions').click();
    await admin.heading('Subscriptions').waitFor();
    expect(await link('Toggles').boundingBox()).to.deep.equal(before);
  });

  it('finds pages and things by a part of their names, with the keyboard', async () => {
    await admin.visit('/toggles');
    await admin.heading('Toggles').waitFor();
    await admin.page.keyboard.press('/');
    await admin.dialog().waitFor();
    await admin.page.keyboard.type('number-15');
    await admin.page.getByRole('option', { name: 'type.number-150' }).waitFor();
    expect(await admin.faults()).to.deep.equal([]);
    await admin.page.keyboard.press('ArrowDown');
    await admin.page.keyboard.press('Enter');
    await admin.heading('type.number-151').waitFor();
    expect(await admin.dialog().count()).to.equal(0);
    await admin.page.keyboard.press('/');
    await admin.page.keyboard.type('nothing like it');
    await text('Nothing found.').waitFor();
    await admin.page.keyboard.press('Escape');
    await admin.dialog().waitFor({ state: 'detached' });
  });

  it('lists favourites first in the search, also after the browser was closed', async () => {
    await admin.visit('/event-types/type.number-120');
    await button('Favourite').click();
    await admin.page.reload();
    await admin.page.getByRole('button', { name: 'Favourite', pressed: true }).waitFor();
    await admin.page.keyboard.press('/');
    await admin.page.getByRole('option').first().getByText('Favourite').waitFor();
    expect(await admin.faults()).to.deep.equal([]);
    await admin.page.keyboard.press('Enter');
    await button('Favourite').click();
    await admin.page.keyboard.press('/');
    await admin.page.getByRole('option').first().getByText('Page').waitFor();
    await admin.page.keyboard.press('Escape');
    // What else is kept there is not the page's.
    await admin.page.evaluate("localStorage.setItem('lendstream.favourites', '{\"to\": 1}')");
    await admin.page.reload();
    await admin.page.getByRole('button', { name: 'Favourite', pressed: false }).waitFor();
  });

  it('tells the version and the health, leads to the documentation, and signs out', async () => {
    await open('/event-types');
    const footer = admin.page.getByRole('contentinfo');
    await footer.getByText(/^Lendstream \d+\.\d+\.\d+ healthy/).waitFor();
    expect(await link('API documentation').getAttribute('href')).to.equal('/docs');
    const notice = admin.page.getByRole('region', { name: 'Access' });
    await notice.getByText('This service is open').waitFor();
    await button('Hide').click();
    await admin.page.reload();
    await footer.getByText('open without keys').waitFor();
    expect(await notice.count()).to.equal(0);
    await admin.service.stop();
    await admin.restart({ API_KEYS: 'the-only-key-of-all' });
    await open('/event-types');
    await admin.page.getByLabel('API key', { exact: true }).fill('the-only-key-of-all');
    await button('Sign in').click();
    await row('type.number-100').waitFor();
    expect(await footer.getByText('open without keys').count()).to.equal(0);
    await button('Sign out').click();
    await admin.page.getByLabel('API key', { exact: true }).waitFor();
    expect(await admin.page.evaluate("sessionStorage.getItem('lendstream.api-key')")).to.equal(null);
  });

  it('shows when something happened, and exactly when on focus', async () => {
    await admin.service.stop();
    await admin.restart();
    await open('/event-types/type.number-100');
    const time = admin.page.locator('dd time').first();
    expect(await time.textContent()).to.match(/^(just now|\d+ (s|min) ago)$/);
    expect(await time.getAttribute('title')).to.match(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d \S+ \(\d{4}-\d\d-\d\dT[^)]+Z\)$/);
    await admin.tabTo(time);
  });
});

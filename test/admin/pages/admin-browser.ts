import { expect } from 'chai';
import { after, afterEach, before, describe } from 'mocha';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { BrowserContext, ConsoleMessage, Locator, Page, Request } from 'playwright-core';
import { chromiumOrSkip, sharedChromium } from '../../support/http/chromium.ts';
import { call, type HttpResponse, type OpenStream } from '../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

/** The maximum time until anything appears. Milliseconds. */
const patienceMilliseconds = 20_000;

/**
 * The browser's command that fills an editor in a test, and that no user has, sometimes sets an empty style at the host
 * of the editor, which the policy of the page refuses.
 */
const styleOfFilling = 'sha256-0az901I8+CCutg5bADzx3tuBsaYavdrx07PZiuGuR4s=';

const require = createRequire(import.meta.url);

let axe: string | undefined;

/** The library that runs in the page, which this process does not run. */
function axeSource(): string {
  axe ??= readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  return axe;
}

const pageSize = { width: 1280, height: 800 };

/** The page of the tests before, since a new one starts a process that has to load everything. */
let keptPage: Page | undefined;

/** The admin page of a service of its own, in a browser. */
export class AdminBrowser {
  folder = '';
  /** In this process, unless the tests kill it. */
  service!: ServiceHere | Service;
  page!: Page;
  /** Streams that are closed in the end. */
  readonly consumers: OpenStream[] = [];
  /** Requests to other sites. */
  readonly foreignRequests: string[] = [];
  /** Errors of scripts, and what the policy of the page refused. */
  readonly complaints: string[] = [];
  /** One for each further page, so that none knows what another one keeps. */
  readonly #contexts: BrowserContext[] = [];
  #program = '';
  readonly #startService: typeof startService | typeof startServiceHere;

  /** @param where `here` is this process; one of its own takes a second to start, and can be killed */
  constructor(where: 'here' | 'process') {
    this.#startService = where === 'here' ? startServiceHere : startService;
  }

  async start(program: string, settings: Record<string, string>): Promise<void> {
    this.folder = await temporaryFolder();
    this.service = await this.#startService(this.folder, settings);
    this.#program = program;
    this.page = keptPage === undefined || keptPage.isClosed() ? await this.#openPage(pageSize) : keptPage;
    keptPage = undefined;
    this.#watch(this.page);
  }

  async stop(): Promise<void> {
    for (const consumer of this.consumers) consumer.close();
    for (const context of this.#contexts) await context.close();
    if (this.page !== undefined) await this.#leave(this.page);
    await this.service?.stop();
    if (this.folder !== '') await removeFolder(this.folder);
  }

  /** Starts the service again at its address. */
  async restart(settings: Record<string, string> = {}): Promise<void> {
    this.service = await this.#startService(this.folder, { PORT: new URL(this.service.url).port, ...settings });
  }

  /** Ends the process of the service without a warning. */
  async kill(): Promise<void> {
    if (!('kill' in this.service)) throw new Error('this service is in no process of its own');
    await this.service.kill();
  }

  async newPage(width = pageSize.width): Promise<Page> {
    const page = await this.#openPage({ ...pageSize, width });
    this.#contexts.push(page.context());
    this.#watch(page);
    return page;
  }

  async #openPage(viewport: { width: number; height: number }): Promise<Page> {
    const browser = await sharedChromium(this.#program);
    const context = await browser.newContext({ viewport, locale: 'en-GB' });
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMilliseconds);
    return page;
  }

  #watch(page: Page): void {
    page.on('request', this.#seeRequest);
    page.on('pageerror', this.#seeError);
    page.on('console', this.#seeMessage);
  }

  readonly #seeRequest = (request: Request): void => {
    const url = request.url();
    if (!url.startsWith(this.service.url) && !url.startsWith('blob:')) this.foreignRequests.push(url);
  };
  readonly #seeError = (error: Error): void => void this.complaints.push(String(error));
  readonly #seeMessage = (message: ConsoleMessage): void => {
    const words = message.text();
    if (/Content.Security.Policy/i.test(words) && !words.includes(styleOfFilling)) this.complaints.push(words);
  };

  /** Keeps the first page for the next tests of this process, as it was in the beginning. */
  async #leave(page: Page): Promise<void> {
    page.off('request', this.#seeRequest).off('pageerror', this.#seeError).off('console', this.#seeMessage);
    try {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      // Another service may get this address.
      await page.evaluate('localStorage.clear(), sessionStorage.clear()');
      await page.goto('about:blank');
      await page.setViewportSize(pageSize);
      await page.emulateMedia({ colorScheme: null });
      keptPage = page;
    } catch {
      // It shows no page of a service, or hangs: the next tests begin with a new one.
      await page.context().close();
    }
  }

  readonly open = (path: string) => this.page.goto(`${this.service.url}/admin${path}`);
  /**
   * Goes to another place as a link would, without loading the page again, which takes half a second of the processor.
   * The page has no unsaved work.
   */
  readonly visit = async (path: string): Promise<void> => {
    const base = `${this.service.url}/admin`;
    if (!this.page.url().startsWith(base)) {
      await this.open(path);
      return;
    }
    await this.page.evaluate(`
      history.pushState({ position: history.state.position + 1 }, '', ${JSON.stringify(`/admin${path}`)});
      dispatchEvent(new PopStateEvent('popstate', { state: history.state }));`);
  };
  readonly button = (name: string | RegExp) => this.page.getByRole('button', { name, exact: true });
  readonly link = (name: string | RegExp) => this.page.getByRole('link', { name, exact: true });
  readonly text = (words: string | RegExp) => this.page.getByText(words).first();
  readonly heading = (name: string) => this.page.getByRole('heading', { name, exact: true });
  readonly row = (words: string): Locator => this.page.getByRole('row').filter({ hasText: words });
  readonly dialog = () => this.page.getByRole('dialog');
  readonly api = (method: string, path: string, body?: unknown): Promise<HttpResponse> =>
    call(`${this.service.url}${path}`, method, body);

  /** The path and the query behind /admin. */
  address(): string {
    const { pathname, search } = new URL(this.page.url());
    return `${pathname.slice('/admin'.length)}${search}`;
  }

  /** The text of an editor, line by line. */
  async editorText(label: string): Promise<string> {
    const lines = this.page.getByLabel(label, { exact: true }).locator('.cm-line');
    await lines.first().waitFor();
    return (await lines.allTextContents()).join('\n');
  }

  /** Loads the demo data with the button of the page. @returns The name of its event type. */
  async loadDemoData(): Promise<string> {
    await this.open('/event-types');
    await this.button('Load demo data').click();
    return (await this.link(/^demo\.greeting-/).textContent()) ?? '';
  }

  /** Saves a picture of the page, for a person to look at, in the folder that SCREENSHOTS names. */
  readonly screenshot = async (name: string): Promise<void> => {
    const pictures = process.env['SCREENSHOTS'];
    if (pictures !== undefined) await this.page.screenshot({ path: join(pictures, `${name}.png`) });
  };

  /** Presses the Tab key until the target has the focus. */
  readonly tabTo = async (target: Locator): Promise<void> => {
    await target.waitFor();
    for (let presses = 0; presses < 80; presses += 1) {
      if (await target.evaluate((element) => element.matches(':focus'))) return;
      await this.page.keyboard.press('Tab');
    }
    throw new Error('The Tab key did not lead there');
  };

  /** What axe finds. @param rules By default all that are on, and that of the size of what is clicked. */
  async faults(rules?: readonly string[]): Promise<string[]> {
    // The browser's tools run the library, and the policy of the page does not apply to them.
    if (!(await this.page.evaluate<boolean>("'axe' in window"))) await this.page.evaluate(axeSource());
    const chosen = rules === undefined ? { rules: { 'target-size': { enabled: true } } } : { runOnly: rules };
    // Nothing else than the faults is looked at, and only what they are in.
    const options = JSON.stringify({ ...chosen, resultTypes: ['violations'], selectors: false });
    return this.page.evaluate<string[]>(
      `axe.run(document, ${options})
        .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
    );
  }
}

/** Describes the admin page in a browser, on a service of its own. Everything the browser complains of is a failure. */
export function describeAdminPage(
  title: string,
  define: (admin: AdminBrowser) => void,
  settings: Record<string, string> = {},
  where: 'here' | 'process' = 'here',
): void {
  describe(title, function () {
    this.timeout(60_000);
    const admin = new AdminBrowser(where);

    before(async function () {
      await admin.start(chromiumOrSkip(this), settings);
    });

    afterEach(() => {
      expect(admin.complaints.splice(0), 'what the browser reported').to.deep.equal([]);
      expect(admin.foreignRequests.splice(0), 'requests to other sites').to.deep.equal([]);
    });

    after(() => admin.stop());

    define(admin);
  });
}

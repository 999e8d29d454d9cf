import type { Context } from 'mocha';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as Playwright from 'playwright-core';
import { atEndOfTestProcess } from '../end-of-file.ts';

const require = createRequire(import.meta.url);

/** The location of the browser on Debian and others; CHROMIUM names another one. One without a window is cheaper. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The program of the browser; undefined when there is none. */
export function chromiumProgram(): string | undefined {
  return [process.env['CHROMIUM'] ?? '', ...places].find((path) => path !== '' && existsSync(path));
}

/**
 * The program of the browser. Without one, the tests of the context are skipped and the reason is printed.
 * @throws Error instead of skipping when CI is set
 */
export function chromiumOrSkip(context: Context): string {
  const program = chromiumProgram();
  if (program !== undefined) return program;
  const reason = 'Chromium was not found: install it (apt-get install chromium-headless-shell) or name it in CHROMIUM.';
  if (process.env['CI'] !== undefined) throw new Error(reason);
  process.stderr.write(`      skipped: ${reason}\n`);
  return context.skip();
}

/**
 * Starts the browser without a window. As root, as in a container, it runs only without its own sandbox.
 * @param options Further options of the browser.
 */
export function startChromium(program: string, options: readonly string[] = []): Promise<Playwright.Browser> {
  // An import would search its megabytes for names of exports, which takes half a second.
  const { chromium } = require('playwright-core') as typeof Playwright;
  return chromium.launch({
    executablePath: program,
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox', '--disable-dev-shm-usage'] : []), ...options],
  });
}

let shared: Promise<Playwright.Browser> | undefined;

/** The browser of all tests of this process, since to start one takes a second of the processor. */
export async function sharedChromium(program: string): Promise<Playwright.Browser> {
  const running = await shared;
  if (running?.isConnected() === true) return running;
  shared = startChromium(program);
  atEndOfTestProcess(async () => {
    const browser = await shared;
    shared = undefined;
    await browser?.close();
  });
  return shared;
}

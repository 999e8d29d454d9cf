import type { Context } from 'mocha';
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** Where Debian and others put the browser; CHROMIUM names another. */
const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser's program; undefined where there is none. */
export function chromiumProgram(): string | undefined {
  return [process.env['CHROMIUM'] ?? '', ...places].find((path) => path !== '' && existsSync(path));
}

/**
 * The browser's program. Where there is none the tests of the context are skipped and the reason is printed.
 * @throws Error in place of skipping when CI is set
 */
export function chromiumOrSkip(context: Context): string {
  const program = chromiumProgram();
  if (program !== undefined) return program;
  const reason = 'Chromium was not found: install it (apt-get install chromium) or name it in CHROMIUM.';
  if (process.env['CI'] !== undefined) throw new Error(reason);
  process.stderr.write(`      skipped: ${reason}\n`);
  return context.skip();
}

/**
 * Starts the browser without a window. As root, as in a container, it runs only without its own sandbox.
 * @param options More of the browser's own.
 */
export function startChromium(program: string, options: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: program,
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox', '--disable-dev-shm-usage'] : []), ...options],
  });
}

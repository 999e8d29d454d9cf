import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { packageRoot } from '../src/package-root.ts';
import { chromiumProgram, startChromium } from '../test/support/http/chromium.ts';
import { removeFolder, startService, temporaryFolder } from '../test/support/processes/service.ts';
import { allPictures, documentPictures, type Picture } from './admin-pictures/pictures.ts';
import { makeSubjects, type Subjects } from './admin-pictures/subjects.ts';
import { flag, optionsOf } from './command-line.ts';
import { chromiumBrowser, provide } from './local-cluster/prerequisites.ts';

/**
 * Takes a picture of each page of the admin page, at all widths and in both themes, or the pictures of the documents,
 * on its own service with the demo data. Run it with: npm run screenshots
 */

const { docs } = optionsOf('screenshots', { docs: flag });

const folder = join(packageRoot, docs ? 'docs/images' : 'data/screenshots');

const sizes = [
  { width: 360, height: 800 },
  { width: 1280, height: 800 },
  { width: 3840, height: 2160 },
];
const themes = ['light', 'dark'] as const;

/** The width of a picture in a document. */
const documentWidth = 1_120;
/** Of WebP: text stays sharp, and a picture has some twenty kilobytes. */
const documentQuality = 0.75;

/** How long a page has to begin with showing what it requested from the service. Milliseconds. */
const settleMilliseconds = 600;

/** How long events are published and consumed before the pictures of the documents, for the courses of an overview. */
const activityMilliseconds = 120_000;
const activityIntervalMilliseconds = 400;

await provide([chromiumBrowser], (line) => console.error(line));
const program = chromiumProgram();
if (program === undefined) throw new Error('Chromium was not found');
const dataFolder = await temporaryFolder();
const service = await startService(dataFolder);
const browser = await startChromium(program);
try {
  await mkdir(folder, { recursive: true });
  if (docs) await takeForDocuments(browser, service.url);
  else await takeAll(browser, service.url);
  console.log(`The pictures are in ${folder}`);
} finally {
  await browser.close();
  await service.stop();
  await removeFolder(dataFolder);
}

async function takeAll(browser: Browser, url: string): Promise<void> {
  const take = async (pictures: readonly Picture[]): Promise<void> => {
    for (const colorScheme of themes) {
      for (const viewport of sizes) {
        const page = await browser.newPage({ colorScheme, viewport, locale: 'en-GB' });
        for (const picture of pictures) {
          await open(page, url, picture);
          const path = join(folder, `${picture.name}-${viewport.width}-${colorScheme}.png`);
          await page.screenshot({ path, fullPage: picture.windowOnly !== true });
        }
        await page.close();
      }
    }
  };
  await take([{ name: 'empty', path: '/event-types' }]);
  const subjects = await makeSubjects(browser, url);
  await take(allPictures(subjects));
  subjects.stopConsumer();
}

async function takeForDocuments(browser: Browser, url: string): Promise<void> {
  const subjects = await makeSubjects(browser, url);
  await beActive(subjects);
  const converter = await browser.newPage();
  for (const picture of documentPictures(subjects)) {
    const { name, width = documentWidth, height = 800, theme = 'light', hasNotice = false } = picture;
    const page = await browser.newPage({ colorScheme: theme, viewport: { width, height }, locale: 'en-GB' });
    // What every page of an open service says first is in the way of what a picture shows.
    if (!hasNotice) await page.addInitScript("sessionStorage.setItem('lendstream.open-notice', 'read')");
    await open(page, url, picture);
    const png = await page.screenshot();
    await page.close();
    await writeFile(join(folder, `admin-${name}.webp`), await webpOf(converter, png));
  }
  await converter.close();
  subjects.stopConsumer();
}

async function open(page: Page, url: string, { path, prepare }: Picture): Promise<void> {
  await page.goto(`${url}/admin${path}`);
  await settle(page);
  await prepare?.(page);
  await settle(page);
}

/** Waits until nothing is being loaded: on a busy machine that takes longer. */
async function settle(page: Page): Promise<void> {
  await page.waitForTimeout(settleMilliseconds);
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}

/** Publishes events for a while. */
async function beActive({ publish }: Subjects): Promise<void> {
  const until = performance.now() + activityMilliseconds;
  for (let round = 0; performance.now() < until; round += 1) {
    if (round % 40 < 25) await publish();
    await new Promise((resolve) => setTimeout(resolve, activityIntervalMilliseconds));
  }
}

/** A picture as the browser compresses it. */
async function webpOf(page: Page, png: Buffer): Promise<Buffer> {
  const source = `data:image/png;base64,${png.toString('base64')}`;
  const address = await page.evaluate<string>(`(async () => {
    const image = new Image();
    image.src = ${JSON.stringify(source)};
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext('2d').drawImage(image, 0, 0);
    const blob = await canvas.convertToBlob({ type: 'image/webp', quality: ${documentQuality} });
    return new Promise((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.readAsDataURL(blob);
    });
  })()`);
  return Buffer.from(address.replace(/^data:[^,]*,/, ''), 'base64');
}

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endTestFile } from './end-of-file.ts';
import { faultsFileVariable, watchResponses } from './http/response-watch.ts';

/**
 * Applies to every test run: each response of the service, in this process or in one that a test starts, must match
 * schemas/openapi.json. Otherwise the test fails.
 */
const folder = mkdtempSync(join(tmpdir(), 'lendstream-answers-'));
const file = join(folder, 'faults');

export const mochaHooks = {
  beforeAll(): void {
    // A process that runs one file after another gets here once for each.
    mkdirSync(folder, { recursive: true });
    process.env[faultsFileVariable] = file;
    const preload = new URL('./http/response-watch-preload.js', import.meta.url).href;
    const options = process.env['NODE_OPTIONS'] ?? '';
    if (!options.includes(preload)) process.env['NODE_OPTIONS'] = `${options} --import=${preload}`.trim();
    watchResponses();
  },
  afterEach(): void {
    throwFaults();
  },
  async afterAll(): Promise<void> {
    try {
      await endTestFile();
      throwFaults();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function throwFaults(): void {
  if (!existsSync(file)) return;
  const faults = readFileSync(file, 'utf8').trim();
  rmSync(file);
  throw new Error(`Answers that are not as schemas/openapi.json describes them:\n${faults}`);
}

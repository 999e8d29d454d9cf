import Mocha from 'mocha';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromiumBrowser, provide } from './local-cluster/prerequisites.ts';
import { mochaHooks } from '../test/support/root-hooks.ts';
import { startTestClusters, type TestClusters } from './test-clusters.ts';

/**
 * Runs the compiled tests, with a Kafka and a Redis when one of them needs it. The last line has only their counts.
 * Suites that are independent of the backend run a second time, in their own process, on the cluster. The process ends
 * when nothing is open any more: a test that leaves something open is a fault, so it is not cut short.
 */
const compiledTests = fileURLToPath(new URL('../test/', import.meta.url));

/** The tests that need a browser. */
const browserTests = join(compiledTests, 'admin/');

/** Every suite that imports it, directly or not, runs on the backend that TEST_BACKEND names. */
const backendUnderTest = join(compiledTests, 'support/backend-under-test.js');

interface Counts {
  readonly passes: number;
  readonly failures: number;
  readonly pending: number;
}

function compiled(source: string): string {
  return join(compiledTests, source.replace(/^(.*?\/)?test\//, '').replace(/\.ts$/, '.js'));
}

const named = process.argv.slice(2).map(compiled);
const everything = readdirSync(compiledTests, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.js'))
  .sort()
  .map((path) => join(compiledTests, path));
const files = named.length > 0 ? named : everything;
const isSecondRun = process.env['TEST_BACKEND'] === 'cluster';

const first = await runSuites(files);
const counts = isSecondRun ? first.counts : sumOf(first.counts, await runOnCluster(first.clusters));
await first.clusters.stop();
if (isSecondRun) process.send?.(counts);
else console.log(`${counts.passes} passed, ${counts.failures} failed, ${counts.pending} skipped`);
process.exitCode = counts.failures > 0 || counts.passes === 0 ? 1 : 0;
if (process.connected) process.disconnect();
// Only when nothing is open any more. Shutting the engine down could wait for ever for a native module.
process.once('beforeExit', () => process.exit());

async function runSuites(paths: readonly string[]): Promise<{ counts: Counts; clusters: TestClusters }> {
  const mocha = new Mocha({
    // Work that takes a moment on one machine takes a few on a cluster.
    timeout: isSecondRun ? 60_000 : 30_000,
    slow: 2_000,
    reporter: isSecondRun ? 'dot' : 'spec',
    forbidOnly: process.env['CI'] !== undefined,
    rootHooks: mochaHooks,
  });
  for (const path of paths) mocha.addFile(path);
  await mocha.loadFilesAsync();
  if (paths.some((path) => path.startsWith(browserTests))) await provideBrowser();
  const clusters = await startTestClusters();
  const counts = await new Promise<Counts>((resolve) => {
    const runner = mocha.run((failures) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {};
      resolve({ passes, failures, pending });
    });
  });
  return { counts, clusters };
}

/** Provides a browser where it may. Without one, the tests that need it report what happens to them. */
async function provideBrowser(): Promise<void> {
  try {
    await provide([chromiumBrowser], (line) => console.error(line));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
  }
}

/** Runs the suites for either backend on the cluster of the first run; runs none without a cluster. */
async function runOnCluster(clusters: TestClusters): Promise<Counts> {
  const paths = files.filter((path) => imports(path, new Set()));
  const cluster = clusters.current();
  if (paths.length === 0 || cluster === undefined) return { passes: 0, failures: 0, pending: 0 };
  console.log(`\n  The suites that are about neither backend, on Kafka and Redis (${paths.length} files)`);
  const environment = {
    ...process.env,
    TEST_BACKEND: 'cluster',
    KAFKA_BROKERS: cluster.kafkaBrokers.join(','),
    REDIS_URL: cluster.redisUrl,
  };
  const sources = paths.map((path) => path.slice(compiledTests.length - 'test/'.length).replace(/\.js$/, '.ts'));
  const child = fork(fileURLToPath(import.meta.url), sources, { env: environment });
  let counts: Counts = { passes: 0, failures: 1, pending: 0 };
  child.on('message', (message) => (counts = message as Counts));
  await once(child, 'exit');
  return counts;
}

/** Whether a compiled file imports the backend under test, itself or through the tests' own support. */
function imports(path: string, seen: Set<string>): boolean {
  if (path === backendUnderTest) return true;
  if (seen.has(path) || !path.startsWith(compiledTests)) return false;
  seen.add(path);
  const specifiers = readFileSync(path, 'utf8').matchAll(/from '(\.[^']+)'/g);
  return [...specifiers].some(([, specifier = '']) => imports(join(dirname(path), specifier), seen));
}

function sumOf(left: Counts, right: Counts): Counts {
  return {
    passes: left.passes + right.passes,
    failures: left.failures + right.failures,
    pending: left.pending + right.pending,
  };
}

import Mocha from 'mocha';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startTestClusters } from './test-clusters.ts';

/**
 * Runs the compiled tests, with a Kafka and a Redis when one of them needs it, and closes with their counts alone on a
 * line. The process ends by itself: a test that leaves something open is a fault, so no exit is forced.
 */
const compiledTests = fileURLToPath(new URL('../test/', import.meta.url));

function compiled(source: string): string {
  return `${compiledTests}${source.replace(/^(.*?\/)?test\//, '').replace(/\.ts$/, '.js')}`;
}

const named = process.argv.slice(2).map(compiled);
const everything = readdirSync(compiledTests, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.js'))
  .sort()
  .map((path) => `${compiledTests}${path}`);

const mocha = new Mocha({
  timeout: 30_000,
  slow: 2_000,
  reporter: 'spec',
  forbidOnly: process.env['CI'] !== undefined,
});
for (const file of named.length > 0 ? named : everything) mocha.addFile(file);
await mocha.loadFilesAsync();
const clusters = await startTestClusters();

const runner = mocha.run((failures) => {
  void finish(failures);
});

async function finish(failures: number): Promise<void> {
  await clusters.stop();
  const { passes = 0, pending = 0 } = runner.stats ?? {};
  console.log(`${passes} passed, ${failures} failed, ${pending} skipped`);
  process.exitCode = failures > 0 || passes === 0 ? 1 : 0;
}

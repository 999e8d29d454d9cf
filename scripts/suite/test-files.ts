import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KafkaGeneration } from '../../test/support/clusters/provided-cluster.ts';
import { embeddedOnly } from './embedded-only.ts';

/** The store of a suite that is about neither of them. */
export type Backend = 'embedded' | 'cluster';

/**
 * What has to be there before a file can run: a Kafka of that version with a Redis, a browser, or the programs of the
 * servers that the file starts by itself.
 */
export type Need = KafkaGeneration | 'browser' | 'servers';

/** Whether a need is one of the clusters that files share. */
export function isGeneration(need: Need): need is KafkaGeneration {
  return need === 'current' || need === 'previous';
}

/** One run of one test file. */
export interface TestFile {
  /** Its source as people name it, such as `test/broker/event-types/event-types.test.ts`. */
  readonly source: string;
  /** The absolute path of the compiled file. */
  readonly compiled: string;
  readonly backend: Backend;
  readonly needs: readonly Need[];
  /** Whether no other file may use the shared cluster of the current version while it runs. */
  readonly usesClusterAlone: boolean;
}

const compiledTests = fileURLToPath(new URL('../../test/', import.meta.url));

/** Each suite that imports it, directly or not, runs on the backend that TEST_BACKEND names. */
const backendUnderTest = join(compiledTests, 'support/backend-under-test.js');

/** Each suite that needs a cluster imports it. */
const clusterSupport = join(compiledTests, 'support/cluster.js');

/** Each suite that needs the shared cluster for itself imports it. */
const clusterAlone = join(compiledTests, 'support/clusters/cluster-alone.js');

/** Each suite that starts the service in a process of its own imports it. */
const serviceProgram = join(compiledTests, 'support/processes/service-program.js');

/** Each suite that needs a browser imports it. */
const browserSupport = join(compiledTests, 'support/http/chromium.js');

/** Each suite that starts a Kafka or a Redis by itself imports one of them. */
const serverSupport = [
  join(compiledTests, 'support/processes/redis-server.js'),
  join(compiledTests, '../scripts/local-cluster/local-cluster.js'),
  join(compiledTests, '../scripts/local-cluster/prerequisites.js'),
];

/** All test files of a folder, by name. A file whose suites run on either backend is there once. */
export function testFilesIn(folder = compiledTests): TestFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.js'))
    .sort()
    .map((path) => testFile(join(folder, path)));
}

/**
 * The test file, or the test files of the folder, with a name; undefined when there is no such file or folder, or no
 * test in it.
 * @param name The path of the source, relative to the project or absolute.
 */
export function findTests(name: string): { readonly isFolder: boolean; readonly files: TestFile[] } | undefined {
  const below = /(?:^|\/)test(?:\/(.*))?$/.exec(name)?.[1] ?? (name === 'test' ? '' : undefined);
  if (below === undefined) return undefined;
  const compiled = join(compiledTests, below.replace(/\.ts$/, '.js'));
  const found = statSync(compiled, { throwIfNoEntry: false });
  if (found?.isFile() === true && compiled.endsWith('.js')) return { isFolder: false, files: [testFile(compiled)] };
  const files = found?.isDirectory() === true ? testFilesIn(compiled) : [];
  return files.length > 0 ? { isFolder: true, files } : undefined;
}

/** The second runs, on the cluster, of those files that run on both backends: see {@link embeddedOnly}. */
export function onCluster(files: readonly TestFile[]): TestFile[] {
  return files
    .filter((file) => opensEitherBackend(file) && embeddedOnly[file.source] === undefined)
    .map(({ source, compiled }) => testFileOn('cluster', { source, compiled, needs: ['current'] }));
}

/** Whether the suites of a file open the backend that the run names. */
export function opensEitherBackend({ compiled }: TestFile): boolean {
  return imports(compiled, backendUnderTest);
}

/** Whether a file can start the service in a process of its own. */
export function startsService({ compiled }: TestFile): boolean {
  return imports(compiled, serviceProgram);
}

/** The name of a file or folder of tests, on one backend: in lines for people, and as a key of what is stored of it. */
export function nameOn(backend: Backend, name: string): string {
  return backend === 'cluster' ? `${name} on the cluster` : name;
}

function testFile(compiled: string): TestFile {
  const source = `test/${compiled.slice(compiledTests.length)}`.replace(/\.js$/, '.ts');
  return testFileOn('embedded', { source, compiled, needs: needsOf(compiled) });
}

function testFileOn(backend: Backend, file: Pick<TestFile, 'source' | 'compiled' | 'needs'>): TestFile {
  const usesClusterAlone = file.needs.includes('current') && imports(file.compiled, clusterAlone);
  return { ...file, backend, usesClusterAlone };
}

function needsOf(compiled: string): Need[] {
  const needs: Need[] = generationsOf(compiled);
  if (serverSupport.some((support) => imports(compiled, support))) needs.unshift('servers');
  if (imports(compiled, browserSupport)) needs.unshift('browser');
  return needs;
}

function generationsOf(compiled: string): KafkaGeneration[] {
  if (!imports(compiled, clusterSupport)) return [];
  const text = readFileSync(compiled, 'utf8');
  return /describeOn(PreviousKafka|EachKafka)\b/.test(text) ? ['current', 'previous'] : ['current'];
}

/** Whether a compiled file imports another one, itself or through the tests' own support. */
function imports(path: string, wanted: string, seen = new Set<string>()): boolean {
  if (path === wanted) return true;
  if (seen.has(path) || !path.startsWith(compiledTests)) return false;
  seen.add(path);
  const specifiers = readFileSync(path, 'utf8').matchAll(/from '(\.[^']+)'/g);
  return [...specifiers].some(([, specifier = '']) => imports(join(dirname(path), specifier), wanted, seen));
}

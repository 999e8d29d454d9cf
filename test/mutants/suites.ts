import { join, relative } from 'node:path';
import { nameOn, onCluster, testFilesIn, type TestFile } from '../../scripts/suite/test-files.ts';

/** A compiled test file, on one of the backends. */
export interface Suite extends Pick<TestFile, 'backend' | 'needs'> {
  /** Relative to the build: `test/lending/dates.test.js`. */
  readonly path: string;
}

/**
 * Tests outside of the folder of the same name that check the promises of a folder of src: folders and files of test.
 */
const furtherTests: Readonly<Record<string, readonly string[]>> = {
  lending: ['lending-format', 'http/lending', 'docs/references.test.js'],
  'lending-format': ['lending', 'worker', 'http/lending'],
  broker: ['http/streaming'],
  worker: ['http/lending', 'views'],
  embedded: ['ports', 'sqlite.test.js', 'broker', 'worker', 'views'],
};

/** Tests on either backend that check the promises of an adapter on the cluster. */
const testsOnCluster: Readonly<Record<string, readonly string[]>> = {
  kafka: ['ports', 'broker/publishing', 'broker/log'],
  redis: ['ports', 'broker/streaming', 'broker/subscriptions'],
};

/** Tests that plant faults themselves: they would have two at a time. */
const leftOut: ReadonlySet<string> = new Set(['test/redis/scripts/script-mutants.test.js']);

/**
 * The test files that check the promises of a folder.
 * @param folder below src: `lending`, `broker/streaming`
 */
export function suitesOf(build: string, folder: string): readonly Suite[] {
  const [room = folder] = folder.split('/');
  const all = testFilesIn(join(build, 'test'));
  const within = (names: readonly string[]): readonly TestFile[] => {
    const prefixes = names.map((name) => join(build, 'test', name));
    return all.filter(({ compiled }) => prefixes.some((prefix) => isWithin(compiled, prefix)));
  };
  const own = within([folder, ...(furtherTests[room] ?? [])]);
  const further = testsOnCluster[room];
  return [...own, ...(further === undefined ? [] : onCluster(within([folder, ...further])))]
    .map(({ compiled, backend, needs }) => ({ path: relative(build, compiled), backend, needs }))
    .filter(({ path }) => !leftOut.has(path));
}

export function needsCluster({ needs }: Suite): boolean {
  return needs.length > 0;
}

function isWithin(path: string, folderOrFile: string): boolean {
  return path === folderOrFile || path.startsWith(`${folderOrFile}/`);
}

/** The name of a suite in lines for people, and of its file in the stored results. */
export function titleOf({ path, backend }: Suite): string {
  return nameOn(backend, path);
}

import { join, relative } from 'node:path';
import { onCluster, testFilesIn, type TestFile } from '../../scripts/suite/test-files.ts';

/** A compiled test file, on one of the backends. */
export interface Suite extends Pick<TestFile, 'backend'> {
  /** Relative to the build: `test/lending/dates.test.js`. */
  readonly path: string;
}

/** Tests outside of the folder of the same name that hold what a folder of src promises: folders and files of test. */
const furtherTests: Readonly<Record<string, readonly string[]>> = {
  lending: ['lending-format', 'docs/references.test.js'],
  'lending-format': ['lending', 'worker', 'http/lending'],
  broker: ['http/streaming'],
  worker: ['http/lending'],
};

/** Whose promises are held by suites that run on either backend, too. */
const heldOnCluster: ReadonlySet<string> = new Set(['kafka', 'redis']);

/**
 * The test files that hold what a folder promises.
 * @param folder below src: `lending`, `broker/streaming`
 */
export function suitesOf(build: string, folder: string): readonly Suite[] {
  const [room = folder] = folder.split('/');
  const all = testFilesIn(join(build, 'test'));
  const prefixes = [folder, ...(furtherTests[room] ?? [])].map((name) => join(build, 'test', name));
  const own = all.filter(({ compiled }) => prefixes.some((prefix) => isWithin(compiled, prefix)));
  const suites = heldOnCluster.has(room) ? [...own, ...onCluster(all)] : own;
  return suites.map(({ compiled, backend }) => ({ path: relative(build, compiled), backend }));
}

function isWithin(path: string, folderOrFile: string): boolean {
  return path === folderOrFile || path.startsWith(`${folderOrFile}/`);
}

/** The name of a suite in lines for people, and of its file in the memory of what it reaches. */
export function titleOf({ path, backend }: Suite): string {
  return backend === 'cluster' ? `${path} on the cluster` : path;
}

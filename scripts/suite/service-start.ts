import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, wrap } from 'node:module';
import { dirname, join } from 'node:path';
import { Script, constants } from 'node:vm';

/**
 * The first program of a bundled service: it starts the service beside it with the code that V8 compiled for a process
 * before it, which saves a quarter of a start. The first process that ends in order leaves its code to the others.
 */

/** The code of smaller files is compiled in no time. Bytes. */
const keptBytesMinimum = 32 * 1024;

const folder = dirname(process.argv[1] ?? '');
const require = createRequire(join(folder, 'main.js'));
const codeOf = (path: string): string => `${path}.code`;

type Handler = (module: NodeJS.Module, path: string) => unknown;
const extensions = require.extensions as unknown as Record<string, Handler>;
const loadOther = extensions['.js'] as Handler;

/** What is compiled by this process, and was not there. */
const compiled = new Map<string, Script>();

// The bundle has no characters outside of ASCII.
extensions['.js'] = (module, path) => {
  if (!path.startsWith(folder) || statSync(path).size < keptBytesMinimum) return loadOther(module, path);
  const cachedData = readIfThere(codeOf(path));
  const script = new Script(wrap(readFileSync(path, 'latin1')), {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (cachedData === undefined) compiled.set(path, script);
  const run = script.runInThisContext() as (...parameters: unknown[]) => void;
  return run.call(module.exports, module.exports, createRequire(path), module, path, dirname(path));
};

process.once('exit', () => {
  for (const [path, script] of compiled) leave(codeOf(path), script.createCachedData());
});
require(join(folder, 'service.js'));

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Writes a file so that no other process sees half of it. */
function leave(path: string, bytes: Buffer): void {
  const arriving = `${path}.arriving-${process.pid}`;
  try {
    writeFileSync(arriving, bytes);
    renameSync(arriving, path);
  } catch {
    // The test run is over, and the folder is gone.
  }
}

import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/package-root.ts';

/** The compiled service, in the project and in the folder of its bundle. */
const serviceFolder = 'dist/src';

/** The programs of its threads, below it. */
const threads = [
  'embedded/thread/writer',
  'embedded/thread/fetcher',
  'embedded/thread/removable-records',
  'embedded/thread/log-check',
  'accounts/copy-check',
  'accounts/query-thread',
];

/** The programs of the bundle, and what each was compiled to. */
const programs: Readonly<Record<string, string>> = {
  main: 'dist/scripts/suite/service-start.js',
  service: join(serviceFolder, 'main.js'),
  'dying-worker': 'dist/test/support/lending/worker-process.js',
  'kill-while-passing-over': 'dist/test/support/processes/kill-while-passing-over-preload.js',
  'response-watch-preload': 'dist/test/support/http/response-watch-preload.js',
  'measuring-preload': 'dist/test/fuzz/measuring-preload.js',
  ...Object.fromEntries(threads.map((name) => [name, join(serviceFolder, `${name}.js`)])),
};

/**
 * The compiled service in few files, for tests that start it in processes of their own: a process that loads hundreds
 * of modules needs half of its processor time for that.
 */
export class ServiceBundle {
  readonly #folder = mkdtempSync(join(tmpdir(), 'lendstream-service-'));

  constructor() {
    process.on('exit', () => rmSync(this.#folder, { recursive: true, force: true }));
  }

  /** The path of the process's program, once {@link make} has resolved. */
  get program(): string {
    return join(this.#folder, serviceFolder, 'main.js');
  }

  /** Makes it from what was compiled. The rest of the project is linked beside it, where the service looks for it. */
  async make(): Promise<void> {
    mkdirSync(join(this.#folder, 'dist'));
    for (const folder of ['', 'dist']) {
      for (const name of readdirSync(join(packageRoot, folder))) {
        const path = join(folder, name);
        if (!['dist', serviceFolder].includes(path)) symlinkSync(join(packageRoot, path), join(this.#folder, path));
      }
    }
    // Loaded for a bundle alone: a run of a few files needs none.
    const { build } = await import('vite');
    await build({
      root: packageRoot,
      configFile: false,
      publicDir: false,
      logLevel: 'error',
      build: {
        ssr: true,
        outDir: join(this.#folder, serviceFolder),
        target: 'node20',
        minify: false,
        reportCompressedSize: false,
        rolldownOptions: {
          input: Object.fromEntries(Object.entries(programs).map(([name, path]) => [name, join(packageRoot, path)])),
          // What V8 compiled can be kept of this format alone.
          output: { format: 'cjs', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
        },
      },
      // It finds its binding from where it lies.
      ssr: { noExternal: true, external: ['@photostructure/sqlite'] },
      plugins: [
        { name: 'addresses', transform: (code, path) => this.#withAddress(code, path) },
        {
          name: 'ascii',
          // Not before: the bundler writes its files from a tree, in which the characters are there again.
          generateBundle: (_options, bundle) => {
            for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = inAscii(file.code);
          },
        },
      ],
    });
    writeFileSync(join(this.#folder, serviceFolder, 'package.json'), JSON.stringify({ type: 'commonjs' }));
  }

  /** A module that asks for its own address learns the one that it would have without a bundle. */
  #withAddress(code: string, path: string): string | undefined {
    if (!code.includes('import.meta.url')) return undefined;
    const { href } = pathToFileURL(join(this.#folder, relative(packageRoot, path)));
    return code.replaceAll('import.meta.url', JSON.stringify(href));
  }
}

/**
 * Code in which other characters than those of ASCII are escaped. V8 keeps it in half of the memory: of the tables of
 * encodings alone, it would otherwise keep each character of a file of two megabytes in two bytes.
 */
function inAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

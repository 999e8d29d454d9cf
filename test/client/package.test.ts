import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package-root.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

/** The compiled client, as the package has it. */
const compiled = fileURLToPath(new URL('../../src/client/', import.meta.url));

/** What the language has, and what every browser, Node.js, Bun and Deno have beside it. */
const standardGlobals: ReadonlySet<string> = new Set([
  'AbortController',
  'Response',
  'TextDecoder',
  'URL',
  'URLSearchParams',
  'crypto',
  'globalThis',
  'performance',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
]);

const run = promisify(execFile);

describe('the package of the client', function () {
  this.timeout(120_000);
  let folder = '';

  before(async () => {
    folder = await temporaryFolder();
    const installed = join(folder, 'node_modules/lendstream');
    await mkdir(installed, { recursive: true });
    // As npm would install it, but without any of the packages that the service needs.
    await symlink(join(compiled, '../../../dist'), join(installed, 'dist'));
    await writeFile(join(installed, 'package.json'), await readFile(join(packageRoot, 'package.json')));
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  });

  after(() => removeFolder(folder));

  async function sources(): Promise<{ readonly file: string; readonly text: string }[]> {
    const files = (await readdir(compiled)).filter((file) => file.endsWith('.js'));
    return Promise.all(files.map(async (file) => ({ file, text: await readFile(join(compiled, file), 'utf8') })));
  }

  it('imports nothing but its own files', async () => {
    const foreign = (await sources()).flatMap(({ file, text }) =>
      [...text.matchAll(/^(?:import\b|export\b.*\bfrom\b)[^'\n]*'([^']+)'|\bimport\(\s*'([^']+)'/gm)]
        .map(([, specifier, dynamic]) => specifier ?? dynamic ?? '')
        .filter((specifier) => !/^\.\/[\w.-]+\.js$/.test(specifier))
        .map((specifier) => `${file}: ${specifier}`),
    );
    expect(foreign).to.deep.equal([]);
  });

  it('uses nothing but standard globals', async () => {
    const { parse } = await import('acorn');
    const { ancestor } = await import('acorn-walk');
    const used = new Set<string>();
    for (const { text } of await sources()) {
      const program = parse(text, { ecmaVersion: 'latest', sourceType: 'module' });
      const declared = declaredNames(text);
      ancestor(program, {
        Identifier(node) {
          const { name } = node as unknown as { readonly name: string };
          if (!declared.has(name) && name in globalThis && !(name in languageGlobals)) used.add(name);
        },
      });
    }
    expect([...used].filter((name) => !standardGlobals.has(name))).to.deep.equal([]);
    // A scan that finds nothing would prove nothing.
    expect([...used]).to.include.members(['globalThis', 'AbortController', 'setTimeout']);
    for (const name of ['process', 'Buffer', 'require', 'global', '__dirname', 'setImmediate']) {
      for (const { file, text } of await sources()) expect(text, file).not.to.match(new RegExp(`\\b${name}\\b[.(]`));
    }
  });

  it('is imported by its name where no other package is installed', async () => {
    const script = `import * as client from 'lendstream/client'; console.log(Object.keys(client).join(' '));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
    expect(stdout.trim().split(' ')).to.include.members(['Lendstream', 'ExactNumber', 'newEvent', 'filterFor']);
    const inside = `import('lendstream/dist/src/main.js').catch(({ code }) => console.log(code));`;
    const refused = await run(process.execPath, ['--input-type=module', '-e', inside], { cwd: folder });
    expect(refused.stdout.trim()).to.equal('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  it('has types for programs of Node.js and of browsers', async () => {
    const tsc = join(packageRoot, 'node_modules/.bin/tsc');
    const built = spawnSync(tsc, ['-p', 'src/client', '--outDir', join(compiled, '../../../dist')], {
      cwd: packageRoot,
      encoding: 'utf8',
    });
    expect(built.stdout, built.stderr).to.equal('');
    const options = { strict: true, noEmit: true, types: [], target: 'es2023', lib: ['es2023', 'dom'] };
    for (const [module, moduleResolution] of [
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ]) {
      const compilerOptions = { ...options, module, moduleResolution };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
      // One line is wrong: without types for the rest, there would be no fault or more.
      await writeFile(join(folder, 'program.ts'), `${program}\nexport const wrong: string = lendstream;\n`);
      const { stdout } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' });
      const faults = stdout.split('\n').filter((line) => line.includes('error TS'));
      expect(faults, stdout).to.have.length(1);
      expect(faults[0]).to.include("Type 'Lendstream' is not assignable to type 'string'");
    }
  });

  it('is packed with its types, and without tests', async () => {
    const packed = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: packageRoot });
    const [{ files }] = JSON.parse(packed.stdout) as [{ readonly files: readonly { readonly path: string }[] }];
    const paths = files.map(({ path }) => path);
    expect(paths).to.include.members(['src/redis/scripts/commit.lua', 'schemas/openapi.json', 'LICENSE']);
    expect(paths.filter((path) => /^(test|scripts|data|dist\/test|dist\/scripts)\//.test(path))).to.deep.equal([]);
  });
});

/** What belongs to the language. */
const languageGlobals = Object.fromEntries(
  (
    'Array Boolean Date Error Infinity JSON Map Math NaN Number Object Promise RangeError Reflect RegExp Set String ' +
    'Symbol SyntaxError TypeError Uint8Array Uint32Array WeakMap encodeURIComponent undefined'
  )
    .split(' ')
    .map((name) => [name, true]),
);

/** The names that a module declares or imports itself, such as a parameter `name`. */
function declaredNames(text: string): Set<string> {
  const declarations = text.matchAll(/\b(?:const|let|function\*?|class)\s+([\w$]+)|[({,]\s*([\w$]+)(?=\s*[,})=:])/g);
  return new Set([...declarations].map(([, declared, bound]) => declared ?? bound ?? ''));
}

const program = `
import { type Batch, isEventOf, Lendstream, type LendingEvent } from 'lendstream/client';

const lendstream = new Lendstream({ url: 'http://localhost:8080' });
const consumer = lendstream.consume<LendingEvent>('id');
export async function total(): Promise<string> {
  for await (const { events } of consumer as AsyncIterable<Batch<LendingEvent>>) {
    for (const event of events) {
      if (isEventOf('loan_balance_changed', event)) return String(event.balances.principalBalance);
    }
  }
  await lendstream.commands.run({ type: 'REPAY', loanAccountId: 'loan-1', payload: { amount: 1 } });
  return '';
}
`;

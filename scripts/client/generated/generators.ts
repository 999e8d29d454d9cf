import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/package-root.ts';
import { fencedBlocks } from '../../docs/markdown.ts';
import { isOnPath } from '../../local-cluster/prerequisites.ts';
import { madeOnce } from './made-once.ts';

/**
 * Clients that generators make from the description of the API. docs/generated-clients.md has their commands: for each
 * language a block that installs the generator, except where a build tool does, one that generates a client and
 * compiles a program, and one that runs it. The files of each are in scripts/examples/generated-clients.
 */

export type Language = 'typescript' | 'python' | 'java';

/** A generator that is not to be had on this machine, with the reason. */
export class GeneratorUnavailable extends Error {}

interface Commands {
  /** Undefined where the build tool does it. */
  readonly install: string | undefined;
  readonly generate: string;
  readonly run: string;
}

const examples = join(packageRoot, 'scripts/examples/generated-clients');
const description = join(packageRoot, 'schemas/openapi.json');

/** Where programs that docs/generated-clients.md names stand in for what its install block would bring. */
const linksToTools: Readonly<Record<Language, (workFolder: string, commands: Commands) => Promise<void>>> = {
  // npm ci has installed them, in the same versions, for this folder of the project.
  typescript: async (workFolder) => {
    await mkdir(join(workFolder, 'node_modules'));
    const own = join(examples, 'typescript/node_modules');
    for (const [name, target] of [
      ['.bin', join(own, '.bin')],
      ['@types', join(packageRoot, 'node_modules/@types')],
      ['openapi-fetch', join(packageRoot, 'node_modules/openapi-fetch')],
    ] as const) {
      await symlink(target, join(workFolder, 'node_modules', name));
    }
  },
  python: async (workFolder, { install = '' }) => {
    if (!isOnPath('python3')) throw new GeneratorUnavailable('python3 was not found');
    const requirements = await readFile(join(examples, 'python/requirements.txt'), 'utf8');
    const tools = await madeOnce('python-tools', [install, requirements], async (folder) => {
      await cp(join(examples, 'python/requirements.txt'), join(folder, 'requirements.txt'));
      await runBlock(install, folder).catch((error: unknown) => {
        throw new GeneratorUnavailable(`the generator for Python cannot be installed: ${lastLineOf(error)}`);
      });
    });
    await symlink(join(tools, 'venv'), join(workFolder, 'venv'));
  },
  java: async () => {
    for (const program of ['mvn', 'javac']) {
      if (!isOnPath(program)) throw new GeneratorUnavailable(`${program} was not found`);
    }
  },
};

/** What links to tools and outputs of builds are called, which are not kept. */
const notKept: ReadonlySet<string> = new Set(['node_modules', 'venv', '__pycache__', 'generated-sources']);

/** A generated client with the compiled program that uses it. */
export interface GeneratedClient {
  /** The file that the generator printed its messages to. */
  readonly messages: string;
  /** Runs the program. @returns what it printed */
  run(url: string): Promise<string>;
}

/**
 * Generates a client as docs/generated-clients.md says, once for each description of the API.
 * @param workFolder An empty folder, in which it then is.
 * @throws GeneratorUnavailable; Error with the output of what failed
 */
export async function generateClient(language: Language, workFolder: string): Promise<GeneratedClient> {
  const commands = await commandsOf(language);
  const files = await readdir(join(examples, language), { recursive: true, withFileTypes: true });
  const sources = files.filter((file) => file.isFile() && !file.parentPath.includes('node_modules'));
  const texts = await Promise.all(sources.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')));
  await linksToTools[language](workFolder, commands);
  const madeFrom = [await readFile(description, 'utf8'), commands.generate, ...texts];
  const kept = await madeOnce(`${language}-client`, madeFrom, async (folder) => {
    await copyWithoutTools(join(examples, language), workFolder);
    await cp(description, join(workFolder, 'openapi.json'));
    await runBlock(`(\n${commands.generate}) > messages.txt 2>&1 || { cat messages.txt >&2; exit 1; }`, workFolder);
    await copyWithoutTools(workFolder, folder);
  });
  await copyWithoutTools(kept, workFolder);
  return {
    messages: await readFile(join(workFolder, 'messages.txt'), 'utf8'),
    run: (url) => runBlock(commands.run, workFolder, { LENDSTREAM_URL: url }),
  };
}

async function copyWithoutTools(from: string, to: string): Promise<void> {
  await cp(from, to, {
    recursive: true,
    filter: (path) => !notKept.has(path.slice(path.lastIndexOf('/') + 1)),
  });
}

async function commandsOf(language: Language): Promise<Commands> {
  const markdown = await readFile(join(packageRoot, 'docs/generated-clients.md'), 'utf8');
  const text = (purpose: string): string | undefined =>
    fencedBlocks(markdown).find(({ words }) => words[0] === language && words[1] === purpose)?.text;
  const [generate, run] = [text('generate'), text('run')];
  if (generate === undefined || run === undefined) throw new Error(`The document has no commands for ${language}`);
  return { install: text('install'), generate, run };
}

async function runBlock(text: string, folder: string, variables: NodeJS.ProcessEnv = {}): Promise<string> {
  // A short run of a build tool is done before its code would be compiled a second time.
  const quick = { MAVEN_OPTS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC', PIP_DISABLE_PIP_VERSION_CHECK: '1' };
  const options = { cwd: folder, env: { ...process.env, ...quick, ...variables, NODE_OPTIONS: '' } };
  try {
    return (await promisify(execFile)('bash', ['-euc', text], options)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${text}\n${stdout}${stderr}`.trim(), { cause: error });
  }
}

function lastLineOf(error: unknown): string {
  return String(error).trim().split('\n').at(-1) ?? '';
}

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';

/** What each folder of src may import, and the libraries that only it uses: docs/architecture.md in executable form. */
interface Room {
  readonly imports: readonly RegExp[];
  readonly owns: readonly string[];
}

const shared =
  /^src\/(bounded-map|errors|clock|health|json-bytes|logger|package-root|schema-files|contract|switch-words|thread-turns|turn-queue)\.ts$/;
const metrics = /^src\/metrics\.ts$/;
const sqlite = /^src\/sqlite\.ts$/;
const integrity = /^src\/integrity\//;
const machineCode = /^src\/machine-code\//;
const ports = /^src\/ports\//;
const lending = /^src\/lending\//;
const lendingFormat = /^src\/lending-format\//;
const everything = /^src\//;

/** The folders with these names inside one folder. */
function within(parent: string, ...names: readonly string[]): RegExp {
  return new RegExp(`^${parent}/(${names.join('|')})/`);
}

/** A nested folder has its own line, or belongs to the line of its parent. From the ground up. */
const rooms: Record<string, Room> = {
  'src/machine-code': { imports: [], owns: [] },
  'src/ports': { imports: [/^src\/(clock|errors)\.ts$/], owns: [] },

  'src/broker/log': { imports: [shared, ports], owns: [] },
  'src/broker/cursors': { imports: [shared, ports], owns: [] },
  'src/broker/definitions': { imports: [shared, ports, within('src/broker', 'log')], owns: [] },
  'src/broker/schemas': {
    imports: [shared, within('src/broker', 'definitions')],
    owns: ['ajv', 'ajv-formats', 're2js'],
  },
  'src/broker/event-types': {
    imports: [shared, ports, within('src/broker', 'log', 'definitions', 'schemas')],
    owns: [],
  },
  'src/broker/publishing': {
    imports: [shared, machineCode, metrics, ports, within('src/broker', 'definitions', 'schemas', 'event-types')],
    owns: [],
  },
  'src/broker/subscriptions': {
    imports: [shared, ports, within('src/broker', 'cursors', 'definitions')],
    owns: [],
  },
  'src/broker/streaming': {
    imports: [shared, metrics, ports, within('src/broker', 'log', 'cursors', 'definitions', 'subscriptions')],
    owns: [],
  },
  'src/broker/overview': { imports: [shared, metrics, ports], owns: [] },
  'src/broker/retained-events': {
    imports: [shared, ports, within('src/broker', 'log', 'cursors', 'streaming')],
    owns: [],
  },
  'src/broker/dead-letters': {
    imports: [shared, ports, within('src/broker', 'cursors', 'definitions', 'log', 'publishing', 'streaming')],
    owns: [],
  },

  'src/integrity': { imports: [shared, sqlite], owns: [] },
  'src/embedded/published-ids': { imports: [shared, ports, within('src/broker', 'log')], owns: [] },
  'src/embedded/records': { imports: [shared, machineCode, ports], owns: [] },
  'src/embedded/thread': {
    imports: [shared, ports, sqlite, integrity, within('src/embedded', 'records')],
    owns: [],
  },
  'src/embedded/backup': { imports: [shared, sqlite, integrity, /^src\/embedded\/data-folder\.ts$/], owns: [] },
  'src/embedded': {
    imports: [
      shared,
      ports,
      sqlite,
      integrity,
      within('src/broker', 'log'),
      within('src/embedded', 'records', 'thread'),
    ],
    owns: [],
  },

  'src/kafka/protocol': { imports: [shared, machineCode, ports], owns: [] },
  'src/kafka/connection': { imports: [shared, ports, within('src/kafka', 'protocol')], owns: ['kafkajs'] },
  'src/kafka/consume': { imports: [shared, ports, within('src/kafka', 'protocol', 'connection')], owns: [] },
  'src/kafka/produce': { imports: [shared, ports, within('src/kafka', 'protocol', 'connection')], owns: [] },
  'src/kafka/admin': { imports: [shared, ports, within('src/kafka', 'protocol', 'connection', 'consume')], owns: [] },
  'src/kafka': { imports: [shared, ports, /^src\/kafka\//], owns: ['kafkajs'] },

  'src/redis/claims': { imports: [shared], owns: [] },
  'src/redis/published-ids': {
    imports: [shared, ports, within('src/broker', 'log'), within('src/redis', 'claims')],
    owns: [],
  },
  'src/redis': {
    imports: [shared, ports, within('src/broker', 'log'), within('src/redis', 'claims', 'published-ids')],
    owns: ['ioredis'],
  },

  'src/lending': { imports: [], owns: ['decimal.js'] },
  'src/lending-format': {
    imports: [shared, ports, lending, within('src/broker', 'log', 'definitions', 'publishing')],
    owns: ['lossless-json'],
  },
  'src/accounts/queries': {
    imports: [sqlite, lending, lendingFormat, /^src\/accounts\/(checksummed-text|page-rows|sortable-amount)\.ts$/],
    owns: [],
  },
  'src/accounts': {
    imports: [
      shared,
      ports,
      sqlite,
      integrity,
      lending,
      lendingFormat,
      within('src/broker', 'log'),
      within('src/accounts', 'queries'),
    ],
    owns: [],
  },
  'src/worker': {
    imports: [
      shared,
      metrics,
      ports,
      lending,
      lendingFormat,
      /^src\/accounts\//,
      within('src/broker', 'log', 'definitions', 'subscriptions'),
    ],
    owns: ['croner'],
  },

  // Runs in browsers as well: it imports nothing but itself, nor modules of Node.js.
  'src/client': { imports: [], owns: [] },
  'src/command-line': { imports: [/^src\/client\//], owns: [] },

  'src/access': {
    imports: [shared, lendingFormat, within('src/broker', 'definitions')],
    owns: ['jose'],
  },

  'src/audit': {
    imports: [
      shared,
      metrics,
      ports,
      /^src\/access\/(principal|system-event-types)\.ts$/,
      within('src/broker', 'definitions', 'log'),
    ],
    owns: [],
  },

  'src/http/edge': {
    imports: [shared, metrics, lendingFormat, within('src/broker', 'definitions')],
    owns: ['compression', 'express'],
  },
  'src/http/access': {
    imports: [
      shared,
      /^src\/access\//,
      /^src\/audit\//,
      lendingFormat,
      within('src/broker', 'definitions'),
      within('src/http', 'edge'),
    ],
    owns: ['express'],
  },
  'src/http/streaming': {
    imports: [
      shared,
      metrics,
      ports,
      /^src\/broker\//,
      /^src\/access\//,
      lendingFormat,
      within('src/http', 'edge', 'access'),
    ],
    owns: ['express'],
  },
  'src/http/lending': {
    imports: [
      shared,
      ports,
      lendingFormat,
      /^src\/accounts\//,
      /^src\/worker\/end-of-day-schedule\.ts$/,
      within('src/broker', 'definitions', 'publishing'),
      lending,
      within('src/http', 'edge', 'access'),
    ],
    owns: ['express'],
  },
};

/** The maximum number of files in a folder, so that the folder can be read as a list of its parts. */
const filesInFolderMaximum = 25;

/** Files directly in src. */
const files: Record<string, Room> = {
  'src/app.ts': { imports: [everything], owns: [] },
  'src/access-services.ts': {
    imports: [
      shared,
      metrics,
      ports,
      /^src\/(config\.ts|access\/|audit\/)/,
      within('src/broker', 'definitions'),
      within('src/http', 'access'),
    ],
    owns: ['express'],
  },
  'src/backend.ts': { imports: [shared, ports, /^src\/(config|embedded\/|integrity\/|kafka\/|redis\/)/], owns: [] },
  'src/main.ts': { imports: [/^src\/(app|clock|config|logger|errors)\.ts$/], owns: [] },
  'src/backup.ts': { imports: [shared, within('src/embedded', 'backup')], owns: [] },
  'src/config.ts': {
    imports: [
      shared,
      /^src\/(broker\/definitions\/streaming-limits|access\/access-token-rules)\.ts$/,
      within('src/access', 'limits'),
    ],
    owns: [],
  },
  'src/bounded-map.ts': { imports: [], owns: [] },
  'src/errors.ts': { imports: [], owns: [] },
  'src/json-bytes.ts': { imports: [], owns: [] },
  'src/clock.ts': { imports: [], owns: [] },
  'src/thread-turns.ts': { imports: [/^src\/clock\.ts$/], owns: [] },
  'src/turn-queue.ts': { imports: [/^src\/clock\.ts$/], owns: [] },
  'src/health.ts': { imports: [/^src\/clock\.ts$/], owns: [] },
  'src/logger.ts': { imports: [], owns: ['pino'] },
  'src/metrics.ts': { imports: [/^src\/clock\.ts$/, /^src\/lag-gauge\.ts$/], owns: ['prom-client'] },
  'src/lag-gauge.ts': { imports: [], owns: ['prom-client'] },
  'src/package-root.ts': { imports: [], owns: [] },
  'src/schema-files.ts': { imports: [], owns: [] },
  'src/switch-words.ts': { imports: [], owns: [] },
  'src/sqlite.ts': { imports: [], owns: ['@photostructure/sqlite'] },
  'src/contract.ts': { imports: [/^src\/contract\.generated\.ts$/], owns: [] },
  'src/contract.generated.ts': { imports: [], owns: [] },
};

/** The sources of time and random numbers, and the sockets of adapters, which use the time of the network. */
const clocks = /^src\/(clock\.ts|client\/clock\.ts|redis\/connection\.ts|kafka\/connection\/)/;

/** Timers, the time of day and random numbers that do not come through a `Clock` or a `Random`. */
const unclocked =
  /\b(setTimeout|setInterval|setImmediate)\b|\b(Date|performance)\.now\b|\bnew Date\(\)|\bMath\.random\b|node:timers/;

/** Rooms that import no module of Node.js: lending is pure, and the client runs in browsers as well. */
const withoutNode: ReadonlySet<string> = new Set(['src/lending', 'src/client']);

/** Libraries that belong to no single folder. */
const common = new Set(['uuid']);

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s+'([^']+)'|(?:^|\n)\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'/g;

/** Where npm puts what an example needs in other versions than the project. */
const packagesOfExample = 'scripts/examples/generated-clients/typescript/node_modules';

function sourceFiles(folder: string): string[] {
  return readdirSync(join(packageRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ['src/admin', packagesOfExample].includes(path) ? [] : sourceFiles(path);
    return path.endsWith('.ts') && !path.endsWith('.d.ts') ? [path] : [];
  });
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(packageRoot, file), 'utf8');
  return [...text.matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

/** The files of these folders with those files of the project that each imports. Of the admin page as well. */
function importsByFile(folders: readonly string[]): Map<string, readonly string[]> {
  const filesIn = (folder: string): string[] =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`);
  const sources = folders
    .flatMap(filesIn)
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith(packagesOfExample));
  const imported = (file: string): string[] =>
    importsOf(file).flatMap((specifier) => (specifier.startsWith('.') ? [resolveImport(file, specifier)] : []));
  return new Map(sources.map((file) => [file, imported(file)]));
}

/** The line of the table for a file: its own, or that of the innermost named folder. */
function roomOf(file: string): { name: string; room: Room } | undefined {
  const parts = file.split('/');
  for (let length = parts.length; length > 1; length -= 1) {
    const name = parts.slice(0, length).join('/');
    const room = files[name] ?? rooms[name];
    if (room !== undefined) return { name, room };
  }
  return undefined;
}

function resolveImport(file: string, specifier: string): string {
  return join(file, '..', specifier);
}

function faultsOf(file: string): string[] {
  const found = roomOf(file);
  if (found === undefined) return [`${file} lies in no room of the table`];
  const owners = Object.entries({ ...rooms, ...files });
  return importsOf(file).flatMap((specifier) => {
    if (specifier.startsWith('node:')) {
      return withoutNode.has(found.name) ? [`${file} imports ${specifier}`] : [];
    }
    if (specifier.startsWith('.')) {
      const target = resolveImport(file, specifier);
      if (roomOf(target)?.name === found.name) return [];
      return found.room.imports.some((allowed) => allowed.test(target)) ? [] : [`${file} imports ${target}`];
    }
    const library = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
    if ((common.has(library) && !withoutNode.has(found.name)) || found.room.owns.includes(library)) return [];
    const owner = owners.find(([, room]) => room.owns.includes(library))?.[0] ?? 'no room';
    return [`${file} imports ${library}, which belongs to ${owner}`];
  });
}

describe('the source tree', () => {
  const sources = sourceFiles('src');
  const adminFiles = sourcesAndScripts('src').filter((file) => /^src\/admin\/.*\.tsx?$/.test(file));

  it('has an admin page that shares nothing with the service but its contract, its schemas and two small files', () => {
    const imported = [...importsByFile(['src/admin']).values()].flat();
    const fromElsewhere = new Set(imported.filter((file) => !file.startsWith('src/admin/')));
    expect([...fromElsewhere].filter((file) => !file.startsWith('schemas/')).sort()).to.deep.equal([
      'src/client/clock.ts',
      'src/contract.ts',
      'src/json-bytes.ts',
    ]);
  });

  it('imports only in the directions that the table allows', () => {
    expect(sources.flatMap(faultsOf)).to.deep.equal([]);
  });

  it('has no files that import each other in a circle, even for types alone', () => {
    const remaining = importsByFile(['src', 'scripts']);
    for (let size = -1; size !== remaining.size;) {
      size = remaining.size;
      const imported = new Set([...remaining.values()].flat());
      for (const [file, imports] of remaining) {
        const isTied = imported.has(file) && imports.some((other) => remaining.has(other));
        if (!isTied) remaining.delete(file);
      }
    }
    expect([...remaining.keys()], 'in a circle, or between two').to.deep.equal([]);
  });

  it('exports from a file only what is in it, but for the client, which is the entry of the package', () => {
    const passingOn = /^export (?:type )?(?:\*|\{[^}]*\}).* from '/m;
    const files = [...sourcesAndScripts('src'), ...sourceFiles('test'), ...sourceFiles('scripts')];
    const found = files.filter((file) => passingOn.test(readFileSync(join(packageRoot, file), 'utf8')));
    expect(found).to.deep.equal(['src/client/client.ts']);
  });

  it('has in each folder of the table a file that begins with what enters, what leaves and where to start', () => {
    const isMainFile = (file: string): boolean => {
      const [first = ''] = /\/\*\*[\s\S]*?\*\//.exec(readFileSync(join(packageRoot, file), 'utf8')) ?? [];
      return ['In:', 'Out:', 'Start with'].every((words) => first.includes(words));
    };
    const withMainFile = new Set(sources.filter(isMainFile).map((file) => file.slice(0, file.lastIndexOf('/'))));
    expect(Object.keys(rooms).filter((room) => !withMainFile.has(room))).to.deep.equal([]);
  });

  it('has no folder with more files than the maximum', () => {
    const sizes = new Map<string, number>();
    // All of src: the admin page and the scripts of Redis as well.
    for (const file of [...sourcesAndScripts('src'), ...sourceFiles('test'), ...sourceFiles('scripts')]) {
      const folder = file.slice(0, file.lastIndexOf('/'));
      sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
    }
    expect([...sizes].filter(([, size]) => size > filesInFolderMaximum)).to.deep.equal([]);
  });

  it('reads the environment only in the files that are started', () => {
    const readers = sources.filter((file) => /process\.env/.test(readFileSync(join(packageRoot, file), 'utf8')));
    expect(readers).to.deep.equal(['src/backup.ts', 'src/command-line/main.ts', 'src/main.ts']);
  });

  it('leaves it to the services to read what other processes have stored a moment ago', () => {
    const inHttp = sources.filter((file) => file.startsWith('src/http/'));
    const waiting = inHttp.filter((file) => /\bcatchUp/.test(readFileSync(join(packageRoot, file), 'utf8')));
    expect(inHttp).not.to.deep.equal([]);
    expect(waiting).to.deep.equal([]);
  });

  it('takes time and random numbers only from the clock', () => {
    const unclockedFiles = [...sources, ...adminFiles].filter(
      (file) => !clocks.test(file) && unclocked.test(readFileSync(join(packageRoot, file), 'utf8')),
    );
    expect(unclockedFiles).to.deep.equal([]);
  });

  it('has a test file for each source file that exports a function or class of lending, ports or broker', () => {
    const tests = new Set(
      sourceFiles('test').map((file) => file.replace(/^test\//, 'src/').replace('.test.ts', '.ts')),
    );
    const deciding = sources.filter((file) => /^src\/(lending|ports|broker)\//.test(file) && exportsFunction(file));
    expect(deciding.filter((file) => !tests.has(file))).to.deep.equal([]);
  });

  it('has no leftover markers, no silenced checks and no any', () => {
    const marker = /\b(TODO|FIXME|XXX|HACK)\b|@ts-(ignore|expect-error)|oxlint-disable|: any\b|as any\b/;
    const marked = [...sources, ...sourceFiles('test'), ...sourceFiles('scripts')].filter(
      (file) =>
        !/architecture\.test\.ts$|\.generated\.ts$/.test(file) &&
        marker.test(readFileSync(join(packageRoot, file), 'utf8')),
    );
    expect(marked).to.deep.equal([]);
  });

  it('has none of the puzzling words in comments, log lines, errors and test titles', () => {
    const tests = sourceFiles('test');
    const found = [...sources, ...sourceFiles('scripts'), ...filesUnder('src/redis/scripts', '.lua'), ...tests]
      .filter((file) => !file.endsWith('.generated.ts'))
      .flatMap((file) => {
        // Tests may use the words as data.
        const isChecked = (line: string) => !file.startsWith('test/') || isComment(line) || isTitle(line);
        return readFileSync(join(packageRoot, file), 'utf8')
          .split('\n')
          .flatMap((line, index) => (puzzling.test(line) && isChecked(line) ? [`${file}:${index + 1}`] : []));
      });
    expect(found).to.deep.equal([]);
  });

  it('has none of the puzzling words in documents, schemas and the admin page', () => {
    const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...filesUnder('docs', '.md')];
    const pages = [...filesUnder('src/admin', '.ts'), ...filesUnder('src/admin', '.tsx')];
    const found = [...documents, ...pages, ...filesUnder('schemas', '.json')].flatMap((file) =>
      withoutFencedBlocks(readFileSync(join(packageRoot, file), 'utf8'))
        .split('\n')
        .flatMap((line) => (puzzling.test(line) ? [`${file}: ${line.trim()}`] : [])),
    );
    expect(found).to.deep.equal([]);
  });

  it('names only files that exist in comments', () => {
    const files = [...sourcesAndScripts('src'), ...sourcesAndScripts('test'), ...sourcesAndScripts('scripts')];
    const exists = (name: string): boolean => files.some((file) => file === name || file.endsWith(`/${name}`));
    const missing = files.flatMap((file) =>
      readFileSync(join(packageRoot, file), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          (isComment(line) ? [...line.matchAll(fileName)] : [])
            .filter(([name]) => !exists(name))
            .map(([name]) => `${file}:${index + 1}: ${name}`),
        ),
    );
    expect(missing).to.deep.equal([]);
  });

  it('keeps comments within the width of the code', () => {
    const { printWidth } = JSON.parse(readFileSync(join(packageRoot, '.oxfmtrc.json'), 'utf8')) as {
      readonly printWidth: number;
    };
    const tooWide = [...sources, ...sourceFiles('test'), ...sourceFiles('scripts')]
      .filter((file) => !file.endsWith('.generated.ts'))
      .flatMap((file) =>
        readFileSync(join(packageRoot, file), 'utf8')
          .split('\n')
          .flatMap((line, index) => (line.length > printWidth && isComment(line) ? [`${file}:${index + 1}`] : [])),
      );
    expect(tooWide).to.deep.equal([]);
  });
});

/** Words that treat programs as people, and others that readers of English stumble over. */
const puzzling = /\b(whoever|nobody|somebody|anybody|anew|be it|letter by letter|one behind the other)\b/i;

/** The name of a source file or of a script of Redis, with the folders that are written before it. */
const fileName = /(?<![.\w/-])(?:[\w-]+\/)*[\w-]+(?:\.\w+)?\.(?:ts|tsx|lua)\b/g;

function sourcesAndScripts(folder: string): string[] {
  return ['.ts', '.tsx', '.lua'].flatMap((ending) => filesUnder(folder, ending));
}

function filesUnder(folder: string, ending: string): string[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => path.endsWith(ending) && !path.startsWith(packagesOfExample));
}

/** Fenced blocks of Markdown have commands and output, not sentences. */
function withoutFencedBlocks(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '');
}

function isTitle(line: string): boolean {
  return /^\s*(describe|it)\(/.test(line);
}

function isComment(line: string): boolean {
  return /^\s*(\*|\/\/|\/\*|--)/.test(line);
}

function exportsFunction(file: string): boolean {
  return /^export (async )?(function|class) /m.test(readFileSync(join(packageRoot, file), 'utf8'));
}

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/schemas.ts';

/** What each folder of src may import, and which library it alone owns: docs/architecture.md in executable form. */
interface Room {
  readonly imports: readonly RegExp[];
  readonly owns: readonly string[];
}

const shared = /^src\/(errors|clock|health|logger|schemas|contract)\.ts$/;
const sqlite = /^src\/sqlite\.ts$/;
const ports = /^src\/broker\/(event-log|packed-records|coordination)\.ts$/;
const cursorMirror = /^src\/broker\/cursor-mirror\.ts$/;
const topicTail = /^src\/broker\/topic-tail\.ts$/;
const everything = /^src\//;

const rooms: Record<string, Room> = {
  'src/lending': { imports: [], owns: ['decimal.js'] },
  'src/broker': { imports: [shared, /^src\/metrics\.ts$/], owns: ['ajv', 'ajv-formats', 're2js'] },
  'src/embedded': { imports: [shared, ports, cursorMirror, topicTail, sqlite], owns: [] },
  'src/kafka': { imports: [shared, ports], owns: ['kafkajs'] },
  'src/redis': { imports: [shared, ports, cursorMirror, topicTail], owns: ['ioredis'] },
  'src/views': { imports: [shared, ports, topicTail, sqlite, /^src\/lending\//], owns: [] },
  'src/worker': {
    imports: [shared, /^src\/metrics\.ts$/, /^src\/broker\//, /^src\/lending\//, /^src\/views\//],
    owns: ['lossless-json'],
  },
  'src/http': {
    imports: [shared, /^src\/metrics\.ts$/, /^src\/broker\//, /^src\/views\//, /^src\/worker\//],
    owns: ['compression', 'express'],
  },
};

/** Files that lie directly in src. */
const files: Record<string, Room> = {
  'src/app.ts': { imports: [everything], owns: [] },
  'src/backend.ts': { imports: [shared, ports, /^src\/(config|embedded\/|kafka\/|redis\/)/], owns: [] },
  'src/main.ts': { imports: [/^src\/(app|config|logger|errors)\.ts$/], owns: [] },
  'src/config.ts': { imports: [shared], owns: [] },
  'src/errors.ts': { imports: [], owns: [] },
  'src/clock.ts': { imports: [], owns: [] },
  'src/health.ts': { imports: [/^src\/clock\.ts$/], owns: [] },
  'src/logger.ts': { imports: [], owns: ['pino'] },
  'src/metrics.ts': { imports: [], owns: ['prom-client'] },
  'src/schemas.ts': { imports: [], owns: [] },
  'src/sqlite.ts': { imports: [], owns: ['@photostructure/sqlite'] },
  'src/contract.ts': { imports: [/^src\/contract\.generated\.ts$/], owns: [] },
  'src/contract.generated.ts': { imports: [], owns: [] },
};

/** Libraries that belong to nobody in particular. */
const common = new Set(['uuid']);

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s+'([^']+)'|(?:^|\n)\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'/g;

function sourceFiles(folder: string): string[] {
  return readdirSync(join(packageRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return path === 'src/admin' ? [] : sourceFiles(path);
    return path.endsWith('.ts') && !path.endsWith('.d.ts') ? [path] : [];
  });
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(packageRoot, file), 'utf8');
  return [...text.matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

function roomOf(file: string): { name: string; room: Room } | undefined {
  if (files[file] !== undefined) return { name: file, room: files[file] };
  const name = file.split('/').slice(0, 2).join('/');
  const room = rooms[name];
  return room === undefined ? undefined : { name, room };
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
      return found.name === 'src/lending' ? [`${file} imports ${specifier}: lending is pure`] : [];
    }
    if (specifier.startsWith('.')) {
      const target = resolveImport(file, specifier);
      if (target.startsWith(`${found.name}/`)) return [];
      return found.room.imports.some((allowed) => allowed.test(target)) ? [] : [`${file} imports ${target}`];
    }
    const library = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
    if (common.has(library) || found.room.owns.includes(library)) return [];
    const owner = owners.find(([, room]) => room.owns.includes(library))?.[0] ?? 'no room';
    return [`${file} imports ${library}, which belongs to ${owner}`];
  });
}

describe('the house', () => {
  const sources = sourceFiles('src');

  it('imports only in the directions of the table', () => {
    expect(sources.flatMap(faultsOf)).to.deep.equal([]);
  });

  it('reads the environment in main.ts alone', () => {
    const readers = sources.filter((file) => /process\.env/.test(readFileSync(join(packageRoot, file), 'utf8')));
    expect(readers).to.deep.equal(['src/main.ts']);
  });

  it('has a test beside every source file that decides something', () => {
    const tests = new Set(
      sourceFiles('test').map((file) => file.replace(/^test\//, 'src/').replace('.test.ts', '.ts')),
    );
    const deciding = sources.filter((file) => /^src\/(lending|broker)\//.test(file) && exportsFunction(file));
    expect(deciding.filter((file) => !tests.has(file))).to.deep.equal([]);
  });

  it('clears no rule for itself: no leftover markers, no silenced checks', () => {
    const marker = /\b(TODO|FIXME|XXX|HACK)\b|@ts-(ignore|expect-error)|oxlint-disable|: any\b|as any\b/;
    const marked = [...sources, ...sourceFiles('test'), ...sourceFiles('scripts')].filter(
      (file) => file !== 'test/architecture.test.ts' && marker.test(readFileSync(join(packageRoot, file), 'utf8')),
    );
    expect(marked).to.deep.equal([]);
  });

  it('keeps comments within the width of the code', () => {
    const { printWidth } = JSON.parse(readFileSync(join(packageRoot, '.prettierrc.json'), 'utf8')) as {
      readonly printWidth: number;
    };
    const tooWide = [...sources, ...sourceFiles('test'), ...sourceFiles('scripts')]
      .filter((file) => !file.endsWith('.generated.ts'))
      .flatMap((file) =>
        readFileSync(join(packageRoot, file), 'utf8')
          .split('\n')
          .flatMap((line, index) =>
            line.length > printWidth && /^\s*(\*|\/\/|\/\*)/.test(line) ? [`${file}:${index + 1}`] : [],
          ),
      );
    expect(tooWide).to.deep.equal([]);
  });
});

function exportsFunction(file: string): boolean {
  return /^export (async )?(function|class) /m.test(readFileSync(join(packageRoot, file), 'utf8'));
}

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readAlerts } from '../../scripts/deployment/alerts.ts';
import { headingAnchors, linkTargets, tableRows } from '../../scripts/docs/markdown.ts';
import { errorCatalogue } from '../../src/errors.ts';
import { refusalCodes } from '../../src/lending/refusals.ts';
import { createMetrics } from '../../src/metrics.ts';
import { packageRoot } from '../../src/package-root.ts';
import { logLines } from './log-lines.ts';

/** The documents name everything in the source, and nothing else. */

function read(path: string): string {
  return readFileSync(join(packageRoot, path), 'utf8');
}

/** Rows whose first cell is one name in code, by that name. */
function rowsByName(document: string): Map<string, string[]> {
  const named = tableRows(read(document)).flatMap((row): [string, string[]][] => {
    const name = /^`([^`]+)`$/.exec(row[0] ?? '')?.[1];
    return name === undefined ? [] : [[name, row]];
  });
  return new Map(named);
}

const documents = [
  ...readdirSync(packageRoot).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(packageRoot, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

describe('links of the documents', () => {
  it('lead to existing files and headings', () => {
    const broken = documents.flatMap((document) =>
      linkTargets(read(document))
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => {
          const [path = '', anchor] = target.split('#');
          const file = path === '' ? document : join(dirname(document), path);
          if (!existsSync(join(packageRoot, file))) return true;
          if (anchor === undefined) return false;
          return statSync(join(packageRoot, file)).isDirectory() || !headingAnchors(read(file)).has(anchor);
        })
        .map((target) => `${document}: ${target}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it('of the README reach every document', () => {
    const targets = linkTargets(read('README.md'));
    const reached = (name: string): boolean =>
      targets.some((target) => target === name || name.startsWith(`${target}/`));
    expect(documents.filter((name) => name !== 'README.md' && !reached(name))).to.deep.equal([]);
  });
});

describe('CONTRIBUTING.md', () => {
  const document = read('CONTRIBUTING.md');

  it('names existing files', () => {
    const named = [...document.matchAll(/`((?:src|test|schemas|scripts|docs)\/[\w./-]*)`/g)].map(
      ([, path = '']) => path,
    );
    expect(named.length).to.be.greaterThan(30);
    expect(named.filter((path) => !existsSync(join(packageRoot, path)))).to.deep.equal([]);
  });

  it('lists the source files that a loan command touches: those that name its example, and no others', () => {
    const [, section = ''] = document.split('## Adding a loan command');
    const listed = [...section.matchAll(/^\| `(src\/[^`]+)`/gm)].map(([, path = '']) => path);
    const sources = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })
      .map((path) => `src/${path}`)
      .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.generated.ts'));
    // The end of a day posts this command, which other commands need not.
    const posting = 'src/lending/business-days/day-commands.ts';
    const naming = sources.filter((path) => /\b(APPLY_PENALTY|PENALTY_APPLIED)\b/.test(read(path)));
    const touched = naming.filter((path) => path !== posting);
    expect(listed).to.have.length(10);
    expect([...listed].sort()).to.deep.equal(touched.sort());
  });
});

describe('docs/errors.md', () => {
  const rows = rowsByName('docs/errors.md');

  it('has a row with the status of every error code', () => {
    const wrong = Object.entries(errorCatalogue).filter(([code, { status }]) => rows.get(code)?.[1] !== String(status));
    expect(wrong.map(([code]) => code)).to.deep.equal([]);
  });

  it('has a row with the number of every refusal', () => {
    const wrong = Object.entries(refusalCodes).filter(([reason, number]) => rows.get(reason)?.[1] !== String(number));
    expect(wrong.map(([reason]) => reason)).to.deep.equal([]);
  });

  it('has a row with the number of every error about lending requests', () => {
    const source = /const requestErrorCodes = \{([^}]*)\}/.exec(read('src/http/edge/lending-errors.ts'))?.[1] ?? '';
    const codes = [...source.matchAll(/(\w+): ([\d_]+)/g)].map((match) => [match[1] ?? '', match[2] ?? ''] as const);
    expect(codes.length).to.be.greaterThan(3);
    const wrong = codes.filter(([reason, number]) => rows.get(reason)?.[1] !== number.replaceAll('_', ''));
    expect(wrong).to.deep.equal([]);
  });
});

describe('docs/operating.md', () => {
  const rows = rowsByName('docs/operating.md');

  it('has a row for every setting, and no other rows', () => {
    const settings = [...read('src/config.ts').matchAll(/\b(?:text|integer|file|limit)\('([A-Z_]+)'/g)].map(
      (match) => match[1] ?? '',
    );
    expect(settings.length).to.be.greaterThan(10);
    const documented = [...rows.keys()].filter((name) => /^[A-Z_]+$/.test(name));
    expect(documented.sort()).to.deep.equal([...new Set(settings)].sort());
  });

  it('has a row for every line of level warn or error', () => {
    const lines = logLines();
    expect(lines.filter(({ message }) => message === '')).to.deep.equal([]);
    const levelsOf = (message: string): string => rows.get(message)?.[1] ?? 'no row';
    expect(lines.filter(({ message, level }) => levelsOf(message) !== level)).to.deep.equal([]);
  });

  it('has no row for a line that is no longer logged', () => {
    const messages = new Set(logLines().map(({ message }) => message));
    const documented = [...rows].filter(([, row]) => ['warn', 'error'].includes(row[1] ?? '')).map(([name]) => name);
    expect(documented.filter((message) => !messages.has(message))).to.deep.equal([]);
  });

  it('has a row for every metric', async () => {
    const names = (await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name);
    const own = names.filter((name) => name.startsWith('lendstream_'));
    expect(own.filter((name) => !rows.has(name))).to.deep.equal([]);
  });
});

describe('the expressions of the alerts and of the dashboard', () => {
  it('name existing metrics and labels', async () => {
    const metrics = await createMetrics().registry.getMetricsAsJSON();
    const known = new Set(
      metrics.flatMap(({ name, type }) =>
        String(type) === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => `${name}${suffix}`) : [name],
      ),
    );
    const expressions = [
      ...readAlerts().map(({ expr }) => expr),
      ...[...read('deploy/grafana/dashboards/lendstream.json').matchAll(/"(?:expr|query)": "((?:[^"\\]|\\.)*)"/g)].map(
        (m) => m[1] ?? '',
      ),
    ].filter((text) => text.includes('lendstream_') || text.includes('process_') || text.includes('nodejs_'));
    expect(expressions.length).to.be.greaterThan(20);
    const named = expressions.flatMap((text) =>
      [...text.matchAll(/\b(?:lendstream|process|nodejs)_\w+/g)].map(([name]) => name),
    );
    expect([...new Set(named)].filter((name) => !known.has(name))).to.deep.equal([]);
  });

  it('show every metric of the service', async () => {
    const dashboard = read('deploy/grafana/dashboards/lendstream.json');
    const names = (await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name);
    const own = names.filter((name) => name.startsWith('lendstream_'));
    expect(own.filter((name) => !dashboard.includes(name))).to.deep.equal([]);
  });
});

describe('docs/api.md', () => {
  it('names every routed path', () => {
    const text = read('docs/api.md');
    const sources = readdirSync(join(packageRoot, 'src/http'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => read(`src/http/${file}`));
    const routed = sources.flatMap((source) =>
      [...source.matchAll(/\.route\(\s*['`](\/[^'`]*)['`]/g)].map((match) => match[1] ?? ''),
    );
    expect(routed.length).to.be.greaterThan(25);
    // The paths of transactions come from a table; a colon that belongs to no parameter is escaped.
    const documented = routed
      .filter((path) => !path.includes('${'))
      .map((path) => path.replaceAll(/\/:([A-Za-z]+)/g, '/{$1}').replaceAll('\\\\', ''));
    expect(documented.filter((path) => !text.includes(`${path}\``))).to.deep.equal([]);
  });
});

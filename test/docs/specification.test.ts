import { expect } from 'chai';
import { describe, it } from 'mocha';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableRows } from '../../scripts/docs/markdown.ts';
import { packageRoot } from '../../src/package-root.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

interface NamedTest {
  readonly row: string;
  /** The first cell of the row. */
  readonly subject: string;
  readonly file: string;
  readonly title: string;
}

/** The tests that a part of a document names in rows: a link to the file, and a part of the title in quotes. */
function namedTests(markdown: string): NamedTest[] {
  return tableRows(markdown).map((row) => {
    const found = /\]\(\.\.\/(test\/[^)]+)\): "(.+)"$/.exec(row.at(-1) ?? '');
    return { row: row.join(' | '), subject: row[0] ?? '', file: found?.[1] ?? '', title: found?.[2] ?? '' };
  });
}

function missing(named: readonly NamedTest[]): readonly string[] {
  expect(named.length).to.be.greaterThan(0);
  return named
    .filter(({ file, title }) => title === '' || !existsSync(join(packageRoot, file)) || !read(file).includes(title))
    .map(({ row }) => row);
}

const named = namedTests(read('docs/specification.md'));

describe('docs/specification.md', () => {
  it('names a test that exists in each row', () => {
    expect(missing(named)).to.deep.equal([]);
  });

  it('has all tests and examples that quote a sentence', () => {
    const ofSpecification = /(?:it\(|sentence:)\s*['`]§\d: ([^'`]+)['`]/g;
    for (const [name, quoted] of [
      ['specification.test.ts', ofSpecification],
      ['examples.ts', ofSpecification],
      ['money-examples.ts', /sentence:\s*'([^']+)'/g],
    ] as const) {
      const file = `test/acceptance/lending/${name}`;
      const titles = [...read(file).matchAll(quoted)].map(([, title = '']) => title);
      const shown = named.filter((one) => one.file === file).map(({ title }) => title);
      expect(titles.length).to.be.greaterThan(0);
      expect(titles.filter((title) => !shown.some((part) => title.includes(part)))).to.deep.equal([]);
    }
  });
});

describe('docs/lending.md', () => {
  // A table of types, and an erasure, which changes no amount.
  const withoutFormula = ['Types of product', 'Personal data'];
  const [formulas = '', sources = ''] = read('docs/lending.md').split('\n## Sources\n');

  it('names the source of every section, and a test that has its figures', () => {
    const sections = [...formulas.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title);
    const named = namedTests(sources);
    expect(missing(named)).to.deep.equal([]);
    expect(named.map(({ subject }) => subject)).to.deep.equal(
      sections.filter((title) => !withoutFormula.includes(title)),
    );
  });

  it('has a worked example in every section', () => {
    const sections = formulas.split(/^## /m).slice(1);
    const without = sections.filter((text) => !/example/i.test(text)).map((text) => text.split('\n')[0]);
    expect(without).to.deep.equal(withoutFormula);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { behaviourOf, loanProductTypes } from '../../../src/lending/products/product-behaviour.ts';
import { loadSchema } from '../../../src/schema-files.ts';
import { packageRoot } from '../../../src/package-root.ts';

/** The source files where the name of a type of product may stand. */
const filesWithTypeNames = [
  'src/lending/products/product-behaviour.ts',
  // The default of a product that names none is refused, and only has to be some type.
  'src/lending-format/payloads/product-payload.ts',
];

function sourceFiles(): string[] {
  return readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path}`)
    .filter((path) => path.endsWith('.ts') && !path.startsWith('src/admin/') && !path.endsWith('.generated.ts'));
}

describe('the behaviour of a type of product', () => {
  it('is the only place where the name of a type decides anything', () => {
    const names = new RegExp(String.raw`\b(${loanProductTypes.join('|')})\b`);
    const found = sourceFiles().filter((file) => names.test(readFileSync(join(packageRoot, file), 'utf8')));
    expect(found.sort()).to.deep.equal([...filesWithTypeNames].sort());
  });

  it('exists for each type that the schemas allow, and for no other', () => {
    const { properties } = loadSchema('responses/loan-product.json') as {
      readonly properties: { readonly type: { readonly enum: readonly string[] } };
    };
    expect(loanProductTypes).to.deep.equal(properties.type.enum);
  });

  it('has no column in which all types are alike, and none that no other file reads', () => {
    const [first = expect.fail(), ...others] = loanProductTypes.map((type) => behaviourOf({ type }));
    const source = sourceFiles()
      .map((file) => readFileSync(join(packageRoot, file), 'utf8'))
      .join('\n');
    for (const [column, value] of Object.entries(first)) {
      const differs = others.some((other) => other[column as keyof typeof other] !== value);
      expect(differs, `${column} differs`).to.equal(true);
      const reading = new RegExp(
        String.raw`behaviourOf\([\w.]+\)\.${column}\b|\{[^}]*\b${column}\b[^}]*\} = behaviourOf\(`,
      );
      expect(reading.test(source), `${column} is read`).to.equal(true);
    }
  });

  it('is the table in the document', () => {
    const document = readFileSync(join(packageRoot, 'docs/lending.md'), 'utf8');
    const table = /^\| type .*\n(?:\|.*\n)+/m.exec(document)?.[0] ?? '';
    const [[, ...columns] = [], , ...rows] = table
      .trim()
      .split('\n')
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    const documented = rows.map(([type, ...cells]) => [
      type,
      Object.fromEntries(columns.map((column, index) => [column, cells[index]])),
    ]);
    expect(documented).to.deep.equal(loanProductTypes.map((type) => [type, behaviourOf({ type })]));
  });
});

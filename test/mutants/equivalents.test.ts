import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { describe, it } from 'mocha';
import { packageRoot } from '../../src/package-root.ts';
import { readEquivalents, staleEquivalents } from './equivalents.ts';
import { mutantsOfFile } from './mutant.ts';

describe('The list of equivalent mutants', () => {
  const list = readEquivalents(join(packageRoot, 'test/mutants/equivalent.json'));
  const build = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

  it('names existing mutants, each with a reason', () => {
    const files = new Set(list.map(({ file }) => file.replace(/\.ts$/, '.js')));
    const mutants = [...files].flatMap((file) => mutantsOfFile(build, file));
    expect(staleEquivalents(mutants, list)).to.deep.equal([]);
  });

  it('detects an entry whose line was changed', () => {
    const [mutant] = mutantsOfFile(build, 'src/lending/money.js');
    if (mutant === undefined) throw new Error('There are no mutants');
    const { file, text, change, occurrence } = mutant;
    const entry = { file, text, change, occurrence, reason: 'none' };
    expect(staleEquivalents([mutant], [entry])).to.deep.equal([]);
    const moved = { ...entry, text: `${text} ` };
    expect(staleEquivalents([mutant], [moved])).to.deep.equal([moved]);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exampleBlocks, fencedBlocks, headingAnchors, linkTargets, tableRows } from '../../../scripts/docs/markdown.ts';

const document = [
  '# A heading: `with` code_words, twice',
  '',
  'A [link](other.md#part) and [one more](https://example.org).',
  '',
  '| name  | value     |',
  '| ----- | --------- |',
  '| `one` | a \\| b    |',
  '',
  '```sh runnable',
  '# no heading [no link](nowhere.md)',
  '| no | table |',
  '```',
  '',
  '```JSON example=first.one',
  '{}',
  '```',
  '',
].join('\n');

describe('the Markdown reader of the checks', () => {
  it('finds fenced blocks with their language, words and line', () => {
    expect(fencedBlocks(document).map(({ language, words, line }) => ({ language, words, line }))).to.deep.equal([
      { language: 'sh', words: ['runnable'], line: 9 },
      { language: 'JSON', words: ['example=first.one'], line: 14 },
    ]);
    expect([...exampleBlocks(document)].map(([name, { text }]) => [name, text])).to.deep.equal([['first.one', '{}\n']]);
  });

  it('finds tables without their heads, headings and links, none of them inside blocks', () => {
    expect(tableRows(document)).to.deep.equal([['`one`', 'a \\| b']]);
    expect([...headingAnchors(document)]).to.deep.equal(['a-heading-with-code_words-twice']);
    expect(linkTargets(document)).to.deep.equal(['other.md#part', 'https://example.org']);
  });

  it('requires that a block ends', () => {
    expect(() => fencedBlocks('```sh\nls\n')).to.throw('line 1');
  });
});

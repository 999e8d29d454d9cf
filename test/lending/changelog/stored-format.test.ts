import { expect } from 'chai';
import { describe, it } from 'mocha';
import { formatOf, parseStored } from '../../../src/lending/changelog/stored-format.ts';

const parse = (text: string): unknown => parseStored<{ format: number; part: object }>(text, 'part');

describe('a stored text', () => {
  it('is parsed when it has the present format and the part', () => {
    expect(parse('{"format":4,"part":{"a":1}}')).to.deep.equal({ format: 4, part: { a: 1 } });
  });

  for (const [text, reason] of [
    ['{"format":2,"part":{}}', 'it is of format 2, and this version reads format 4'],
    ['{"part":{}}', 'it is of format undefined, and this version reads format 4'],
    ['{"format":4}', 'it has no part'],
    ['{"format":4,"part":null}', 'it has no part'],
    ['{"format":4,"part":"p"}', 'it has no part'],
  ] as const) {
    it(`is refused when it is ${text}`, () => {
      expect(() => parse(text)).to.throw(reason);
    });
  }

  it('begins with the number of its format', () => {
    expect(formatOf('{"format":12,"part":{}}')).to.equal(12);
    expect(formatOf('{"format":0}')).to.equal(0);
    for (const text of ['', '{}', '{"format":"3"}', '{"part":{"format":4}}', 'x{"format":4}']) {
      expect(formatOf(text), text).to.equal(undefined);
    }
  });
});

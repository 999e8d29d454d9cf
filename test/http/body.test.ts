import { expect } from 'chai';
import { describe, it } from 'mocha';
import { bodyDepthMaximum, parseJson } from '../../src/http/body.ts';

function parse(text: string): unknown {
  return parseJson(Buffer.from(text));
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

describe('A JSON body', () => {
  it('may be nested as deep as it says, and no deeper', () => {
    expect(JSON.stringify(parse(nested(bodyDepthMaximum)))).to.equal(nested(bodyDepthMaximum));
    expect(() => parse(nested(bodyDepthMaximum + 1))).to.throw('deeper than 200 levels');
    expect(() => parse('{"a":['.repeat(50_000))).to.throw('deeper than 200 levels');
  });

  it('may have any number of brackets beside each other and within its texts', () => {
    const values = Array.from({ length: 1_000 }, () => ({ text: '[{"\\[{', escaped: '\\' }));
    expect(parse(JSON.stringify(values))).to.deep.equal(values);
  });

  for (const text of ['', '"', '"\\', '{"a": 1', '[1,]', ']]', '\ufeff{}']) {
    it(`is refused in the parser's words when it is ${JSON.stringify(text)}`, () => {
      expect(() => parse(text)).to.throw('The body is not JSON: ');
    });
  }
});

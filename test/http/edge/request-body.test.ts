import { expect } from 'chai';
import { describe, it } from 'mocha';
import { bodyDepthMaximum, parseJson } from '../../../src/http/edge/request-body.ts';

function parse(text: string): unknown {
  return parseJson(Buffer.from(text));
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

describe('A JSON body', () => {
  it('may be nested to the documented depth, and no deeper', () => {
    expect(JSON.stringify(parse(nested(bodyDepthMaximum)))).to.equal(nested(bodyDepthMaximum));
    expect(() => parse(nested(bodyDepthMaximum + 1))).to.throw('deeper than 200 levels');
    expect(() => parse('{"a":['.repeat(50_000))).to.throw('deeper than 200 levels');
  });

  it('may have any number of brackets side by side and inside its strings', () => {
    const values = Array.from({ length: 1_000 }, () => ({ text: '[{"\\[{', escaped: '\\' }));
    expect(parse(JSON.stringify(values))).to.deep.equal(values);
  });

  it('is refused when it is not UTF-8, at any position', () => {
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3]]) {
      const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
      expect(() => parseJson(body), body.toString('hex')).to.throw('The body is not UTF-8.');
    }
    expect(parse('{"name":"\u{10ffff}"}')).to.deep.equal({ name: '\u{10ffff}' });
  });

  for (const text of ['', '"', '"\\', '{"a": 1', '[1,]', ']]', '\ufeff{}']) {
    it(`is refused with the message of the parser when it is ${JSON.stringify(text)}`, () => {
      expect(() => parse(text)).to.throw('The body is not JSON: ');
    });
  }
});

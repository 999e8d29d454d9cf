import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { ExactNumber, parseExact, stringifyExact } from '../../src/client/exact-json.ts';
import { propertyRuns } from '../support/values/property-runs.ts';

describe('JSON with exact numbers', () => {
  it('keeps the digits that a double would change', () => {
    const text = '{"a":12.50,"b":9007199254740993,"c":1e400,"d":-0,"e":[0.1,12.5,7,1E2],"f":"12.50"}';
    const value = parseExact(text) as Record<string, unknown>;
    expect(value['a']).to.be.instanceOf(ExactNumber);
    expect(['a', 'b', 'c', 'd'].map((name) => String(value[name]))).to.deep.equal([
      '12.50',
      '9007199254740993',
      '1e400',
      '-0',
    ]);
    expect((value['e'] as unknown[]).slice(0, 3)).to.deep.equal([0.1, 12.5, 7]);
    expect(value['f']).to.equal('12.50');
    expect(stringifyExact(value)).to.equal(text);
  });

  it('writes a number with its digits, and indents', () => {
    const value = { amount: new ExactNumber('1000.00'), list: [new ExactNumber('7.0')] };
    expect(stringifyExact(value)).to.equal('{"amount":1000.00,"list":[7.0]}');
    expect(stringifyExact(value, 2)).to.equal('{\n  "amount": 1000.00,\n  "list": [\n    7.0\n  ]\n}');
    expect(stringifyExact(new ExactNumber('7.0'))).to.equal('7.0');
  });

  it('has numbers that can be written and converted, and not computed with by mistake', () => {
    const amount = new ExactNumber('12.50');
    expect([String(amount), `${String(amount)} EUR`]).to.deep.equal(['12.50', '12.50 EUR']);
    expect(Number(amount)).to.equal(12.5);
    expect(JSON.stringify({ amount })).to.equal('{"amount":"12.50"}');
    const sum = (): unknown => (amount as unknown as number) + 1;
    expect(sum).to.throw(TypeError, 'exact number');
    for (const text of ['', '1.', '.5', '01', '+1', '0x10', 'NaN', '1 ', '12,50']) {
      expect(() => new ExactNumber(text), text).to.throw(TypeError);
    }
  });

  it('takes no text for a number, whatever it begins with', () => {
    const text = JSON.stringify({ private: '\u{E000}abc:1.0', quoted: '"1.0"', backslash: '\\', last: '\\"1.0' });
    expect((parseExact(`[${text},2.0]`) as unknown[])[0]).to.deep.equal(JSON.parse(text));
    expect(stringifyExact(parseExact(`[${text},2.0]`))).to.equal(`[${text},2.0]`);
  });

  it('keeps a member called __proto__ a member', () => {
    const value = parseExact('{"__proto__":1.0,"a":{"__proto__":{"b":2.0}}}') as object;
    expect(Object.keys(value)).to.deep.equal(['__proto__', 'a']);
    expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
    expect(stringifyExact(value)).to.equal('{"__proto__":1.0,"a":{"__proto__":{"b":2.0}}}');
  });

  it('reads nesting that is as deep as JSON.parse can read', () => {
    const deep = `${'['.repeat(5_000)}1.0${']'.repeat(5_000)}`;
    expect(() => parseExact(deep)).to.not.throw();
  });

  it('refuses what is not JSON', () => {
    for (const text of ['', '{', '[1.0', '1.', '01', '[1.0,]', "{'a':1.0}", 'NaN', '"\u0001"', '-']) {
      expect(() => parseExact(text), text).to.throw(SyntaxError);
    }
  });

  it('changes nothing in any JSON, and its numbers are what was written', () => {
    const property = fc.property(fc.json(), (text) => {
      const compact = JSON.stringify(JSON.parse(text));
      expect(stringifyExact(parseExact(compact))).to.equal(compact);
    });
    fc.assert(property, propertyRuns(300));
    const number = fc.stringMatching(/^-?(0|[1-9]\d{0,25})(\.\d{1,25})?([eE][+-]?\d{1,3})?$/);
    const numbers = fc.property(fc.array(number), (written) => {
      const text = `[${written.join(',')}]`;
      expect((parseExact(text) as unknown[]).map(String)).to.deep.equal(written);
      expect(stringifyExact(parseExact(text))).to.equal(text);
    });
    fc.assert(numbers, propertyRuns(500));
  });
});

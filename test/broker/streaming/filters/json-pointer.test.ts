import { expect } from 'chai';
import { describe, it } from 'mocha';
import { findValue, isText, plainText, pointerStep } from '../../../../src/broker/streaming/filters/json-pointer.ts';

function found(json: string, ...names: readonly string[]): string | undefined {
  const at = findValue(Buffer.from(json), 0, names.map(pointerStep));
  return at < 0 ? undefined : Buffer.from(json).subarray(at).toString();
}

function says(json: string, text: string): boolean {
  const bytes = Buffer.from(`["before",${json},"\\u0061fter"]`);
  return isText(bytes, 10, 10 + Buffer.byteLength(json), plainText(text));
}

describe('a pointer into JSON', () => {
  it('names members of objects and elements of arrays, past white space and values of every kind', () => {
    const json = '{ "n" : null , "o" : {"x":[1,{"y":"}]"}]} , "a" :\t[ -1.5e3 , "b" , {"c":true} ] }';
    expect(found(json, 'n')).to.match(/^null ,/);
    expect(found(json, 'o', 'x', '1', 'y')).to.match(/^"}\]"}/);
    expect(found(json, 'a', '0')).to.match(/^-1.5e3 ,/);
    expect(found(json, 'a', '1')).to.match(/^"b"/);
    expect(found(json, 'a', '2', 'c')).to.match(/^true/);
  });

  it('names nothing where there is no such value', () => {
    const json = '{"a":[1,2],"e":[],"o":{},"s":"text","n":1}';
    const missing = [['b'], ['a', '2'], ['a', '-'], ['a', '01'], ['a', '+1'], ['a', ''], ['a', 'length']];
    missing.push(['e', '0'], ['o', '0'], ['o', ''], ['s', '0'], ['n', '0'], ['constructor'], ['__proto__']);
    for (const names of missing) expect(found(json, ...names), names.join('/')).to.equal(undefined);
  });

  it('finds names that are empty, numbers, escaped or not ASCII', () => {
    expect(found('{"":{"":7}}', '', '')).to.match(/^7/);
    expect(found('{"0":1}', '0')).to.match(/^1/);
    expect(found('{"a\\"b":2}', 'a"b')).to.match(/^2/);
    expect(found('{"\\u00e9\\ud83d\\ude00":3}', 'é😀')).to.match(/^3/);
    expect(found('{"é😀":4}', 'é😀')).to.match(/^4/);
    expect(found('{"a\\\\n":5}', 'a\\n')).to.match(/^5/);
    expect(found('{"a\\n":6}', 'a\\n')).to.equal(undefined);
    expect(found('{"a/b~c=d":8}', 'a/b~c=d')).to.match(/^8/);
  });

  it('names the last of several members with one name, as a parser does', () => {
    expect(found('{"a":1,"a":{"b":2},"\\u0061":{"c":3}}', 'a')).to.match(/^{"c":3}/);
    expect(found('{"a":{"b":2},"a":{"c":3}}', 'a', 'b')).to.equal(undefined);
  });

  it('ends with the text, whatever the text is', () => {
    for (const json of ['', '{', '{"a', '{"a"', '{"a":', '{"a":[', '[', '[1', '[1,', '"a', '{,}', '[[[']) {
      const at = findValue(Buffer.from(json), 0, [pointerStep('a')]);
      expect(at).to.be.within(-1, json.length + 1);
      expect(findValue(Buffer.from(json), 0, [pointerStep('5')])).to.be.within(-1, json.length + 1);
    }
  });
});

describe('a JSON string', () => {
  it('says a text, whether it is escaped or not, and no other', () => {
    expect(says('"loan.opened"', 'loan.opened')).to.equal(true);
    expect(says('"\\u006coan.opened"', 'loan.opened')).to.equal(true);
    expect(says('"loan\\/opened"', 'loan/opened')).to.equal(true);
    expect(says('"loan.closed"', 'loan.opened')).to.equal(false);
    expect(says('"loan.opened."', 'loan.opened')).to.equal(false);
    expect(says('"loan.open"', 'loan.opened')).to.equal(false);
    expect(says('""', '')).to.equal(true);
    expect(says('"é😀"', 'é😀')).to.equal(true);
    expect(says('"e\u0301"', 'é'), 'texts are compared as they are').to.equal(false);
  });

  it('does not say what its bytes are when they are an escape', () => {
    expect(says('"\\n"', '\\n')).to.equal(false);
    expect(says('"\\\\n"', '\\n')).to.equal(true);
    expect(says('"\\n"', '\n')).to.equal(true);
    expect(says('"\\u000a"', '\n')).to.equal(true);
    expect(says('"\\""', '"')).to.equal(true);
    expect(says('"\\ud800"', '\ufffd')).to.equal(false);
  });
});

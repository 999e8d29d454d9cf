import { expect } from 'chai';
import { assert, jsonValue, nat, property } from 'fast-check';
import { describe, it } from 'mocha';
import { compactText, rawValueAt, writtenValueAt } from '../../../src/broker/publishing/json-as-written.ts';

function hexadecimalEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

describe('compactText', () => {
  it('removes the white space between tokens and nothing else', () => {
    const text = ' { "a b" : [ 1.0 ,\r\n\t" \\" x" ] } ';
    expect(compactText(Buffer.from(text), 0, text.length)).to.equal('{"a b":[1.0," \\" x"]}');
  });
});

describe('compactText of any JSON', () => {
  it('equals the JSON that the parser reads and writes again', () => {
    assert(
      property(jsonValue(), nat(2), (value, indent) => {
        const text = Buffer.from(JSON.stringify(value, null, indent));
        const compact = Buffer.from(compactText(text, 0, text.length), 'latin1').toString('utf8');
        expect(compact).to.equal(JSON.stringify(value));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('rawValueAt', () => {
  const text = '{ "a" : 1.50 , "b":{"c": [1, {"d":2}] ,"\\u0065": -0}, "a":1e2,"f":"x}\\"" }';
  for (const [path, raw] of [
    ['a', '1e2'],
    ['b', '{"c":[1,{"d":2}],"\\u0065":-0}'],
    ['b.c', '[1,{"d":2}]'],
    ['b.e', '-0'],
    ['f', '"x}\\""'],
    ['g', undefined],
    ['a.b', undefined],
  ] as const) {
    it(`finds ${path} as it was written: ${raw}`, () => {
      expect(rawValueAt(Buffer.from(text), 0, path.split('.'))).to.equal(raw);
      const written = writtenValueAt(Buffer.from(text), 0, path.split('.'));
      expect(written?.replaceAll(' ', '')).to.equal(raw);
    });
  }

  it('finds a key with any characters, in any spelling', () => {
    for (const key of ['é', '\u{1f600}', '"', '\\', 'a/b', '\u0001']) {
      const spellings = [JSON.stringify(key), `"${key.replaceAll(/[^]/g, hexadecimalEscape)}"`];
      for (const spelling of spellings) {
        expect(rawValueAt(Buffer.from(`{"é1":1,${spelling}:2,"x":3}`), 0, [key]), spelling).to.equal('2');
      }
    }
  });

  it('has a variant that keeps inner white space', () => {
    expect(writtenValueAt(Buffer.from(text), 0, ['b', 'c'])).to.equal('[1, {"d":2}]');
  });
});

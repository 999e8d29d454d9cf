import { expect } from 'chai';
import * as fc from 'fast-check';
import { parse } from 'lossless-json';
import { describe, it } from 'mocha';
import { readPlainJson } from '../../src/lending-format/exact-json-shortcut.ts';
import { propertyRuns } from '../support/values/property-runs.ts';

function exactly(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return 'no exact JSON';
  }
}

/** Names and texts that look like other parts of JSON, and repeat. */
const name = fc.constantFrom('a', 'b', '1', '__proto__', 'id', ':', '{', '[1,', 'ä', '7.50');
const number = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.stringMatching(/^-?(0|[1-9]\d{0,17})(\.\d{1,18})?([eE][+-]?\d{1,3})?$/),
);
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    number,
    fc.constantFrom('null', 'true', 'false', '""', '"\\n"', '"\\u00e4"', '[]', '{}', '-', '01', 'nul', '"', '.5', '1.'),
    name.map((text) => JSON.stringify(text)),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(name, tie('json')), { maxLength: 4 })
      .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(',')}}`),
  ),
}));

describe('plain JSON', () => {
  const command = '{"metadata":{"eid":"4e0d"},"payload":{"amount":0.01,"counts":[1,-2.5],"notes":null,"is":true}}';

  it('is read as the exact reader reads it', () => {
    expect(readPlainJson(command)).to.deep.equal(parse(command));
  });

  it('is never read differently, for any text', () => {
    fc.assert(
      fc.property(json, (text) => {
        const value = readPlainJson(text);
        if (value !== undefined) expect(value, text).to.deep.equal(exactly(text));
      }),
      propertyRuns(700),
    );
  });

  it('is never read differently when a character of a command is changed, missing or repeated', () => {
    const characters = fc.constantFrom(...'{}[],:"\\-+.eE0129 \nax'.split(''));
    fc.assert(
      fc.property(fc.nat(command.length - 1), characters, fc.nat(2), (at, character, kept) => {
        const text = `${command.slice(0, at)}${character}${command.slice(at + kept)}`;
        const value = readPlainJson(text);
        if (value !== undefined) expect(value, text).to.deep.equal(exactly(text));
      }),
      propertyRuns(700),
    );
  });

  const left = ['{"a":1,"a":1}', '{"a":1.50}', '{"a":1e3}', '{"a":-0}', '{"a":1e400}', '{"a":0.1234567890123456789}'];
  for (const text of [...left, '{"a":"\\n"}', '{\n"a":1}', '{"a":', '', `${'['.repeat(101)}${']'.repeat(101)}`]) {
    it(`leaves ${JSON.stringify(text.slice(0, 40))} to the exact reader`, () => {
      expect(readPlainJson(text)).to.equal(undefined);
    });
  }
});

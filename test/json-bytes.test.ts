import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  isNestedDeeper,
  jsonByte,
  jsonPattern,
  readString,
  skipSpace,
  skipString,
  skipValue,
} from '../src/json-bytes.ts';
import { propertyRuns } from './support/values/property-runs.ts';
import { anyCharacter } from './support/values/any-character.ts';

/** Characters of one to four bytes in UTF-8, marks of JSON, and what has to be escaped. */
const character = fc.oneof(
  fc.constantFrom('"', '\\', '/', '{', '}', '[', ']', ',', ':', ' ', '\n', '\0', 'a', 'é', '€', '\u{1f600}', '\u2028'),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
);
const anyText = fc.array(character, { maxLength: 12 }).map((characters) => characters.join(''));

/** The same text with some of its characters written as `\u` escapes. */
const anyString = fc.tuple(anyText, fc.array(fc.boolean(), { minLength: 24, maxLength: 24 })).map(([text, escaped]) => {
  const written = text
    .split('')
    .map((unit, index) =>
      escaped[index] === true
        ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
        : JSON.stringify(unit).slice(1, -1),
    );
  return `"${written.join('')}"`;
});

const { anyValue } = fc.letrec<{ anyValue: string }>((tie) => {
  const space = fc.constantFrom('', ' ', '\r\n\t ');
  const padded = fc.tuple(space, tie('anyValue'), space).map((parts) => parts.join(''));
  return {
    anyValue: fc.oneof(
      { maxDepth: 4 },
      anyString,
      fc.constantFrom('0', '-0', '-1.50', '1e400', '12345678901234567890', 'true', 'false', 'null', '[]', '{ }'),
      fc.array(padded, { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
      fc
        .array(fc.tuple(space, anyString, padded), { maxLength: 3 })
        // Of a repeated key the parser keeps one value.
        .map((members) => members.map(([before, key, value], index) => `${before}"${index}${key.slice(1)}:${value}`))
        .map((members) => `{${members.join(',')}}`),
    ),
  };
});

/** What may stand after a value in JSON. */
const anyRest = fc.tuple(fc.constantFrom('', ' ', ',', ']', '}', '\n'), anyText).map(([first, rest]) => {
  return first === '' ? '' : `${first}${rest}`;
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** The bytes in the middle of a larger buffer, as a request's body often lies. */
function within(bytes: Buffer): Uint8Array {
  return Buffer.concat([Buffer.from('"\\'), bytes, Buffer.from('"]}')]).subarray(2, 2 + bytes.length);
}

describe('A string in JSON bytes', () => {
  it('is read as the parser reads it, wherever it lies', () => {
    fc.assert(
      fc.property(anyText, anyString, anyText, (before, text, after) => {
        const start = Buffer.byteLength(before);
        const json = within(Buffer.from(before + text + after));
        expect(readString(json, start, start + Buffer.byteLength(text))).to.equal(JSON.parse(text));
      }),
      propertyRuns(300),
    );
  });
});

describe('A scan of JSON bytes', () => {
  it('ends a string where the parser does, whatever it contains and whatever follows', () => {
    fc.assert(
      fc.property(anyText, anyString, anyText, (before, text, after) => {
        JSON.parse(text);
        const start = Buffer.byteLength(before);
        const end = start + Buffer.byteLength(text);
        expect(skipString(within(Buffer.from(before + text + after)), start)).to.equal(end);
      }),
      propertyRuns(300),
    );
  });

  it('ends a value where the parser does, whatever follows it', () => {
    fc.assert(
      fc.property(anyText, anyValue, anyRest, (before, value, rest) => {
        JSON.parse(value);
        const start = Buffer.byteLength(before);
        const end = start + Buffer.byteLength(value);
        expect(skipValue(within(Buffer.from(before + value + rest)), start)).to.equal(end);
      }),
      propertyRuns(300),
    );
  });

  it('finds the same depth as the parser', () => {
    fc.assert(
      fc.property(anyValue, (text) => {
        const depth = depthOf(JSON.parse(text));
        const json = Buffer.from(text);
        expect(isNestedDeeper(json, depth)).to.equal(false);
        if (depth > 0) expect(isNestedDeeper(json, depth - 1)).to.equal(true);
      }),
      propertyRuns(300),
    );
  });

  it('stays within a text that is cut off at any byte, even within a character or an escape', () => {
    fc.assert(
      fc.property(anyValue, (text) => {
        const whole = Buffer.from(text);
        for (let length = 0; length < whole.length; length += 1) {
          const json = within(whole.subarray(0, length));
          for (const end of [skipValue(json, 0), skipString(json, 0), skipSpace(json, 0)]) {
            expect(end).to.be.at.most(length);
          }
          // What is cut off from the end is never within the text.
          if (/^["[{]/.test(text)) expect(skipValue(json, 0)).to.equal(length);
          isNestedDeeper(json, 0);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('ends at the end of the text for bytes that are no JSON', () => {
    const marks = fc.constantFrom(...Object.values(jsonByte), 0xff, 0xc3);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(marks, { maxLength: 40 }), (bytes, structure) => {
        for (const json of [bytes, Uint8Array.from(structure)]) {
          for (let start = 0; start <= json.length; start += 1) {
            for (const skip of [skipString, skipSpace, skipValue]) {
              expect(skip(json, start)).to.be.within(start, json.length);
            }
          }
          isNestedDeeper(json, 3);
        }
      }),
      propertyRuns(300),
    );
  });

  for (const [text, end] of [
    ['"', 1],
    ['""', 2],
    ['"a', 2],
    ['"\\', 2],
    ['"\\"', 3],
    ['"\\""', 4],
    ['"\\\\"', 4],
    ['"\\\\\\"', 5],
    ['"\\u0022"', 8],
    ['"\\u005c"', 8],
    ['"\\\\u0022"', 9],
    ['"\\u00', 5],
    ['"é', 3],
    ['"\u{1f600}"x', 6],
  ] as const) {
    it(`ends ${text} at byte ${end}`, () => {
      expect(skipString(Buffer.from(text), 0)).to.equal(end);
      expect(skipValue(Buffer.from(text), 0)).to.equal(end);
    });
  }

  it('reports a text of n levels as deeper than n - 1 and not deeper than n, for any n', () => {
    for (const levels of [1, 2, 99, 100, 101, 199, 200, 201, 100_000]) {
      for (const [open, close] of [
        ['[', ']'],
        ['{"[":', '}'],
        ['["]",', ']'],
      ] as const) {
        const json = Buffer.from(`${open.repeat(levels)}"[{"${close.repeat(levels)}`);
        expect(isNestedDeeper(json, levels), `${levels} of ${open}`).to.equal(false);
        expect(isNestedDeeper(json, levels - 1), `${levels} of ${open}`).to.equal(true);
      }
    }
  });

  it('counts no bracket of an unterminated string', () => {
    expect(isNestedDeeper(Buffer.from('["[[[['), 1)).to.equal(false);
    expect(isNestedDeeper(Buffer.from('["[[[[\\"]'), 1)).to.equal(false);
  });

  it('skips every white space of JSON and no other character', () => {
    expect(skipSpace(Buffer.from(' \t\r\n1'), 0)).to.equal(4);
    expect(skipSpace(Buffer.from('\u00a0'), 0)).to.equal(0);
    expect(skipSpace(Buffer.from('  '), 0)).to.equal(2);
    expect(skipSpace(Buffer.from(''), 0)).to.equal(0);
  });
});

describe('A pattern of JSON tokens', () => {
  it('matches a number when the parser reads one', () => {
    const pattern = new RegExp(`^${jsonPattern.number}$`);
    const near = fc.array(fc.constantFrom(...'0123-+.eE'.split('')), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(
        near.map((characters) => characters.join('')),
        (text) => {
          expect(pattern.test(text)).to.equal(parses(text));
        },
      ),
      propertyRuns(1_500),
    );
  });

  it('matches a string that the parser reads, and ends where the bytes do', () => {
    const pattern = new RegExp(jsonPattern.string, 'y');
    fc.assert(
      fc.property(anyString, anyText, (text, after) => {
        pattern.lastIndex = 0;
        const match = pattern.exec(text + after)?.[0] ?? '';
        expect(match).to.equal(text);
        expect(Buffer.byteLength(match)).to.equal(skipString(Buffer.from(text + after), 0));
      }),
      propertyRuns(300),
    );
  });

  it('matches no string that is not closed', () => {
    for (const text of ['"', '"a', '"\\', '"\\"', '"\\\\\\"']) {
      expect(new RegExp(jsonPattern.string).test(text), text).to.equal(false);
    }
  });
});

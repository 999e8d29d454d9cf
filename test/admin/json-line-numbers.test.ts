import { expect } from 'chai';
import * as fastCheck from 'fast-check';
import { describe, it } from 'mocha';
import { findingsOf, lineOfPointer, readJsonText } from '../../src/admin/json-line-numbers.ts';

describe('the lines of a JSON text', () => {
  const schema = [
    '{',
    '  "type": "object",',
    '  "properties": {',
    '    "a/b": { "type": ["string",',
    '      7] }',
    '  }',
    '}',
  ];
  const text = readJsonText(schema.join('\n'));

  for (const [pointer, line] of [
    ['#', 1],
    ['#/type', 2],
    ['#/properties', 3],
    ['#/properties/a~1b', 4],
    ['#/properties/a~1b/type/1', 5],
    ['#/properties/missing/type', 3],
    ['#/missing', 1],
  ] as const) {
    it(`has ${pointer} at line ${line}`, () => {
      expect(lineOfPointer(text, pointer)).to.equal(line);
    });
  }

  for (const [faulty, line, message] of [
    ['', 1, 'expected a value, found the end of the text'],
    ['{\n  "a": 1,\n}', 3, 'expected a name in quotation marks, found }'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 'expected , between two members, found "'],
    ['[1,\n2', 2, 'expected , between two items, found the end of the text'],
    ['{"a":\n tru}', 2, 'expected a value, found t'],
    ['{"a": 01}', 1, 'expected a value, found 0'],
    ['{"a"\n: "b', 2, 'this string is not closed, or not valid'],
    ['{}\nx', 2, 'expected the end of the text, found x'],
    ['{"a": 1,\n"a": 2}', 2, 'duplicate name "a"'],
  ] as const) {
    it(`stops being JSON at line ${line} of ${JSON.stringify(faulty)}`, () => {
      expect(readJsonText(faulty).fault).to.deep.equal({ line, message });
    });
  }

  it('finds a fault exactly in the texts that a parser rejects', () => {
    const parses = (candidate: string): boolean => {
      try {
        JSON.parse(candidate);
        return true;
      } catch {
        return false;
      }
    };
    const nearJson = fastCheck
      .tuple(
        fastCheck.json(),
        fastCheck.nat(),
        fastCheck.constantFrom('', ',', '"', '{', ']', '\\', '\u0001', '0', ' '),
      )
      .map(([json, at, extra]) => json.slice(0, at % (json.length + 1)) + extra + json.slice(at % (json.length + 1)));
    fastCheck.assert(
      fastCheck.property(fastCheck.oneof(fastCheck.json(), nearJson), (candidate) => {
        const { fault } = readJsonText(candidate);
        // Duplicate names are a fault here, but not for a parser.
        if (fault?.message.startsWith('duplicate name') === true) return;
        expect(fault === undefined, JSON.stringify(candidate)).to.equal(parses(candidate));
      }),
    );
  });

  it('assign the findings of a message to their lines', () => {
    const message = 'Invalid schema: #/properties/a~1b: the type changed, #/type: may not be';
    expect(findingsOf(text, message)).to.deep.equal([
      { line: 4, message: 'Invalid schema: #/properties/a~1b: the type changed' },
      { line: 2, message: '#/type: may not be' },
    ]);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { gapKind, shapeOf } from '../../../../src/broker/publishing/known-shapes/event-shape.ts';
import type { SchemaObject } from '../../../../src/broker/schemas/schema-walk.ts';

const kindNames = Object.fromEntries(Object.entries(gapKind).map(([name, kind]) => [kind, name]));

interface Asked {
  readonly paths?: readonly (readonly string[])[];
  readonly marked?: string;
}

/** The text of a shape with the kind of each gap in angle brackets. */
function shapeText(event: string, schema: SchemaObject, { paths = [], marked }: Asked = {}): string | undefined {
  const body = Buffer.from(`[${event}]`);
  const shape = shapeOf({ body, start: 1, end: body.length - 1, schema, paths, marked: marked ?? null });
  if (shape === undefined) return undefined;
  const pieces = Buffer.from(shape.pieces);
  let text = '';
  let start = 0;
  shape.pieceEnds.forEach((end, index) => {
    const kind = shape.gapKinds[index];
    text += pieces.toString('utf8', start, end) + (kind === undefined ? '' : `<${kindNames[kind]}>`);
    start = end;
  });
  return text;
}

describe('shapeOf', () => {
  const text = { type: 'string' };
  const shapes: [string, string, SchemaObject, string][] = [
    ['a text', '{"a":"x"}', { properties: { a: text } }, '{"a":"<text>"}'],
    ['values without a rule', '{"a":"x","b":[1,"y"]}', {}, '{"a":"<text>","b":[<number>,"<text>"]}'],
    ['an integer', '{"a":1}', { properties: { a: { type: 'integer' } } }, '{"a":<integer>}'],
    ['one of several types', '{"a":1}', { properties: { a: { type: ['number', 'null'] } } }, '{"a":<number>}'],
    ['constants', '{"a":true,"b":null}', {}, '{"a":true,"b":null}'],
    ['an id', '{"a":"x"}', { properties: { a: { format: 'uuid' } } }, '{"a":"<uuid>"}'],
    ['a time', '{"a":"x"}', { properties: { a: { format: 'date-time' } } }, '{"a":"<dateTime>"}'],
    ['another format', '{"a":"x"}', { properties: { a: { format: 'email' } } }, '{"a":"x"}'],
    ['a length', '{"a":"x"}', { properties: { a: { maxLength: 3 } } }, '{"a":"x"}'],
    ['a bound', '{"a":1}', { properties: { a: { type: 'number', minimum: 0 } } }, '{"a":1}'],
    ['a rule for other keys', '{"a":"x"}', { additionalProperties: { enum: ['x'] } }, '{"a":"x"}'],
    ['a rule for items', '{"a":["x"]}', { properties: { a: { items: { enum: ['x'] } } } }, '{"a":["x"]}'],
    ['a schema of true', '{"a":"x"}', { properties: { a: true } }, '{"a":"<text>"}'],
    [
      'an escaped key and value',
      String.raw`{"\u0061":"\"x"}`,
      { properties: { a: text } },
      String.raw`{"\u0061":"<text>"}`,
    ],
    ['nothing', '{}', {}, '{}'],
  ];
  for (const [name, event, schema, expected] of shapes) {
    it(`of an event with ${name}`, () => expect(shapeText(event, schema)).to.equal(expected));
  }

  const withoutShape: [string, string, SchemaObject][] = [
    ['a rule over several values', '{"a":"x"}', { not: { required: ['b'] } }],
    ['a rule over the items of an array', '{"a":[1]}', { properties: { a: { uniqueItems: true } } }],
    ['a rule for each item', '{"a":[1]}', { properties: { a: { items: [{}] } } }],
    ['a reference', '{"a":{}}', { properties: { a: { $ref: '#' } } }],
    ['a repeated key', '{"a":{"b":1,"b":2}}', {}],
    ['a key that every object inherits', '{"a":{"__proto__":1}}', {}],
    ['a text that is too long to be a shape', `{"a":"${'x'.repeat(20_000)}"}`, {}],
  ];
  for (const [name, event, schema] of withoutShape) {
    it(`is undefined with ${name}`, () => expect(shapeText(event, schema)).to.equal(undefined));
  }

  it('marks the value of a key', () => {
    const event = '{"meta":{"id":"x"},"in":{"meta":1}}';
    expect(shapeText(event, {}, { marked: 'meta' })).to.equal(
      '{"meta":<mark>{"id":"<text>"}<mark>,"in":{"meta":<number>}}',
    );
    expect(shapeText('{"a":1}', {}, { marked: 'meta' })).to.equal(undefined);
  });

  it('names the gaps of the wanted paths, and is undefined when a path is no gap', () => {
    const event = Buffer.from('{"b":{"c":"x"},"a":"y","n":1,"l":[{"c":"z"}]}');
    const wanted = (...paths: string[][]): readonly number[] | undefined =>
      shapeOf({ body: event, start: 0, end: event.length, schema: {}, paths, marked: null })?.gapsByPath;
    expect(wanted(['a'], ['b', 'c'])).to.deep.equal([1, 0]);
    for (const path of [['n'], ['b'], ['c'], ['l', 'c'], ['none']]) expect(wanted(path)).to.equal(undefined);
  });
});

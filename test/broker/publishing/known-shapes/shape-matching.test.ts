import { expect } from 'chai';
import { describe, it } from 'mocha';
import { shapeOf } from '../../../../src/broker/publishing/known-shapes/event-shape.ts';
import { matchEvents, patternOf } from '../../../../src/broker/publishing/known-shapes/shape-matching.ts';
import type { EventShape } from '../../../../src/broker/publishing/known-shapes/event-shape.ts';
import type { SchemaObject } from '../../../../src/broker/schemas/schema-walk.ts';

interface Asked {
  readonly schema?: SchemaObject;
  readonly paths?: readonly (readonly string[])[];
  readonly marked?: string;
}

/** The shape of the first event of a request. */
function shapeOfFirst(request: string, { schema = {}, paths = [], marked }: Asked): EventShape {
  const first = Buffer.from(request.slice(1, endOfFirst(request)));
  const shape = shapeOf({ body: first, start: 0, end: first.length, schema, paths, marked: marked ?? null });
  if (shape === undefined) throw new Error('The first event has no shape');
  return shape;
}

/** The texts of these events contain no braces. */
function endOfFirst(request: string): number {
  let depth = 0;
  for (let at = 1; ; at += 1) {
    if (request[at] === '{') depth += 1;
    if (request[at] === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
}

/** The text of each event and of its wanted parts, by the shape of the first event. */
function found(request: string, asked: Asked = {}): string[][] | undefined {
  const pattern = patternOf(shapeOfFirst(request, asked));
  if (pattern === undefined) throw new Error('The first event has no pattern');
  const utf8 = (latin1 = ''): string => Buffer.from(latin1, 'latin1').toString('utf8');
  return matchEvents(pattern, Buffer.from(request).toString('latin1'))?.map((event) =>
    [0, ...pattern.groupsByPath].map((group) => utf8(event[group])),
  );
}

describe('matchEvents', () => {
  it('finds the events and their wanted parts', () => {
    const request = '[{"a":"x","b":1,"c":{"d":"u"}},{"a":"yé","b":-2.5,"c":{"d":""}}]';
    expect(found(request, { paths: [['c', 'd'], ['a'], ['a']] })).to.deep.equal([
      ['{"a":"x","b":1,"c":{"d":"u"}}', 'u', 'x', 'x'],
      ['{"a":"yé","b":-2.5,"c":{"d":""}}', '', 'yé', 'yé'],
    ]);
  });

  it('finds the text around a marked value', () => {
    const request =
      '[{"a":"x","m":{"t":"2026-01-01T00:00:00Z","i":"u"},"b":"y"},{"a":"z","m":{"t":"2026-01-31T00:00:00Z","i":"v"},"b":"w"}]';
    const schema = { properties: { m: { properties: { t: { format: 'date-time' } } } } };
    expect(
      found(request, { schema, paths: [['m', 'i'], ['m', 't'], ['a'], ['b']], marked: 'm' })?.[1]?.slice(1),
    ).to.deep.equal(['v', '2026-01-31T00:00:00Z', 'z', 'w', '{"a":"z","m":', ',"b":"w"}']);
  });

  it('compares the bytes around the gaps exactly', () => {
    const event = JSON.stringify({ '^$.*+?()[]|\\/"-é': true, a: 'x' });
    expect(found(`[${event},${event}]`)).to.have.length(2);
    for (const letter of '^$.*+?()[]|\\/-é') {
      expect(found(`[${event},${event.replace(letter, 'x')}]`), letter).to.equal(undefined);
    }
  });

  const numbers: [string, boolean][] = [
    ['0', true],
    ['-0', true],
    ['0.0', true],
    ['10', true],
    ['-12.50', true],
    ['01', false],
    ['-', false],
    ['.5', false],
    ['1.', false],
    ['+1', false],
    ['1e5', false],
    ['1.5E5', false],
    ['NaN', false],
    ['9'.repeat(300), true],
    ['9'.repeat(301), false],
  ];
  for (const [number, isOne] of numbers) {
    it(`${isOne ? 'accepts' : 'does not accept'} ${number.slice(0, 10)} as a number`, () => {
      expect(found(`[{"a":1},{"a":${number}}]`) !== undefined).to.equal(isOne);
    });
  }

  it('accepts no fraction as an integer', () => {
    const schema = { properties: { a: { type: 'integer' } } };
    expect(found('[{"a":1},{"a":20}]', { schema })).to.have.length(2);
    expect(found('[{"a":1},{"a":2.0}]', { schema })).to.equal(undefined);
  });

  const times: [string, boolean][] = [
    ['2026-01-12T10:00:00Z', true],
    ['2026-12-28T23:59:59.123456Z', true],
    ['2026-01-31T10:00:00.1Z', true],
    ['2026-01-12t10:00:60.5+01:00', true],
    ['2024-02-29T10:00:00Z', true],
    ['2026-02-29T10:00:00Z', false],
    ['2026-00-12T10:00:00Z', false],
    ['2026-13-12T10:00:00Z', false],
    ['2026-01-00T10:00:00Z', false],
    ['2026-01-12T24:00:00Z', false],
    ['2026-01-12T10:60:00Z', false],
    ['2026-01-12T10:00:61Z', false],
    ['2026-01-12T10:00:00', false],
    ['2026-01-12T10:00:00.Z', false],
    ['2026-01-12T10:00:00.1x2Z', false],
    ['2026-01-12T10:00:00,5Z', false],
    ['2026-01-12T10:0a:00Z', false],
    ['2026-01-12X10:00:00Z', false],
    ['', false],
  ];
  for (const [time, isOne] of times) {
    it(`${isOne ? 'accepts' : 'does not accept'} ${time} as a time`, () => {
      const schema = { properties: { a: { format: 'date-time' } } };
      expect(found(`[{"a":"2026-01-01T00:00:00Z"},{"a":"${time}"}]`, { schema }) !== undefined).to.equal(isOne);
    });
  }

  it('finds tens of thousands of events', () => {
    const events = Array.from({ length: 30_000 }, (_, index) => `{"a":${index}}`);
    expect(found(`[${events.join(',')}]`)?.map(([event]) => event)).to.deep.equal(events);
  });

  it('accepts the maximum number of gaps of every kind in a shape, and not one more', () => {
    const kinds = ['t', 'i', 'd', 'n', 'o'];
    const properties = { t: {}, i: { format: 'uuid' }, d: { format: 'date-time' }, n: {}, o: { type: 'integer' } };
    const values = ['x', '00000000-0000-0000-0000-00000000000f', '2026-01-31T00:00:00+01:00', 1.5, 7];
    const item = Object.fromEntries(kinds.map((kind, index) => [kind, values[index]]));
    const schema = { properties: { l: { items: { properties } } } };
    const eventOf = (items: number): string => JSON.stringify({ l: Array.from({ length: items }, () => item) });
    expect(found(`[${eventOf(20)},${eventOf(20)}]`, { schema })).to.have.length(2);
    expect(found(`[${eventOf(20)},${eventOf(20).replace(/7\}\]\}$/, '7.5}]}')}]`, { schema })).to.equal(undefined);
    expect(patternOf(shapeOfFirst(`[${eventOf(21)}]`, { schema }))).to.equal(undefined);
  });

  it('returns undefined wherever the request is cut off', () => {
    const request = '[{"a":"x","b":1,"c":"y"},{"a":"z","b":2,"c":"w"}]';
    expect(found(request)).to.have.length(2);
    for (let length = request.indexOf('}') + 2; length < request.length - 1; length += 1) {
      for (const end of ['', ']', '"]']) expect(found(request.slice(0, length) + end)).to.equal(undefined);
    }
  });
});

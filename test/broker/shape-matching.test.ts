import { expect } from 'chai';
import { describe, it } from 'mocha';
import { shapeOf } from '../../src/broker/event-shape.ts';
import { matchEvents } from '../../src/broker/shape-matching.ts';

/** What lies in the gaps of each event of a request, by the shape of the first. */
function gapsOf(request: string, schema = {}): string[][] | undefined {
  const first = Buffer.from(request.slice(1, request.indexOf('}') + 1));
  const shape = shapeOf({ body: first, start: 0, end: first.length, schema, paths: [], marked: null });
  if (shape === undefined) throw new Error('The first event has no shape');
  const body = Buffer.from(request);
  const matched = matchEvents(shape, body, body.toString('latin1'));
  if (matched === undefined) return undefined;
  const { count, bounds, boundsPerEvent } = matched;
  return Array.from({ length: count }, (_, index) => {
    const ofEvent = bounds.subarray(index * boundsPerEvent, (index + 1) * boundsPerEvent);
    return Array.from({ length: boundsPerEvent / 2 }, (__, pair) =>
      body.toString('utf8', ofEvent[2 * pair], ofEvent[2 * pair + 1]),
    );
  });
}

describe('matchEvents', () => {
  it('finds the events and what lies in their gaps', () => {
    expect(gapsOf('[{"a":"x","b":1},{"a":"yé","b":-2.5}]')).to.deep.equal([
      ['{"a":"x","b":1}', 'x', '1'],
      ['{"a":"yé","b":-2.5}', 'yé', '-2.5'],
    ]);
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
    it(`${isOne ? 'takes' : 'does not take'} ${number.slice(0, 10)} for a number`, () => {
      expect(gapsOf(`[{"a":1},{"a":${number}}]`) !== undefined).to.equal(isOne);
    });
  }

  it('takes no fraction for an integer', () => {
    const schema = { properties: { a: { type: 'integer' } } };
    expect(gapsOf('[{"a":1},{"a":20}]', schema)).to.have.length(2);
    expect(gapsOf('[{"a":1},{"a":2.0}]', schema)).to.equal(undefined);
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
    it(`${isOne ? 'takes' : 'does not take'} ${time} for a time`, () => {
      const schema = { properties: { a: { format: 'date-time' } } };
      expect(gapsOf(`[{"a":"2026-01-01T00:00:00Z"},{"a":"${time}"}]`, schema) !== undefined).to.equal(isOne);
    });
  }

  it('finds more events than it keeps room for', () => {
    const events = Array.from({ length: 30_000 }, (_, index) => `{"a":${index}}`);
    expect(gapsOf(`[${events.join(',')}]`)?.map(([event]) => event)).to.deep.equal(events);
  });

  it('answers undefined wherever the request ends too early', () => {
    const request = '[{"a":"x","b":1,"c":"y"},{"a":"z","b":2,"c":"w"}]';
    expect(gapsOf(request)).to.have.length(2);
    for (let length = request.indexOf('}') + 2; length < request.length - 1; length += 1) {
      for (const end of ['', ']', '"]']) expect(gapsOf(request.slice(0, length) + end)).to.equal(undefined);
    }
  });
});

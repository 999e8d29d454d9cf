import { expect } from 'chai';
import * as fastCheck from 'fast-check';
import { describe, it } from 'mocha';
import { condition, eventFilter, meetsAll } from '../../../../src/broker/streaming/filters/event-filter.ts';
import { readFilter } from '../../../../src/broker/streaming/filters/filter-parameter.ts';
import { pointerStep } from '../../../../src/broker/streaming/filters/json-pointer.ts';
import { propertyRuns } from '../../../support/values/property-runs.ts';

function meets(json: string, ...filters: readonly string[]): boolean {
  const filter = readFilter(filters);
  return filter !== undefined && meetsAll(filter, Buffer.from(`x,${json},{}`), 2);
}

describe('a filter of events', () => {
  const event =
    '{"metadata":{"event_type":"loan.opened"},"amount":12.50,"id":"0042","open":true,"end":null,"tags":["a"]}';

  it('lets through events whose values are equal, of all conditions', () => {
    expect(meets(event, '/metadata/event_type=loan.opened')).to.equal(true);
    expect(meets(event, '/metadata/event_type=loan.closed')).to.equal(false);
    expect(meets(event, '/metadata/event_type=loan.opened', '/tags/0=a', '/open=true')).to.equal(true);
    expect(meets(event, '/metadata/event_type=loan.opened', '/tags/0=b', '/open=true')).to.equal(false);
  });

  it('compares numbers by their exact value', () => {
    expect(['12.5', '12.50', '125e-1'].map((value) => meets(event, `/amount=${value}`))).to.not.include(false);
    expect(['12.500000000000000001', '-12.5', '125'].map((value) => meets(event, `/amount=${value}`))).to.not.include(
      true,
    );
    expect(meets('{"n":9007199254740993}', '/n=9007199254740992')).to.equal(false);
    expect(meets('{"n":1e1000000000000}', '/n=1e1000000000000')).to.equal(true);
    expect(meets('{"n":1}', '/n=1')).to.equal(true);
    expect(meets('{"n":-0}', '/n=0')).to.equal(true);
  });

  it('compares booleans and null, and a text that looks like one of them or like a number', () => {
    expect(meets(event, '/open=true')).to.equal(true);
    expect(meets(event, '/open=false')).to.equal(false);
    expect(meets(event, '/end=null')).to.equal(true);
    for (const value of ['true', 'false', 'null', '17', '1e3']) {
      expect(meets(`{"v":"${value}"}`, `/v=${value}`), value).to.equal(true);
      expect(meets(`{"v":"${value}"}`, `/v="${value}"`), value).to.equal(true);
      expect(meets(`{"v":${value}}`, `/v="${value}"`), value).to.equal(false);
    }
    expect(meets('{"v":"12.50"}', '/v=12.5'), 'a text is compared as text').to.equal(false);
    expect(meets(event, '/id=0042')).to.equal(true);
    expect(meets(event, '/id=42')).to.equal(false);
  });

  it('never lets through a missing value, an object or an array', () => {
    const filters = [
      '/none=null',
      '/none=',
      '/tags=a',
      '/metadata=loan.opened',
      '/tags/1=a',
      '/amount/0=1',
      '/open/x=true',
    ];
    for (const filter of filters) expect(meets(event, filter), filter).to.equal(false);
    expect(meets('{"v":[]}', '/v=[]')).to.equal(false);
    expect(meets('{"v":{}}', '/v={}')).to.equal(false);
    expect(meets('{"v":""}', '/v=')).to.equal(true);
  });

  it('names bytes that every such event without a backslash contains: of the longest value that is no number', () => {
    const needle = (...filters: readonly string[]): string | undefined => readFilter(filters)?.needle?.toString();
    expect(needle('/a=EUR', '/b=loan.opened', '/c=1234567890123')).to.equal('"loan.opened"');
    expect(needle('/a=true')).to.equal('true');
    expect(needle('/a="true"')).to.equal('"true"');
    expect(needle('/a=17')).to.equal(undefined);
    expect(needle('/a="17"')).to.equal('"17"');
    expect(needle('/a=a\\b')).to.equal(undefined);
  });

  it('decides as one who parses, about any JSON', () => {
    // No name is one backslash: the engine of Node 24 and 26 then takes a later name of one escaped character for it.
    const names = fastCheck.constantFrom('a', 'b', '', '0', '1', 'a/b', '~', 'é', '__proto__', 'length', 'a\\', '"');
    const leaf = fastCheck.oneof(
      names,
      fastCheck.string({ unit: 'grapheme' }),
      fastCheck.constantFrom('true', 'null', '1', '1.0', '-0'),
      fastCheck.boolean(),
      fastCheck.constant(null),
      fastCheck.integer({ min: -2, max: 2 }),
      fastCheck.double({ noNaN: true, noDefaultInfinity: true }),
    );
    const { json } = fastCheck.letrec<{ json: unknown; node: unknown }>((tie) => ({
      json: fastCheck.oneof({ maxDepth: 4 }, fastCheck.dictionary(names, tie('node'), { maxKeys: 4 }), tie('node')),
      node: fastCheck.oneof(
        { maxDepth: 4 },
        leaf,
        fastCheck.array(tie('node'), { maxLength: 3 }),
        fastCheck.dictionary(names, tie('node'), { maxKeys: 4 }),
      ),
    }));
    const spaces = fastCheck.constantFrom(undefined, 1, '\t');
    const pointers = fastCheck.array(names, { minLength: 1, maxLength: 3 });
    const picks = fastCheck.array(fastCheck.nat(3), { minLength: 1, maxLength: 4 });
    let met = 0;
    const property = fastCheck.property(
      json,
      pointers,
      picks,
      leaf,
      spaces,
      fastCheck.boolean(),
      fastCheck.boolean(),
      (value, anyPointer, picks, other, space, isEscaped, isOwn) => {
        const written = JSON.stringify(value, undefined, space);
        const text = isEscaped ? escaped(written) : written;
        const parsed: unknown = JSON.parse(text);
        // Half of the filters ask for what is there.
        const pointer = isOwn ? pointerInto(parsed, picks) : anyPointer;
        const there = lookedUp(parsed, pointer);
        const sought = isOwn && isScalar(there) ? String(there) : String(other);
        const filter = eventFilter([condition(pointer.map(pointerStep), sought, false)]);
        const expected = isScalar(there) && isEqual(there, sought);
        if (expected) met += 1;
        expect(meetsAll(filter, Buffer.from(`x,${text},{}`), 2), `${text} ${pointer.join('/')} = ${sought}`).to.equal(
          expected,
        );
        const { needle } = filter;
        if (expected && needle !== undefined && !text.includes('\\')) expect(text).to.include(needle.toString());
      },
    );
    fastCheck.assert(property, propertyRuns(1_000));
    expect(met, 'events that are let through').to.be.greaterThan(100);
  });
});

/** The same JSON with every letter of its strings as an escape. */
function escaped(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, (string) =>
    string.replace(/\\.|[ab~é]/gs, (unit) =>
      unit.length > 1 ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );
}

function lookedUp(value: unknown, pointer: readonly string[]): unknown {
  let at = value;
  for (const name of pointer) {
    if (typeof at !== 'object' || at === null) return undefined;
    if (Array.isArray(at) && !/^(0|[1-9]\d*)$/.test(name)) return undefined;
    if (!Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

/** A pointer to something in a value, as far as the picks go. */
function pointerInto(value: unknown, picks: readonly number[]): string[] {
  const names: string[] = [];
  let at = value;
  for (const pick of picks) {
    if (typeof at !== 'object' || at === null) break;
    const keys = Object.keys(at);
    const name = keys[pick % Math.max(keys.length, 1)];
    if (name === undefined) break;
    names.push(name);
    at = (at as Record<string, unknown>)[name];
  }
  return names;
}

function isScalar(value: unknown): boolean {
  return value !== undefined && (typeof value !== 'object' || value === null);
}

function isEqual(value: unknown, sought: string): boolean {
  if (typeof value === 'string') return value === sought;
  if (typeof value !== 'number') return String(value) === sought;
  return /^-?\d+(\.\d+)?(e[-+]?\d+)?$/.test(sought) && !/^-?0\d/.test(sought) && Number(sought) === value;
}

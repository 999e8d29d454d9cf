import { expect } from 'chai';
import { describe, it } from 'mocha';
import { shapeOf } from '../../../../src/broker/publishing/known-shapes/event-shape.ts';
import { matchEvents, tableOf } from '../../../../src/broker/publishing/known-shapes/shape-matching.ts';
import { eventField } from '../../../../src/broker/publishing/request-memory/event-fields.ts';
import { entryBytes } from '../../../../src/broker/publishing/request-memory/find-routine.ts';
import { RequestMemory, unusualTimesMaximum } from '../../../../src/broker/publishing/request-memory/request-memory.ts';
import { eventsPerRequestMaximum } from '../../../../src/broker/publishing/request-parsing.ts';
import { eventBytesMaximum } from '../../../../src/broker/publishing/event-preparation.ts';
import type { EventShape } from '../../../../src/broker/publishing/known-shapes/event-shape.ts';
import { isDateTime } from '../../../../src/clock.ts';
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

const memory = RequestMemory.create();

/** The text of each event and of its wanted parts, by the shape of the first event. */
function found(request: string | Buffer, asked: Asked = {}): string[][] | undefined {
  return foundBy(shapeOfFirst(request.toString(), asked), request, asked);
}

function foundBy(
  learnt: EventShape,
  request: string | Buffer,
  { paths = [], marked }: Asked = {},
): string[][] | undefined {
  const shape = tableOf(learnt);
  if (shape === undefined) throw new Error('The first event has too many gaps');
  expect(memory.load(Buffer.from(request))).to.equal(true);
  const events = matchEvents(memory, shape);
  if (events === undefined) return undefined;
  const { start, end, metadataStart, metadataEnd, hasFurtherMetadata } = eventField;
  expect(events.wantedFields).to.have.length(paths.length);
  return Array.from({ length: events.count }, (_, index) => {
    const fields = memory.fields.subarray(index * events.fieldsOfEach);
    const text = (from: number, to: number): string => memory.bytes.toString('utf8', fields[from], fields[to]);
    expect(fields[hasFurtherMetadata]).to.equal(0);
    const around = marked === undefined ? [] : [text(start, metadataStart), text(metadataEnd, end)];
    return [text(start, end), ...events.wantedFields.map((field) => text(field, field + 1)), ...around];
  });
}

describe('tableOf', () => {
  it('has an entry for each gap and one for the end', () => {
    for (const [event, gaps] of [
      ['{}', 0],
      ['{"a":1}', 1],
      ['{"a":1,"b":"x"}', 2],
    ] as const) {
      const entries = tableOf(shapeOfFirst(`[${event}]`, {}))?.table.entries;
      expect(entries?.byteLength, event).to.equal((gaps + 1) * entryBytes);
    }
  });
});

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
    ['2026-01-12t10:00:59.5+01:00', true],
    ['2026-01-12T10:00:59.123456789Z', true],
    ['2026-01-12T10:00:59.1234567890Z', false],
    ['2026-01-12T10:00:60Z', false],
    ['2026-01-12 10:00:59Z', false],
    ['2026-01-12T10:00:59+0100', false],
    ['2026-01-12T10:00:59+18:00', true],
    ['2026-01-12T10:00:59+18:01', false],
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
    expect(tableOf(shapeOfFirst(`[${eventOf(21)}]`, { schema }))).to.equal(undefined);
  });

  it('accepts as many events as a request may have, and not one more', () => {
    const request = (count: number): string => `[${'{},'.repeat(count - 1)}{}]`;
    expect(found(request(eventsPerRequestMaximum))).to.have.length(eventsPerRequestMaximum);
    expect(found(request(eventsPerRequestMaximum + 1))).to.equal(undefined);
  });

  it('accepts events as large as they may be, and not one byte more', () => {
    const request = (bytes: number): string => `[{"a":"${'x'.repeat(bytes - '{"a":""}'.length)}"}]`;
    const shape = shapeOfFirst('[{"a":"x"}]', {});
    expect(foundBy(shape, request(eventBytesMaximum))).to.have.length(1);
    expect(foundBy(shape, request(eventBytesMaximum + 1))).to.equal(undefined);
  });

  it('accepts as many times in an unusual spelling as there is room for, and not one more', () => {
    const schema = { properties: { a: { format: 'date-time' } } };
    const request = (count: number): string =>
      `[${Array.from({ length: count }, () => '{"a":"2026-01-31T00:00:00Z"}').join(',')}]`;
    expect(found(request(unusualTimesMaximum), { schema })).to.have.length(unusualTimesMaximum);
    expect(found(request(unusualTimesMaximum + 1), { schema })).to.equal(undefined);
  });

  it('returns undefined wherever the request is cut off', () => {
    const request = '[{"a":"x","b":1,"c":"y"},{"a":"z","b":2,"c":"w"}]';
    expect(found(request)).to.have.length(2);
    for (let length = request.indexOf('}') + 2; length < request.length - 1; length += 1) {
      for (const end of ['', ']', '"]']) expect(found(request.slice(0, length) + end)).to.equal(undefined);
    }
  });

  it('reads nothing beyond the end, also when a longer request was there before', () => {
    const schema = { properties: { t: { format: 'date-time' }, i: { format: 'uuid' } } };
    const event =
      '{"a":"twelve bytes","n":-12.50,"t":"2026-01-12T10:00:00.123Z","i":"00000000-0000-4000-8000-00000000000f"}';
    const request = `[${event},${event}]`;
    const shape = shapeOfFirst(request, { schema });
    for (let length = 0; length < request.length; length += 1) {
      expect(foundBy(shape, request)).to.have.length(2);
      expect(foundBy(shape, request.slice(0, length))).to.equal(undefined);
    }
  });

  const lengths = [0, 1, 2, 14, 15, 16, 17, 31, 32, 33, 47, 48, 49];

  it('compares pieces of every length to their last byte', () => {
    for (const length of lengths) {
      const [before, after] = ['k'.repeat(length), 'z'.repeat(length)];
      const event = `{"${before}":"x","${after}b":true}`;
      expect(found(`[${event},${event}]`), `${length}`).to.have.length(2);
      for (let at = 0; at < event.length; at += 1) {
        const isInGap = at === event.indexOf(':"x"') + 2;
        const changed = `${event.slice(0, at)}~${event.slice(at + 1)}`;
        expect(foundBy(shapeOfFirst(`[${event}]`, {}), `[${event},${changed}]`) !== undefined, changed).to.equal(
          isInGap,
        );
      }
    }
  });

  it('ends texts of every length at the first quote, backslash or control character', () => {
    const shape = shapeOfFirst('[{"a":"x","b":1}]', { paths: [['a']] });
    for (const length of lengths) {
      for (const letters of ['y', 'é', '😀', '\u007f']) {
        const text = letters.repeat(length);
        const event = `{"a":"${text}","b":2}`;
        expect(foundBy(shape, `[${event},${event}]`, { paths: [['a']] })).to.deep.equal([
          [event, text],
          [event, text],
        ]);
        for (const character of ['"', '\\', '\u0000', '\u0001', '\n', '\u001f']) {
          for (const further of ['', 'z'.repeat(20)]) {
            const changed = `[{"a":"${text}${character}${further}","b":2}]`;
            expect(foundBy(shape, changed, { paths: [['a']] }), changed).to.equal(undefined);
          }
        }
      }
    }
  });

  it('finds every change of a byte of an id', () => {
    const schema = { properties: { a: { format: 'uuid' } } };
    const id = '01234567-89ab-cdef-ABCD-EF0123456789';
    const shape = shapeOfFirst(`[{"a":"${id}"}]`, { schema });
    for (let at = 0; at < id.length; at += 1) {
      for (let byte = 0; byte < 256; byte += 1) {
        const request = Buffer.from(`[{"a":"${id}"}]`);
        request[request.indexOf(id) + at] = byte;
        const isDigit = /[0-9a-fA-F]/.test(String.fromCharCode(byte));
        const isDash = byte === 0x2d;
        expect(foundBy(shape, request) !== undefined, `${at}: ${byte}`).to.equal(id[at] === '-' ? isDash : isDigit);
      }
    }
    for (const other of [`${id}0`, id.slice(1), '', `${id}${id}`]) {
      expect(foundBy(shape, `[{"a":"${other}"}]`)).to.equal(undefined);
    }
  });

  it('finds every change of a byte of a time, as the format does', () => {
    const schema = { properties: { a: { format: 'date-time' } } };
    for (const time of ['2026-12-28T23:59:59Z', '2024-02-20T10:00:00.123456789Z', '2026-01-12T10:00:00+01:00']) {
      const shape = shapeOfFirst(`[{"a":"${time}"}]`, { schema });
      for (let at = 0; at < time.length; at += 1) {
        for (let byte = 0; byte < 128; byte += 1) {
          const changed = time.slice(0, at) + String.fromCharCode(byte) + time.slice(at + 1);
          expect(foundBy(shape, `[{"a":"${changed}"}]`) !== undefined, changed).to.equal(isDateTime(changed));
        }
      }
    }
  });

  it('finds events that differ from their shape in the last byte of the last of them', () => {
    const event = '{"a":"x","b":[true,false,null]}';
    const request = (last: string): string => `[${`${event},`.repeat(99)}${last}]`;
    expect(found(request(event))).to.have.length(100);
    expect(found(request(event.replace(']', '}')))).to.equal(undefined);
    expect(found(request(event.replace(']}', ']')))).to.equal(undefined);
  });
});

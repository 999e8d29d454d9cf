import { expect } from 'chai';
import { array, assert, constantFrom, nat, oneof, property, record, string, tuple, type Arbitrary } from 'fast-check';
import { describe, it } from 'mocha';
import { parseEvents } from '../../../../src/broker/publishing/request-parsing.ts';
import type { PreparedEventType } from '../../../../src/broker/publishing/prepared-event-type.ts';
import { KnownShapes } from '../../../../src/broker/publishing/known-shapes/known-shapes.ts';
import { RequestMemory } from '../../../../src/broker/publishing/request-memory/request-memory.ts';
import { withoutEngine } from '../without-engine.ts';
import { exampleEid, exampleMetadata } from '../../../support/broker-on-embedded-log.ts';
import { contextOf, expectValid, inFull, order, orderSchema, stored, typeOf } from '../prepared-orders.ts';
import { propertyRuns } from '../../../support/values/property-runs.ts';

function learnt(type: PreparedEventType, event: unknown): KnownShapes {
  const similar = new KnownShapes(type);
  similar.learnShape(parseEvents(Buffer.from(JSON.stringify([event]))));
  return similar;
}

/**
 * Whether one event was enough to prepare a request without parsing it. The result is compared with that of parsing.
 */
function isRecognised(type: PreparedEventType, first: unknown, request: string): boolean {
  const body = Buffer.from(request);
  const prepared = learnt(type, first).prepare(body, contextOf(type));
  if (prepared === undefined) return false;
  expect(stored(prepared)).to.deep.equal(stored(inFull(type, body)));
  return true;
}

describe('KnownShapes', () => {
  describe('prepares without parsing', () => {
    const others: [string, object][] = [
      ['with other plain values', { order: 'B-18', total: -0.5, count: -12, placed: '2024-02-29t23:59:59+01:00' }],
      ['with an amount that has no fraction', { total: 100 }],
      ['with letters beyond ASCII', { order: 'Ünï 😀', lines: [{ sku: 'x1', note: 'ß' }, {}] }],
      ['with another id', { metadata: exampleMetadata({ eid: exampleEid.toUpperCase() }) }],
      ['with empty texts', { order: '', lines: [{ sku: 'x1', note: '' }, {}] }],
    ];
    for (const [name, changes] of others) {
      it(`events of the same shape ${name}`, () => {
        expect(isRecognised(typeOf(), order, JSON.stringify([order, { ...order, ...changes }]))).to.equal(true);
      });
    }

    it('events that go to partitions at random, and those that are not enriched', () => {
      const random = { partition_strategy: 'random', partition_key_fields: [] };
      expect(isRecognised(typeOf(random), order, JSON.stringify([order, order]))).to.equal(true);
      const bare = { category: 'undefined', enrichment_strategies: [] };
      const { metadata: _none, ...event } = order;
      expect(isRecognised(typeOf(bare), event, JSON.stringify([event, { ...event, order: 'é' }]))).to.equal(true);
    });

    it('events of category data, by several keys within the data', () => {
      const keys = { category: 'data', partition_key_fields: ['order', 'address.town'] };
      const type = typeOf(keys);
      const event = {
        data_type: 'order',
        data_op: 'C',
        metadata: exampleMetadata({ event_type: 'orders' }),
        data: { order: 'A', address: { town: 'Ulm' } },
      };
      const request = [event, { ...event, data: { order: 'B', address: { town: 'Bonn' } } }];
      expect(isRecognised(type, event, JSON.stringify(request))).to.equal(true);
      expect(isRecognised(type, event, JSON.stringify([{ ...event, data_op: 'D' }]))).to.equal(false);
    });
  });

  describe('leaves to full validation', () => {
    const lines = (sku: string): unknown[] => [{ sku, note: 'plain' }, {}];
    const others: [string, string][] = [
      ['another value under a rule', JSON.stringify([{ ...order, kind: 'shop' }])],
      ['a value that breaks a rule', JSON.stringify([{ ...order, kind: 'phone' }])],
      ['a value within an array that breaks a rule', JSON.stringify([{ ...order, lines: lines('x1234') }])],
      ['an additional key', JSON.stringify([{ ...order, more: 1 }])],
      ['keys in another order', JSON.stringify([Object.fromEntries(Object.entries(order).toReversed())])],
      ['an additional item', JSON.stringify([{ ...order, lines: [...lines('x1'), {}] }])],
      ['another type', JSON.stringify([{ ...order, order: 17 }])],
      ['a fraction instead of an integer', JSON.stringify([order]).replace('"count":3', '"count":3.5')],
      ['an exponent, which may leave the range', JSON.stringify([order]).replace('315.47', '1e999')],
      ['digits that leave the range', JSON.stringify([order]).replace('315.47', '9'.repeat(400))],
      ['an invalid number', JSON.stringify([order]).replace('315.47', '0315.47')],
      ['a number without decimals', JSON.stringify([order]).replace('315.47', '315.')],
      ['a number that is only a sign', JSON.stringify([order]).replace('315.47', '-')],
      ['an escaped character', JSON.stringify([{ ...order, order: 'A"17' }])],
      ['a control character', JSON.stringify([order]).replace('A-17', 'A\t17')],
      ['an invalid id', JSON.stringify([order]).replace(exampleEid, `${exampleEid.slice(0, -1)}g`)],
      ['an id that is too long', JSON.stringify([order]).replace(exampleEid, `${exampleEid}0`)],
      ['a day that does not exist', JSON.stringify([order]).replace('2026-02-28', '2026-02-29')],
      ['white space between tokens', JSON.stringify([order], undefined, 1)],
      ['white space between events', JSON.stringify([order, order]).replace('},{"metadata', '}, {"metadata')],
      ['an empty array', '[]'],
      ['no array', JSON.stringify(order)],
      ['one comma too many', JSON.stringify([order]).replace(/\]$/, ',]')],
      ['a missing end', JSON.stringify([order]).slice(0, -1)],
      ['a cut in the middle', JSON.stringify([order]).slice(0, 60)],
      ['text after the end', `${JSON.stringify([order])}]`],
    ];
    for (const [name, request] of others) {
      it(name, () => expect(isRecognised(typeOf(), order, request)).to.equal(false));
    }

    it('bytes that are no UTF-8', () => {
      const body = Buffer.from(JSON.stringify([order]));
      body[body.indexOf('A-17')] = 0xff;
      const type = typeOf();
      expect(learnt(type, order).prepare(body, contextOf(type))).to.equal(undefined);
    });

    it('an event that is too large', () => {
      const request = JSON.stringify([{ ...order, order: 'x'.repeat(999_000) }]);
      expect(isRecognised(typeOf(), order, request)).to.equal(false);
    });

    it('events with additional metadata, and partitions named by producers', () => {
      const more = { ...order, metadata: exampleMetadata({ flow_id: 'mine' }) };
      expect(isRecognised(typeOf(), more, JSON.stringify([more]))).to.equal(false);
      const named = { ...order, metadata: exampleMetadata({ partition: '1' }) };
      const changes = { partition_strategy: 'user_defined', partition_key_fields: [] };
      expect(isRecognised(typeOf(changes), named, JSON.stringify([named]))).to.equal(false);
    });

    it('keys that are numbers or have a rule', () => {
      for (const key of ['total', 'kind']) {
        const type = typeOf({ partition_key_fields: [key] });
        expect(isRecognised(type, order, JSON.stringify([order]))).to.equal(false);
      }
    });

    const rules: [string, object][] = [
      ['over several values', { anyOf: [{ required: ['order'] }] }],
      ['over an array', { properties: { lines: { type: 'array', uniqueItems: true } } }],
      ['for patterns of keys', { patternProperties: { '^o': { maxLength: 4 } } }],
      ['behind a reference', { $defs: { all: { maxProperties: 9 } }, $ref: '#/$defs/all' }],
    ];
    for (const [name, rule] of rules) {
      it(`events under rules ${name}`, () => {
        const type = typeOf({ compatibility_mode: 'none' }, { ...orderSchema, ...rule });
        expect(isRecognised(type, order, JSON.stringify([order]))).to.equal(false);
      });
    }
  });

  it('learns again from requests of another shape, less often when they keep changing', () => {
    const type = typeOf();
    const similar = new KnownShapes(type);
    const shapes = [order, { ...order, more: 1 }].map((event) => Buffer.from(JSON.stringify([event])));
    const recognised = (body: Buffer): boolean => {
      if (similar.prepare(body, contextOf(type)) !== undefined) return true;
      similar.learnShape(parseEvents(body));
      return false;
    };
    const [first, second] = shapes as [Buffer, Buffer];
    for (let round = 0; round < 4; round += 1) {
      expect([first, first, second, second].map(recognised)).to.deep.equal([false, true, false, true]);
    }
    const inTurns = Array.from({ length: 40 }, (_, turn) => (turn % 2 === 0 ? first : second));
    expect(inTurns.map(recognised)).to.not.include(true);
    const afterwards = Array.from({ length: 70 }, () => recognised(first));
    expect(afterwards.at(-1)).to.equal(true);
  });

  it('keeps the shape that it knows, and learns nothing from a request without events', () => {
    const type = typeOf();
    const similar = new KnownShapes(type);
    const [first, second, empty] = [[order], [{ ...order, more: 1 }], []].map((events) =>
      Buffer.from(JSON.stringify(events)),
    ) as [Buffer, Buffer, Buffer];
    for (const body of [empty, first, second]) similar.learnShape(parseEvents(body));
    expect(similar.prepare(first, contextOf(type))).not.to.equal(undefined);
  });

  it('skips at most 62 requests before it learns again', () => {
    const type = typeOf();
    const similar = new KnownShapes(type);
    const [first, second] = [order, { ...order, more: 1 }].map((event) => {
      const body = Buffer.from(JSON.stringify([event]));
      const parsed = parseEvents(body);
      return (): boolean => {
        if (similar.prepare(body, contextOf(type)) !== undefined) return true;
        similar.learnShape(parsed);
        return false;
      };
    }) as [() => boolean, () => boolean];
    // The first request is learnt at once. Then failures follow after 1, 1, 3, 7, 15, 31, 63 and 63 requests.
    const untilEighthFailure = Array.from({ length: 185 }, (_, index) => (index % 2 === 0 ? first : second)());
    expect(untilEighthFailure).to.not.include(true);
    expect(Array.from({ length: 63 }, first).indexOf(true)).to.equal(62);
  });

  it('skips 64 requests after one that has no shape', () => {
    const type = typeOf();
    const similar = new KnownShapes(type);
    similar.learnShape(parseEvents(Buffer.from(JSON.stringify([order], undefined, 1))));
    const body = Buffer.from(JSON.stringify([order]));
    const parsed = parseEvents(body);
    const recognised = Array.from({ length: 66 }, () => {
      if (similar.prepare(body, contextOf(type)) !== undefined) return true;
      similar.learnShape(parsed);
      return false;
    });
    expect(recognised.indexOf(true)).to.equal(65);
  });

  it('stores the same as full parsing, for any change of any bytes', () => {
    const types = [typeOf(), typeOf({ compatibility_mode: 'none', partition_strategy: 'random' })];
    const event = JSON.stringify(order);
    const piece: Arbitrary<string> = oneof(
      constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '.', '-', '0', '1', 'e', ' ', '\n', 'é', '\\u0041', '""'),
      constantFrom('"order":"B",', '"metadata":{},', '"a":1,', 'null', 'true', '1.5', '-0', '1e5', '00', '\u0000'),
      string({ maxLength: 3 }),
    );
    const change = record({ at: nat(event.length), deleted: nat(4), inserted: piece });
    let recognisedCount = 0;
    assert(
      property(tuple(constantFrom(...types), array(change, { maxLength: 3 })), ([type, changes]) => {
        let changed = event;
        for (const { at, deleted, inserted } of changes) {
          changed = changed.slice(0, at) + inserted + changed.slice(at + deleted);
        }
        const body = Buffer.from(`[${event},${changed},${event}]`);
        const prepared = learnt(type, order).prepare(body, contextOf(type));
        if (prepared === undefined) return;
        recognisedCount += 1;
        expect(stored(prepared)).to.deep.equal(stored(expectValid(type, body)));
      }),
      propertyRuns(1_000),
    );
    expect(recognisedCount).to.be.greaterThan(100);
  });

  it('stores the same as full parsing, for any values of an event', () => {
    const schema = {
      properties: {
        id: { format: 'uuid' },
        placed: { format: 'date-time' },
        count: { type: 'integer' },
        order: { type: 'string' },
      },
    };
    const bare = { category: 'undefined', enrichment_strategies: [] };
    const types = [
      typeOf({ compatibility_mode: 'none' }, schema),
      typeOf({ compatibility_mode: 'none', partition_key_fields: ['order', 'text', 'order'] }, schema),
      typeOf({ compatibility_mode: 'none', ...bare }, schema),
    ];
    const stretched = tuple(constantFrom('x', 'é', '😀'), constantFrom(0, 1, 14, 15, 16, 17, 31, 32, 33)).map(
      ([letter, count]) => letter.repeat(count),
    );
    const mostly = (usual: Arbitrary<string>, other: Arbitrary<string>): Arbitrary<string> =>
      oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: other });
    const ending = mostly(constantFrom('', '\u007f', 'é'), constantFrom('"', '\\', '\u0000', '\u001f'));
    const text = tuple(mostly(stretched, string({ unit: 'grapheme' })), ending).map((parts) => parts.join(''));
    const integer = mostly(
      oneof(nat().map(String), constantFrom('-0', '9'.repeat(300))),
      constantFrom('1.0', '01', '-', '9'.repeat(301)),
    );
    const valuesOf = record({
      id: mostly(constantFrom(exampleEid, exampleEid.toUpperCase()), constantFrom(`${exampleEid.slice(1)}g`)),
      placed: mostly(
        constantFrom(
          '2026-01-12T10:00:00Z',
          '2026-01-12T10:00:00.123456789Z',
          '2024-02-29T10:00:00Z',
          '2026-12-31T23:59:59Z',
          '2026-01-12t10:00:00.5+01:00',
        ),
        constantFrom(
          '2026-02-29T10:00:00Z',
          '2026-12-31T23:59:60Z',
          '2026-01-12T10:00:00.1234567890Z',
          '2026-01-12T10:00:00.Z',
          '',
        ),
      ),
      order: text,
      text,
      total: mostly(
        oneof(integer, constantFrom('-0.50', '0.0', `0.${'9'.repeat(298)}`)),
        constantFrom('1e5', '1.', `-${'9'.repeat(300)}`),
      ),
      count: integer,
    });
    const eventOf = (values: Record<string, string>, isEnriched: boolean): string => {
      const { total, count, ...texts } = values;
      const others = isEnriched ? { metadata: exampleMetadata(), ...texts } : texts;
      return `${JSON.stringify(others).slice(0, -1)},"total":${total},"count":${count}}`;
    };
    const first = { id: exampleEid, placed: '2026-01-12T10:00:00Z', order: 'A', text: 'b', total: '1.5', count: '1' };
    let recognisedCount = 0;
    assert(
      property(constantFrom(...types), array(valuesOf, { minLength: 1, maxLength: 3 }), (type, all) => {
        const body = Buffer.from(`[${all.map((values) => eventOf(values, type.isEnriched)).join(',')}]`);
        const similar = learnt(type, JSON.parse(eventOf(first, type.isEnriched)));
        const prepared = similar.prepare(body, contextOf(type));
        if (prepared === undefined) return;
        recognisedCount += 1;
        expect(stored(prepared)).to.deep.equal(stored(expectValid(type, body)));
      }),
      propertyRuns(1_000),
    );
    expect(recognisedCount).to.be.greaterThan(100);
  });

  it('learns nothing where the engine has no routines', () => {
    const type = typeOf();
    const similar = new KnownShapes(
      type,
      withoutEngine(() => RequestMemory.create()),
    );
    const body = Buffer.from(JSON.stringify([order]));
    similar.learnShape(parseEvents(body));
    expect(similar.prepare(body, contextOf(type))).to.equal(undefined);
  });
});

import { expect } from 'chai';
import {
  array,
  assert,
  constant,
  constantFrom,
  dictionary,
  integer,
  nat,
  oneof,
  property,
  record,
  string,
  tuple,
  type Arbitrary,
} from 'fast-check';
import { describe, it } from 'mocha';
import {
  metadataBytesMaximum,
  PlainEvents,
  type PlainRecords,
} from '../../../../src/broker/publishing/plain-rules/plain-events.ts';
import { keysMaximum, numberBytesMaximum } from '../../../../src/broker/publishing/plain-rules/event-walk.ts';
import { eventBytesMaximum } from '../../../../src/broker/publishing/event-preparation.ts';
import { eventDepthMaximum, eventsPerRequestMaximum } from '../../../../src/broker/publishing/request-parsing.ts';
import type { PreparedEventType } from '../../../../src/broker/publishing/prepared-event-type.ts';
import { RequestMemory } from '../../../../src/broker/publishing/request-memory/request-memory.ts';
import { withoutEngine } from '../without-engine.ts';
import { exampleEid, exampleMetadata } from '../../../support/broker-on-embedded-log.ts';
import { contextOf, expectValid, inFull, order, orderSchema, stored, typeOf } from '../prepared-orders.ts';

/** Rules of every kind that a walk can check. */
const plainSchema = {
  type: 'object',
  title: 'An order',
  properties: {
    order: { type: 'string' },
    total: { type: 'number' },
    count: { type: 'integer' },
    placed: { type: 'string', format: 'date-time' },
    batch: { type: 'string', format: 'uuid' },
    kind: { enum: ['web', 'shop', 'Büro'] },
    unit: { const: 'EUR' },
    note: { type: ['string', 'null'] },
    paid: { type: 'boolean', nullable: true },
    lines: {
      type: 'array',
      minItems: 1,
      maxItems: 2,
      items: { type: 'object', properties: { sku: {} }, required: ['sku'], additionalProperties: false },
    },
    more: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: { type: 'integer' } },
    any: true,
  },
  required: ['order'],
};

const { metadata, lines: _lines, kind: _kind, ...plainOrder } = order;

const event = { metadata, ...plainOrder };

const slowMemory = withoutEngine(() => RequestMemory.create());

function prepared(type: PreparedEventType, body: Buffer): PlainRecords | undefined {
  const records = new PlainEvents(type).prepare(body, contextOf(type));
  if (records !== undefined) expect(stored(records.records)).to.deep.equal(stored(expectValid(type, body)));
  const compared = (each: PlainRecords | undefined) => each && { ...each, records: stored(each.records) };
  const again = new PlainEvents(type, slowMemory).prepare(body, contextOf(type));
  expect(compared(again)).to.deep.equal(compared(records));
  return records;
}

function isPrepared(type: PreparedEventType, request: string): boolean {
  return prepared(type, Buffer.from(request)) !== undefined;
}

describe('PlainEvents', () => {
  const type = typeOf({ compatibility_mode: 'none' }, plainSchema);

  describe('prepares without parsing', () => {
    const others: [string, object][] = [
      ['as they are', {}],
      ['with keys that the schema does not name', { added: 1, further: { deep: [[], {}, [null, true, false, -0.5]] } }],
      ['with times and ids in any spelling', { placed: '2024-02-29t23:59:59+01:00', batch: exampleEid.toUpperCase() }],
      ['with texts that are listed', { kind: 'Büro', unit: 'EUR' }],
      ['with null where it is allowed', { note: null, paid: null }],
      ['with letters beyond ASCII', { order: 'Ünï 😀', note: 'ß' }],
      ['with escapes', { note: 'a "b" \\ / \b\f\n\r\t \u0001 \ud800' }],
      ['with as many items and keys as may be', { lines: [{ sku: 1 }, { sku: {} }], more: { a: 1, b: -2 } }],
      ['with as few items and keys as must be', { lines: [{ sku: [] }], more: { a: 0 } }],
      ['with empty texts', { order: '', note: '' }],
      ['with the longest number', { total: 1 }],
    ];
    for (const [name, changes] of others) {
      it(`events ${name}`, () => {
        const reversed = Object.fromEntries(Object.entries({ ...event, ...changes }).toReversed());
        expect(isPrepared(type, JSON.stringify([event, { ...event, ...changes }, reversed]))).to.equal(true);
      });
    }

    it('numbers of as many digits as may be', () => {
      const request = (digits: number): string => JSON.stringify([event]).replace('315.47', '9'.repeat(digits));
      expect(isPrepared(type, request(numberBytesMaximum))).to.equal(true);
      expect(isPrepared(type, request(numberBytesMaximum + 1))).to.equal(false);
    });

    it('events as deep as may be', () => {
      const request = (levels: number): string =>
        JSON.stringify([event]).replace('"paid":true', `"any":${'['.repeat(levels)}${']'.repeat(levels)}`);
      expect(isPrepared(type, request(eventDepthMaximum - 1))).to.equal(true);
      expect(isPrepared(type, request(eventDepthMaximum))).to.equal(false);
    });

    it('objects with as many keys as are compared', () => {
      const request = (count: number): string =>
        JSON.stringify([
          { ...event, any: Object.fromEntries(Array.from({ length: count }, (_, key) => [`k${key}`, 1])) },
        ]);
      expect(isPrepared(type, request(keysMaximum))).to.equal(true);
      expect(isPrepared(type, request(keysMaximum + 1))).to.equal(false);
    });

    it('as many events as a request may have', () => {
      const bare = typeOf({ category: 'undefined', enrichment_strategies: [] }, {});
      const request = (count: number): Buffer => Buffer.from(`[${Array(count).fill('{"order":"A"}').join(',')}]`);
      const prepare = (count: number): unknown => new PlainEvents(bare).prepare(request(count), contextOf(bare));
      expect(prepare(eventsPerRequestMaximum)).to.not.equal(undefined);
      expect(prepare(eventsPerRequestMaximum + 1)).to.equal(undefined);
    });

    it('events that go to partitions at random, and those that are not enriched', () => {
      const random = { partition_strategy: 'random', partition_key_fields: [], compatibility_mode: 'none' };
      expect(isPrepared(typeOf(random, plainSchema), JSON.stringify([event, event]))).to.equal(true);
      const bare = { category: 'undefined', enrichment_strategies: [], compatibility_mode: 'none' };
      const { metadata: _none, ...sent } = event;
      expect(isPrepared(typeOf(bare, plainSchema), JSON.stringify([sent, { ...sent, order: 'é' }]))).to.equal(true);
    });

    it('events of category data, by several keys within the data', () => {
      const keys = { category: 'data', partition_key_fields: ['order', 'address.town'], compatibility_mode: 'none' };
      const data = {
        data_type: 'order',
        data_op: 'C',
        metadata: exampleMetadata({ event_type: 'orders' }),
        data: { order: 'A', address: { town: 'Ulm' } },
      };
      const request = [data, { ...data, data_op: 'D', data: { address: { town: 'Bonn', ...event }, order: 'B' } }];
      expect(isPrepared(typeOf(keys, plainSchema), JSON.stringify(request))).to.equal(true);
    });

    it('events with further metadata, which is stored as in full preparation', () => {
      const further = {
        flow_id: 'm"ine',
        span_ctx: { ot: 'ß' },
        parent_eids: [exampleEid],
        partition: '3',
        event_type: 'orders',
      };
      for (const [name, value] of Object.entries(further)) {
        const sent = { ...event, metadata: exampleMetadata({ [name]: value }) };
        const records = prepared(type, Buffer.from(JSON.stringify([sent, event])));
        expect(records?.isFirstPlain).to.equal(name === 'event_type');
      }
    });

    it('metadata as large as may be', () => {
      const rest = JSON.stringify(exampleMetadata({ flow_id: '' })).length;
      const request = (bytes: number): string =>
        JSON.stringify([{ ...event, metadata: exampleMetadata({ flow_id: 'x'.repeat(bytes - rest) }) }]);
      expect(isPrepared(type, request(metadataBytesMaximum))).to.equal(true);
      expect(isPrepared(type, request(metadataBytesMaximum + 1))).to.equal(false);
    });

    it('repeated events that are stored once', () => {
      const once = typeOf({ compatibility_mode: 'none' }, plainSchema, {
        'lendstream/deduplication-window-seconds': '60',
      });
      const body = Buffer.from(JSON.stringify([event, { ...event, metadata: exampleMetadata({ eid: exampleEid }) }]));
      expect(prepared(once, body)?.records.eids).to.deep.equal(inFull(once, body).eids);
    });

    it('and says where the first event ends', () => {
      const text = JSON.stringify([event, event]);
      expect(prepared(type, Buffer.from(text))?.firstEnd).to.equal(text.indexOf('},{"metadata') + 1);
    });
  });

  describe('leaves to full preparation', () => {
    const text = JSON.stringify([event]);
    const others: [string, string][] = [
      ['a text that is not listed', JSON.stringify([{ ...event, kind: 'phone' }])],
      ['another value than the listed texts', JSON.stringify([{ ...event, kind: 1 }])],
      ['a missing key', JSON.stringify([{ metadata }])],
      ['an event without metadata', JSON.stringify([plainOrder])],
      ['null where it is not allowed', JSON.stringify([{ ...event, order: null }])],
      ['another type', JSON.stringify([{ ...event, order: 17 }])],
      ['a boolean that is none', JSON.stringify([{ ...event, paid: 'true' }])],
      ['a fraction instead of an integer', text.replace('"count":3', '"count":3.5')],
      ['an integer that is written with a fraction', text.replace('"count":3', '"count":3.0')],
      ['one item too many', JSON.stringify([{ ...event, lines: [{ sku: 1 }, { sku: 1 }, { sku: 1 }] }])],
      ['one item too few', JSON.stringify([{ ...event, lines: [] }])],
      ['one key too many', JSON.stringify([{ ...event, more: { a: 1, b: 2, c: 3 } }])],
      ['one key too few', JSON.stringify([{ ...event, more: {} }])],
      ['an unknown key of a closed object', JSON.stringify([{ ...event, lines: [{ sku: 1, more: 1 }] }])],
      ['unknown metadata', JSON.stringify([{ ...event, metadata: exampleMetadata({ more: 1 }) }])],
      ['a repeated key', text.replace('"count":3', '"count":3,"count":3')],
      ['a repeated key of an unknown object', text.replace('"paid":true', '"any":{"a":1,"a":1}')],
      ['an escaped key', text.replace('"count":3', String.raw`"c\u006funt":3`)],
      ['an inherited key', text.replace('"count":3', '"__proto__":3')],
      ['an exponent, which may leave the range', text.replace('315.47', '1e999')],
      ['an invalid number', text.replace('315.47', '0315.47')],
      ['a number without decimals', text.replace('315.47', '315.')],
      ['a number that is only a sign', text.replace('315.47', '-')],
      ['an unknown word', text.replace('true', 'truth')],
      ['an escaped key field', JSON.stringify([{ ...event, order: 'A"17' }])],
      ['a control character', text.replace('A-17', 'A\t17')],
      ['an unknown escape', text.replace('A-17', String.raw`\x41`)],
      ['an escape that is cut off', text.replace('"paid":true', String.raw`"note":"\u00"`)],
      ['an invalid id', text.replace(exampleEid, `${exampleEid.slice(0, -1)}g`)],
      ['a day that does not exist', text.replace('2026-02-28', '2026-02-29')],
      ['a time without a zone', text.replace('10:00:00Z', '10:00:00')],
      ['a time with a point and no fraction', text.replace('10:00:00Z', '10:00:00.Z')],
      ['white space between tokens', JSON.stringify([event], undefined, 1)],
      ['white space at the end', `${text}\n`],
      ['an empty array', '[]'],
      ['an empty body', ''],
      ['no array', JSON.stringify(event)],
      ['an item that is no object', `${text.slice(0, -1)},1]`],
      ['one comma too many', text.replace(/\]$/, ',]')],
      ['a missing end', text.slice(0, -1)],
      ['text after the end', `${text}]`],
      ['an array that is never closed', text.replace('"paid":true', '"any":[1]').slice(0, -2)],
    ];
    for (const [name, request] of others) {
      it(name, () => {
        expect(new PlainEvents(type).prepare(Buffer.from(request), contextOf(type))).to.equal(undefined);
      });
    }

    it('every request that is cut', () => {
      for (let length = 0; length < text.length - 1; length += 1) {
        for (const end of ['', ']', '"]', '\\"]', '\\u00"]']) {
          expect(isPrepared(type, text.slice(0, length) + end), text.slice(0, length) + end).to.equal(false);
        }
      }
    });

    it('bytes that are no UTF-8', () => {
      const body = Buffer.from(text);
      body[body.indexOf('A-17')] = 0xff;
      expect(prepared(type, body)).to.equal(undefined);
    });

    it('an event that is too large', () => {
      const request = (bytes: number): string => {
        const rest = JSON.stringify([{ ...event, note: '' }]).length - 2;
        return JSON.stringify([{ ...event, note: 'x'.repeat(bytes - rest) }]);
      };
      expect(isPrepared(type, request(eventBytesMaximum))).to.equal(true);
      expect(isPrepared(type, request(eventBytesMaximum + 1))).to.equal(false);
    });

    it('partitions named by producers, and keys that delete', () => {
      const named = { ...event, metadata: exampleMetadata({ partition: '1' }) };
      const byName = { partition_strategy: 'user_defined', partition_key_fields: [], compatibility_mode: 'none' };
      expect(isPrepared(typeOf(byName, plainSchema), JSON.stringify([named]))).to.equal(false);
      const compacted = { cleanup_policy: 'compact', compatibility_mode: 'none' };
      const keyed = { ...event, metadata: exampleMetadata({ partition_compaction_key: 'k' }) };
      expect(isPrepared(typeOf(compacted, plainSchema), JSON.stringify([keyed]))).to.equal(false);
    });

    it('key fields that are missing or no strings', () => {
      for (const key of ['total', 'absent', 'more.a', 'lines.sku']) {
        const byKey = typeOf({ partition_key_fields: [key], compatibility_mode: 'none' }, { type: 'object' });
        const sent = { ...event, more: { a: 1 }, lines: [{ sku: 'x' }] };
        expect(new PlainEvents(byKey).prepare(Buffer.from(JSON.stringify([sent])), contextOf(byKey))).to.equal(
          undefined,
        );
      }
    });

    const rules: [string, object][] = [
      ['over several values', { anyOf: [{ required: ['order'] }] }],
      ['for patterns of keys', { patternProperties: { '^o': { maxLength: 4 } } }],
      ['behind a reference', { $defs: { all: { maxProperties: 9 } }, $ref: '#/$defs/all' }],
      ['over the length of a text', { properties: { order: { maxLength: 9 } } }],
      ['over the size of a number', { properties: { total: { minimum: 0 } } }],
      ['over unknown formats', { properties: { order: { format: 'email' } } }],
      ['with numbers listed', { properties: { total: { enum: [315.47] } } }],
      ['for each item of an array', { properties: { any: { type: 'array', items: [{ type: 'integer' }] } } }],
    ];
    for (const [name, rule] of rules) {
      it(`events under rules ${name}`, () => {
        const ruled = typeOf({ compatibility_mode: 'none' }, { type: 'object', ...rule });
        const sent = { ...event, any: [1] };
        expect(new PlainEvents(ruled).prepare(Buffer.from(JSON.stringify([sent])), contextOf(ruled))).to.equal(
          undefined,
        );
      });
    }
  });

  it('tries again less often when it keeps giving up, at most 62 requests later', () => {
    const events = new PlainEvents(type);
    const [plain, spaced] = [undefined, 1].map((space) => Buffer.from(JSON.stringify([event], undefined, space)));
    const isKnown = (body: Buffer | undefined): boolean =>
      events.prepare(body ?? Buffer.alloc(0), contextOf(type)) !== undefined;
    expect(isKnown(spaced)).to.equal(false);
    expect(isKnown(plain)).to.equal(true);
    expect([spaced, spaced, plain, plain, plain].map(isKnown)).to.deep.equal([false, false, false, false, true]);
    for (let request = 0; request < 200; request += 1) expect(isKnown(spaced)).to.equal(false);
    const afterwards = Array.from({ length: 63 }, () => isKnown(plain));
    expect(afterwards.at(-1)).to.equal(true);
  });

  it('stores the same as full preparation, for any events and any change of any bytes', () => {
    const types = [
      type,
      typeOf({ compatibility_mode: 'compatible' }, plainSchema),
      typeOf({ compatibility_mode: 'none', partition_key_fields: ['order', 'any.key'] }, plainSchema),
      typeOf({ compatibility_mode: 'none' }, orderSchema),
      typeOf({ compatibility_mode: 'none', category: 'undefined', enrichment_strategies: [] }, { type: 'object' }),
    ];
    const anyText = oneof(
      constantFrom('web', 'EUR', 'x"\\', '2026-02-28T10:00:00Z', exampleEid),
      string({ maxLength: 3 }),
    );
    const scalar: Arbitrary<unknown> = oneof(anyText, integer(), constantFrom(null, true, false, 0.5, -0, 1e300));
    const nested = oneof(
      scalar,
      array(scalar, { maxLength: 3 }),
      dictionary(constantFrom('sku', 'key', 'a', 'b', 'constructor'), oneof(scalar, array(scalar)), { maxKeys: 3 }),
      array(dictionary(constantFrom('sku', 'a'), scalar, { maxKeys: 2 }), { maxLength: 3 }),
    );
    const key = constantFrom(...Object.keys(plainSchema.properties), 'toString', 'é');
    const sent = tuple(
      dictionary(key, nested, { maxKeys: 4 }),
      constantFrom(event, { metadata, order: 'B' }),
      nat(9),
    ).map(([changes, base, turn]) => {
      const entries = Object.entries({ ...base, ...changes });
      return Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)]);
    });
    const piece: Arbitrary<string> = oneof(
      constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '.', '-', '0', '1', 'e', ' ', '\n', 'é', '\\u0041', '""'),
      constantFrom('"order":"B",', '"metadata":{},', '"a":1,', 'null', 'true', '1.5', '-0', '1e5', '00', '\u0000'),
      string({ maxLength: 3 }),
    );
    const change = record({ at: nat(400), deleted: nat(4), inserted: piece });
    const changes = oneof({ weight: 2, arbitrary: constant([]) }, array(change, { maxLength: 2 }));
    let preparedCount = 0;
    assert(
      property(
        constantFrom(...types),
        array(sent, { minLength: 1, maxLength: 3 }),
        changes,
        (ofType, events, edits) => {
          let text = JSON.stringify(events);
          for (const { at, deleted, inserted } of edits) text = text.slice(0, at) + inserted + text.slice(at + deleted);
          if (isPrepared(ofType, text)) preparedCount += 1;
        },
      ),
      { numRuns: 4_000 },
    );
    expect(preparedCount).to.be.greaterThan(400);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parseSchema } from '../../../src/broker/schemas/schema-validator.ts';
import {
  compareSchemas,
  nextSchemaVersion,
  type CompatibilityMode,
} from '../../../src/broker/schemas/schema-evolution.ts';
import { processorMilliseconds } from '../../support/values/processor-time.ts';

type Schema = Record<string, unknown>;
type EvolutionOutcome = '2.0.0' | '1.5.0' | '1.4.8' | 'refused';

function property(schema: unknown): Schema {
  return { type: 'object', properties: { a: schema } };
}

/** The next version after 1.4.7 in modes none, forward and compatible. */
const breaking: EvolutionOutcome[] = ['2.0.0', 'refused', 'refused'];
const narrowing: EvolutionOutcome[] = ['1.5.0', '1.5.0', 'refused'];
const extending: EvolutionOutcome[] = ['1.5.0', '1.5.0', '1.5.0'];
const wording: EvolutionOutcome[] = ['1.4.8', '1.4.8', '1.4.8'];

const cases: [name: string, previous: Schema, next: Schema, expected: EvolutionOutcome[]][] = [
  ['the layout of the text', property({}), property({}), wording],
  ['a title', { title: 'x' }, { title: 'y' }, wording],
  ['a nested description', property({ description: 'x' }), property({}), wording],
  ['an unknown word', {}, { price: 1 }, wording],
  ['an unused definition', {}, { definitions: { x: { type: 'string' } } }, wording],
  ['a new property', { properties: {} }, property({ type: 'string' }), extending],
  ['a new nested property', property({ properties: {} }), property(property({})), extending],
  ['a new property and a removed one', property({}), { properties: { b: {} } }, breaking],
  ['a removed property', property({}), { type: 'object', properties: {} }, breaking],
  ['a changed type', property({ type: 'string' }), property({ type: 'number' }), breaking],
  ['a wider type', property({ type: 'integer' }), property({ type: 'number' }), breaking],
  ['an additional type', property({ type: 'string' }), property({ type: ['string', 'null'] }), breaking],
  ['a narrower number', property({ type: 'number' }), property({ type: 'integer' }), narrowing],
  ['one type fewer', property({ type: ['string', 'null'] }), property({ type: 'string' }), narrowing],
  ['a type that was missing before', property({}), property({ type: 'string' }), narrowing],
  ['one more required property', { required: ['a'] }, { required: ['b', 'a'] }, narrowing],
  ['required properties in another order', { required: ['a', 'b'] }, { required: ['b', 'a'] }, wording],
  ['one required property fewer', { required: ['a', 'b'] }, { required: ['a'] }, breaking],
  ['a different required property', { required: ['a'] }, { required: ['b'] }, breaking],
  ['a closed object', {}, { additionalProperties: false }, narrowing],
  ['a partly closed object', {}, { additionalProperties: { type: 'string' } }, narrowing],
  [
    'a completely closed object',
    { additionalProperties: { type: 'string' } },
    { additionalProperties: false },
    narrowing,
  ],
  ['a reopened object', { additionalProperties: false }, {}, breaking],
  ['an explicitly open object', {}, { additionalProperties: true }, wording],
  ['an added enum value', property({ enum: ['x'] }), property({ enum: ['x', 'y'] }), breaking],
  ['an enum', property({}), property({ enum: ['x'] }), breaking],
  ['a pattern', property({ pattern: 'x' }), property({ pattern: 'y' }), breaking],
  ['a bound', property({ minimum: 1 }), property({ minimum: 2 }), breaking],
  ['a composition', { allOf: [{}] }, { anyOf: [{}] }, breaking],
  ['a part of a composition', { allOf: [{}] }, { allOf: [{}, {}] }, breaking],
  ['the inside of a composition', { allOf: [{ type: 'object' }] }, { allOf: [property({})] }, extending],
  ['the number of items', { items: [{}] }, { items: [{}, {}] }, breaking],
  ['a list of items in place of one schema', { items: {} }, { items: [{}] }, breaking],
  ['one schema of items in place of a list', { items: [{}] }, { items: {} }, breaking],
  ['a list of items that was missing before', {}, { items: [{}] }, breaking],
  ['a removed list of items', { prefixItems: [{}] }, {}, breaking],
  ['the inside of a listed item', { items: [{ type: 'object' }] }, { items: [property({})] }, extending],
  ['items that were missing before', { type: 'array' }, { type: 'array', items: { type: 'string' } }, narrowing],
  ['removed items', { items: {} }, {}, breaking],
  ['items of another type', { items: { type: 'string' } }, { items: { type: 'null' } }, breaking],
  ['the rule for additional items', { additionalItems: false }, {}, breaking],
  ['dependencies', { dependencies: { a: ['b'] } }, { dependencies: { a: ['c'] } }, breaking],
  ['the id', { $id: 'x' }, { $id: 'y' }, breaking],
  [
    'the target of a reference',
    { ...property({ $ref: '#/definitions/x' }), definitions: { x: { type: 'string' } } },
    { ...property({ $ref: '#/definitions/x' }), definitions: { x: { type: 'number' } } },
    breaking,
  ],
  [
    'a subschema moved into a definition',
    property({ type: 'string' }),
    { ...property({ $ref: '#/definitions/x' }), definitions: { x: { type: 'string' } } },
    wording,
  ],
  ['a forbidden property', property({}), property(false), breaking],
];

const modes: CompatibilityMode[] = ['none', 'forward', 'compatible'];

describe('nextSchemaVersion', () => {
  for (const [name, previous, next, expected] of cases) {
    it(`judges ${name}: ${expected.join(', ')}`, () => {
      const outcomes = modes.map((mode) => {
        try {
          return nextSchemaVersion(previous, next, mode, '1.4.7');
        } catch (error) {
          expect(error).to.have.property('code', 'UNPROCESSABLE');
          return 'refused';
        }
      });
      expect(outcomes).to.deep.equal(expected);
    });
  }

  it('names every part that may not change', () => {
    const previous = { ...property({ type: 'string' }), required: ['a'] };
    const next = { type: 'object', properties: { b: {} }, required: [] };
    expect(() => nextSchemaVersion(previous, next, 'forward', '1.0.0')).to.throw(
      'Invalid schema: #/properties/a: schema properties cannot be removed, #/required: required array changed',
    );
  });

  it('increments any version', () => {
    expect(nextSchemaVersion({}, property({}), 'forward', '12.9.3')).to.equal('12.10.0');
    expect(nextSchemaVersion({}, { required: ['a'] }, 'none', '1.0.0')).to.equal('1.1.0');
    expect(nextSchemaVersion(property({}), {}, 'none', '1.9.9')).to.equal('2.0.0');
  });
});

describe('compareSchemas', () => {
  it('names changes of the wording, too', () => {
    const changes = compareSchemas(property({ title: 'x' }), property({ title: 'y', description: 'z' }));
    expect(changes).to.deep.equal([
      { kind: 'wording', pointer: '#/properties/a/title', message: 'title changed' },
      { kind: 'wording', pointer: '#/properties/a/description', message: 'description changed' },
    ]);
  });

  it('ends with schemas that contain themselves', () => {
    const tree = (type: string): Schema => ({ properties: { child: { $ref: '#' }, name: { type } } });
    expect(compareSchemas(tree('string'), tree('number')).map(({ pointer }) => pointer)).to.include(
      '#/properties/name',
    );
    const endless = { $ref: '#/definitions/a', definitions: { a: { $ref: '#/definitions/a' } } };
    expect(compareSchemas(endless, endless)).to.deep.equal([]);
  });

  it('follows up to 31 references in a row, and treats more as endless', () => {
    const chain = (length: number, type: string): Schema => ({
      ...property({ $ref: '#/definitions/d1' }),
      definitions: Object.fromEntries(
        Array.from({ length }, (_, index) => [
          `d${index + 1}`,
          index + 1 === length ? { type } : { $ref: `#/definitions/d${index + 2}` },
        ]),
      ),
    });
    const kindsFor = (length: number) =>
      compareSchemas(chain(length, 'string'), chain(length, 'number')).map(({ kind }) => kind);
    expect(kindsFor(31)).to.deep.equal(['breaking']);
    expect(kindsFor(32)).to.deep.equal([]);
  });

  it('distinguishes null from an object and from a list', () => {
    const kindsOf = (before: unknown, after: unknown) =>
      compareSchemas({ const: before }, { const: after }).map(({ kind }) => kind);
    for (const value of [{ a: 1 }, [1], 'x']) {
      expect(kindsOf(value, null), JSON.stringify(value)).to.deep.equal(['breaking']);
      expect(kindsOf(null, value), JSON.stringify(value)).to.deep.equal(['breaking']);
    }
    expect(kindsOf(null, null)).to.deep.equal([]);
  });

  it('treats a reference with broken escapes as one without a target', () => {
    const named = (type: string): Schema => ({
      ...property({ $ref: '#/definitions/%' }),
      definitions: { undefined: { type } },
    });
    expect(compareSchemas(named('string'), named('number'))).to.deep.equal([]);
    const odd = property({ $ref: '#/definitions/%E0%A4%A' });
    expect(compareSchemas(odd, odd)).to.deep.equal([]);
    expect(compareSchemas(property({}), odd).map(({ kind }) => kind)).to.deep.equal(['breaking']);
  });
});

describe('compareSchemas of costly schemas', () => {
  const fields = (count: number, make: (index: number) => unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, make(index)]));

  it('compares the target of many references once', () => {
    const listed = Array.from({ length: 30_000 }, (_, index) => index);
    const schema = {
      properties: fields(600, (index) => ({ $ref: `#/definitions/alias${index}` })),
      definitions: {
        large: { enum: listed, properties: fields(10, () => ({ type: 'string' })) },
        ...Object.fromEntries(
          Object.entries(fields(600, (index) => ({ $ref: '#/definitions/large', title: String(index) }))).map(
            ([, alias], index) => [`alias${index}`, alias],
          ),
        ),
      },
    };
    const copy = structuredClone(schema);
    const took = processorMilliseconds(() => expect(compareSchemas(schema, copy)).to.deep.equal([]));
    expect(took).to.be.lessThan(5_000);
  });

  it('compares up to the maximum number of parts, and refuses more', () => {
    const schema = (aliases: number) => ({
      properties: fields(aliases, (index) => ({ $ref: `#/definitions/f${index}` })),
      definitions: {
        ...fields(aliases, (index) => ({ $ref: '#/definitions/large', title: String(index) })),
        large: { properties: fields(98, () => ({ type: 'string' })) },
      },
    });
    expect(compareSchemas(schema(100), schema(100))).to.deep.equal([]);
    expect(() => compareSchemas(schema(102), schema(102))).to.throw(/leads to more than 10000 places/);
  });

  it('distinguishes digits that no double can represent', () => {
    const change = (previous: string, next: string) =>
      compareSchemas(parseSchema(`{"maximum":${previous}}`), parseSchema(`{"maximum":${next}}`)).map(
        ({ kind }) => kind,
      );
    expect(change('9007199254740992', '9007199254740993')).to.deep.equal(['breaking']);
    expect(change('9007199254740993', '9007199254740993')).to.deep.equal([]);
  });

  it('distinguishes them through a reference too, beside other keywords with such digits', () => {
    const schema = (least: string, most: string, definition: string) =>
      parseSchema(
        `{"properties":{"n":{"$ref":"#/definitions/d","minimum":${least},"maximum":${most}}},` +
          `"definitions":{"d":{"multipleOf":${definition},"maximum":9007199254740999}}}`,
      );
    const before = schema('9007199254740993', '5', '9007199254740993');
    const kindsOf = (after: ReturnType<typeof parseSchema>) => compareSchemas(before, after).map(({ kind }) => kind);
    expect(kindsOf(schema('9007199254740993', '5', '9007199254740993'))).to.deep.equal([]);
    expect(kindsOf(schema('9007199254740993', '5', '9007199254740992'))).to.deep.equal(['breaking']);
    expect(kindsOf(schema('9007199254740992', '5', '9007199254740993'))).to.deep.equal(['breaking']);
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { recordDigits, writtenDigits } from '../../../src/broker/schemas/schema-digits.ts';
import {
  type SchemaObject,
  isSchemaObject,
  mapSchema,
  pointerStep,
  referredTo,
  visitSchema,
  listingKeywordOf,
} from '../../../src/broker/schemas/schema-walk.ts';

const schema = {
  type: 'object',
  properties: { items: { type: 'string' }, 'a/b': { anyOf: [{ const: { not: {} } }, true] } },
  items: [{ minimum: 1 }],
  additionalProperties: { items: { enum: [{ type: 'x' }] } },
  dependencies: { a: ['b'], c: { required: ['d'] } },
  $defs: { e: { not: { type: 'null' } } },
};

describe('visitSchema', () => {
  it('visits every schema, and nothing that only looks like one', () => {
    const pointers: string[] = [];
    visitSchema(schema, (_found, pointer) => pointers.push(pointer));
    expect(pointers).to.have.members([
      '#',
      '#/properties/items',
      '#/properties/a~1b',
      '#/properties/a~1b/anyOf/0',
      '#/items/0',
      '#/additionalProperties',
      '#/additionalProperties/items',
      '#/dependencies/c',
      '#/$defs/e',
      '#/$defs/e/not',
    ]);
  });
});

describe('mapSchema', () => {
  it('changes a schema from the leaves up and leaves the original unchanged', () => {
    const before = JSON.stringify(schema);
    const mapped = mapSchema(schema, (found) => ({ ...found, seen: Object.keys(found).length }));
    expect(mapped['items']).to.deep.equal([{ minimum: 1, seen: 1 }]);
    expect(JSON.stringify(schema)).to.equal(before);
  });

  it('reports how a schema is attached to its parent', () => {
    const parents: (string | null)[] = [];
    mapSchema({ properties: { a: { allOf: [{}] } } }, (found, _pointer, parent) => {
      parents.push(parent);
      return found;
    });
    expect(parents).to.deep.equal(['allOf', 'properties', null]);
  });

  it('changes schemas where no keyword has one only at the given positions', () => {
    const odd = { x: { y: [{ type: 'string' }, { type: 'null' }], z: {} }, title: 'x' };
    const pointersWith = (...elsewhere: string[]): string[] => {
      const pointers: string[] = [];
      const mapped = mapSchema(
        odd,
        (found, pointer) => {
          pointers.push(pointer);
          return { ...found, seen: true };
        },
        new Set(elsewhere),
      );
      expect(mapped['title']).to.equal('x');
      return pointers;
    };
    expect(pointersWith('#/x/y/1')).to.deep.equal(['#/x/y/1', '#']);
    expect(pointersWith('#/x/y/0', '#/x/z')).to.deep.equal(['#/x/y/0', '#/x/z', '#']);
    expect(pointersWith()).to.deep.equal(['#']);
    expect(mapSchema(odd, (found) => found)['x'], 'not even a copy').to.equal(odd.x);
  });

  it('keeps the digits of numbers, also around schemas where no keyword has one', () => {
    const digits = '1.00000000000000000001';
    const text = `{"maximum":${digits},"x":{"y":[${digits},{}],"z":${digits}}}`;
    const long = JSON.parse(text) as SchemaObject;
    recordDigits(text, long);
    const mapped = mapSchema(long, (found) => found, new Set(['#/x/y/1'])) as { x: { y: unknown[] } };
    expect(writtenDigits(mapped, 'maximum')).to.equal(digits);
    expect(writtenDigits(mapped.x, 'z')).to.equal(digits);
    expect(writtenDigits(mapped.x.y, 0)).to.equal(digits);
  });

  it('keeps a property named __proto__ a property', () => {
    const mapped = mapSchema(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), (found) => found);
    expect(JSON.stringify(mapped)).to.equal('{"properties":{"__proto__":{"type":"string"}}}');
  });
});

describe('referredTo', () => {
  it('finds the targets of all local references, also where no keyword has a schema', () => {
    const references = { a: { $ref: '#/x/%61' }, b: [null, 1, { $ref: '#/y' }], $ref: '#/%' };
    expect([...referredTo({ unknown: references })]).to.have.members(['#/x/a', '#/y', '#/%']);
    expect([...referredTo({ a: { $ref: '#' }, b: { $ref: 'other.json' }, c: { $ref: 7 } })]).to.deep.equal([]);
  });
});

describe('pointerStep', () => {
  it('escapes the characters that a pointer uses itself', () => {
    expect(pointerStep('#', 'a/b~c')).to.equal('#/a~1b~0c');
  });
});

describe('isSchemaObject', () => {
  it('distinguishes objects from arrays, null and booleans', () => {
    expect([{}, [], null, true].map(isSchemaObject)).to.deep.equal([true, false, false, false]);
  });
});

describe('A reference to a listed value', () => {
  const keywords: [reference: string, keyword: string | undefined][] = [
    ['#/examples/0', 'examples'],
    ['#/properties/a/enum/12/properties/b', 'enum'],
    ['#/x/default/0', 'default'],
    ['#/%65xamples/0', 'examples'],
    ['#/examples%2F0', 'examples'],
    ['#/const/0', 'const'],
    ['#/properties/examples/properties/0', undefined],
    ['#/definitions/enum', undefined],
    ['#', undefined],
    ['#/%E0%A4%A', undefined],
  ];
  for (const [reference, keyword] of keywords) {
    it(`is ${keyword === undefined ? 'not' : `under ${keyword} what`} ${reference} is`, () => {
      expect(listingKeywordOf(reference)).to.equal(keyword);
    });
  }
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { describesField } from '../../../src/broker/schemas/schema-fields.ts';

describe('describesField', () => {
  const text = { type: 'string' };
  const schema = {
    properties: { a: { properties: { b: text, open: true } }, 'x.y': text, c: { $ref: '#/definitions/c' } },
    allOf: [{ properties: { inAll: text } }],
    anyOf: [{ oneOf: [{ properties: { inOne: { properties: { deep: text } } } }] }],
    if: {},
    else: { properties: { otherwise: text } },
    definitions: {
      c: { properties: { d: { $ref: '#/definitions/c' }, end: text, 'a/b': { $ref: '#/definitions/a~1b' } } },
      'a/b': { properties: { slash: text } },
      unused: { properties: { unused: text } },
    },
  };
  for (const [path, isDescribed] of [
    ['a', true],
    ['a.b', true],
    ['a.open', true],
    ['a.b.c', false],
    ['a.z', false],
    ['zzz', false],
    ['', false],
    ['x.y', false],
    ['toString', false],
    ['inAll', true],
    ['inOne.deep', true],
    ['otherwise', true],
    ['c.d.d.d.end', true],
    ['c.d.zzz', false],
    ['c.a/b.slash', true],
    ['unused', false],
  ] as const) {
    it(`returns ${isDescribed} for ${path === '' ? 'no path' : path}`, () => {
      expect(describesField(schema, path)).to.equal(isDescribed);
    });
  }

  it('returns true where property names have a pattern', () => {
    expect(describesField({ patternProperties: { '^x-': text } }, 'anything.at.all')).to.equal(true);
  });

  it('ignores references without a target', () => {
    const inside = [
      '#/definitions/none',
      '#/definitions/none/deeper',
      '#/definitions/c/type/x',
      '#/nothing/deeper',
      '#/%',
    ];
    for (const $ref of [...inside, '#anchor', 'https://example.org/', 7]) {
      const named = { properties: { a: text } };
      expect(describesField({ $ref, definitions: { c: text }, nothing: null, undefined: named }, 'a')).to.equal(false);
    }
  });

  it('ignores references outside of the schema, even when a property of the schema has that name', () => {
    for (const $ref of ['#anchor', 'other.json', 'other.json/properties/b', 'other.json#/properties/b']) {
      const properties = { a: { $ref }, b: { properties: { c: text } }, c: text };
      expect([describesField({ properties }, 'a.c'), describesField({ properties }, 'a.b')]).to.deep.equal([
        false,
        false,
      ]);
    }
  });

  it('is exact up to 10,000 parts, and returns true where there are more', () => {
    // The root and the property are parts, too.
    const withAlternatives = (count: number) => ({
      properties: { a: { anyOf: Array.from({ length: count }, () => ({})) } },
    });
    expect(describesField(withAlternatives(9_998), 'a.z')).to.equal(false);
    expect(describesField(withAlternatives(9_999), 'a.z')).to.equal(true);
  });

  it('searches at most 10,000 parts, however the schema refers to itself', () => {
    let partsSearched = 0;
    const parts = Array.from({ length: 600 }, (_, index) => ({
      get properties() {
        partsSearched += 1;
        return { a: { $ref: `#/definitions/d${index}` } };
      },
    }));
    const definitions = Object.fromEntries(parts.map((_, index) => [`d${index}`, { $ref: '#' }]));
    expect(describesField({ anyOf: parts, definitions }, 'a.'.repeat(127) + 'z')).to.equal(true);
    expect(partsSearched).to.be.within(1, 10_000);
  });
});

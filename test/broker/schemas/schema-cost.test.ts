import { expect } from 'chai';
import { describe, it } from 'mocha';
import { effectiveSchema } from '../../../src/broker/schemas/effective-schema.ts';
import { readAdminSchema } from '../../../src/broker/schemas/admin-schema.ts';
import { eventRules } from '../../../src/broker/schemas/compiled-schemas.ts';
import { compileValidator } from '../../../src/broker/schemas/schema-validator.ts';
import {
  evaluatedNamesMaximum,
  refuseCostlySchema,
  refuseManyEvaluatedNames,
  schemaPartsMaximum,
  schemaPatternCostMaximum,
  schemaPointerCharactersMaximum,
} from '../../../src/broker/schemas/schema-cost.ts';
import type { SchemaObject } from '../../../src/broker/schemas/schema-walk.ts';

function many(count: number, make: (index: number) => unknown): unknown[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function fields(count: number, make: (index: number) => unknown): SchemaObject {
  return { properties: Object.fromEntries(many(count, (index) => [`f${index}`, make(index)]) as [string, unknown][]) };
}

/** Two for the schema itself and its `properties`. */
const most = schemaPartsMaximum - 2;

describe('The cost of a schema', () => {
  const bearable: [title: string, schema: SchemaObject][] = [
    ['the maximum number of plain fields', fields(most / 2, () => ({ type: 'string' }))],
    ['the maximum number of forbidden fields', fields(most, () => false)],
    ['the maximum number of integers', fields(Math.floor(most / 3), () => ({ type: 'integer' }))],
    ['the maximum number of references', fields(Math.floor(most / 3), () => ({ $ref: '#' }))],
    ['the maximum number of positional items', { prefixItems: many(most, () => false) }],
    ['the maximum number of alternatives', { oneOf: many(most / 2, (index) => ({ const: index })) }],
    ['the maximum number of patterns', fields(Math.floor(most / 12), (index) => ({ pattern: `^(a|b${index})+$` }))],
    ['many listed values', fields(1, () => ({ enum: many(20_000, (index) => index) }))],
    ['a field that is called enum', { properties: { enum: { type: 'string' } } }],
    ['a definition that many references use', definedOnce(Math.floor(most / 5))],
  ];
  for (const [title, schema] of bearable) {
    it(`is acceptable with ${title}, which publishing can compile`, () => {
      refuseCostlySchema(schema);
      const rules = { name: 'a', category: 'business', compatibility_mode: 'none', cleanup_policy: 'delete' } as const;
      const { $id: _id, $ref: _reference, ...plain } = schema;
      const effective = effectiveSchema(readAdminSchema(JSON.stringify(plain), rules), rules);
      expect(compileValidator(effective, { allViolations: false })({})).not.to.deep.equal([]);
    });
  }

  it('does not limit the schemas of the service, whose cost is known', () => {
    const text = JSON.stringify(fields(most + 1, () => true));
    const rules = { name: 'a', category: 'undefined', compatibility_mode: 'none', cleanup_policy: 'delete' } as const;
    expect(() => readAdminSchema(text, rules)).to.throw(/1201 parts/);
    expect(() => eventRules(text, rules)).to.throw(/1201 parts/);
    expect(eventRules(text, rules, true).schema).to.deep.equal(JSON.parse(text));
  });

  const tooMuch: [title: string, schema: SchemaObject, reason: RegExp][] = [
    ['one part more than the maximum', fields(most + 1, () => true), /1201 parts, more than 1200/],
    ['one integer more than the maximum', fields(Math.floor(most / 3) + 1, () => ({ type: 'integer' })), /parts/],
    [
      'one integer or null more than the maximum',
      fields(Math.floor(most / 5) + 1, () => ({ type: ['integer', 'null'] })),
      /parts/,
    ],
    ['one reference more than the maximum', fields(Math.floor(most / 3) + 1, () => ({ $ref: '#' })), /parts/],
    ['thousands of alternatives', { anyOf: many(5_000, (index) => ({ required: [`a${index}`] })) }, /parts/],
    ['one pattern more than the maximum', fields(Math.ceil(most / 12), () => ({ pattern: 'a' })), /parts/],
    [
      'patterns in the names of fields',
      { patternProperties: Object.fromEntries(many(200, (i) => [`^${String(i)}`, {}]) as [string, unknown][]) },
      /parts/,
    ],
    ['large repetitions of classes', fields(3, () => ({ pattern: '^\\p{L}{900}$' })), /regular expressions/],
    ['one field more than the maximum under an unknown keyword', { x: { y: [fields(most, () => true)] } }, /parts/],
    [
      'one field more than the maximum in a field that is called enum',
      { properties: { enum: fields(most, () => true) } },
      /parts/,
    ],
    ['patterns under an unknown keyword', { x: [fields(3, () => ({ pattern: '^\\p{L}{900}$' }))] }, /regular/],
    ['repetitions of repetitions', { properties: { a: { pattern: '((a{30}){30}){30}' } } }, /regular expressions/],
  ];
  for (const [title, schema, reason] of tooMuch) {
    it(`is too high with ${title}`, () => {
      expect(() => refuseCostlySchema(schema)).to.throw(reason);
    });
  }

  it('has the limits that the documents promise', () => {
    expect([schemaPartsMaximum, evaluatedNamesMaximum, schemaPatternCostMaximum]).to.deep.equal([1_200, 3_000, 20_000]);
  });

  it('counts the lengths of the pointers to its parts, up to a limit', () => {
    // The root and two keywords have 13 characters; each of two hundred fields has two parts after its own name.
    const properties = (characters: number): SchemaObject => ({
      type: 'object',
      properties: Object.fromEntries(
        many(200, (index) => [`${index}`.padEnd(characters, 'x'), { type: 'string' }]) as [string, unknown][],
      ),
    });
    const positionsOf = (schema: SchemaObject): string => {
      try {
        refuseCostlySchema(schema);
        return 'few';
      } catch (error) {
        return String(error);
      }
    };
    // "#", "#/type", "#/properties", then "#/properties/<name>" and "#/properties/<name>/type".
    const charactersOf = (name: number): number => 1 + 6 + 12 + 200 * (2 * (13 + name) + 5);
    expect(schemaPointerCharactersMaximum).to.equal(500_000);
    const longest = Math.floor((schemaPointerCharactersMaximum - charactersOf(0)) / 400);
    expect(positionsOf(properties(longest))).to.equal('few');
    expect(positionsOf(properties(longest + 1))).to.include(`have ${charactersOf(longest + 1)} characters, more than`);
  });

  /** Half of the parts in one definition, the other half in references to it. */
  function definedOnce(count: number): SchemaObject {
    return {
      $defs: { all: fields(count - 2, () => ({ type: 'string' })) },
      ...fields(count - 2, () => ({ $ref: '#/$defs/all' })),
    };
  }
});

describe('The evaluated names that validators collect', () => {
  /** This many fields that refer to a definition of this many names, and no other allowed names. */
  const closed = (places: number, names: number): SchemaObject => ({
    $defs: { all: fields(names, () => true) },
    ...fields(places, () => ({ $ref: '#/$defs/all', unevaluatedProperties: false })),
  });

  it('are counted through every reference, up to a limit', () => {
    refuseManyEvaluatedNames(closed(evaluatedNamesMaximum / 100, 100));
    expect(() => refuseManyEvaluatedNames(closed(evaluatedNamesMaximum / 100 + 1, 100))).to.throw(
      `lead to ${evaluatedNamesMaximum + 100} evaluated field names`,
    );
  });

  it('are counted beside the longest listed value that a schema may contain', () => {
    expect(() => refuseManyEvaluatedNames({ const: many(131_000, () => 0) })).not.to.throw();
  });

  it('are not counted where no schema rejects unevaluated fields, nor in circles', () => {
    const { properties } = closed(100, 100);
    refuseManyEvaluatedNames({
      $defs: { all: fields(100, () => true) },
      allOf: many(100, () => ({ $ref: '#/$defs/all' })),
    });
    refuseManyEvaluatedNames({ allOf: [{ $ref: '#' }], unevaluatedProperties: false, properties: {} });
    expect(() => refuseManyEvaluatedNames({ properties, $defs: { all: fields(100, () => true) } })).to.throw(/names/);
  });
});

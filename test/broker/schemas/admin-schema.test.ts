import { expect } from 'chai';
import { describe, it } from 'mocha';
import { effectiveSchema, type ValidatedType } from '../../../src/broker/schemas/effective-schema.ts';
import { readAdminSchema, schemaCharactersMaximum } from '../../../src/broker/schemas/admin-schema.ts';
import { compileValidator } from '../../../src/broker/schemas/schema-validator.ts';

const business: ValidatedType = {
  name: 'orders.created',
  category: 'business',
  compatibility_mode: 'forward',
  cleanup_policy: 'delete',
};

describe('readAdminSchema', () => {
  const cases: [name: string, text: string, type: ValidatedType, message: RegExp][] = [
    ['a root that is no object', '{"type":"string"}', business, /root must be of type "object"/],
    ['metadata in business events', '{"properties":{"metadata":{}}}', business, /"metadata" is reserved/],
    [
      'a reference to another document',
      '{"properties":{"a":{"$ref":"http://x/y"}}}',
      business,
      /#\/properties\/a.*outside/,
    ],
    [
      'not in mode compatible',
      '{"properties":{"a":{"not":{}}}}',
      { ...business, compatibility_mode: 'compatible' },
      /Invalid schema found in \[#\/properties\/a\]: extraneous key \[not\] is not permitted/,
    ],
    ['a schema that is too long', `{"a":"${'x'.repeat(schemaCharactersMaximum)}"}`, business, /longer than/],
    ['a schema that is nested too deep', `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`, business, /nested deeper/],
    ['a text that is no JSON', '{', business, /not JSON/],
  ];
  for (const [name, text, type, message] of cases) {
    it(`refuses ${name}`, () => {
      expect(() => readAdminSchema(text, type)).to.throw(message);
    });
  }

  it('allows metadata in other categories and in modes other than compatible', () => {
    const text = '{"properties":{"metadata":{"not":{}}}}';
    expect(readAdminSchema(text, { ...business, category: 'data' })).to.deep.equal(JSON.parse(text));
  });
});

describe('readAdminSchema of a root', () => {
  const roots: [schema: Record<string, unknown>, reason: RegExp][] = [
    [{ required: 'n' }, /Invalid schema: #\/required: must be array/],
    [{ required: { n: true } }, /#\/required: must be array/],
    [{ required: null }, /#\/required: must be array/],
    [{ properties: ['n'] }, /#\/properties: must be object/],
    [{ properties: 7 }, /#\/properties: must be object/],
  ];
  for (const category of ['business', 'data', 'undefined'] as const) {
    for (const [schema, reason] of roots) {
      it(`refuses ${JSON.stringify(schema)} in category ${category}`, () => {
        expect(() => readAdminSchema(JSON.stringify(schema), { ...business, category })).to.throw(reason);
      });
    }
  }

  it('refuses names of required fields that are no strings, as it does in nested schemas', () => {
    for (const schema of [{ required: ['a', 3] }, { properties: { a: { required: ['a', 3] } } }]) {
      const read = () => compileValidator(effectiveSchema(readAdminSchema(JSON.stringify(schema), business), business));
      expect(read).to.throw(/must be string/);
    }
  });
});

describe('readAdminSchema of references', () => {
  const manyFields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { type: 'string' }]));
  for (const [keyword, listed] of [
    ['examples', [{ properties: manyFields }]],
    ['enum', [{ properties: { a: { type: 'string' } } }]],
    ['default', [{ type: 'string' }]],
    ['const', [[{ type: 'string' }]]],
  ] as const) {
    it(`refuses one to a value under ${keyword}`, () => {
      for (const reference of [`#/${keyword}/0`, `#/x/${keyword}/0/0`]) {
        const schema = { properties: { a: { $ref: reference } }, [keyword]: listed };
        expect(() => readAdminSchema(JSON.stringify(schema), business)).to.throw(
          `Invalid schema: the reference "${reference}" leads into the values of "${keyword}", which are not schemas`,
        );
      }
    });
  }

  it('refuses one inside a value that only references reach', () => {
    const schema = { properties: { a: { $ref: '#/x/y' } }, x: { y: { $ref: '#/examples/0' } }, examples: [{}] };
    expect(() => readAdminSchema(JSON.stringify(schema), business)).to.throw(/leads into the values of "examples"/);
  });

  it('counts the fields of a target under an unknown keyword', () => {
    for (const count of [2_000, 5_000]) {
      const properties = Object.fromEntries(Object.entries(manyFields).slice(0, count));
      const schema = { properties: { a: { $ref: '#/x/0' } }, x: [{ type: 'object', properties }] };
      expect(() => readAdminSchema(JSON.stringify(schema), business)).to.throw(/parts, more than 1200/);
    }
  });
});

describe('readAdminSchema at its limits', () => {
  const ofCharacters = (count: number) => `{"title":"${'x'.repeat(count - '{"title":""}'.length)}"}`;
  // The innermost value is a level too.
  const ofLevels = (count: number) => `${'{"x":'.repeat(count - 1)}1${'}'.repeat(count - 1)}`;
  // A regular expression counts as one part and ten more.
  const ofPatterns = (instructions: number) => {
    const pattern = 'a{900}';
    const whole = Math.floor(instructions / 900);
    const patterns = [...Array.from({ length: whole }, () => pattern), `a{${instructions - whole * 900}}`];
    return JSON.stringify({
      properties: Object.fromEntries(patterns.map((text, at) => [`f${at}`, { pattern: text }])),
    });
  };
  const limits: [what: string, make: (count: number) => string, most: number][] = [
    ['characters', ofCharacters, 262_144],
    ['levels', ofLevels, 100],
    ['instructions of all its regular expressions', ofPatterns, 20_000],
  ];
  for (const [what, make, most] of limits) {
    it(`accepts ${most} ${what}, and not one more`, () => {
      expect(readAdminSchema(make(most), business)).to.be.an('object');
      expect(() => readAdminSchema(make(most + 1), business)).to.throw(/^Invalid schema: /);
    });
  }
});

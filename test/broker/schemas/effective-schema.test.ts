import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  effectiveSchema,
  readAdminSchema,
  schemaCharactersMaximum,
  type ValidatedType,
} from '../../../src/broker/schemas/effective-schema.ts';
import { compileValidator } from '../../../src/broker/schemas/schema-validator.ts';

const business: ValidatedType = {
  name: 'orders.created',
  category: 'business',
  compatibility_mode: 'forward',
  cleanup_policy: 'delete',
};
const metadata = { eid: '4AE5011E-eb01-11e5-8b4a-1c6f65464fc6', occurred_at: '2026-03-15T23:47:15Z' };

function findings(schema: Record<string, unknown>, type: ValidatedType, event: unknown): string[] {
  const text = JSON.stringify(schema);
  const validate = compileValidator(effectiveSchema(readAdminSchema(text, type), type));
  return validate(event).map(({ pointer, message }) => `${pointer}: ${message}`);
}

describe('effectiveSchema', () => {
  it('validates undefined events against the schema only', () => {
    const type: ValidatedType = { ...business, category: 'undefined' };
    expect(findings({ required: ['a'] }, type, { a: 1, metadata: 'mine' })).to.deep.equal([]);
  });

  it('requires metadata in business events, even if the schema is closed', () => {
    const closed = { type: 'object', properties: { a: {} }, additionalProperties: false };
    expect(findings(closed, business, { a: 1, metadata })).to.deep.equal([]);
    expect(findings(closed, business, { a: 1 })).to.deep.equal(['#: required key [metadata] not found']);
  });

  it('puts the schema of data events, references included, under data', () => {
    const type: ValidatedType = { ...business, category: 'data' };
    const schema = {
      $id: 'https://example.org/x',
      definitions: { a: { type: 'string' } },
      properties: { a: { $ref: '#/definitions/a' }, child: { $ref: '#' } },
    };
    const event = { metadata, data_type: 'x', data_op: 'C', data: { a: 'x', child: { a: 'y' } } };
    expect(findings(schema, type, event)).to.deep.equal([]);
    expect(findings(schema, type, { ...event, data: { child: { a: 1 } } })).to.deep.equal([
      '#/data/child/a: expected type: String, found: Integer',
    ]);
    expect(findings(schema, type, { ...event, data_op: 'X', other: 1 })).to.have.length(2);
    expect(findings(schema, type, { metadata })).to.have.length(3);
  });

  const metadataCases: [name: string, metadata: unknown, finding: string | null][] = [
    ['no object', 1, '#/metadata: expected type: Object, found: Integer'],
    ['no eid', { occurred_at: metadata.occurred_at }, '#/metadata: required key [eid] not found'],
    ['an invalid eid', { ...metadata, eid: 'x' }, '#/metadata/eid: [x] is not a valid uuid'],
    [
      'a time without a zone',
      { ...metadata, occurred_at: '2026-03-15T23:47:15' },
      '#/metadata/occurred_at: [2026-03-15T23:47:15] is not a valid date-time',
    ],
    [
      'another event type',
      { ...metadata, event_type: 'other' },
      '#/metadata/event_type: other is not a valid enum value',
    ],
    [
      'fields that only the broker sets',
      { ...metadata, version: '1' },
      '#/metadata: extraneous key [version] is not permitted',
    ],
    [
      'all allowed fields',
      {
        ...metadata,
        event_type: 'orders.created',
        partition: '1',
        parent_eids: [metadata.eid],
        flow_id: '',
        span_ctx: { a: 'b' },
      },
      null,
    ],
  ];
  for (const [name, sent, finding] of metadataCases) {
    it(`judges metadata with ${name}`, () => {
      expect(findings({}, business, { metadata: sent })).to.deep.equal(finding === null ? [] : [finding]);
    });
  }

  it('requires a compaction key where the log is compacted', () => {
    const type: ValidatedType = { ...business, cleanup_policy: 'compact' };
    expect(findings({}, type, { metadata })).to.deep.equal([
      '#/metadata: required key [partition_compaction_key] not found',
    ]);
    expect(findings({}, type, { metadata: { ...metadata, partition_compaction_key: 'k' } })).to.deep.equal([]);
  });

  it('closes objects in mode compatible, in all parts of a composition', () => {
    const type: ValidatedType = { ...business, compatibility_mode: 'compatible' };
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { base: { type: 'object', properties: { a: {} } } },
      properties: {
        plain: { type: 'object', properties: { a: {} } },
        open: { type: 'object', additionalProperties: true },
        composed: { allOf: [{ $ref: '#/definitions/base' }, { properties: { b: {} } }] },
      },
    };
    const event = { metadata, plain: { a: 1 }, open: { x: 1 }, composed: { a: 1, b: 2 } };
    expect(findings(schema, type, event)).to.deep.equal([]);
    expect(findings(schema, type, { ...event, plain: { z: 1 } })).to.deep.equal([
      '#/plain: extraneous key [z] is not permitted',
    ]);
    expect(findings(schema, type, { ...event, composed: { z: 1 } })).to.deep.equal([
      '#/composed: extraneous key [z] is not permitted',
    ]);
    expect(findings(schema, type, { ...event, z: 1 })).to.deep.equal(['#: extraneous key [z] is not permitted']);
    expect(findings(schema, business, { ...event, z: 1 })).to.deep.equal([]);
  });
});

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

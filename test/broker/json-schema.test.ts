import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  compileValidator,
  describeViolations,
  isDateTime,
  namedViolationsMaximum,
  parseSchema,
} from '../../src/broker/json-schema.ts';
import { LendstreamError } from '../../src/errors.ts';

function findings(schema: Record<string, unknown>, value: unknown): string[] {
  return compileValidator(schema)(value).map(({ pointer, message }) => `${pointer}: ${message}`);
}

describe('compileValidator', () => {
  it('names the place and the rule of each violation', () => {
    const schema = {
      type: 'object',
      required: ['a'],
      additionalProperties: false,
      properties: { a: {}, b: { type: 'string' }, c: { enum: ['x'] }, d: { type: 'array', items: { pattern: '^y' } } },
    };
    expect(findings(schema, { b: 1, c: 'z', d: ['n'], e: 0 })).to.have.members([
      '#: required key [a] not found',
      '#: extraneous key [e] is not permitted',
      '#/b: expected type: String, found: Integer',
      '#/c: z is not a valid enum value',
      '#/d/0: string [n] does not match pattern ^y',
    ]);
    expect(findings(schema, { a: 1 })).to.deep.equal([]);
  });

  it('stops at the first violation when told to', () => {
    const validate = compileValidator({ required: ['a', 'b'] }, { allViolations: false });
    expect(validate({})).to.have.length(1);
  });

  const drafts: [name: string, schema: Record<string, unknown>, valid: unknown, invalid: unknown][] = [
    [
      'draft 04',
      {
        $schema: 'http://json-schema.org/draft-04/schema#',
        id: 'http://example.org/x',
        properties: { a: { minimum: 1, exclusiveMinimum: true }, id: { type: 'string' } },
      },
      { a: 2, id: 'x' },
      { a: 1 },
    ],
    [
      'draft 07',
      { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }], additionalItems: false },
      ['x'],
      ['x', 'y'],
    ],
    [
      '2019-09',
      { $schema: 'https://json-schema.org/draft/2019-09/schema', dependentRequired: { a: ['b'] } },
      {},
      { a: 1 },
    ],
    [
      '2020-12',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }], items: false },
      ['x'],
      ['x', 'y'],
    ],
    ['2020-12, not declared', { prefixItems: [{ type: 'string' }] }, ['x'], [1]],
    ['no known words at all', { price: 1000, format: 'unheard-of', type: 'object' }, {}, []],
  ];
  for (const [name, schema, valid, invalid] of drafts) {
    it(`reads ${name}`, () => {
      expect(findings(schema, valid)).to.deep.equal([]);
      expect(findings(schema, invalid)).to.have.length(1);
    });
  }

  for (const [format, valid, invalid] of [
    ['date-time', '2026-03-15T23:47:15+01:00', '2026-03-15T23:47:15'],
    ['email', 'a@example.org', 'a.example.org'],
    ['uri', 'https://example.org/x', 'not a uri'],
    ['uuid', '4AE5011E-eb01-11e5-8b4a-1c6f65464fc6', '4ae5011e'],
    ['iso-4217', 'EUR', 'EUX'],
    ['regex', '^a+$', '(a'],
  ] as const) {
    it(`checks the format ${format}`, () => {
      expect(findings({ format }, valid)).to.deep.equal([]);
      expect(findings({ format }, invalid)).to.deep.equal([`#: [${invalid}] is not a valid ${format}`]);
    });
  }

  it('matches a hostile pattern in linear time', () => {
    const validate = compileValidator({ pattern: '^(a+)+$' });
    const startedAt = performance.now();
    expect(validate(`${'a'.repeat(100_000)}!`)).to.have.length(1);
    expect(performance.now() - startedAt).to.be.lessThan(5_000);
  });

  it('does not match a long text against a large pattern, but against a plain one', () => {
    const text = 'ab'.repeat(250_000);
    expect(compileValidator({ pattern: '[ab]*[ab]{300}$' })(text)).to.have.length(1);
    expect(compileValidator({ pattern: '^[ab]+$' })(text)).to.deep.equal([]);
  });

  it('keeps several patterns of one schema apart', () => {
    const schema = { properties: { a: { pattern: '^x' }, b: { pattern: '^y' } } };
    expect(findings(schema, { a: 'x', b: 'y' })).to.deep.equal([]);
    expect(findings(schema, { a: 'y', b: 'x' })).to.have.length(2);
  });

  it('refuses numbers that no double can hold', () => {
    expect(findings({ type: 'number' }, JSON.parse('1e999'))).to.have.length(1);
  });

  for (const [name, schema] of [
    ['a rule of the wrong kind', { required: 'a' }],
    ['an unknown type', { type: 'money' }],
    ['a reference to nothing', { $ref: '#/definitions/x' }],
    ['a pattern that is none', { pattern: '(' }],
    ['a pattern that is too large', { pattern: '(?:a{1000}){1000}' }],
    ['a pattern with a large automaton', { pattern: '(?:[a-z]{1,40}x?){30}' }],
  ] as const) {
    it(`refuses ${name}`, () => {
      expect(() => compileValidator(schema))
        .to.throw(LendstreamError)
        .with.property('code', 'UNPROCESSABLE');
    });
  }

  it('lets a schema refer to documents that are given with it, and to no others', () => {
    const references = [{ $id: 'money.json', $defs: { amount: { type: 'string' } } }];
    const schema = { $id: 'loan.json', properties: { a: { $ref: 'money.json#/$defs/amount' } } };
    expect(compileValidator(schema, { references })({ a: 1 })).to.have.length(1);
    expect(() => compileValidator(schema)).to.throw(LendstreamError);
  });

  it('may be given two schemas of one id', () => {
    expect(findings({ $id: 'same.json', type: 'string' }, 'x')).to.deep.equal([]);
    expect(findings({ $id: 'same.json', type: 'number' }, 1)).to.deep.equal([]);
  });
});

describe('compileValidator against hostile schemas', () => {
  it('answers at once for a schema that asks to be answered later', () => {
    const schema = {
      $async: true,
      required: ['a'],
      properties: { b: { $ref: '#/definitions/text' } },
      definitions: { text: { $async: true, type: 'string' } },
    };
    expect(findings(schema, { b: 1 })).to.have.members([
      '#: required key [a] not found',
      '#/b: expected type: String, found: Integer',
    ]);
  });

  for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
    it(`does not take what every object inherits for a field: ${name}`, () => {
      const properties = JSON.parse(`{"${name}":{"type":"string"}}`) as Record<string, unknown>;
      expect(findings({ properties }, {})).to.deep.equal([]);
      expect(findings({ properties }, JSON.parse(`{"${name}":1}`))).to.deep.equal([
        `#/${name}: expected type: String, found: Integer`,
      ]);
      expect(findings({ required: [name] }, {})).to.deep.equal([`#: required key [${name}] not found`]);
    });
  }

  const endless: [description: string, schema: Record<string, unknown>, value: unknown][] = [
    ['is itself', { $ref: '#' }, {}],
    ['is part of itself', { allOf: [{ $ref: '#' }] }, {}],
    [
      'doubles with every definition',
      {
        definitions: Object.fromEntries(
          Array.from({ length: 30 }, (_, index) => {
            const next = { $ref: `#/definitions/d${index + 1}` };
            return [`d${index}`, index === 29 ? { type: 'string' } : { anyOf: [next, next] }];
          }),
        ),
        properties: { a: { $ref: '#/definitions/d0' } },
      },
      { a: 1 },
    ],
    [
      'doubles with every level of the value',
      { properties: { next: { anyOf: [{ $ref: '#' }, { $ref: '#' }] }, leaf: { type: 'string' } } },
      Array.from({ length: 40 }).reduce<unknown>((next) => ({ next }), { leaf: 1 }),
    ],
  ];
  for (const [description, schema, value] of endless) {
    for (const allViolations of [true, false]) {
      it(`gives up on a schema that ${description}, asked for ${allViolations ? 'all violations' : 'one'}`, () => {
        expect(compileValidator(schema, { allViolations })(value)).to.deep.equal([
          { pointer: '#', message: 'cannot be checked: the schema refers to itself too often' },
        ]);
      });
    }
  }

  it('follows references of a large value, again and again', () => {
    const validate = compileValidator(
      { properties: { list: { items: { $ref: '#/definitions/small' } } }, definitions: { small: { maximum: 9 } } },
      { allViolations: false },
    );
    const list = Array.from({ length: 400_000 }, () => 1);
    for (let round = 0; round < 3; round += 1) expect(validate({ list })).to.deep.equal([]);
    expect(validate({ list: [...list, 10] })).to.have.length(1);
  });

  it('finds repeated items among many in time', function () {
    this.timeout(2_000);
    const items = Array.from({ length: 50_000 }, (_, index) => ({ index }));
    expect(findings({ uniqueItems: true }, items)).to.deep.equal([]);
    expect(findings({ uniqueItems: true }, [...items, { index: 3 }])).to.deep.equal([
      '#: must not have duplicate items',
    ]);
    expect(findings({ uniqueItems: false }, [1, 1])).to.deep.equal([]);
  });
});

describe('describeViolations', () => {
  it('is the finding itself when there is one, else a count and all of them', () => {
    const violation = { pointer: '#/a', message: 'is bad' };
    expect(describeViolations([violation])).to.equal('#/a: is bad');
    expect(describeViolations([violation, violation])).to.equal(
      '#: 2 schema violations found\n#/a: is bad\n#/a: is bad',
    );
  });
});

describe('describeViolations, of very many', () => {
  it('names the first and counts the rest', () => {
    const text = describeViolations(Array.from({ length: 1_000 }, () => ({ pointer: '#', message: 'is bad' })));
    expect(text.split('\n')).to.have.length(1 + namedViolationsMaximum);
    expect(text).to.match(/^#: 1000 schema violations found/);
  });
});

describe('isDateTime', () => {
  for (const text of ['2024-02-29T00:00:00Z', '2026-12-31T23:59:60.123456+01:00', '2026-01-01t00:00:00z']) {
    it(`accepts ${text}`, () => expect(isDateTime(text)).to.equal(true));
  }
  for (const text of [
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01 x',
    '2026-1-1T00:00:00Z',
  ]) {
    it(`refuses ${text}`, () => expect(isDateTime(text)).to.equal(false));
  }
});

describe('parseSchema', () => {
  it('refuses what is no JSON object', () => {
    for (const text of ['{', '[]', 'null', '"x"']) expect(() => parseSchema(text), text).to.throw(/Invalid schema/);
    expect(parseSchema('{"type":"object"}')).to.deep.equal({ type: 'object' });
  });
});

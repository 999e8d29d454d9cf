import { expect } from 'chai';
import { describe, it } from 'mocha';
import { compileValidator, parseSchema, requiresDigits } from '../../../src/broker/schemas/schema-validator.ts';
import { describeViolations } from '../../../src/broker/schemas/violation-texts.ts';
import { collectedViolationsMaximum } from '../../../src/broker/schemas/metered-code.ts';
import { ValidationBudget, validationStepsPerEvent } from '../../../src/broker/schemas/validation-budget.ts';
import { WrittenNumbers } from '../../../src/broker/schemas/written-numbers.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { costlyCases, nestedList } from '../../fuzz/generator/costly-schemas.ts';
import { millisecondsSince, processorMilliseconds } from '../../support/values/processor-time.ts';

function findings(schema: Record<string, unknown>, value: unknown): string[] {
  return compileValidator(schema)(value).map(({ pointer, message }) => `${pointer}: ${message}`);
}

describe('compileValidator', () => {
  it('names the path and the rule of each violation', () => {
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

  it('shows the value in a violation: all of a value when every violation is reported, else the type of an object', () => {
    const schema = { additionalProperties: { enum: ['x'] } };
    const value = { a: 5, b: null, c: { d: [1] }, e: [2], f: 'y', g: 5 };
    const shown = (texts: readonly string[]): string[] => texts.map((text) => `${text} is not a valid enum value`);
    expect(compileValidator(schema)(value).map(({ message }) => message)).to.deep.equal(
      shown(['5', 'null', '{"d":[1]}', '[2]', 'y', '5']),
    );
    const first = compileValidator(schema, { allViolations: false });
    expect(Object.values(value).flatMap((one) => first({ one }).map(({ message }) => message))).to.deep.equal(
      shown(['5', 'Null', 'Object', 'Array', 'y', '5']),
    );
  });

  it('stops at the first violation on request', () => {
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
    ['a schema without known keywords', { price: 1000, format: 'unheard-of', type: 'object' }, {}, []],
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
    const took = processorMilliseconds(() => expect(validate(`${'a'.repeat(100_000)}!`)).to.have.length(1));
    expect(took).to.be.lessThan(5_000);
  });

  it('matches a long text against a simple pattern', () => {
    expect(compileValidator({ pattern: '^[ab]+$' })('ab'.repeat(250_000))).to.deep.equal([]);
  });

  it('keeps several patterns of one schema separate', () => {
    const schema = { properties: { a: { pattern: '^x' }, b: { pattern: '^y' } } };
    expect(findings(schema, { a: 'x', b: 'y' })).to.deep.equal([]);
    expect(findings(schema, { a: 'y', b: 'x' })).to.have.length(2);
  });

  for (const [name, schema] of [
    ['a keyword with a value of the wrong type', { required: 'a' }],
    ['an unknown type', { type: 'money' }],
    ['a reference to nothing', { $ref: '#/definitions/x' }],
    ['an invalid pattern', { pattern: '(' }],
    ['a pattern that is too large', { pattern: '(?:a{1000}){1000}' }],
    ['a pattern with a large automaton', { pattern: '(?:[a-z]{1,40}x?){30}' }],
  ] as const) {
    it(`refuses ${name}`, () => {
      expect(() => compileValidator(schema))
        .to.throw(LendstreamError)
        .with.property('code', 'UNPROCESSABLE');
    });
  }

  it('lets a schema refer to documents that were passed with it, and to no others', () => {
    const references = [{ $id: 'money.json', $defs: { amount: { type: 'string' } } }];
    const schema = { $id: 'loan.json', properties: { a: { $ref: 'money.json#/$defs/amount' } } };
    expect(compileValidator(schema, { references })({ a: 1 })).to.have.length(1);
    expect(() => compileValidator(schema)).to.throw(LendstreamError);
  });

  it('accepts two schemas of the same id', () => {
    expect(findings({ $id: 'same.json', type: 'string' }, 'x')).to.deep.equal([]);
    expect(findings({ $id: 'same.json', type: 'number' }, 1)).to.deep.equal([]);
  });
});

describe('compileValidator against hostile schemas', () => {
  it('validates synchronously when a schema requests asynchronous validation', () => {
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
    it(`does not treat inherited properties as fields: ${name}`, () => {
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
      it(`abandons a schema that ${description}, asked for ${allViolations ? 'all violations' : 'one'}`, () => {
        const [violation, ...others] = compileValidator(schema, { allViolations })(value);
        expect(others).to.deep.equal([]);
        expect(violation?.message).to.match(/^cannot be checked: the schema /);
      });
    }
  }

  it('follows references of a large value repeatedly', () => {
    const validate = compileValidator(
      { properties: { list: { items: { $ref: '#/definitions/small' } } }, definitions: { small: { maximum: 9 } } },
      { allViolations: false },
    );
    const list = Array.from({ length: 400_000 }, () => 1);
    const budget = () => new ValidationBudget(JSON.stringify({ list }).length);
    for (let round = 0; round < 3; round += 1) expect(validate({ list }, budget())).to.deep.equal([]);
    expect(validate({ list: [...list, 10] }, budget()).map(({ pointer }) => pointer)).to.deep.equal(['#/list/400000']);
  });

  it('finds repeated items among many in time', () => {
    const items = Array.from({ length: 50_000 }, (_, index) => ({ index }));
    const took = processorMilliseconds(() => {
      expect(findings({ uniqueItems: true }, items)).to.deep.equal([]);
      expect(findings({ uniqueItems: true }, [...items, { index: 3 }])).to.deep.equal([
        '#: must not have duplicate items',
      ]);
    });
    expect(took).to.be.lessThan(2_000);
    expect(findings({ uniqueItems: false }, [1, 1])).to.deep.equal([]);
  });
});

describe('compileValidator on a budget', () => {
  for (const { title, schema, value } of costlyCases) {
    for (const allViolations of [true, false]) {
      it(`abandons ${title}, asked for ${allViolations ? 'all violations' : 'one'}`, () => {
        const budget = new ValidationBudget(0);
        const validate = compileValidator(schema, { allViolations });
        const before = process.cpuUsage();
        const violations = validate(value, budget);
        // Some are found to be invalid before they get costly.
        if (violations[0]?.message.startsWith('cannot be checked') === true) {
          expect(violations).to.have.length(1);
          expect(violations[0].message).to.match(/more than 50000000 steps|refers to itself too often/);
        } else expect(violations).to.have.length.within(1, collectedViolationsMaximum);
        expect(millisecondsSince(before)).to.be.lessThan(2_000);
      });
    }
  }

  const formatted: readonly (readonly [format: string, text: string])[] = [
    ['date-time', '2020-02-29T01:01:01.123456Z'],
    ['date', '2020-02-29'],
    ['uri', 'http://example.com/'],
    ['url', `http://example.com/${'a:b@c'.repeat(8)}`],
    ['regex', '(a|b)*[a-z]{3,5}'],
    ['ipv6', '1:2:3:4:5:6:7:ffff'],
    ['uuid', '00000000-0000-0000-0000-000000000000'],
    ['uri-template', '{a}'.repeat(20)],
    ['iso-4217', 'EUR'],
  ];
  for (const [format, text] of formatted) {
    it(`charges a ${format} wherever it is checked, even a short one, and a long one by its length`, () => {
      const stepsFor = (schema: Record<string, unknown>, value: string): number => {
        const budget = new ValidationBudget(0);
        compileValidator(schema, { isUndescribed: true })(value, budget);
        return budget.stepsMaximum - budget.steps;
      };
      const once = stepsFor({ format }, text);
      expect(once).to.be.greaterThan(stepsFor({}, text) + 80);
      const often = stepsFor({ allOf: Array.from({ length: 200 }, () => ({ format })) }, text);
      expect(often).to.be.within(200 * 80, 200 * once);
      expect(stepsFor({ format }, text.repeat(100))).to.be.greaterThan(text.length * 1_000);
    });
  }

  it('distinguishes whether one event costs too much, or the whole request', () => {
    const validate = compileValidator({ items: { enum: Array.from({ length: 5_000 }, (_, index) => ({ a: index })) } });
    const budget = new ValidationBudget(8 * 1024 * 1024);
    const list = Array.from({ length: 1_000 }, () => ({ a: 4_999 }));
    const first = validate(list, budget)[0]?.message;
    expect(first).to.include(
      `checking this event take more than ${validationStepsPerEvent} steps; send a smaller event`,
    );
    let last = first;
    while (budget.steps >= 0) last = validate(list, budget)[0]?.message;
    expect(last).to.include(`the events of this request take more than ${budget.stepsMaximum} steps`);
  });

  it('shares the budget among the events of a request', () => {
    const validate = compileValidator({ items: { items: { $ref: '#' } } }, { allViolations: false });
    const budget = new ValidationBudget(0);
    const value = nestedList(20, 1);
    let checked = 0;
    while (validate(value, budget).length === 0) checked += 1;
    expect(checked).to.be.greaterThan(1_000);
    expect(validate([], budget)[0]?.message).to.match(/cannot be checked/);
    expect(validate([], new ValidationBudget(0))).to.deep.equal([]);
  });

  it('collects the maximum number of violations and no more', () => {
    const list = Array.from({ length: 5_000 }, () => 'x');
    for (const items of [{ type: 'number' }, { $ref: '#/definitions/n' }, { anyOf: [{ type: 'number' }] }]) {
      const schema = { definitions: { n: { type: 'number', title: 'a', description: 'b', minimum: 1 } }, items };
      const violations = compileValidator(schema)(list);
      expect(violations).to.have.length(collectedViolationsMaximum);
      expect(describeViolations(violations)).to.match(/^#: 1000 or more schema violations found\n/);
    }
  });

  it('keeps paths and messages short, however long names and values are', () => {
    const name = 'n'.repeat(10_000);
    const validate = compileValidator({ additionalProperties: { items: { required: [name], enum: [1] } } });
    const violations = validate({ [name]: Array.from({ length: 900 }, () => ({})) });
    expect(violations).to.have.length(collectedViolationsMaximum);
    for (const { pointer, message } of violations) expect(pointer.length + message.length).to.be.lessThan(2_100);
  });

  it('shows no contents of large values', () => {
    const options = { allViolations: false };
    const anyOf = Array.from({ length: 500 }, () => ({ enum: ['none'] }));
    const violations = compileValidator({ anyOf }, options)({ a: 'x'.repeat(5_000_000), b: [] });
    expect(violations).to.have.length(10);
    expect(violations[0]?.message).to.equal('Object is not a valid enum value');
    expect(violations.at(-1)?.message).to.equal('must match a schema in anyOf');
  });

  it('still accepts valid values after more failed attempts than violations are collected', () => {
    const list = [...Array.from({ length: 5_000 }, () => 0), 7];
    for (const allViolations of [true, false]) {
      const validate = compileValidator(
        {
          contains: { const: 7 },
          anyOf: [{ items: { minimum: 5 } }, { $ref: '#/definitions/any' }],
          definitions: { any: { items: { maximum: 7, minimum: 0, title: 'a' } } },
        },
        { allViolations },
      );
      expect(validate(list)).to.deep.equal([]);
      expect(validate(list.slice(0, -1))).to.have.length.greaterThan(0);
    }
  });

  it('follows references into unknown keywords like any others', () => {
    const schema = {
      properties: { a: { $ref: '#/shared/0/positive' }, b: { $ref: '#/shared/1' } },
      shared: [{ positive: { minimum: 0, exclusiveMinimum: true } }, { $async: true, type: 'integer' }],
    };
    expect(findings(schema, { a: 0, b: 1.5 })).to.deep.equal([
      '#/a: must be > 0',
      '#/b: expected type: Integer, found: Double',
    ]);
    expect(findings(schema, { a: 0.5, b: 1 })).to.deep.equal([]);
  });
});

describe('compileValidator without descriptions', () => {
  const schemas: readonly Record<string, unknown>[] = [
    { type: 'object', properties: { a: { type: 'string', format: 'date-time' } } },
    {
      properties: { a: { $ref: '#/definitions/a' } },
      definitions: { a: { minLength: 1, maxLength: 2, pattern: 'b', title: 'a' } },
    },
    { properties: { a: { anyOf: [{ type: 'integer' }, { enum: ['b'] }] } }, unevaluatedProperties: false },
    {
      type: 'array',
      items: { if: { minimum: 5 }, else: { const: 1 } },
      contains: { multipleOf: 3 },
      uniqueItems: true,
    },
    { not: { required: ['a'] }, propertyNames: { maxLength: 2 } },
  ];
  const values = [{}, { a: 'b' }, { a: 'bbb' }, { a: 7 }, { abc: 1 }, [6, 1], [7], [1, 1], [2], 'a', null];

  for (const schema of schemas) {
    it(`distinguishes exactly the same values by ${JSON.stringify(schema)}`, () => {
      const isValid = compileValidator(schema, { isUndescribed: true });
      const describing = compileValidator(schema);
      for (const value of values) {
        const expected = describing(value).length === 0 ? [] : [{ pointer: '#', message: 'does not fit the schema' }];
        expect(isValid(value), JSON.stringify(value)).to.deep.equal(expected);
      }
    });
  }
});

describe('compileValidator with exact digits of numbers', () => {
  function isAccepted(schemaText: string, digits: string): boolean {
    const text = `{"n":${digits}}`;
    const value: unknown = JSON.parse(text);
    const validate = compileValidator(parseSchema(`{"properties":{"n":${schemaText}}}`), { allViolations: false });
    return validate(value, new ValidationBudget(0), new WrittenNumbers(text, value)).length === 0;
  }

  const verdicts: [schema: string, valid: readonly string[], invalid: readonly string[]][] = [
    ['{"multipleOf":0.01}', ['19.99', '0.07', '10', '1e3', '1.10', '1e400', '-0.29', '0'], ['19.999', '1e-3', '0.005']],
    ['{"multipleOf":1e-9}', ['0.000000001', '123456789.123456789'], ['0.0000000001', '1.0000000001']],
    [
      '{"multipleOf":3}',
      ['9007199254740993', '3e20', '9.0'],
      ['9007199254740992', '1e20', '4.5', '9.000000000000000001'],
    ],
    [
      '{"maximum":9007199254740992}',
      ['9007199254740992', '9007199254740992.0', '-1e400'],
      ['9007199254740993', '1e400'],
    ],
    [
      '{"maximum":9007199254740993}',
      ['9007199254740992', '9007199254740993'],
      ['9007199254740994', '9007199254740993.1'],
    ],
    [
      '{"minimum":9007199254740993}',
      ['9007199254740993', '9007199254740994'],
      ['9007199254740992', '9007199254740992.9'],
    ],
    ['{"exclusiveMaximum":9007199254740993}', ['9007199254740992', '9007199254740992.5'], ['9007199254740993']],
    ['{"exclusiveMinimum":9007199254740992}', ['9007199254740993', '9007199254740992.01'], ['9007199254740992']],
    ['{"minimum":0.1}', ['0.1', '0.10000000000000000001'], ['0.09999999999999999999']],
    ['{"exclusiveMinimum":0}', ['1e-400', '0.1'], ['0', '-1e-400', '0e5']],
    ['{"minimum":0.1,"exclusiveMinimum":true}', ['0.10000000000000000001'], ['0.1', '0.100']],
    [
      '{"minimum":9007199254740993,"exclusiveMinimum":true,"maximum":9007199254740997,"exclusiveMaximum":true}',
      ['9007199254740994', '9007199254740996'],
      ['9007199254740993', '9007199254740997'],
    ],
    [
      '{"format":"int64"}',
      ['9223372036854775807', '-9223372036854775808', '9.223372036854775807e18', '1.0', '0'],
      ['9223372036854775808', '-9223372036854775809', '9007199254740993.5', '1.00000000000000000001', '1e400', '0.5'],
    ],
    [
      '{"format":"int32"}',
      ['2147483647', '-2147483648', '2147483647.0000000000'],
      ['2147483648', '-2147483649', '2147483646.0000000000000001', '1e-400', '1.5', '-1e400'],
    ],
    ['{"format":"float"}', ['1e400', '0.1', '16777217'], []],
    ['{"format":"double"}', ['1e400', '9007199254740993'], []],
    [
      '{"type":"integer"}',
      ['1', '1.0', '1e400', '9007199254740993', '10e-1'],
      ['1.5', '12e-1000000', '9007199254740993.5', '1.00000000000000000001', '1e-400'],
    ],
    ['{"type":["integer","string"]}', ['4503599627370497.0'], ['4503599627370496.3']],
    ['{"type":"number"}', ['1e400', '-1e999999999999999999999'], []],
    [
      '{"const":9007199254740993}',
      ['9007199254740993', '9007199254740993.0'],
      ['9007199254740992', '9007199254740994'],
    ],
    [
      '{"enum":[1,9007199254740993]}',
      ['1', '1.0', '1.0000000000000000000', '9007199254740993'],
      ['9007199254740992', '1.0000000000000000001'],
    ],
  ];
  for (const [schema, valid, invalid] of verdicts) {
    for (const digits of valid)
      it(`accepts ${digits} under ${schema}`, () => expect(isAccepted(schema, digits)).to.equal(true));
    for (const digits of invalid) {
      it(`refuses ${digits} under ${schema}`, () => expect(isAccepted(schema, digits)).to.equal(false));
    }
  }

  it('accepts every amount in hundredths, and none in thousandths', () => {
    const validate = compileValidator({ properties: { n: { multipleOf: 0.01 } } }, { allViolations: false });
    for (let thousandths = 1; thousandths <= 20_000; thousandths += 1) {
      const isValid = validate({ n: thousandths / 1_000 }).length === 0;
      if (isValid !== (thousandths % 10 === 0)) expect.fail(`${thousandths / 1_000}: ${isValid}`);
    }
  });

  it('recognises equal items by their digits', () => {
    const schema = '{"uniqueItems":true}';
    expect(isAccepted(schema, '[9007199254740992,9007199254740993,1]')).to.equal(true);
    expect(isAccepted(schema, '[{"a":9007199254740993},{"a":9007199254740992}]')).to.equal(true);
    expect(isAccepted(schema, '[9007199254740993,1,9007199254740993.0]')).to.equal(false);
    expect(isAccepted(schema, '[1,1.0000000000000000000]')).to.equal(false);
  });

  it('refuses a divisor that is too long to divide by in time', () => {
    const divisor = (digits: number) => parseSchema(`{"multipleOf":0.${'3'.repeat(digits)}}`);
    compileValidator(divisor(100), { allViolations: false });
    expect(() => compileValidator(divisor(101), { allViolations: false })).to.throw(/more than 100 digits/);
  });
});

describe('parseSchema', () => {
  it('refuses a text that is no JSON object', () => {
    for (const text of ['{', '[]', 'null', '"x"']) expect(() => parseSchema(text), text).to.throw(/Invalid schema/);
    expect(parseSchema('{"type":"object"}')).to.deep.equal({ type: 'object' });
  });
});

describe('requiresDigits', () => {
  const needing: readonly Record<string, unknown>[] = [
    { minimum: 1 },
    { maximum: 1 },
    { exclusiveMinimum: 1 },
    { exclusiveMaximum: 1 },
    { multipleOf: 1 },
    { uniqueItems: true },
    { type: 'integer' },
    { type: ['integer', 'string'] },
    { format: 'int64' },
    { const: 12345678901234568 },
    { enum: ['a', 12345678901234568] },
  ];
  for (const schema of needing) {
    it(`is true for ${JSON.stringify(schema)}, wherever it is in the schema`, () => {
      for (const whole of [
        schema,
        { type: 'object', properties: { a: { items: [{ type: 'string' }, schema] } } },
        { $ref: '#/somewhere/else', somewhere: { else: schema } },
      ]) {
        expect(requiresDigits(whole), JSON.stringify(whole)).to.equal(true);
      }
    });
  }

  for (const schema of [
    {},
    { type: 'number' },
    { type: ['integer', 'number'] },
    { format: 'date-time', pattern: 'minimum', maxLength: 5, maxItems: 5 },
    { properties: { a: { type: 'string', enum: ['minimum', null, 7] }, b: { const: 0.5 } }, required: ['maximum'] },
  ]) {
    it(`is false for ${JSON.stringify(schema)}`, () => {
      expect(requiresDigits(schema)).to.equal(false);
    });
  }
});

import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { compileValidator, parseSchema } from '../../../src/broker/schemas/schema-validator.ts';
import { isNumberFormat, numberKeywordsOf, sizedKeyword } from '../../../src/broker/schemas/number-keywords.ts';
import { ValidationBudget } from '../../../src/broker/schemas/validation-budget.ts';
import { meter } from '../../../src/broker/schemas/validation-meter.ts';
import { WrittenNumbers } from '../../../src/broker/schemas/written-numbers.ts';

describe('isNumberFormat', () => {
  for (const format of ['int32', 'int64', 'float', 'double']) {
    it(`recognises ${format}`, () => expect(isNumberFormat(format)).to.equal(true));
  }
  for (const format of ['date', 'INT64', 'toString', '', 64, null, undefined]) {
    it(`does not recognise ${String(format)}`, () => expect(isNumberFormat(format)).to.equal(false));
  }
});

describe('the limits of formats and bounds', () => {
  const isAccepted = (schema: string, digits: string): boolean => {
    const text = `[${digits}]`;
    const value: unknown = JSON.parse(text);
    const validate = compileValidator(parseSchema(`{"items":${schema}}`), { isUndescribed: true });
    return validate(value, new ValidationBudget(0), new WrittenNumbers(text, value)).length === 0;
  };
  const verdicts: readonly (readonly [schema: string, valid: readonly string[], invalid: readonly string[]])[] = [
    [
      '{"format":"int64"}',
      ['9223372036854775807', '-9223372036854775808'],
      ['9223372036854775808', '-9223372036854775809'],
    ],
    ['{"format":"int32"}', ['2147483647', '-2147483648'], ['2147483648', '-2147483649']],
    ['{"format":"float"}', ['1e400', '0.5'], []],
    ['{"format":"double"}', ['1e400', '0.5'], []],
    // All of these have the double of 2.
    ['{"minimum":2}', ['2', '2.00000000000000000001'], ['1.99999999999999999999']],
    ['{"maximum":2}', ['2', '1.99999999999999999999'], ['2.00000000000000000001']],
    ['{"exclusiveMinimum":2}', ['2.00000000000000000001'], ['2', '1.99999999999999999999']],
    ['{"exclusiveMaximum":2}', ['1.99999999999999999999'], ['2', '2.00000000000000000001']],
    ['{"enum":[9007199254740993]}', ['9007199254740993'], ['9007199254740992']],
    ['{"const":9007199254740993}', ['9007199254740993'], ['9007199254740992']],
    ['{"minimum":2e0}', ['2', '3'], ['1']],
    ['{"exclusiveMinimum":2e0}', ['3'], ['2', '1']],
  ];
  for (const [schema, valid, invalid] of verdicts) {
    it(`of ${schema} are exact`, () => {
      expect(valid.map((digits) => isAccepted(schema, digits))).to.deep.equal(valid.map(() => true));
      expect(invalid.map((digits) => isAccepted(schema, digits))).to.deep.equal(invalid.map(() => false));
    });
  }
});

describe('numberKeywordsOf', () => {
  it('adds one value to the code of a validator, however many rules there are', () => {
    const codes: string[] = [];
    const process = (code: string): string => {
      codes.push(code);
      return `const meter = self.meter;${code}`;
    };
    const ajv = new Ajv2019({ strict: false, code: { process } });
    for (const definition of numberKeywordsOf()) {
      for (const keyword of [definition.keyword].flat()) ajv.removeKeyword(keyword);
      ajv.addKeyword(definition);
    }
    Object.assign(ajv, { meter });
    const items = Array.from({ length: 50 }, (_, index) => ({
      maximum: index,
      multipleOf: 1,
      [sizedKeyword]: 'int32',
    }));
    const validate = ajv.compile({ items });
    expect(items.map((_, index) => index)).to.satisfy(validate);
    expect([[0.5], [1], [0, 1, 2 ** 31]].map((value) => validate(value))).to.deep.equal([false, false, false]);
    expect(codes.at(-1)?.match(/scope\.obj\[\d+\]/g)).to.have.length(1);
  });

  const asking: readonly (readonly [title: string, schema: string, number: string])[] = [
    ['multipleOf', '{"multipleOf":1e-90}', `0.${'1'.repeat(990)}`],
    ['multipleOf of a number that a double holds', '{"multipleOf":1e-90}', '19.99'],
    ['a bound with the same double', '{"maximum":2}', `2.${'0'.repeat(990)}`],
    ['a bound with an exponent', '{"minimum":1e1}', '10'],
    ['integer', '{"type":"integer"}', '1'.repeat(990)],
    ['int64', '{"format":"int64"}', `0.${'1'.repeat(990)}e990`],
    ['listed numbers', '{"enum":[12345678901234567]}', '12345678901234567.0'],
    ['unique items', '{"uniqueItems":true}', '1'.repeat(990)],
  ];
  for (const [title, schema, number] of asking) {
    it(`charges ${title} more when more digits are compared`, () => {
      const text = `[[${number}]]`;
      const value: unknown = JSON.parse(text);
      const budget = new ValidationBudget(0);
      const rule = schema.includes('unique') ? schema : `{"items":${schema}}`;
      compileValidator(parseSchema(`{"items":${rule}}`), { isUndescribed: true })(
        value,
        budget,
        new WrittenNumbers(text, value),
      );
      expect(budget.stepsMaximum - budget.steps).to.be.greaterThan(400 + 5 * number.length);
    });
  }
});

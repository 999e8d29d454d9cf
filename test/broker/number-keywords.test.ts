import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isNumberFormat, numberKeywordsOf, sizedKeyword } from '../../src/broker/number-keywords.ts';
import { meter } from '../../src/broker/validation-meter.ts';

describe('isNumberFormat', () => {
  for (const format of ['int32', 'int64', 'float', 'double']) {
    it(`knows ${format}`, () => expect(isNumberFormat(format)).to.equal(true));
  }
  for (const format of ['date', 'INT64', 'toString', '', 64, null, undefined]) {
    it(`does not take ${String(format)} for one`, () => expect(isNumberFormat(format)).to.equal(false));
  }
});

describe('numberKeywordsOf', () => {
  it('gives the code of a validator one value, however many rules there are', () => {
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
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { fieldsOf, textsOf, wrongType } from '../../../src/broker/definitions/json-fields.ts';

describe('the fields of a request', () => {
  it('are those of a JSON object, or null', () => {
    expect(fieldsOf('items[0]', { partition: 1 })).to.deep.equal({ partition: 1 });
    expect(fieldsOf('items[0]', null)).to.equal(null);
  });

  for (const value of [[], 'text', 7, true, undefined]) {
    it(`are no ${JSON.stringify(value) ?? 'missing value'}`, () => {
      expect(() => fieldsOf('items[0]', value)).to.throw('Field "items[0]" must be an object');
    });
  }

  it('may all have to be texts or null', () => {
    expect(textsOf('labels', { a: 'x', b: null })).to.deep.equal({ a: 'x', b: null });
    expect(textsOf('labels', null)).to.deep.equal({});
    expect(() => textsOf('labels', { a: 'x', b: 1 })).to.throw('Field "labels" must be an object of strings');
  });

  it('of a wrong type are a malformed request', () => {
    expect(wrongType('read_from', 'a string')).to.include({ code: 'MALFORMED_REQUEST' });
  });
});

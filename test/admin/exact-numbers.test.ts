import { expect } from 'chai';
import { describe, it } from 'mocha';
import { parseToShow, quoteNumbers, shownJson } from '../../src/admin/exact-numbers.ts';

describe('numbers of JSON in the browser', () => {
  const text = '{"amount":1000.00,"rate":-1.5e-7,"key":"12","said":"it is \\"3\\", or 4","list":[0,"0",null,true]}';

  it('are read as texts with all their digits, while texts stay as they are', () => {
    expect(JSON.parse(quoteNumbers(text))).to.deep.equal({
      amount: '1000.00',
      rate: '-1.5e-7',
      key: '12',
      said: 'it is "3", or 4',
      list: ['0', '0', null, true],
    });
  });

  it('are shown as they were written, while texts that look like numbers stay texts', () => {
    expect(shownJson(parseToShow(text))).to.equal(text);
    expect(shownJson(parseToShow('{"a":1.0,"b":"1.0"}'), 2)).to.equal('{\n  "a": 1.0,\n  "b": "1.0"\n}');
  });
});

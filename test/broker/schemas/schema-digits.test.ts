import { expect } from 'chai';
import { describe, it } from 'mocha';
import { copyDigits, mergeSchemas, recordDigits, writtenDigits } from '../../../src/broker/schemas/schema-digits.ts';

describe('The digits of a schema', () => {
  it('are kept for a schema and its copies, and under the other names in descriptions', () => {
    const text = '{"maximum":9007199254740993,"enum":[1,1e5]}';
    const schema = JSON.parse(text) as { enum: number[] };
    recordDigits(text, schema);
    expect(writtenDigits(schema, 'maximum')).to.equal('9007199254740993');
    expect(writtenDigits(schema.enum, 1)).to.equal('1e5');
    expect(writtenDigits({ ...schema }, 'maximum')).to.equal('9007199254740993');
    const copy = {};
    copyDigits(schema, copy, { maximum: 'exclusiveMaximum' });
    expect([writtenDigits(copy, 'maximum'), writtenDigits(copy, 'exclusiveMaximum')]).to.deep.equal([
      undefined,
      '9007199254740993',
    ]);
    copyDigits({}, copy);
    expect(writtenDigits(copy, 'exclusiveMaximum')).to.equal('9007199254740993');
    expect(JSON.stringify(schema)).to.equal('{"maximum":9007199254740992,"enum":[1,100000]}');
  });

  it('are kept for the keyword that wins where parts of a schema are merged', () => {
    const read = (text: string): Record<string, number> => {
      const schema = JSON.parse(text) as Record<string, number>;
      recordDigits(text, schema);
      return schema;
    };
    const under = read('{"minimum":9007199254740993,"maximum":9007199254740995}');
    const both = mergeSchemas(under, read('{"maximum":5,"multipleOf":9007199254740997}'));
    expect(both).to.include({ maximum: 5 });
    const digits = ['minimum', 'maximum', 'multipleOf'].map((key) => writtenDigits(both, key));
    expect(digits).to.deep.equal(['9007199254740993', undefined, '9007199254740997']);
    expect(writtenDigits(mergeSchemas(read('{"maximum":9007199254740995}'), { maximum: 5 }), 'maximum')).to.equal(
      undefined,
    );
  });
});

import { expect } from 'chai';
import { describe, it } from 'mocha';
import { hashOfKey, plainRulesOf, valueKind } from '../../../../src/broker/publishing/plain-rules/plain-rules.ts';

const none = { wantedPaths: [], hasMetadata: false };

describe('plainRulesOf', () => {
  it('reads kinds, of which every integer is a number', () => {
    const kindsOf = (schema: object): number | undefined => plainRulesOf({ ...schema }, none)?.kinds;
    expect(kindsOf({ type: 'string', title: 'x' })).to.equal(valueKind.string);
    expect(kindsOf({ type: 'integer' })).to.equal(valueKind.integer);
    expect(kindsOf({ type: ['number', 'null'] })).to.equal(valueKind.number + valueKind.integer + valueKind.null);
    expect(kindsOf({ type: 'string', nullable: true })).to.equal(valueKind.string + valueKind.null);
    expect(kindsOf({ type: 'string', nullable: false })).to.equal(valueKind.string);
    expect(kindsOf({})).to.equal(127);
  });

  it('has no rules for a schema that requires more', () => {
    const schemas = [
      { maxLength: 3 },
      { type: 'any' },
      { nullable: true },
      { format: 'email' },
      { enum: [1] },
      { enum: ['a'], const: 'a' },
      { required: true },
      { properties: { ['__proto__']: {} } },
    ];
    for (const schema of schemas) expect(plainRulesOf(schema, none), JSON.stringify(schema)).to.equal(null);
  });

  it('leaves open only the values whose rules it cannot check', () => {
    const rules = plainRulesOf({ properties: { a: { maxLength: 3 }, b: {} }, additionalProperties: false }, none);
    const values = new Map(rules?.keys.flatMap((key) => (key === undefined ? [] : [[String(key.name), key.value]])));
    expect(values.get('a')).to.equal(null);
    expect(values.get('b')).to.not.equal(null);
    expect(rules?.otherKeys).to.equal(null);
  });

  it('finds every key of a large object by its hash', () => {
    const names = Array.from({ length: 300 }, (_, index) => `field-${index}-é`);
    const rules = plainRulesOf({ required: names }, none);
    const table = rules?.keys ?? [];
    expect(rules?.requiredKeys).to.equal(names.length);
    for (const name of names) {
      let place = hashOfKey(Buffer.from(name)) & (table.length - 1);
      while (table[place] !== undefined && String(table[place]?.name) !== name) place = (place + 1) % table.length;
      expect(table[place]?.isRequired, name).to.equal(true);
    }
  });

  it('marks wanted paths, also below values that the schema does not describe, and metadata', () => {
    const wantedPaths = [
      ['metadata', 'eid'],
      ['a', 'b'],
    ];
    const rules = plainRulesOf({ properties: { metadata: {} } }, { wantedPaths, hasMetadata: true });
    const under = (from: typeof rules, name: string): typeof rules =>
      from?.keys.find((key) => key !== undefined && String(key.name) === name)?.value ?? null;
    expect(under(under(rules, 'a'), 'b')?.wanted).to.deep.equal([1]);
    expect(under(under(rules, 'metadata'), 'eid')?.wanted).to.deep.equal([0]);
    expect(under(rules, 'metadata')?.place).to.equal('metadata');
    expect(rules?.otherKeys?.keys).to.deep.equal([undefined]);
  });
});

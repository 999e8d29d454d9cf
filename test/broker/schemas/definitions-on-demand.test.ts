import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { compileOnDemand } from '../../../src/broker/schemas/definitions-on-demand.ts';
import type { SchemaObject } from '../../../src/broker/schemas/schema-walk.ts';

const schema: SchemaObject = {
  properties: { a: { $ref: '#/$defs/a' }, b: { $ref: '#/$defs/b' }, again: { $ref: '#/$defs/a' } },
  $defs: {
    a: { type: 'object', required: ['c'], properties: { c: { $ref: '#/$defs/count' }, b: { $ref: '#/$defs/b' } } },
    b: { type: 'object', properties: { b: { $ref: '#/$defs/b' } }, additionalProperties: false },
    count: { type: 'integer', minimum: 0, maximum: 5, multipleOf: 2, description: 'Has more rules than a reference.' },
  },
};

/** The validator, and the code that was compiled for it so far. */
function compiling(allErrors = true) {
  const code: string[] = [];
  const process = (text: string): string => {
    code.push(text);
    return text;
  };
  const options = { strict: false, allErrors, verbose: true, meta: false, validateSchema: false, inlineRefs: 3 };
  return { validate: compileOnDemand(new Ajv2020({ ...options, code: { process } }), schema), code };
}

describe('compileOnDemand', () => {
  it('compiles a definition of objects once, with the first value that gets to it', () => {
    const { validate, code } = compiling();
    const counts = [{}, { a: 1 }, { a: { c: 2 }, again: { c: 4 } }, { b: {} }, { a: { b: { b: {} } } }].map((value) => {
      const before = code.length;
      void validate(value);
      return code.length - before;
    });
    expect(code).to.have.length(4);
    // That of `a` comes with the small definition that it refers to.
    expect(counts).to.deep.equal([0, 2, 0, 1, 0]);
  });

  const values = [
    {},
    { a: {} },
    { a: { c: 7 }, b: { d: 1 }, again: { c: -1, b: { b: { e: 1 } } } },
    { a: 1, b: [], again: { c: 2 } },
    { a: { c: 2.5, b: { b: { b: { b: 'x' } } } } },
  ];
  for (const allErrors of [true, false]) {
    it(`finds the same violations in the same order as at once, ${allErrors ? 'all' : 'the first'}`, () => {
      const { validate } = compiling(allErrors);
      const atOnce = new Ajv2020({ strict: false, allErrors, verbose: true }).compile(schema);
      const textOf = (errors: unknown) =>
        JSON.stringify(errors, (key, value: unknown) => (key === 'schemaPath' ? 0 : value));
      for (const value of values) {
        expect(validate(value), JSON.stringify(value)).to.equal(atOnce(value));
        expect(textOf(validate.errors)).to.equal(textOf(atOnce.errors));
      }
    });
  }
});

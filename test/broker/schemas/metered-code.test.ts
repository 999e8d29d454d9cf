import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Script } from 'node:vm';
import { collectedViolationsMaximum, meterCode } from '../../../src/broker/schemas/metered-code.ts';

/** The code of the validators of a schema, for the first violation and for all. */
function codeOf(
  schema: Record<string, unknown>,
  dialects: readonly (typeof Ajv2019 | typeof Ajv2020)[] = [Ajv2019, Ajv2020],
): string[] {
  const pieces: string[] = [];
  for (const Ajv of dialects) {
    for (const allErrors of [false, true]) {
      const process = (code: string): string => {
        pieces.push(meterCode(code));
        return code;
      };
      for (const ownProperties of [false, true]) {
        const ajv = new Ajv({
          strict: false,
          meta: false,
          validateSchema: false,
          verbose: true,
          allErrors,
          ownProperties,
          code: { optimize: false, process },
        });
        // The service has its own comparison for it.
        ajv.removeKeyword('uniqueItems');
        ajv.compile(schema);
      }
    }
  }
  return pieces;
}

const many = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`);

/** With every keyword that loops, and with texts that look like code. */
const everything: Record<string, unknown> = {
  type: 'object',
  required: many(300),
  minProperties: 1,
  propertyNames: { maxLength: 9 },
  patternProperties: { '^x': { minimum: 1 } },
  additionalProperties: { $ref: '#/definitions/small' },
  dependencies: { a: ['b'], c: { required: ['d'] } },
  dependentRequired: { e: ['f'] },
  dependentSchemas: { g: { minProperties: 2 } },
  properties: {
    'for(const key0 in data){"}': { const: 'vErrors.push(err0);' },
    list: { items: { enum: [...many(300), { a: 1 }] }, contains: { type: 'string' }, minContains: 2, maxContains: 9 },
    rest: { anyOf: [{ items: {} }, { $ref: '#/definitions/small' }], unevaluatedItems: { type: 'number' } },
    open: {
      anyOf: [{ $ref: '#/definitions/small' }, { properties: { a: true } }, { patternProperties: { b: {} } }],
      unevaluatedProperties: { type: 'string' },
    },
    choice: { oneOf: [{ const: { a: [1] } }, { not: { type: 'number' } }], if: { minLength: 1 } },
    itself: { $recursiveRef: '#' },
    any: { $dynamicRef: '#meta' },
  },
  definitions: {
    small: { properties: { a: { type: 'number', maximum: 1 } }, minProperties: 1, maxProperties: 2, title: 'x' },
    meta: { $dynamicAnchor: 'meta', maxItems: 3, items: { $ref: '#/definitions/small' } },
  },
};

describe('meterCode', () => {
  const code = codeOf({ ...everything });
  const items = [{ type: 'string' }];
  code.push(
    ...codeOf({ prefixItems: items, items: { type: 'number' }, unevaluatedItems: false }, [Ajv2020]),
    ...codeOf({ items, additionalItems: { type: 'number' }, unevaluatedItems: { type: 'string' } }, [Ajv2019]),
  );
  const text = code.join('\n').replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""');

  it('charges every function and every iteration of every loop', () => {
    const loops = text.match(/\b(?:for|while)\(/g)?.length ?? 0;
    const charged = text.match(
      /\b(?:for|while)\((?:[^(){}]|\([^(){}]*\))*\)\{if\(\(meter\.steps -= \d+\) < 0\)meter\.stop\(\);/g,
    );
    expect(loops).to.be.greaterThan(50);
    expect(charged).to.have.length(loops);
    const functions = text.match(/\bfunction validate\d+\(/g)?.length ?? 0;
    expect(functions).to.be.greaterThan(10);
    expect(text.match(/\}=\{\}\)\{if\(\(meter\.steps -= \d+\) < 0\)meter\.stop\(\);let vErrors/g)).to.have.length(
      functions,
    );
  });

  it('contains no uncharged call whose cost grows with the length of values', () => {
    for (const uncounted of [/ in data\d*\)/, /Object\.keys\(/, /Object\.assign\(/, /\.concat\(/, /\.replace\(/]) {
      expect(text).not.to.match(uncounted);
    }
    expect(text.match(/scope\.func\[/g)?.length).to.equal(text.match(/meter\.counting\(scope\.func\[/g)?.length);
  });

  it('lets no list of violations grow without limit', () => {
    const pushes = text.match(/vErrors\.push\(/g)?.length ?? 0;
    expect(pushes).to.be.greaterThan(20);
    expect(text.split(`vErrors.length < ${collectedViolationsMaximum} && vErrors.push(`)).to.have.length(pushes + 1);
  });

  it('produces code that runs', () => {
    for (const piece of code) expect(() => new Script(`(function(){${piece}})`)).not.to.throw();
  });

  it('leaves string literals unchanged, whatever they look like', () => {
    expect(code.join('\n')).to.contain('"for(const key0 in data){\\"}"');
    expect(code.join('\n')).to.contain('"vErrors.push(err0);"');
  });

  it('charges more for long code, and for a violation where it is created', () => {
    const stepsOf = (schema: Record<string, unknown>): number =>
      [...(codeOf(schema)[0] ?? '').matchAll(/meter\.steps -= (\d+)/g)].reduce(
        (sum, [, steps]) => sum + Number(steps),
        0,
      );
    const fields = (count: number) => ({
      properties: Object.fromEntries(many(count).map((name) => [name, { type: 'string' }])),
    });
    expect(stepsOf(fields(200))).to.be.greaterThan(50 * stepsOf(fields(2)));
    expect(meterCode('function validate0(data, {a}={}){if(a){validate0.errors = [{a}];return false;}}')).to.match(
      /if\(a\)\{meter\.steps -= 1\d\d;validate0/,
    );
  });

  it('charges a short branch together with its function, and every loop and long branch for itself', () => {
    const chargesIn = (body: string): number =>
      meterCode(`function validate0(data, {a}={}){${body}}`).match(/meter\.steps -= /g)?.length ?? 0;
    const long = `a = ${'+'.repeat(2_000)}a;`;
    expect(chargesIn('a();')).to.equal(1);
    expect(chargesIn('if(a){b();}else {c();}')).to.equal(1);
    expect(chargesIn('for(const b of a){c();}')).to.equal(2);
    expect(chargesIn('while(a){c();}')).to.equal(2);
    expect(chargesIn(`if(a){${long}}else {c();}`)).to.equal(2);
    expect(chargesIn(`if(a){b();}else {${long}}`)).to.equal(2);
    expect(chargesIn(`a = {b: [${long}]};`)).to.equal(1);
    expect(chargesIn(`if(a){${'b'.repeat(2_000)}}`)).to.equal(1);
    expect(chargesIn(`if(a){${'b'.repeat(2_001)}}`)).to.equal(2);
    expect(chargesIn(`if(a.b !== undefined){${'b'.repeat(150)}}`)).to.equal(1);
    expect(chargesIn(`if(a.b !== undefined){${'b'.repeat(151)}}`)).to.equal(2);
  });

  it('rejects asynchronous code', () => {
    expect(() => meterCode('return async function validate0(data){}')).to.throw(/synchronously/);
    expect(() => meterCode('return function validate0(data){return data === "async function x"}')).not.to.throw();
  });
});

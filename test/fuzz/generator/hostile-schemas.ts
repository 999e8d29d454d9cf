import { costlyCases } from './costly-schemas.ts';
import type { SeededRandom } from './seeded-random.ts';
import { hostileText, prototypeNames } from './hostile-values.ts';

/** Schemas and regular expressions of event types that cost more than they seem to, or have no target. */

export const hostilePatterns = [
  '(a+)+$',
  '^(a|a)*$',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(.*)*b',
  '^(?:a?){30}a{30}$',
  'a{1000}',
  '(a{1000}){1000}',
  '((a{0,100}){0,100}){0,100}',
  'a{0,4294967296}',
  '\\p{L}{900}',
  '(?i)\\p{L}{500}',
  '[^\\p{L}\\p{N}]{999}',
  '[\\d-z]',
  '(?=a)b',
  '(?<!a)b',
  '(a)\\1',
  '(?<name>a)\\k<name>',
  '[',
  '(',
  '*',
  '\\',
  'a{2,1}',
  '\\u{110000}',
  '\\ud800',
  '(?:',
  '$^',
  '\u0000',
  '.'.repeat(1_200),
  '('.repeat(500) + ')'.repeat(500),
  'a|'.repeat(30_000),
  '(x|'.repeat(300) + 'y' + ')'.repeat(300),
];

type Schema = Record<string, unknown>;

function many<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function properties(count: number, make: (index: number) => unknown): Schema {
  return { properties: Object.fromEntries(many(count, (index) => [`p${index}`, make(index)])) };
}

function deep(levels: number, wrap: (inside: unknown) => unknown): unknown {
  let schema: unknown = { type: 'object' };
  for (let level = 0; level < levels; level += 1) schema = wrap(schema);
  return schema;
}

/** Each generates a schema of about `count` parts. */
const wideSchemas: readonly ((count: number) => Schema)[] = [
  (count) => ({ anyOf: many(count, (index) => ({ required: [`a${index}`] })) }),
  (count) => ({ allOf: many(count, (index) => ({ properties: { [`a${index}`]: { type: 'string' } } })) }),
  (count) => ({ oneOf: many(count, (index) => ({ properties: { a: { const: index } } })) }),
  (count) => properties(count, () => ({ type: 'string', minLength: 1 })),
  (count) => properties(count, (index) => ({ pattern: `^(a|b${index})+$` })),
  (count) => properties(count, (index) => ({ pattern: `^\\p{L}{${100 + (index % 800)}}$` })),
  (count) => properties(count, () => ({ pattern: '^[a-z]{900}$' })),
  (count) => ({ patternProperties: Object.fromEntries(many(count, (index) => [`^a${index}`, {}])) }),
  (count) => ({
    unevaluatedProperties: false,
    allOf: many(count, (index) => ({ properties: { [`a${index}`]: true } })),
  }),
  (count) => ({
    $defs: { x: properties(count / 10, () => ({ type: 'string' })) },
    ...properties(count, () => ({ $ref: '#/$defs/x' })),
  }),
  (count) => ({
    $defs: Object.fromEntries(many(count, (index) => [`d${index}`, { $ref: `#/$defs/d${(index + 1) % count}` }])),
    $ref: '#/$defs/d0',
  }),
  (count) => properties(1, () => ({ prefixItems: many(count, () => ({ type: 'integer' })) })),
  (count) => ({ dependencies: Object.fromEntries(many(count, (index) => [`a${index}`, ['b', `c${index}`]])) }),
  (count) => ({ required: many(count, (index) => `r${index}`) }),
  (count) => properties(1, () => ({ enum: many(count, (index) => index) })),
];

/** The number of parts of a wide schema: mostly small, because large ones are refused by their size. */
const widths = [10, 10, 30, 30, 100, 100, 300, 700, 1_500, 4_000];

const oddSchemas: readonly Schema[] = [
  { $ref: '#' },
  { $ref: '#/properties/a', properties: { a: { $ref: '#' } } },
  { properties: { a: { $ref: '#/properties/b' }, b: { $ref: '#/properties/a' } } },
  { anyOf: [{ $ref: '#' }, { $ref: '#' }] },
  { properties: { a: { anyOf: [{ $ref: '#' }, { $ref: '#' }, { type: 'string' }] } } },
  { $ref: 'http://127.0.0.1:1/schema.json' },
  { $ref: 'file:///etc/passwd' },
  { $ref: '#/%E0%A4%A' },
  { properties: { a: { $ref: '#/%E0%A4%A' } } },
  { properties: { a: { $ref: '#/definitions/~2' } } },
  { properties: { a: { $ref: '#none' } } },
  { properties: { a: { $ref: '#/$defs/missing' } } },
  { $dynamicRef: '#meta', $defs: { a: { $dynamicAnchor: 'meta' } } },
  { $recursiveRef: '#', $recursiveAnchor: true },
  { $id: 'http://127.0.0.1/a', $defs: { a: { $id: 'b', $ref: 'a' } } },
  { $id: '%%%' },
  { $anchor: 'a', properties: { a: { $anchor: 'a' } } },
  { $schema: 'http://127.0.0.1/none' },
  { $schema: 7 },
  { $async: true },
  { $vocabulary: { 'https://none.example': true } },
  {
    properties: {
      a: { format: 'none' },
      b: { format: 'regex' },
      c: { format: '__proto__' },
      d: { format: 'constructor' },
    },
  },
  {
    properties: { a: { format: 'json-pointer' }, b: { format: 'uri' }, c: { format: 'date' }, d: { format: 'email' } },
  },
  { required: ['a', 'a'] },
  { required: prototypeNames },
  { properties: Object.fromEntries(prototypeNames.map((name) => [name, { type: 'string' }])) },
  { patternProperties: { '(a+)+$': {}, '[': {} } },
  { enum: [] },
  { const: { a: deep(50, (inside) => [inside]) } },
  { minimum: 'a' },
  { multipleOf: 0 },
  { multipleOf: 1e-300 },
  { maxLength: -1 },
  { minItems: 1e300 },
  { type: 'none' },
  { type: [] },
  { type: ['object', 'object'] },
  { properties: [] },
  { items: 7 },
  { properties: { a: false } },
  { not: {} },
  JSON.parse('{"if": true, "then": false}') as Schema,
  { dependencies: { a: false, b: ['c'], c: { not: {} } } },
  { 'lendstream:whole': true, 'lendstream:listed': true },
  { properties: { a: { $ref: '#/x/t' } }, x: { t: { anyOf: [{ items: { $ref: '#/x/t' } }, { $ref: '#/x/t' }] } } },
  { properties: { a: { $ref: '#/examples/0' } }, examples: [{ type: 'string' }] },
  { properties: { a: { $ref: '#/%65num/0' } }, enum: [{ type: 'object' }] },
  { properties: { a: { multipleOf: 0.01, maximum: 2 ** 53, type: 'integer' } } },
  { required: 'a' },
  { discriminator: { propertyName: 'a' }, oneOf: [{ $ref: '#' }] },
  { nullable: true },
  { default: deep(30, (inside) => ({ inside })) },
];

export function hostileSchema(random: SeededRandom): unknown {
  return random.weighted<() => unknown>([
    [4, () => random.pick(wideSchemas)(random.pick(widths))],
    [4, () => random.pick(oddSchemas)],
    [3, () => ({ properties: { a: { type: 'string', pattern: random.pick(hostilePatterns) } } })],
    [1, () => deep(random.pick([10, 40, 49, 120, 1_500]), (inside) => ({ allOf: [inside] }))],
    [1, () => deep(random.pick([10, 40, 120, 1_500]), (inside) => ({ properties: { a: inside } }))],
    [1, () => deep(random.pick([3, 6, 9]), (inside) => ({ anyOf: [inside, inside] }))],
    [
      1,
      () => ({
        title: hostileText(random),
        properties: { [hostileText(random)]: { description: hostileText(random) } },
      }),
    ],
    [1, () => random.pick(costlyCases).schema],
    [1, () => random.pick([true, false, null, 7, [], 'text'])],
  ])();
}

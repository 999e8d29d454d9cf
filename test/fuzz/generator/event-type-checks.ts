import { costlyCases, nestedList } from './costly-schemas.ts';
import type { SeededRandom } from './seeded-random.ts';
import { RawJson } from './json-text.ts';

/** Checks of a schema and an event together: slow validations, and numbers at the limits of a double. */

/** Rules about numbers, each evaluated by digits. */
const numberRules = [
  '{"multipleOf":0.01}',
  '{"multipleOf":1e-9}',
  '{"multipleOf":3}',
  '{"maximum":9007199254740992}',
  '{"minimum":9007199254740993}',
  '{"exclusiveMinimum":-9007199254740993}',
  '{"exclusiveMaximum":1e300}',
  '{"type":"integer"}',
  '{"const":9007199254740993}',
  '{"items":{"multipleOf":0.01},"uniqueItems":true}',
];

const numbersAtTheEdge = [
  '19.99',
  '0.07',
  '1.005',
  '1.0',
  '-0',
  '9007199254740992',
  '9007199254740993',
  '9007199254740993.5',
  '-9007199254740993',
  '1e400',
  '-1e-400',
  '1e999999999999999999',
  `0.${'3'.repeat(5_000)}`,
  '9'.repeat(5_000),
  '[9007199254740992,9007199254740993,0.07]',
];

/** References to places that are no schemas for anything else. */
const strayReferences = ['#/x/t', '#/examples/0', '#/enum/0', '#/default', '#/const/a', '#/title', '#/x/list/0'];

export function costlyCheck(random: SeededRandom): { readonly mutation: string; readonly body: unknown } {
  const check = (mutation: string, schema: string, event: unknown) => ({
    mutation,
    body: {
      event_type: {
        name: 'fuzzed.check',
        owning_application: 'fuzz',
        category: 'undefined',
        schema: { type: 'json_schema', schema },
      },
      event,
    },
  });
  return random.weighted([
    [
      1,
      () => {
        const { schema, value } = random.pick(costlyCases);
        return check('costly schema', JSON.stringify(schema), value);
      },
    ],
    [
      6,
      () => {
        const event = new RawJson(`{"v":${random.pick(numbersAtTheEdge)}}`);
        return check('number at the edge', `{"properties":{"v":${random.pick(numberRules)}}}`, event);
      },
    ],
    [
      4,
      () => {
        const itself = { $ref: random.pick(strayReferences) };
        const location = random.pick<unknown>([
          { anyOf: [{ items: itself, minItems: 5 }, { items: itself }] },
          { allOf: [itself] },
          { $async: true, type: 'string' },
          { items: itself },
        ]);
        const schema = {
          properties: { v: itself },
          x: { t: location, list: [location] },
          examples: [location],
          default: location,
        };
        const event = { v: nestedList(random.pick([1, 20, 97]), 1) };
        return check('stray reference', JSON.stringify(schema), event);
      },
    ],
    [
      2,
      () => {
        const levels = random.pick([1, 10, 90]);
        const event = new RawJson(`${'{"v":'.repeat(levels)}{"n":1,"n":2}${'}'.repeat(levels)}`);
        return check('repeated key in the depth', '{}', event);
      },
    ],
  ])();
}

/** Small and valid schemas, and values that take long to validate, each in its own way. */

export interface CostlyCase {
  readonly title: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

function many<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Nested lists of this depth. */
export function nestedList(levels: number, inside: unknown): unknown {
  return levels === 0 ? inside : [nestedList(levels - 1, inside)];
}

/** The letters a and b in an order without a pattern, the same each time. */
function letters(count: number, seed: number): string {
  let state = seed + 1;
  return many(count, () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 2 === 0 ? 'a' : 'b';
  }).join('');
}

/** A schema that doubles with each level of a list, from a place where no keyword has a schema. */
function doubling(location: string): Readonly<Record<string, unknown>> {
  const itself = { $ref: `#/${location}` };
  return {
    anyOf: [
      { items: itself, minItems: 5 },
      { items: itself, minItems: 6 },
    ],
  };
}

const explodingPattern = '^(?:a|b)*a(?:a|b){480}$';

export const costlyCases: readonly CostlyCase[] = [
  ...[24, 95].map((levels) => ({
    title: `references into an unknown keyword, ${levels} levels deep`,
    schema: { properties: { v: { $ref: '#/x/t' } }, x: { t: doubling('x/t') } },
    value: { v: nestedList(levels, 1) },
  })),
  {
    title: 'references into definitions, 24 levels deep',
    schema: { properties: { v: { $ref: '#/definitions/t' } }, definitions: { t: doubling('definitions/t') } },
    value: { v: nestedList(24, 1) },
  },
  {
    title: 'a pattern whose automaton explodes, for one long text',
    schema: { properties: { v: { items: { pattern: explodingPattern } } } },
    value: { v: [letters(9_000, 1)] },
  },
  {
    title: 'a pattern whose automaton explodes, for many texts',
    schema: { properties: { v: { items: { anyOf: [{ pattern: explodingPattern }, {}] }, maxItems: 1 } } },
    value: { v: many(5_000, (index) => letters(100, index)) },
  },
  {
    title: 'many rules for each of many items',
    schema: { properties: { v: { allOf: many(390, (index) => ({ items: { minimum: index } })) } } },
    value: { v: many(200_000, () => 1_000) },
  },
  {
    title: 'many searches of one list',
    schema: { properties: { v: { allOf: many(400, (index) => ({ contains: { const: index } })) } } },
    value: { v: [...many(190_000, () => -1), ...many(400, (index) => index)] },
  },
  {
    title: 'many listed objects',
    schema: {
      properties: { v: { items: { anyOf: [{ enum: many(15_000, (index) => ({ a: index })) }, {}] }, maxItems: 1 } },
    },
    value: { v: many(2_000, () => ({ a: -1 })) },
  },
  {
    title: 'many comparisons of all items',
    schema: { properties: { v: { allOf: many(480, () => ({ uniqueItems: true })) } } },
    value: { v: many(30_000, (index) => ({ a: index })) },
  },
  {
    title: 'many checks of the fields of one object',
    schema: { properties: { v: { allOf: many(550, () => ({ minProperties: 1 })) } } },
    value: { v: Object.fromEntries(many(50_000, (index) => [`k${index}`, index])) },
  },
  {
    title: 'many counts of the characters of one text',
    schema: { properties: { v: { allOf: many(550, (index) => ({ minLength: index })) } } },
    value: { v: 'x'.repeat(1_000_000) },
  },
  {
    title: 'a format that is checked in many ways',
    schema: { properties: { v: { format: 'url' } } },
    value: { v: `http://${':'.repeat(80_000)}` },
  },
  {
    title: 'patterns for the names of many fields',
    schema: {
      properties: {
        v: { patternProperties: Object.fromEntries(many(90, (index) => [`^(a|b${index})+$`, { type: 'number' }])) },
      },
    },
    value: { v: Object.fromEntries(many(20_000, (index) => [`aaaab${index}`, 1])) },
  },
  {
    title: 'fields that are recorded as evaluated, for many items',
    schema: {
      properties: {
        v: {
          items: {
            unevaluatedProperties: false,
            anyOf: many(380, (index) => ({ properties: { [`p${index}`]: true } })),
          },
        },
      },
    },
    value: { v: many(20_000, () => ({ p1: 1, p2: 2 })) },
  },
];

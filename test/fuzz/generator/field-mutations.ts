import type { SeededRandom } from './seeded-random.ts';
import type { Draft } from './drafts.ts';
import { costlyCheck } from './event-type-checks.ts';
import { hostileSchema } from './hostile-schemas.ts';
import {
  brokenValue,
  deepValue,
  hostileDates,
  hostileNumber,
  hostileText,
  longText,
  prototypeNames,
  wideValue,
  wrongType,
} from './hostile-values.ts';
import {
  RawJson,
  isJsonObject,
  memberTexts,
  pathsOf,
  valueAtPath,
  withValueAt,
  writeJson,
  type JsonPath,
} from './json-text.ts';
import { boundariesOf, schemaAt } from './schema-values.ts';
import { bodySchema } from './valid-requests.ts';

/** Changes of single fields of a JSON body. */

type FieldTarget = { readonly path: JsonPath; readonly value: unknown };

/** The new value, computed from the old one; undefined removes it. */
type FieldMutation = (random: SeededRandom, target: FieldTarget, draft: Draft) => unknown;

const fieldMutations: readonly (readonly [weight: number, name: string, mutate: FieldMutation])[] = [
  [5, 'wrong type', (random) => wrongType(random)],
  [
    6,
    'boundary',
    (random, { path }, { operation }) => {
      const schema = schemaAt(bodySchema(operation) ?? {}, path);
      const edges = schema === undefined ? [] : boundariesOf(schema);
      return edges.length > 0 ? random.pick(edges) : hostileNumber(random);
    },
  ],
  [3, 'missing', () => undefined],
  [5, 'hostile text', (random) => hostileText(random)],
  [3, 'hostile number', (random) => hostileNumber(random)],
  [2, 'date at the edge', (random) => random.pick(hostileDates)],
  [2, 'long text', (random) => longText(random)],
  [2, 'deep value', (random) => deepValue(random)],
  [1, 'wide value', (random) => wideValue(random)],
  [1, 'broken value', (random) => brokenValue(random)],
];

const memberMutations: readonly (readonly [weight: number, name: string, mutate: FieldMutation])[] = [
  [2, 'unknown key', (random, { value }) => ({ ...(value as object), [hostileText(random)]: wrongType(random) })],
  [
    3,
    'prototype key',
    (random, { value }) => {
      const pollution = random.pick<unknown>([{ polluted: true }, { toString: 1 }, null, 'text', []]);
      const added: [string, unknown] = [random.pick(prototypeNames), pollution];
      return Object.fromEntries([...Object.entries(value as object), added]);
    },
  ],
  [
    2,
    'duplicate key',
    (random, { value }) => {
      const members = memberTexts(value as Record<string, unknown>);
      const [name] = random.pick(Object.entries(value as object).concat([['a', 1]]));
      return new RawJson(`{${[...members, `${JSON.stringify(name)}:${writeJson(wrongType(random))}`].join(',')}}`);
    },
  ],
  [2, 'unknown deep', (random, { value }) => ({ ...(value as object), extra: deepValue(random) })],
];

export function mutateField(draft: Draft, random: SeededRandom): void {
  if (draft.operation.operationId === 'checkEventType' && random.chance(0.3)) {
    const { mutation, body } = costlyCheck(random);
    apply(draft, mutation, [], body);
    return;
  }
  const path = random.pick(pathsOf(draft.value));
  const value = valueAtPath(draft.value, path);
  // A schema is a text within the body, and needs worse mutations than another text.
  if (path.at(-1) === 'schema' && typeof value === 'string' && random.chance(0.8)) {
    apply(draft, 'hostile schema', path, JSON.stringify(hostileSchema(random)));
    return;
  }
  const mutations = isJsonObject(value) && random.chance(0.6) ? memberMutations : fieldMutations;
  const [, name, mutate] = random.weighted(mutations.map((mutation) => [mutation[0], mutation]));
  apply(draft, name, path, mutate(random, { path, value }, draft));
}

function apply(draft: Draft, name: string, path: JsonPath, value: unknown): void {
  draft.value = path.length === 0 && value === undefined ? new RawJson('') : withValueAt(draft.value, path, value);
  draft.mutations.push(name);
}

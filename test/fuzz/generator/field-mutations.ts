import type { Dice } from './dice.ts';
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

type Place = { readonly path: JsonPath; readonly value: unknown };

/** What is put at the place, from what is there; undefined takes it out. */
type FieldMutation = (dice: Dice, place: Place, draft: Draft) => unknown;

const fieldMutations: readonly (readonly [weight: number, name: string, mutate: FieldMutation])[] = [
  [5, 'wrong type', (dice) => wrongType(dice)],
  [
    6,
    'boundary',
    (dice, { path }, { operation }) => {
      const schema = schemaAt(bodySchema(operation) ?? {}, path);
      const edges = schema === undefined ? [] : boundariesOf(schema);
      return edges.length > 0 ? dice.pick(edges) : hostileNumber(dice);
    },
  ],
  [3, 'missing', () => undefined],
  [5, 'hostile text', (dice) => hostileText(dice)],
  [3, 'hostile number', (dice) => hostileNumber(dice)],
  [2, 'date at the edge', (dice) => dice.pick(hostileDates)],
  [2, 'long text', (dice) => longText(dice)],
  [2, 'deep value', (dice) => deepValue(dice)],
  [1, 'wide value', (dice) => wideValue(dice)],
  [1, 'broken value', (dice) => brokenValue(dice)],
];

const memberMutations: readonly (readonly [weight: number, name: string, mutate: FieldMutation])[] = [
  [2, 'unknown key', (dice, { value }) => ({ ...(value as object), [hostileText(dice)]: wrongType(dice) })],
  [
    3,
    'prototype key',
    (dice, { value }) => {
      const pollution = dice.pick<unknown>([{ polluted: true }, { toString: 1 }, null, 'text', []]);
      const added: [string, unknown] = [dice.pick(prototypeNames), pollution];
      return Object.fromEntries([...Object.entries(value as object), added]);
    },
  ],
  [
    2,
    'duplicate key',
    (dice, { value }) => {
      const members = memberTexts(value as Record<string, unknown>);
      const [name] = dice.pick(Object.entries(value as object).concat([['a', 1]]));
      return new RawJson(`{${[...members, `${JSON.stringify(name)}:${writeJson(wrongType(dice))}`].join(',')}}`);
    },
  ],
  [2, 'unknown deep', (dice, { value }) => ({ ...(value as object), extra: deepValue(dice) })],
];

export function mutateField(draft: Draft, dice: Dice): void {
  if (draft.operation.operationId === 'checkEventType' && dice.chance(0.3)) {
    const { mutation, body } = costlyCheck(dice);
    apply(draft, mutation, [], body);
    return;
  }
  const path = dice.pick(pathsOf(draft.value));
  const value = valueAtPath(draft.value, path);
  // A schema is a text within the body, and deserves worse than being another text.
  if (path.at(-1) === 'schema' && typeof value === 'string' && dice.chance(0.8)) {
    apply(draft, 'hostile schema', path, JSON.stringify(hostileSchema(dice)));
    return;
  }
  const mutations = isJsonObject(value) && dice.chance(0.6) ? memberMutations : fieldMutations;
  const [, name, mutate] = dice.weighted(mutations.map((mutation) => [mutation[0], mutation]));
  apply(draft, name, path, mutate(dice, { path, value }, draft));
}

function apply(draft: Draft, name: string, path: JsonPath, value: unknown): void {
  draft.value = path.length === 0 && value === undefined ? new RawJson('') : withValueAt(draft.value, path, value);
  draft.mutations.push(name);
}

import type { DefinitionIndex, DefinitionOrder } from '../broker/definitions/definition-views.ts';
import type { Registry } from '../broker/definitions/registry.ts';
import { toTimestamp } from '../clock.ts';
import { LendstreamError } from '../errors.ts';

/** What an admin of the institution defines, besides products: each kind has records in the registry, by their ids. */
export type DefinitionKind = 'branch' | 'centre' | 'transaction-channel' | 'custom-field-set' | 'custom-field';

/** A definition as the registry keeps it. */
export interface DefinitionRecord<Fields> {
  readonly id: string;
  readonly encodedKey: string;
  /** The digest of the request that made it, to distinguish the same request sent again from another one. */
  readonly requestDigest: string;
  /** RFC 3339. */
  readonly creationDate: string;
  readonly lastModifiedDate: string;
  /** What its admin has set, as plain JSON. */
  readonly fields: Fields;
}

/** A definition to be made. */
export interface NewDefinition<Fields> {
  readonly id: string;
  readonly encodedKey: string;
  readonly requestDigest: string;
  readonly fields: Fields;
}

/** The definitions of a kind that this process knows, in the order of their ids. */
export function listDefinitions<Fields>(registry: Registry, kind: DefinitionKind): readonly DefinitionRecord<Fields>[] {
  return registry.listSorted<DefinitionRecord<Fields>>(views[kind].byId);
}

/** Whether this process knows a definition of a kind. */
export function hasDefinitions(registry: Registry, kind: DefinitionKind): boolean {
  return registry.listSorted(views[kind].byId).length > 0;
}

/**
 * A definition by its id or its encodedKey, which another process may have made a moment ago; undefined when there is
 * none.
 * @throws LOG_UNAVAILABLE when what others stored cannot be read in time
 */
export function findDefinition<Fields>(
  registry: Registry,
  kind: DefinitionKind,
  idOrKey: string,
): Promise<DefinitionRecord<Fields> | undefined> {
  return registry.findWith(() => knownDefinition<Fields>(registry, kind, idOrKey));
}

/** A definition by its id or its encodedKey; undefined when this process knows none. */
export function knownDefinition<Fields>(
  registry: Registry,
  kind: DefinitionKind,
  idOrKey: string,
): DefinitionRecord<Fields> | undefined {
  const { byKey } = views[kind];
  return (
    registry.get<DefinitionRecord<Fields>>(kind, idOrKey) ??
    registry.listBy<DefinitionRecord<Fields>>(byKey, idOrKey)[0]
  );
}

/**
 * Makes a definition durably and returns when this process sees it.
 * @param now Milliseconds since the epoch.
 * @returns the definition that was there before under the id or the key; undefined when there was none and it was made
 * @throws CONFLICT when another request has made one with this id at the same time, and the errors of the log
 */
export async function createDefinition<Fields>(
  registry: Registry,
  kind: DefinitionKind,
  definition: NewDefinition<Fields>,
  now: number,
): Promise<DefinitionRecord<Fields> | undefined> {
  await registry.catchUp();
  const { id, encodedKey } = definition;
  const known = knownDefinition<Fields>(registry, kind, encodedKey) ?? knownDefinition<Fields>(registry, kind, id);
  if (known !== undefined) return known;
  const time = toTimestamp(now);
  await registry.revise(kind, id).put({ ...definition, creationDate: time, lastModifiedDate: time });
  return undefined;
}

/**
 * Replaces the fields of a definition durably and returns when this process sees it.
 * @param now Milliseconds since the epoch.
 * @throws NOT_FOUND, CONFLICT when another request has changed it at the same time, and the errors of the log
 */
export async function changeDefinition(
  registry: Registry,
  kind: DefinitionKind,
  id: string,
  fields: unknown,
  now: number,
): Promise<void> {
  await reviseDefinition(registry, kind, id, () => fields, now);
}

/**
 * Changes the fields of a definition, beginning from its newest state. Else as {@link changeDefinition}.
 * @param fieldsOf The fields after the change. It must not wait for anything.
 * @throws what `fieldsOf` throws
 */
export async function reviseDefinition<Fields>(
  registry: Registry,
  kind: DefinitionKind,
  id: string,
  fieldsOf: (before: DefinitionRecord<Fields>) => unknown,
  now: number,
): Promise<void> {
  await registry.catchUp();
  const before = registry.get<DefinitionRecord<Fields>>(kind, id);
  if (before === undefined) throw new LendstreamError('NOT_FOUND', `${id} was removed by another request.`);
  const revision = registry.revise(kind, id);
  await revision.put({ ...before, fields: fieldsOf(before), lastModifiedDate: toTimestamp(now) });
}

/**
 * Removes a definition durably and returns when this process sees that. It may be gone already.
 * @param refuseWhileUsed Throws when something still needs the definition, in the newest state. It must not wait for
 *   anything.
 * @throws CONFLICT when another request has changed it at the same time, what `refuseWhileUsed` throws, and the errors
 *   of the log
 */
export async function removeDefinition(
  registry: Registry,
  kind: DefinitionKind,
  id: string,
  refuseWhileUsed: () => void = () => {},
): Promise<void> {
  await registry.catchUp();
  refuseWhileUsed();
  if (registry.get(kind, id) !== undefined) await registry.revise(kind, id).remove();
}

interface Views {
  readonly byId: DefinitionOrder<DefinitionRecord<unknown>>;
  readonly byKey: DefinitionIndex<DefinitionRecord<unknown>>;
}

function viewsOf(kind: DefinitionKind): Views {
  return {
    byId: { kind, compare: (one, other) => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0) },
    byKey: { kind, keysOf: ({ encodedKey }) => [encodedKey] },
  };
}

const views: Readonly<Record<DefinitionKind, Views>> = {
  branch: viewsOf('branch'),
  centre: viewsOf('centre'),
  'transaction-channel': viewsOf('transaction-channel'),
  'custom-field-set': viewsOf('custom-field-set'),
  'custom-field': viewsOf('custom-field'),
};

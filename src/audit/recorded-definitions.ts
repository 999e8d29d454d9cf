import { createHash } from 'node:crypto';
import type { EventTypeRecord } from '../broker/definitions/event-type.ts';
import type { Registry } from '../broker/definitions/registry.ts';
import type { RegistryKind } from '../broker/definitions/registry-kind.ts';

/** The longest definition that a record of the audit shows. Characters of its JSON. */
export const recordedCharactersMaximum = 64 * 1024;

/** Fields that no record of the audit shows: the digest of a key, and texts that people write freely. */
const hiddenFields: Readonly<Partial<Record<RegistryKind, readonly string[]>>> = {
  'api-key': ['digest'],
  'dealt-with-letter': ['note'],
};

/**
 * A definition as the audit shows it: without secrets and free texts, and of a long one only its size and hash. Null
 * when it does not exist.
 */
export function recordedDefinition(registry: Registry, kind: RegistryKind, name: string): unknown {
  const stored = registry.get<unknown>(kind, name);
  if (stored === undefined) return null;
  const shown = kind === 'event-type' ? eventTypeShown(stored as EventTypeRecord) : withoutHidden(kind, stored);
  return bounded(shown);
}

/**
 * As {@link recordedDefinition}, after a change that another part of the service may have stored a moment ago: the
 * worker stores products.
 * @throws LOG_UNAVAILABLE when what others stored cannot be read in time
 */
export async function changedDefinition(registry: Registry, kind: RegistryKind, name: string): Promise<unknown> {
  await registry.catchUp();
  return recordedDefinition(registry, kind, name);
}

/** A value, or only its size and hash when it is long. */
export function bounded(value: unknown): unknown {
  const text = JSON.stringify(value);
  if (text.length <= recordedCharactersMaximum) return value;
  return { characters: text.length, sha256: createHash('sha256').update(text).digest('hex') };
}

/** The event type with its schema in force; the versions before it have records of their own. */
function eventTypeShown({ eventType, partitionCount, deleting }: EventTypeRecord): object {
  return { ...eventType, partition_count: partitionCount, ...(deleting === undefined ? {} : { deleting }) };
}

function withoutHidden(kind: RegistryKind, stored: unknown): unknown {
  const hidden = hiddenFields[kind];
  if (hidden === undefined || typeof stored !== 'object' || stored === null) return stored;
  return Object.fromEntries(Object.entries(stored).filter(([field]) => !hidden.includes(field)));
}

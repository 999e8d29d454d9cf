import { createHash } from 'node:crypto';
import type { Offset, PartitionBounds } from '../../ports/event-log.ts';
import type { Registry, RegistryChange } from './registry.ts';

/**
 * Which keys of event types were deleted while the queue of dead letters had copies of their events, as the registry
 * keeps it: every process then shows these letters without the event. A record is kept while the queue has the letters.
 */
interface DeletedLetterKey {
  /** Of {@link nameOfLetterKey}. */
  readonly name: string;
  /** By partition of the queue: where it ended when the key was deleted. Later letters are of later failures. */
  readonly before: readonly Offset[];
}

/** A key of an event type. */
export interface LetterKey {
  readonly eventType: string;
  /** Null for the key in every partition. */
  readonly partition: string | null;
  readonly key: string;
}

const kind = 'deleted-letter-key';

/** The name of a key in the registry: a digest, since keys are of any length, and one that is deleted is not kept. */
export function nameOfLetterKey({ eventType, partition, key }: LetterKey): string {
  return createHash('sha256')
    .update(JSON.stringify([eventType, partition, key]))
    .digest('base64url');
}

/** Whether a change of the registry may hide letters. */
export function hidesLetters({ kind: changed, value }: RegistryChange): boolean {
  return changed === kind && value !== null;
}

/** Whether this process knows of any deleted key that the queue has letters of. */
export function hasDeletedLetterKeys(registry: Registry): boolean {
  return registry.count(kind) > 0;
}

/** Whether the key of the event in a letter was deleted after the letter was written. */
export function isLetterKeyDeleted(
  registry: Registry,
  letter: { readonly partition: number; readonly offset: Offset },
  { eventType, partition, key }: LetterKey,
): boolean {
  return [partition, null].some((each) => {
    const deleted = registry.get<DeletedLetterKey>(kind, nameOfLetterKey({ eventType, partition: each, key }));
    return letter.offset < (deleted?.before[letter.partition] ?? 0);
  });
}

/**
 * Records the deletion of a key by its name, on all processes.
 * @param before By partition of the queue: where it ends now.
 */
export function putDeletedLetterKey(registry: Registry, name: string, before: readonly Offset[]): Promise<void> {
  return registry.put(kind, name, { name, before } satisfies DeletedLetterKey);
}

/** Removes the records whose letters the queue has no longer. @param bounds Of the queue, by partition. */
export async function removeExpiredLetterKeys(registry: Registry, bounds: readonly PartitionBounds[]): Promise<void> {
  for (const { name, before } of registry.list<DeletedLetterKey>(kind)) {
    if (bounds.every(({ earliest }, partition) => (before[partition] ?? 0) <= earliest)) {
      await registry.remove(kind, name);
    }
  }
}

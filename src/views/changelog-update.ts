import { type CommandOutcome, isCheckpointKey, parseCheckpoint } from '../lending-format/checkpoint.ts';
import {
  type IdempotencyRecord,
  commandIdOfKey,
  parseIdempotencyRecord,
} from '../lending-format/idempotency-record.ts';

/** The content of a changelog record that is not the record of a loan. */
export type ChangelogUpdate =
  /** The outcomes of the commands of one commit. */
  | { readonly kind: 'outcomes'; readonly outcomes: readonly CommandOutcome[] }
  /** A command that is remembered or, with null, no longer remembered. */
  | { readonly kind: 'command'; readonly commandId: string; readonly command: IdempotencyRecord | null };

/**
 * Reads a record of the changelog that the worker writes.
 * @param value Null for a deleted record. A checkpoint is never deleted.
 * @returns null for the record of a loan
 * @throws INTERNAL when the record is malformed
 */
export function readChangelogUpdate(key: string, value: Buffer | null): ChangelogUpdate | null {
  if (isCheckpointKey(key)) {
    return { kind: 'outcomes', outcomes: value === null ? [] : parseCheckpoint(value).outcomes };
  }
  const commandId = commandIdOfKey(key);
  if (commandId === undefined) return null;
  return { kind: 'command', commandId, command: value === null ? null : parseIdempotencyRecord(value.toString()) };
}

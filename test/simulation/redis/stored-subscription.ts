/** A subscription as the store has it, by the script that reads it: fields of hashes, and hashes as lists. */
export type StoredSubscription = readonly [
  shard: readonly (string | null)[],
  meta: readonly (string | null)[],
  sessions: string[],
  owners: string[],
  offsets: string[],
  /** The leases of the nodes in its shard. */
  leases: string[],
];

/** Whether a script may run on it: none does while its shard is refilled. */
export function isInUse([[incarnation]]: StoredSubscription): boolean {
  return typeof incarnation === 'string';
}

/** Whether nodes may still bring back what they know. */
export function isRecovering([[, recoverUntil], [, , refilled]]: StoredSubscription, nowMilliseconds: number): boolean {
  return Number(recoverUntil ?? '0') > nowMilliseconds && typeof refilled === 'string';
}

import type { CursorToCommit } from '../../../src/ports/coordination.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import { isNewer, type StoredOffset } from '../../../src/redis/stored-offset.ts';
import { operationsOf } from './script-operations.ts';

/** Committed offsets by subscription, then by partition. */
export type AcknowledgedOffsets = ReadonlyMap<string, ReadonlyMap<string, StoredOffset>>;

/** The newest commits of which a node knows that they are stored. */
export class AcknowledgedCommits {
  #offsets: AcknowledgedOffsets = new Map();

  /** As they are now. */
  get offsets(): AcknowledgedOffsets {
    return this.#offsets;
  }

  /** The node has received the reply of commit.lua to these values. */
  received(values: readonly (string | number)[], reply: readonly unknown[]): void {
    if (reply[0] !== 'OK') return;
    const offsets = new Map(Array.from(this.#offsets, ([id, of]) => [id, new Map(of)]));
    for (const [index, { arguments: args }] of operationsOf('commit', '', values.map(String), []).entries()) {
      const outcome = reply[index + 1];
      if (typeof outcome !== 'string' || !outcome.startsWith('OK ')) continue;
      const [subscriptionId, , cursors] = args as [string, string, readonly CursorToCommit[]];
      const epochs = outcome.split(' ').slice(1);
      const of = offsets.get(subscriptionId) ?? new Map<string, StoredOffset>();
      offsets.set(subscriptionId, of);
      for (const [position, cursor] of cursors.entries()) {
        const stored = { offset: cursor.offset, epoch: Number(epochs[position]) };
        const before = of.get(partitionKey(cursor));
        if (stored.epoch > 0 && (before === undefined || isNewer(stored, before))) of.set(partitionKey(cursor), stored);
      }
    }
    this.#offsets = offsets;
  }
}

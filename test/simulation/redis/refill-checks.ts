import type { Session } from '../../../src/ports/coordination.ts';
import type { ScriptName } from '../../../src/redis/script-loading.ts';
import { decodeOffsets, pairs } from '../../../src/redis/script-values.ts';
import { isNewer, type StoredOffset } from '../../../src/redis/stored-offset.ts';
import { Violation } from '../invariants/violation.ts';
import type { StoreOperation } from '../simulated-store.ts';
import type { AcknowledgedOffsets } from './acknowledged-offsets.ts';
import type { MergeArguments } from './script-operations.ts';
import { isInUse, isRecovering, type StoredSubscription } from './stored-subscription.ts';

export interface RefillChecksOptions {
  readonly subscriptions: () => readonly string[];
  readonly storedOf: (subscriptionId: string) => StoredSubscription | undefined;
  /** The time of the store. Milliseconds since the epoch. */
  readonly milliseconds: () => number;
  readonly observe: (check: () => void) => void;
}

type Mirror = ReadonlyMap<string, ReadonlyMap<string, StoredOffset>>;

/** R1, R3 to R5, and R7: a store that has lost its data gets back what the log had, and what each node knows. */
export class RefillChecks {
  readonly #options: RefillChecksOptions;
  /** What the mirror had when the store lost its data, by subscription. */
  #mirrored: Mirror = new Map();
  /** The subscriptions that have not been compared with it since. */
  #lost = new Set<string>();
  /** The nodes and subscriptions of which a node has gone on since the store lost its data. */
  #broughtBack = new Set<string>();
  /** When the last lease ends that a node has brought back to a shard since then, by node. Milliseconds since 1970. */
  #leaseEnds = new Map<string, number>();

  constructor(options: RefillChecksOptions) {
    this.#options = options;
  }

  /**
   * The store has just lost its data.
   * @param mirrored What the log has.
   */
  lost(mirrored: Mirror): void {
    this.#mirrored = mirrored;
    this.#lost = new Set(this.#options.subscriptions());
    this.#broughtBack = new Set();
    this.#leaseEnds = new Map();
  }

  /**
   * A script was carried out.
   * @param operations What it did.
   * @param acknowledged The commits that the caller knows to be stored.
   */
  executed(script: ScriptName, operations: readonly StoreOperation[], acknowledged: AcknowledgedOffsets): void {
    this.#checkRefilled();
    for (const { caller, method, arguments: args } of operations) {
      if (method === 'renewLease') {
        if (script === 'refill/merge') this.#noteLease(args as [string, number]);
        continue;
      }
      this.#checkCommits(caller, String(args[0]), acknowledged);
      if (method === 'merge') this.#checkMerged(caller, args as MergeArguments);
      if (method === 'openSession') this.#checkLease(args as [string, Session]);
    }
  }

  #noteLease([nodeId, milliseconds]: [string, number]): void {
    const endsAt = this.#options.milliseconds() + milliseconds;
    this.#leaseEnds.set(nodeId, Math.max(endsAt, this.#leaseEnds.get(nodeId) ?? 0));
  }

  /** R1: a store that was refilled has at least what the mirror had when it lost its data. */
  #checkRefilled(): void {
    const { storedOf, observe } = this.#options;
    for (const id of this.#lost) {
      const stored = storedOf(id);
      if (stored === undefined || !isInUse(stored)) continue;
      this.#lost.delete(id);
      const offsets = decodeOffsets(stored[4]);
      for (const [key, mirrored] of this.#mirrored.get(id) ?? []) {
        const found = offsets.get(key);
        if (found !== undefined && !isNewer(mirrored, found)) continue;
        observe(() => {
          throw new Violation(`R1: ${key} is refilled to ${found?.offset}, and the log had ${mirrored.offset}`);
        });
      }
    }
  }

  /** R3: before a node uses a store that has lost its data, the store has every commit that the node knows of. */
  #checkCommits(caller: string, subscriptionId: string, acknowledged: AcknowledgedOffsets): void {
    const { storedOf, observe } = this.#options;
    const key = `${caller}/${subscriptionId}`;
    const stored = storedOf(subscriptionId);
    // What reaches a store before it is refilled is brought back once more.
    if (stored === undefined || !isInUse(stored) || this.#broughtBack.has(key)) return;
    this.#broughtBack.add(key);
    const offsets = decodeOffsets(stored[4]);
    for (const [partition, offset] of acknowledged.get(subscriptionId) ?? []) {
      const found = offsets.get(partition);
      if (found !== undefined && !isNewer(offset, found)) continue;
      observe(() => {
        throw new Violation(
          `R3: ${caller} knows the commit ${offset.offset} of ${partition}, and the store has ${found?.offset}`,
        );
      });
    }
  }

  /**
   * R4: a node brings back its streams, and R5: what they own, while no other stream owns it. Neither is so during a
   * reset, nor for streams that missed one, which R6 judges.
   */
  #checkMerged(caller: string, [subscriptionId, , streamIds, owned]: MergeArguments): void {
    const { storedOf, observe, milliseconds } = this.#options;
    const stored = storedOf(subscriptionId);
    if (stored === undefined) return;
    const [, [, resetUntil], sessions, owners, encodedOffsets] = stored;
    if (Number(resetUntil ?? '0') > milliseconds()) return;
    const offsets = decodeOffsets(encodedOffsets);
    const isReset = (key: string, fence: number): boolean => fence < (offsets.get(key)?.epoch ?? 0);
    const reset = new Set(owned.flatMap(([key, streamId, fence]) => (isReset(key, fence) ? [streamId] : [])));
    const open = new Set(pairs(sessions).map(([streamId]) => streamId));
    const ownerOf = new Map(pairs(owners).map(([key, owner]) => [key, owner.split('|')[1]]));
    observe(() => {
      for (const streamId of streamIds) {
        if (open.has(streamId) || reset.has(streamId)) continue;
        throw new Violation(`R4: ${caller} brings back ${streamId}, and it is not open`);
      }
      for (const [key, streamId] of owned) {
        if (!isRecovering(stored, milliseconds()) || ownerOf.get(key) !== '' || reset.has(streamId)) continue;
        throw new Violation(`R5: ${caller} brings back ${streamId}, which owned ${key} and does not get it`);
      }
    });
  }

  /**
   * R7: a node brings back its lease to every shard before it opens a stream, also where it knew no subscription. The
   * session of that stream would count as one of a dead node.
   */
  #checkLease([subscriptionId, { streamId, nodeId }]: [string, Session]): void {
    const { storedOf, observe, milliseconds } = this.#options;
    const stored = storedOf(subscriptionId);
    if (stored === undefined || !isInUse(stored)) return;
    const now = milliseconds();
    if ((this.#leaseEnds.get(nodeId) ?? 0) <= now) return;
    const endsAt = Number(new Map(pairs(stored[5])).get(nodeId) ?? '0');
    if (endsAt > now) return;
    observe(() => {
      throw new Violation(`R7: ${nodeId} opens ${streamId}, and its lease is missing in the shard`);
    });
  }
}

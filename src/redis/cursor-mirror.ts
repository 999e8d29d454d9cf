import { after, every, type Clock, type Timer } from '../clock.ts';
import { mirrorRecord, writeMirror } from '../broker/log/cursors-topic.ts';
import type { EventLog } from '../ports/event-log.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { pairs } from './script-values.ts';
import { allShards, shardOf } from './keys.ts';
import { parsePartitionKey } from '../ports/event-type-partition.ts';
import { isNewer, decodeOffset, removedOffsetMark, encodeOffset, type StoredOffset } from './stored-offset.ts';
import type { ScriptCalls } from './script-calls.ts';

/** How long a committed offset may wait to be written to the mirror together with others. Milliseconds. */
export const mirrorDelayMilliseconds = 200;

/**
 * How long the node that took a commit may leave it unwritten. After that the node must be gone, and another process
 * writes it. Milliseconds.
 */
export const pendingCheckMilliseconds = 2_000;

/** The most records in one append, and in one call that clears them. */
const recordsPerAppend = 4_000;
const recordsPerCall = 500;

/** One partition's newest offset on its way into the mirror; null removes it. */
export interface MirrorEntry {
  readonly subscriptionId: string;
  readonly partitionKey: string;
  readonly stored: StoredOffset | null;
}

export interface CursorMirrorOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: ScriptCalls;
  /** Called for each entry once it is in the mirror. */
  readonly onWritten: (entry: MirrorEntry) => void;
}

/**
 * Writes committed offsets to the mirror a moment after they were committed: the newest of each partition, all in one
 * append. Redis holds the same offsets as dirty entries, so that another process can write them when this one is gone.
 *
 * Processes write in no particular order. So after each append, Redis is asked whether it has a newer offset than the
 * written one, which is then written too. Soon after, the last record of a partition is therefore the right one. Until
 * then, epochs and offsets show which record is the newest (see broker/log/cursors-topic.ts).
 */
export class CursorMirror {
  readonly #options: CursorMirrorOptions;
  /** By the member names of the dirty entries. */
  #dirty = new Map<string, MirrorEntry>();
  /** The entries that are being written. */
  #inFlight: readonly MirrorEntry[] = [];
  /**
   * The entries that are written, until Redis has heard of that. A Redis that lost its data may have been refilled
   * before they were, and lacks them.
   */
  readonly #uncleared = new Map<string, MirrorEntry>();
  /** The dirty entries of all processes at the last check: by member, the written offset. */
  #pendingAtLastCheck = new Map<string, string>();
  #timer: Timer | undefined;
  readonly #pendingCheckTimer: Timer;
  #nextWrite: Promise<void> | undefined;
  #lastWrite: Promise<void> = Promise.resolve();
  readonly #clearing = new Set<Promise<void>>();
  #failureLogged = false;
  #isClosed = false;

  constructor(options: CursorMirrorOptions) {
    this.#options = options;
    this.#pendingCheckTimer = every(options.clock, pendingCheckMilliseconds, () => void this.#adoptPendingEntries());
  }

  /**
   * The entries that may not be in the mirror yet, or were not when Redis was refilled from it; a newer one of a
   * partition behind an older one.
   */
  entries(): MirrorEntry[] {
    return [...this.#uncleared.values(), ...this.#inFlight, ...this.#dirty.values()];
  }

  /** Schedules an offset to be written within {@link mirrorDelayMilliseconds}. */
  enqueue(entry: MirrorEntry): void {
    const member = memberOf(entry);
    const pending = this.#dirty.get(member)?.stored;
    if (pending && entry.stored !== null && !isNewer(entry.stored, pending)) return;
    this.#dirty.set(member, entry);
    this.#schedule();
  }

  /**
   * Returns when everything noted before is in the mirror.
   * @throws COORDINATION_UNAVAILABLE when that failed; it is tried again.
   */
  flush(): Promise<void> {
    if (this.#nextWrite !== undefined) return this.#nextWrite;
    const queued = this.#lastWrite.then(() => {
      this.#nextWrite = undefined;
      return this.#writePending();
    });
    this.#nextWrite = queued;
    this.#lastWrite = queued.catch(() => {});
    return queued;
  }

  /** Writes the remaining entries. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#pendingCheckTimer.cancel();
    await this.flush().catch((error: unknown) => this.#logFailureOnce(error));
    await Promise.allSettled(this.#clearing);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer ??= after(this.#options.clock, mirrorDelayMilliseconds, () => {
      this.#timer = undefined;
      // What could not be written is enqueued again, which schedules it.
      this.flush().catch((error: unknown) => this.#logFailureOnce(error));
    });
  }

  async #writePending(): Promise<void> {
    const entries = [...this.#dirty.values()];
    this.#inFlight = entries;
    this.#dirty = new Map();
    for (let start = 0; start < entries.length; start += recordsPerAppend) {
      const part = entries.slice(start, start + recordsPerAppend);
      try {
        await writeMirror(this.#options.log, part.map(recordOf));
      } catch (error) {
        for (const entry of entries.slice(start)) if (!this.#dirty.has(memberOf(entry))) this.enqueue(entry);
        this.#inFlight = [];
        throw error;
      }
      for (const entry of part) {
        this.#options.onWritten(entry);
        this.#uncleared.set(memberOf(entry), entry);
      }
      this.#clearDirty(part);
    }
    this.#inFlight = [];
    this.#failureLogged = false;
  }

  /** Marks entries as mirrored. Nothing waits for it: what Redis does not hear is repeated at the next check. */
  #clearDirty(entries: readonly MirrorEntry[]): void {
    const byShard = new Map<number, MirrorEntry[]>();
    for (const entry of entries) {
      const shard = shardOf(entry.subscriptionId);
      const list = byShard.get(shard);
      if (list === undefined) byShard.set(shard, [entry]);
      else list.push(entry);
    }
    for (const [shard, list] of byShard) {
      for (let start = 0; start < list.length; start += recordsPerCall) {
        const clearing = this.#clearDirtyInShard(shard, list.slice(start, start + recordsPerCall)).catch(
          (error: unknown) => {
            this.#options.logger.debug({ shard, error: describeError(error) }, 'Mirrored offsets stay marked for now');
          },
        );
        this.#clearing.add(clearing);
        void clearing.then(() => this.#clearing.delete(clearing));
      }
    }
  }

  async #clearDirtyInShard(shard: number, entries: readonly MirrorEntry[]): Promise<void> {
    const { store } = this.#options;
    const subscriptions = [...new Set(entries.map(({ subscriptionId }) => subscriptionId))];
    const positions = new Map(subscriptions.map((subscriptionId, index) => [subscriptionId, index + 1]));
    const reply = await store.callShard(
      'clear-dirty',
      shard,
      entries.flatMap((entry) => [
        positions.get(entry.subscriptionId) ?? 0,
        entry.partitionKey,
        memberOf(entry),
        encodeEntry(entry),
      ]),
      subscriptions.map((subscriptionId) => store.keys.key(subscriptionId, 'offsets')),
    );
    if (this.#isClosed) return;
    for (const entry of entries) {
      if (this.#uncleared.get(memberOf(entry)) === entry) this.#uncleared.delete(memberOf(entry));
    }
    if (reply[0] !== 'OK') {
      // Redis has lost its data, and gets these entries back when it takes calls again.
      for (const entry of entries) if (!this.#dirty.has(memberOf(entry))) this.enqueue(entry);
      return;
    }
    for (const [member, encoded] of pairs(reply.slice(1) as string[])) this.enqueue(decodeEntry(member, encoded));
  }

  /**
   * Takes over dirty entries that have not changed since the last check: the process that should write them has died.
   * Tells Redis again what it has not heard of.
   */
  async #adoptPendingEntries(): Promise<void> {
    const { store, logger } = this.#options;
    try {
      const keys = allShards.map((shard) => store.keys.shardKey(shard, 'dirty'));
      const seen = new Map((await store.readHashes(keys)).flat());
      for (const [member, encoded] of seen) {
        if (this.#pendingAtLastCheck.get(member) === encoded) this.enqueue(decodeEntry(member, encoded));
      }
      this.#pendingAtLastCheck = seen;
      this.#clearDirty([...this.#uncleared.values()]);
    } catch (error) {
      logger.debug({ error: describeError(error) }, 'Looking for unmirrored offsets failed');
    }
  }

  /** Logs once per burst. */
  #logFailureOnce(error: unknown): void {
    if (this.#failureLogged) return;
    this.#failureLogged = true;
    this.#options.logger.warn({ error: describeError(error) }, 'Cannot mirror committed offsets to the log; retrying');
  }
}

function memberOf({ subscriptionId, partitionKey }: MirrorEntry): string {
  return `${subscriptionId}/${partitionKey}`;
}

function encodeEntry({ stored }: MirrorEntry): string {
  return stored === null ? removedOffsetMark : encodeOffset(stored);
}

function decodeEntry(member: string, encoded: string): MirrorEntry {
  const slash = member.indexOf('/');
  return {
    subscriptionId: member.slice(0, slash),
    partitionKey: member.slice(slash + 1),
    stored: encoded === removedOffsetMark ? null : decodeOffset(encoded),
  };
}

function recordOf({ subscriptionId, partitionKey, stored }: MirrorEntry) {
  return mirrorRecord(
    subscriptionId,
    parsePartitionKey(partitionKey),
    stored === null ? null : stored.offset,
    stored?.epoch,
  );
}

import { mirrorRecord, writeMirror } from '../broker/log/cursor-mirror.ts';
import type { EventLog } from '../ports/event-log.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { pairs } from './answers.ts';
import { parsePlace, shardCount, shardOf } from './keys.ts';
import { isNewer, readOffset, removedOffset, writeOffset, type StoredOffset } from './stored-offset.ts';
import type { RedisStore } from './store.ts';

/** How long a committed offset may wait to be written to the mirror together with others. Milliseconds. */
export const mirrorMilliseconds = 200;

/**
 * How long the node that took a commit may leave it unwritten. After that the node must be gone, and another process
 * writes it. Milliseconds.
 */
export const leftoverMilliseconds = 2_000;

/** The most records in one append, and in one call that settles them. */
const recordsPerAppend = 4_000;
const recordsPerCall = 500;

/** One partition's newest offset on its way into the mirror; null removes it. */
export interface MirrorEntry {
  readonly subscriptionId: string;
  readonly place: string;
  readonly stored: StoredOffset | null;
}

export interface MirrorWriterOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly store: RedisStore;
  /** Called for each entry once it is in the mirror. */
  readonly onWritten: (entry: MirrorEntry) => void;
}

/**
 * Writes committed offsets to the mirror a moment after they were committed: the newest of each partition, all in one
 * append. Redis holds the same offsets as dirty entries, so that another process can write them when this one is gone.
 *
 * Processes write in no particular order. So after each append, Redis is asked whether it has a newer offset than the
 * written one, which is then written too. Soon after, the last record of a partition is therefore the right one. Until
 * then, epochs and offsets show which record is the newest (see broker/log/cursor-mirror.ts).
 */
export class MirrorWriter {
  readonly #options: MirrorWriterOptions;
  /** By the member names of the dirty entries. */
  #dirty = new Map<string, MirrorEntry>();
  /** The dirty entries of all processes at the last check: by member, the written offset. */
  #leftovers = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  readonly #leftoverTimer: NodeJS.Timeout;
  #queued: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();
  readonly #settling = new Set<Promise<void>>();
  #failureLogged = false;
  #isClosed = false;

  constructor(options: MirrorWriterOptions) {
    this.#options = options;
    this.#leftoverTimer = setInterval(() => void this.#takeLeftovers(), leftoverMilliseconds).unref();
  }

  /** The entries that are not in the mirror yet. */
  entries(): Iterable<MirrorEntry> {
    return this.#dirty.values();
  }

  /** Schedules an offset to be written within {@link mirrorMilliseconds}. */
  note(entry: MirrorEntry): void {
    const member = memberOf(entry);
    const waiting = this.#dirty.get(member)?.stored;
    if (waiting && entry.stored !== null && !isNewer(entry.stored, waiting)) return;
    this.#dirty.set(member, entry);
    this.#schedule();
  }

  /**
   * Returns when everything noted before is in the mirror.
   * @throws COORDINATION_UNAVAILABLE when that failed; it is tried again.
   */
  written(): Promise<void> {
    if (this.#queued !== undefined) return this.#queued;
    const queued = this.#last.then(() => {
      this.#queued = undefined;
      return this.#write();
    });
    this.#queued = queued;
    this.#last = queued.catch(() => {});
    return queued;
  }

  /** Writes the remaining entries. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#leftoverTimer);
    await this.written().catch((error: unknown) => this.#noteFailure(error));
    await Promise.allSettled(this.#settling);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.written().catch((error: unknown) => {
        this.#noteFailure(error);
        this.#schedule();
      });
    }, mirrorMilliseconds);
  }

  async #write(): Promise<void> {
    const entries = [...this.#dirty.values()];
    this.#dirty = new Map();
    for (let start = 0; start < entries.length; start += recordsPerAppend) {
      const part = entries.slice(start, start + recordsPerAppend);
      try {
        await writeMirror(this.#options.log, part.map(recordOf));
      } catch (error) {
        for (const entry of entries.slice(start)) if (!this.#dirty.has(memberOf(entry))) this.note(entry);
        throw error;
      }
      for (const entry of part) this.#options.onWritten(entry);
      this.#settle(part);
    }
    this.#failureLogged = false;
  }

  /** Marks entries as mirrored. Nothing waits for it: some process writes an entry that stays dirty once more. */
  #settle(entries: readonly MirrorEntry[]): void {
    const byShard = new Map<number, MirrorEntry[]>();
    for (const entry of entries) {
      const shard = shardOf(entry.subscriptionId);
      const list = byShard.get(shard);
      if (list === undefined) byShard.set(shard, [entry]);
      else list.push(entry);
    }
    for (const [shard, list] of byShard) {
      for (let start = 0; start < list.length; start += recordsPerCall) {
        const settling = this.#settleShard(shard, list.slice(start, start + recordsPerCall)).catch((error: unknown) => {
          this.#options.logger.debug({ shard, error: describeError(error) }, 'Mirrored offsets stay marked for now');
        });
        this.#settling.add(settling);
        void settling.then(() => this.#settling.delete(settling));
      }
    }
  }

  async #settleShard(shard: number, entries: readonly MirrorEntry[]): Promise<void> {
    const { store } = this.#options;
    const subscriptions = [...new Set(entries.map(({ subscriptionId }) => subscriptionId))];
    const positions = new Map(subscriptions.map((subscriptionId, index) => [subscriptionId, index + 1]));
    const answer = await store.callShard(
      'settle-mirror',
      shard,
      entries.flatMap((entry) => [
        positions.get(entry.subscriptionId) ?? 0,
        entry.place,
        memberOf(entry),
        writtenForm(entry),
      ]),
      subscriptions.map((subscriptionId) => store.keys.key(subscriptionId, 'offsets')),
    );
    if (answer[0] !== 'OK' || this.#isClosed) return;
    for (const [member, written] of pairs(answer.slice(1) as string[])) this.note(readEntry(member, written));
  }

  /**
   * Takes over dirty entries that have not changed since the last check: the process that should write them has died.
   */
  async #takeLeftovers(): Promise<void> {
    const { store, logger } = this.#options;
    try {
      const shards = await Promise.all(
        Array.from({ length: shardCount }, (_, shard) => store.connection.hash(store.keys.shardKey(shard, 'dirty'))),
      );
      const seen = new Map(shards.flatMap((dirty) => Object.entries(dirty)));
      for (const [member, written] of seen) {
        if (this.#leftovers.get(member) === written) this.note(readEntry(member, written));
      }
      this.#leftovers = seen;
    } catch (error) {
      logger.debug({ error: describeError(error) }, 'Looking for offsets that nobody mirrored failed');
    }
  }

  /** Logs once per burst. */
  #noteFailure(error: unknown): void {
    if (this.#failureLogged) return;
    this.#failureLogged = true;
    this.#options.logger.warn({ error: describeError(error) }, 'Committed offsets are not mirrored to the log for now');
  }
}

function memberOf({ subscriptionId, place }: MirrorEntry): string {
  return `${subscriptionId}/${place}`;
}

function writtenForm({ stored }: MirrorEntry): string {
  return stored === null ? removedOffset : writeOffset(stored);
}

function readEntry(member: string, written: string): MirrorEntry {
  const slash = member.indexOf('/');
  return {
    subscriptionId: member.slice(0, slash),
    place: member.slice(slash + 1),
    stored: written === removedOffset ? null : readOffset(written),
  };
}

function recordOf({ subscriptionId, place, stored }: MirrorEntry) {
  return mirrorRecord(subscriptionId, parsePlace(place), stored === null ? null : stored.offset, stored?.epoch);
}

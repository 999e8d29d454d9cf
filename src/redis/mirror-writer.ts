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
 * After how long somebody else writes what the node that took a commit has not written: it must be gone. Milliseconds.
 */
export const leftoverMilliseconds = 2_000;

/** Records in one append, and in one call that settles them. */
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
  /** Called for each entry that is in the mirror now. */
  readonly onWritten: (entry: MirrorEntry) => void;
}

/**
 * Writes committed offsets to the mirror a moment after they were committed: the newest of each partition, all in one
 * append. Redis holds the same as its dirty entries, so that another process writes them when this one is gone.
 *
 * Processes write in no particular order, so after each append Redis is asked whether something newer stands there than
 * what was written; that is written again. The last record of a partition is therefore the right one soon after, and
 * until then epochs and offsets tell (see broker/log/cursor-mirror.ts).
 */
export class MirrorWriter {
  readonly #options: MirrorWriterOptions;
  /** By member of the dirty entries. */
  #dirty = new Map<string, MirrorEntry>();
  /** Of all processes, as they were seen the last time: by member what is to be written. */
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

  /** What is not in the mirror yet. */
  entries(): Iterable<MirrorEntry> {
    return this.#dirty.values();
  }

  /** Has an offset written within {@link mirrorMilliseconds}. */
  note(entry: MirrorEntry): void {
    const member = memberOf(entry);
    const waiting = this.#dirty.get(member)?.stored;
    if (waiting && entry.stored !== null && !isNewer(entry.stored, waiting)) return;
    this.#dirty.set(member, entry);
    this.#schedule();
  }

  /**
   * Returns when everything noted before is in the mirror.
   * @throws COORDINATION_UNAVAILABLE when that failed; it is tried again
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

  /** Writes what is left. */
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

  /** Nothing waits for it: what stays dirty is written once more by somebody. */
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

  /** Dirty entries that have not changed since the last look are nobody's: theirs has died. */
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

  /** Once per burst. */
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

import { statSync } from 'node:fs';
import { after, systemClock, type Clock, type Timer } from '../clock.ts';
import type { Connection } from '../sqlite.ts';
import { SparsePages } from './sparse-pages.ts';

/**
 * Gives the space that the local copy no longer needs back to the disk, in short steps between all else that the event
 * loop does: SQLite allows one connection to write, and that one is the connection that applies commits. What a step
 * costs depends on the pages that it moves, not on the size of the file. The rows that it moves are in sparse-pages.ts.
 * In: the connection and a clock. Out: a smaller file. Start with `#step`.
 */

/** How often it is looked whether there is something to give back. Milliseconds. */
const watchMilliseconds = 1_000;

/** How long one step moves pages or rows: the event loop is held up for as long. Milliseconds. */
const stepMillisecondsMaximum = 5;

/** The most pages that one step gives back, for cutting off a part of a file takes time too. */
const pagesPerStepMaximum = 1_024;

/** After so many pages, or some rows, a step looks at the time. */
const pagesAtOnce = 4;

/** After a step, the event loop has this many times as long as the step took for all else. */
const restPerStep = 4;

/** The shortest rest after a step. Milliseconds. */
const restMillisecondsMinimum = 10;

/** The pause after a failure, such as a full disk. Milliseconds. */
const retryMilliseconds = 10_000;

/**
 * Free pages up to this share of the file are kept for the next changes. Pages in use take at most 1.35 times the space
 * of a fresh copy, so the file takes at most 1.5 times as much.
 */
const freePagesShare = 0.1;

/** Free pages with fewer bytes than this are always kept. */
const freeBytesMinimum = 1024 * 1024;

/**
 * A write-ahead log larger than this is cut off. It grows while a reader, such as a backup, keeps it from being
 * restarted. Bytes.
 */
const walBytesMaximum = 32 * 1024 * 1024;

export interface FileSpaceOptions {
  readonly database: Connection;
  /** The file of the database. */
  readonly file: string;
  readonly clock: Clock;
  /** Called when a step failed. It is tried again. */
  readonly onFailure: (error: unknown) => void;
}

export class FileSpace {
  readonly #options: FileSpaceOptions;
  readonly #pageBytes: number;
  readonly #pages;
  readonly #sparsePages: SparsePages;
  #timer: Timer;
  #isClosed = false;
  /** Whether a step has written something that is not in the file yet. */
  #isToBeCopied = false;
  /** Whether free pages may have what must be gone, and so may the write-ahead log. */
  #isAllToGo = false;

  constructor(options: FileSpaceOptions) {
    this.#options = options;
    const { database } = options;
    this.#pageBytes = (database.prepare('PRAGMA page_size').get() as { page_size: number }).page_size;
    this.#pages = database.prepare(
      'SELECT page_count AS present, freelist_count AS free FROM pragma_page_count, pragma_freelist_count',
    );
    this.#sparsePages = new SparsePages(database);
    this.#timer = after(options.clock, watchMilliseconds, () => this.#run());
  }

  /** Ends it. To be called before the connection is closed. */
  close(): void {
    this.#isClosed = true;
    this.#timer.cancel();
  }

  /** Gives all free pages back, and empties the write-ahead log. It goes on until no reader is in the way of that. */
  giveAllBack(): void {
    this.#isAllToGo = true;
  }

  #run(): void {
    const { clock, onFailure } = this.#options;
    let pause = retryMilliseconds;
    try {
      pause = this.#step();
    } catch (error) {
      onFailure(error);
    }
    if (!this.#isClosed) this.#timer = after(clock, pause, () => this.#run());
  }

  /** Does one thing, and returns after how many milliseconds the next one is due. */
  #step(): number {
    // Each step would make it longer.
    if (this.#bytesOf('-wal') > walBytesMaximum) return this.#cutFilesOff();
    const startedAt = systemClock.monotonic();
    const { present, free } = this.#pages.get() as { present: number; free: number };
    const kept = this.#isAllToGo
      ? 0
      : Math.ceil(Math.max(present * freePagesShare, freeBytesMinimum / this.#pageBytes));
    const surplus = free - kept;
    if (this.#isToBeCopied) this.#copyWritten();
    else if (surplus > 0) this.#givePagesBack(surplus, startedAt);
    else if (this.#isAllToGo) return this.#emptyWal();
    else if (this.#sparsePages.isDue((present - free) * this.#pageBytes)) this.#fillPages(startedAt);
    // A reader kept the file from being cut off so far.
    else return this.#bytesOf('') > present * this.#pageBytes ? this.#cutFilesOff() : watchMilliseconds;
    return Math.max(restPerStep * (systemClock.monotonic() - startedAt), restMillisecondsMinimum);
  }

  #givePagesBack(surplus: number, startedAt: number): void {
    let left = Math.min(surplus, pagesPerStepMaximum);
    this.#inTransaction(startedAt, () => {
      this.#options.database.exec(`PRAGMA incremental_vacuum(${Math.min(left, pagesAtOnce)})`);
      left -= pagesAtOnce;
      return left > 0;
    });
  }

  #fillPages(startedAt: number): void {
    try {
      this.#inTransaction(startedAt, () => this.#sparsePages.writeSome());
    } catch (error) {
      this.#sparsePages.forget();
      throw error;
    }
  }

  /** Writes some more until there is no more or the time of a step is over. */
  #inTransaction(startedAt: number, writeSome: () => boolean): void {
    const { database } = this.#options;
    database.exec('BEGIN IMMEDIATE');
    try {
      while (writeSome() && systemClock.monotonic() - startedAt < stepMillisecondsMaximum);
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
    this.#isToBeCopied = true;
  }

  /** Copies the moved pages into the file, which is cut off, before there are so many that it takes long. */
  #copyWritten(): void {
    this.#isToBeCopied = false;
    this.#options.database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** Empties the write-ahead log, or tries it again at the next look when a reader is in the way. */
  #emptyWal(): number {
    const pause = this.#cutFilesOff();
    this.#isAllToGo = this.#bytesOf('-wal') > 0;
    return pause;
  }

  /** Cuts off both files. It does not wait for a reader: the next look tries again. Returns when that is due. */
  #cutFilesOff(): number {
    this.#options.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return watchMilliseconds;
  }

  #bytesOf(suffix: string): number {
    return statSync(this.#options.file + suffix, { throwIfNoEntry: false })?.size ?? 0;
  }
}

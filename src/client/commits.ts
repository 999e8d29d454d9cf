import { every } from './clock.ts';
import { type Connection, retrying } from './connection.ts';
import { LendstreamError } from './errors.ts';
import type { Cursor } from './types.ts';

export interface CommitsOptions {
  /** The path of the subscription. */
  readonly path: string;
  readonly streamId: string;
  /** How long events may stay uncommitted, after which the service ends the stream. Milliseconds. */
  readonly commitTimeoutMilliseconds: number;
  /** How long a commit is tried when the caller wants to stop. Milliseconds. */
  readonly stopMilliseconds: number;
  readonly stopped: AbortSignal;
  readonly onWait: (error: LendstreamError, milliseconds: number) => void;
  readonly onCommitted: (cursors: readonly Cursor[]) => void;
}

/** What is done but not committed, and the commits of one stream. */
export class Commits {
  readonly #connection: Connection;
  readonly #options: CommitsOptions;
  /** By partition: the last cursor that is done, until it is committed. */
  #done = new Map<string, Cursor>();
  /** By partition: what was committed last, which a heart-beat repeats. */
  readonly #committed = new Map<string, Cursor>();
  /** After it, nothing can be committed any more. */
  #failure: unknown;
  /** Commits follow one another. */
  #last: Promise<void> = Promise.resolve();
  /** Why the service refuses the commits of this stream; undefined while it does not. */
  refusal: LendstreamError | undefined;

  constructor(connection: Connection, options: CommitsOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Everything up to this cursor is done. */
  add(cursor: Cursor): void {
    this.#done.set(partitionOf(cursor), cursor);
  }

  /** What this stream committed last of the partition of a cursor. */
  committed(cursor: Cursor): Cursor | undefined {
    return this.#committed.get(partitionOf(cursor));
  }

  /**
   * Commits what is done. A refusal is no error: {@link refusal} has it, and the events come again.
   * @throws LendstreamError when nothing can be committed any more: the key is wrong, or the subscription is gone
   */
  async flush(): Promise<void> {
    const mine = this.#last.then(() => this.#flush());
    this.#last = mine.catch(() => undefined);
    await mine;
  }

  async #flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#done.size === 0 || this.refusal !== undefined) return;
    const done = this.#done;
    this.#done = new Map();
    const cursors = [...done.values()];
    try {
      await this.#commit(cursors);
      return;
    } catch (error) {
      if (!isRefusal(error)) {
        this.#failure = error;
        throw error;
      }
      this.refusal = error;
    }
    // One of several partitions may have moved to another stream. The others are committed all the same.
    if (cursors.length === 1) return;
    for (const cursor of cursors) {
      await this.#commit([cursor]).catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
      });
    }
  }

  async #commit(cursors: readonly Cursor[]): Promise<void> {
    const { commitTimeoutMilliseconds, stopMilliseconds, stopped, onWait } = this.#options;
    // After the commit timeout, the service no longer takes it.
    const withinMilliseconds = stopped.aborted ? stopMilliseconds : commitTimeoutMilliseconds;
    try {
      await retrying(() => this.#post(cursors), { withinMilliseconds, onWait, maximumMilliseconds: 2_000 });
    } catch (error) {
      // The commit was tried for as long as the service may wait for it.
      if (error instanceof LendstreamError && error.isRetryable) throw new CommitRefused(error);
      throw error;
    }
    for (const cursor of cursors) this.#committed.set(partitionOf(cursor), cursor);
    this.#options.onCommitted(cursors);
  }

  async #post(cursors: readonly Cursor[]): Promise<void> {
    const { path, streamId } = this.#options;
    await this.#connection.request('POST', `${path}/cursors`, {
      body: { items: cursors },
      headers: { 'X-Nakadi-StreamId': streamId },
    });
  }

  /**
   * Keeps the stream alive while a batch is processed: commits again and again what is committed of its partition.
   * @param intervalMilliseconds A third of the commit timeout.
   * @param onLost Called once, when the service no longer waits for this batch.
   * @returns what ends it
   */
  startHeartbeats(cursor: Cursor, intervalMilliseconds: number, onLost: (error: LendstreamError) => void): () => void {
    let isBusy = false;
    const beat = async (): Promise<void> => {
      if (isBusy || this.refusal !== undefined) return;
      isBusy = true;
      try {
        await this.#post([this.committed(cursor) ?? (await this.#startOf(cursor))]);
      } catch (error) {
        // Others, such as a service that is away for a moment, are left to the next beat.
        if (isRefusal(error)) {
          this.refusal = error;
          onLost(error);
        }
      } finally {
        isBusy = false;
      }
    };
    return every(intervalMilliseconds, () => void beat());
  }

  /** Where the partition of a cursor was committed before this stream. */
  async #startOf(cursor: Cursor): Promise<Cursor> {
    const { items } = (await this.#connection.request('GET', `${this.#options.path}/cursors`)) as {
      readonly items: readonly Cursor[];
    };
    const start = items.find((each) => partitionOf(each) === partitionOf(cursor));
    if (start === undefined) throw new LendstreamError(0, `Partition ${partitionOf(cursor)} has no committed cursor`);
    if (this.committed(cursor) === undefined) this.#committed.set(partitionOf(cursor), start);
    return this.committed(cursor) ?? start;
  }
}

/** A commit that could not be made for as long as the stream would have waited for it. */
class CommitRefused extends LendstreamError {
  constructor(cause: LendstreamError) {
    super(cause.status, `Not committed in time: ${cause.detail}`, { cause });
  }
}

/** Whether the service will not take this commit, but may take others: the events come again. */
function isRefusal(error: unknown): error is LendstreamError {
  return error instanceof CommitRefused || (error instanceof LendstreamError && error.status === 422);
}

export function partitionOf(cursor: { readonly event_type: string; readonly partition: string }): string {
  return `${cursor.event_type}/${cursor.partition}`;
}

import { after, type Clock, type Timer } from '../clock.ts';
import { writeMirror } from '../broker/log/cursors-topic.ts';
import type { EventLog, LogRecord } from '../ports/event-log.ts';
import { isLendstreamError } from '../errors.ts';

/** The pause before offsets that did not fit into a full log are written again. Milliseconds. */
const retryMilliseconds = 1_000;

/** A record that is not in the log yet. */
interface UnwrittenStart {
  readonly record: LogRecord;
  /** Writes under way with this key: the record must not be written after one of them. */
  inFlight: number;
}

/**
 * Writes committed offsets to their mirror, in the order of the calls. The start of a subscription need not be durable
 * before its first stream opens: while the log is full, start offsets wait here, so that reading continues. Nothing can
 * be published during that time, so a restart finds the same start. The offsets are written as soon as there is room.
 */
export class CursorMirror {
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #unwritten = new Map<string | null, UnwrittenStart>();
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(log: EventLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /**
   * Returns when the records are durable.
   * @throws COORDINATION_UNAVAILABLE; the records may have been written all the same
   */
  write(records: readonly LogRecord[]): Promise<void> {
    const written = this.#unwritten.size === 0 ? writeMirror(this.#log, records) : this.#writeWithStarts(records);
    const removeWritten = (): void => void this.#inFlight.delete(written);
    this.#inFlight.add(written);
    written.then(removeWritten, removeWritten);
    return written;
  }

  /**
   * Writes the start of partitions without a commit. Unlike {@link write}, it also returns while the log is full.
   * @throws COORDINATION_UNAVAILABLE
   */
  async writeStart(records: readonly LogRecord[]): Promise<void> {
    try {
      await this.write(records);
    } catch (error) {
      if (!(error instanceof Error) || !isLendstreamError(error.cause, 'LOG_FULL')) throw error;
      for (const record of records) this.#unwritten.set(record.key, { record, inFlight: 0 });
      this.#retryLater();
    }
  }

  /** Waits for the writes under way, after a last try to write the waiting starts. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    if (this.#unwritten.size > 0) await this.write([]).catch(() => undefined);
    await Promise.allSettled(this.#inFlight);
  }

  async #writeWithStarts(records: readonly LogRecord[]): Promise<void> {
    const keys = new Set(records.map(({ key }) => key));
    const starts = [...this.#unwritten].filter(([key, { inFlight }]) => inFlight === 0 && !keys.has(key));
    const all = [...starts.map(([, { record }]) => record), ...records];
    if (all.length === 0) return;
    const affected = all.flatMap(({ key }) => {
      const start = this.#unwritten.get(key);
      return start === undefined ? [] : [start];
    });
    for (const start of affected) start.inFlight += 1;
    try {
      await writeMirror(this.#log, all);
      for (const { record } of affected) this.#unwritten.delete(record.key);
    } finally {
      for (const start of affected) start.inFlight -= 1;
    }
  }

  #retryLater(): void {
    if (this.#isClosed) return;
    this.#timer ??= after(this.#clock, retryMilliseconds, () => {
      this.#timer = undefined;
      // The next try meets the same failure.
      const retry = (): void => {
        if (this.#unwritten.size > 0) this.#retryLater();
      };
      this.write([]).then(retry, retry);
    });
  }
}

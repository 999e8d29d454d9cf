import { type Clock, type Timer, every } from '../clock.ts';
import type { HealthPart } from '../health.ts';
import type { MaintenanceThread } from './maintenance-thread.ts';
import type { LogThread } from './thread/log-thread.ts';
import type { WriterRequests } from './thread/messages.ts';

/** How often the write-ahead log is copied into the database file. Milliseconds. */
const checkpointMillisecondsDefault = 1_000;

/**
 * A write-ahead log larger than this is restarted while appends wait. Without a pause in writing it would never
 * restart. Only a little is left after a checkpoint, and the more frequent the checkpoints, the shorter the wait.
 * Bytes.
 */
const walBytesMaximum = 64 * 1024 * 1024;

/**
 * The pause after a restart that failed because a reader, such as a backup, was still active: each try blocks writing.
 * Milliseconds.
 */
const walRestartPauseMilliseconds = 10_000;

export interface WriteAheadLogOptions {
  readonly thread: MaintenanceThread;
  readonly writer: LogThread<WriterRequests>;
  readonly clock: Clock;
  readonly health: HealthPart;
  /** How often the write-ahead log is copied into the database file. Milliseconds. Default one second. */
  readonly checkpointMilliseconds?: number;
}

/** Keeps the write-ahead log of the database small: copies it into the database file in the background. */
export class WriteAheadLog {
  readonly #options: WriteAheadLogOptions;
  readonly #timer: Timer;
  #hasWrites = false;
  #isCheckpointing = false;
  #restartAllowedAt = Number.NEGATIVE_INFINITY;

  constructor(options: WriteAheadLogOptions) {
    this.#options = options;
    const { clock, thread, checkpointMilliseconds = checkpointMillisecondsDefault } = options;
    this.#timer = every(clock, checkpointMilliseconds, () => void thread.runInBackground(() => this.#checkpoint()));
  }

  /** Must be called after each commit. Without new commits a checkpoint has nothing to do. */
  recordWrite(): void {
    this.#hasWrites = true;
  }

  close(): void {
    this.#timer.cancel();
  }

  async #checkpoint(): Promise<void> {
    const { thread, health } = this.#options;
    // A thread that ended is started again even if there is nothing to do.
    if ((!this.#hasWrites && health.ready) || this.#isCheckpointing || thread.isStopped) return;
    this.#isCheckpointing = true;
    this.#hasWrites = false;
    try {
      const { walBytes } = await (await thread.started()).call('checkpoint', null);
      if (walBytes > walBytesMaximum) await this.#restart();
    } finally {
      this.#isCheckpointing = false;
    }
  }

  async #restart(): Promise<void> {
    const { writer, clock } = this.#options;
    if (clock.monotonic() >= this.#restartAllowedAt) {
      const { isRestarted } = await writer.call('restartWal', null);
      if (isRestarted) return;
      this.#restartAllowedAt = clock.monotonic() + walRestartPauseMilliseconds;
    }
    // Try again even if nothing more is written: a file that grew during a backup must not keep that size.
    this.#hasWrites = true;
  }
}

import { every, type Clock, type Timer } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import { unreachableMillisecondsMaximum, type HealthPart } from '../../health.ts';
import type { EventLog, TopicPartition } from '../../ports/event-log.ts';

/** How often the log is asked. Milliseconds. */
const probeMilliseconds = 2_000;

export interface LogHealthCheckOptions {
  readonly log: Pick<EventLog, 'endOffsets'>;
  /** The partition whose end is requested. It must exist. */
  readonly partition: TopicPartition;
  readonly clock: Clock;
  readonly health: HealthPart;
}

/** Regularly asks the log for the end of one partition, and reports when it has not responded for long. */
export class LogHealthCheck {
  readonly #options: LogHealthCheckOptions;
  readonly #timer: Timer;
  #respondedAt: number;
  #isProbing = false;
  #error: unknown = 'no response';

  constructor(options: LogHealthCheckOptions) {
    this.#options = options;
    this.#respondedAt = options.clock.monotonic();
    this.#timer = every(options.clock, probeMilliseconds, () => this.probe());
  }

  /** Checks how long the log has not responded, and asks again unless a request is still open. */
  probe(): void {
    const { clock, health } = this.#options;
    const silentMilliseconds = clock.monotonic() - this.#respondedAt;
    if (silentMilliseconds >= unreachableMillisecondsMaximum) {
      const seconds = Math.floor(silentMilliseconds / 1000);
      health.reportNotReady(`The log has not responded for ${seconds} seconds: ${describeError(this.#error)}`);
    }
    if (!this.#isProbing) void this.#requestEnd();
  }

  close(): void {
    this.#timer.cancel();
  }

  async #requestEnd(): Promise<void> {
    const { log, partition, clock, health } = this.#options;
    this.#isProbing = true;
    try {
      await log.endOffsets([partition]);
      this.#respondedAt = clock.monotonic();
      this.#error = 'no response';
      health.reportReady();
    } catch (error) {
      this.#error = error;
    } finally {
      this.#isProbing = false;
    }
  }
}

import type { Clock } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import { unreachableMillisecondsMaximum, type HealthPart } from '../../health.ts';
import type { EventLog, TopicPartition } from '../../ports/event-log.ts';

/** How often the log is asked. Milliseconds. */
const probeMilliseconds = 2_000;

export interface LogProbeOptions {
  readonly log: Pick<EventLog, 'bounds'>;
  /** The partition whose bounds are requested. It must exist. */
  readonly partition: TopicPartition;
  readonly clock: Clock;
  readonly health: HealthPart;
}

/** Regularly asks the log for the bounds of one partition, and reports when it has not responded for long. */
export class LogProbe {
  readonly #options: LogProbeOptions;
  readonly #timer: NodeJS.Timeout;
  #answeredAt: number;
  #isAsking = false;
  #error: unknown = 'no answer';

  constructor(options: LogProbeOptions) {
    this.#options = options;
    this.#answeredAt = options.clock.monotonic();
    this.#timer = setInterval(() => this.probe(), probeMilliseconds).unref();
  }

  /** Checks how long the log has not responded, and asks again unless a request is still open. */
  probe(): void {
    const { clock, health } = this.#options;
    const silentMilliseconds = clock.monotonic() - this.#answeredAt;
    if (silentMilliseconds >= unreachableMillisecondsMaximum) {
      const seconds = Math.floor(silentMilliseconds / 1000);
      health.isNotReady(`The log has not answered for ${seconds} seconds: ${describeError(this.#error)}`);
    }
    if (!this.#isAsking) void this.#ask();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #ask(): Promise<void> {
    const { log, partition, clock, health } = this.#options;
    this.#isAsking = true;
    try {
      await log.bounds([partition]);
      this.#answeredAt = clock.monotonic();
      this.#error = 'no answer';
      health.isReady();
    } catch (error) {
      this.#error = error;
    } finally {
      this.#isAsking = false;
    }
  }
}

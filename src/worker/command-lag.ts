import type { EventLog, Offset } from '../ports/event-log.ts';
import { isLendstreamError, describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { loanCommandsTopic } from '../lending-format/lending-topics.ts';

/**
 * How many commands wait in the partitions that this process works on. They are counted on request, not by the loops
 * that decide them: the number has to grow above all while nothing is decided.
 */
export class CommandLag {
  readonly #log: EventLog;
  readonly #metrics: Metrics;
  readonly #logger: Logger;
  /** The first command that is not decided. Undefined while the progress of the partition is unknown. */
  readonly #nextOffsets = new Map<number, Offset | undefined>();

  constructor({ log, metrics, logger }: { log: EventLog; metrics: Metrics; logger: Logger }) {
    this.#log = log;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /**
   * From now on the partition is counted. Until its progress is known, only commands that arrive after the first
   * measurement count.
   */
  startTracking(partition: number): void {
    if (!this.#nextOffsets.has(partition)) this.#nextOffsets.set(partition, undefined);
  }

  /** @param next The first command that is not decided. */
  advance(partition: number, next: Offset): void {
    this.#nextOffsets.set(partition, next);
  }

  /** This process no longer works on the partition. */
  stopTracking(partition: number): void {
    this.#nextOffsets.delete(partition);
    this.#metrics.workerLag.remove({ partition });
  }

  /** Updates the metric. It keeps its value while the log is unavailable. */
  async measure(): Promise<void> {
    const partitions = [...this.#nextOffsets.keys()].map((partition) => ({ topic: loanCommandsTopic, partition }));
    if (partitions.length === 0) return;
    try {
      for (const { partition, latest } of await this.#log.endOffsets(partitions)) {
        // This process has released the partition in the meantime.
        if (!this.#nextOffsets.has(partition)) continue;
        const next = this.#nextOffsets.get(partition) ?? latest;
        this.#nextOffsets.set(partition, next);
        this.#metrics.workerLag.set({ partition }, Math.max(0, latest - next));
      }
    } catch (error) {
      if (!isLendstreamError(error) || !error.retriable) throw error;
      this.#logger.warn({ error: describeError(error) }, 'Cannot count pending commands; retrying');
    }
  }
}

import type { EventLog, Offset } from '../ports/event-log.ts';
import { isLendstreamError, describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { loanCommandsTopic } from '../lending-format/lending-topics.ts';

/**
 * How many commands wait in the partitions that this process works on. Counted when somebody asks, not by the loops
 * that decide them: the number has to grow above all while nothing is decided.
 */
export class UndecidedCommands {
  readonly #log: EventLog;
  readonly #metrics: Metrics;
  readonly #logger: Logger;
  /** The first command that is not decided; undefined while nobody has read yet how far the partition is. */
  readonly #next = new Map<number, Offset | undefined>();

  constructor({ log, metrics, logger }: { log: EventLog; metrics: Metrics; logger: Logger }) {
    this.#log = log;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** From now on the partition is counted. Until it is known how far it is, only the commands that came since then. */
  begin(partition: number): void {
    if (!this.#next.has(partition)) this.#next.set(partition, undefined);
  }

  /** @param next The first command that is left. */
  decidedBefore(partition: number, next: Offset): void {
    this.#next.set(partition, next);
  }

  /** The partition is no longer this process's. */
  end(partition: number): void {
    this.#next.delete(partition);
    this.#metrics.workerLag.remove({ partition });
  }

  /** Brings the metric up to date. It stays as it was while the log cannot tell. */
  async measure(): Promise<void> {
    const places = [...this.#next.keys()].map((partition) => ({ topic: loanCommandsTopic, partition }));
    if (places.length === 0) return;
    try {
      for (const { partition, latest } of await this.#log.bounds(places)) {
        // Given up meanwhile.
        if (!this.#next.has(partition)) continue;
        const next = this.#next.get(partition) ?? latest;
        this.#next.set(partition, next);
        this.#metrics.workerLag.set({ partition }, Math.max(0, latest - next));
      }
    } catch (error) {
      if (!isLendstreamError(error) || !error.retriable) throw error;
      this.#logger.warn({ error: describeError(error) }, 'How many commands wait cannot be counted for now');
    }
  }
}

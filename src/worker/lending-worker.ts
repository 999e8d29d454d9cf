import type { EventLog } from '../broker/event-log.ts';
import type { Registry } from '../broker/registry.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { ensureLendingTopics } from './lending-topics.ts';
import { commandsPerCommitMaximum, runPartitionLoop } from './partition-loop.ts';

export interface LendingWorkerOptions {
  readonly log: EventLog;
  /** Started: toggles and products are read from it when a command is decided. */
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Of commands, loans and lending events alike. */
  readonly partitionCount: number;
  /** The most commands decided in one commit; {@link commandsPerCommitMaximum} when absent. */
  readonly commandsPerCommitMaximum?: number;
}

/** Turns each loan command into the loan's new state and the events that tell of it, exactly once, partition by partition. */
export class LendingWorker {
  readonly #options: LendingWorkerOptions;
  readonly #stopping = new AbortController();
  #loops: Promise<void>[] = [];

  constructor(options: LendingWorkerOptions) {
    this.#options = options;
  }

  /**
   * Creates the worker's own topics where they are missing and starts a loop per partition. The topics of the event
   * types, that of the commands among them, must exist. Returns when every partition has been owned once.
   */
  async start(): Promise<void> {
    const { log, partitionCount } = this.#options;
    await ensureLendingTopics(log, partitionCount);
    const owned = Array.from({ length: partitionCount }, (_, partition) => {
      return new Promise<void>((resolve) => {
        const loop = runPartitionLoop({
          commandsPerCommitMaximum,
          ...this.#options,
          partition,
          signal: this.#stopping.signal,
          onOwned: resolve,
        }).finally(resolve);
        this.#loops.push(loop);
      });
    });
    await Promise.all(owned);
  }

  /** Lets commits under way finish, then gives every partition up. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  /** Resolves when no partition is worked on any more: after {@link stop}, or when newer workers have taken them all. */
  async ended(): Promise<void> {
    await Promise.all(this.#loops);
  }
}

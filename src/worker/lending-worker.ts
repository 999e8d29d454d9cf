import type { Coordination } from '../ports/coordination.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Registry } from '../broker/definitions/registry.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { commandTypes, unreadableCommandType } from '../lending-format/command-format.ts';
import { commandOutcomes } from '../lending-format/fence.ts';
import { ensureLendingTopics } from '../lending-format/lending-topics.ts';
import { commandsPerCommitMaximum, definitionsMillisecondsMaximum, runPartitionLoop } from './partition-loop.ts';
import { PartitionSharing } from './partition-sharing.ts';
import { rememberedMilliseconds } from './remembered-commands.ts';
import { UndecidedCommands } from './undecided-commands.ts';

export interface LendingWorkerOptions {
  readonly log: EventLog;
  /** Started: toggles and products are read from it when a command is decided. */
  readonly registry: Registry;
  /** Through it the partitions are shared with the workers of other processes. */
  readonly coordination: Coordination;
  /** This process, whose lease keeps its partitions with it. */
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Of commands, loans and lending events alike. */
  readonly partitionCount: number;
  /** The most commands decided in one commit; {@link commandsPerCommitMaximum} when absent. */
  readonly commandsPerCommitMaximum?: number;
  /** How long commands that are done are held; for ever when absent. */
  readonly retentionMilliseconds?: number;
  /** How long a command that posted no transaction is remembered; {@link rememberedMilliseconds} when absent. */
  readonly rememberedMilliseconds?: number;
  /** How long it waits for definitions; {@link definitionsMillisecondsMaximum} when absent. */
  readonly definitionsMillisecondsMaximum?: number;
}

/**
 * Turns each loan command into the loan's new state and the events that tell of it, exactly once, partition by
 * partition.
 */
export class LendingWorker {
  readonly #options: LendingWorkerOptions;
  readonly #sharing: PartitionSharing;
  readonly #undecided: UndecidedCommands;

  constructor(options: LendingWorkerOptions) {
    this.#options = options;
    // A series that began with its first command would have no increase that an alert could see.
    for (const type of [...commandTypes, unreadableCommandType]) {
      for (const outcome of commandOutcomes) options.metrics.commands.inc({ type, outcome }, 0);
    }
    const undecided = new UndecidedCommands(options);
    this.#undecided = undecided;
    this.#sharing = new PartitionSharing({
      ...options,
      work: (partition, signal, onOwned) =>
        runPartitionLoop({
          commandsPerCommitMaximum,
          definitionsMillisecondsMaximum,
          rememberedMilliseconds,
          retentionMilliseconds: Infinity,
          ...options,
          undecided,
          partition,
          signal,
          onOwned,
        }),
    });
  }

  /**
   * Creates the worker's own topics where they are missing and takes its share of the partitions. The topics of the
   * event types, that of the commands among them, must exist. Returns when each partition that falls to this process at
   * once has been owned: all of them when it is the only one, none when others have them for now.
   */
  async start(): Promise<void> {
    const { log, partitionCount } = this.#options;
    await ensureLendingTopics(log, partitionCount);
    await this.#sharing.start();
  }

  /** Lets commits under way finish, then gives every partition up. */
  stop(): Promise<void> {
    return this.#sharing.stop();
  }

  /** Brings the metric of the commands that wait up to date. */
  measure(): Promise<void> {
    return this.#undecided.measure();
  }

  /** The partitions that this process works on, ascending. */
  get partitions(): number[] {
    return this.#sharing.partitions;
  }
}

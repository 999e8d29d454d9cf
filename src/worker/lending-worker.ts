/**
 * The worker, which executes each loan command once.
 * In: commands from the log. Out: events, the records of accounts and dead letters, in one commit with the position.
 * Start with `LendingWorker` below. `partition-ownership.ts` shares the partitions with other processes, and
 * `partition-loop.ts` works on one of them; `command-batch.ts` has the decisions of one commit.
 */

import type { Coordination } from '../ports/coordination.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Registry } from '../broker/definitions/registry.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { commandTypes, unreadableCommandType } from '../lending-format/command-format.ts';
import { commandOutcomes } from '../lending-format/checkpoint.ts';
import { DecidingTurns } from './deciding-turns.ts';
import { DecodedLoans } from './decoded-loans.ts';
import {
  commandsPerCommitMaximum,
  definitionsMillisecondsMaximum,
  endOfDayHoldMilliseconds,
  runPartitionLoop,
} from './partition-loop.ts';
import { PartitionSharing } from './partition-ownership.ts';
import { idempotencyMilliseconds } from '../lending-format/idempotency-record.ts';
import type { AccountsForWorker } from '../accounts/accounts-for-worker.ts';
import { CommandLag } from './command-lag.ts';

export interface LendingWorkerOptions {
  readonly log: EventLog;
  /** The registry, already started. Toggles and products are read from it when a command is decided. */
  readonly registry: Registry;
  /** The local copy of the changelog, which this process follows. */
  readonly copy: AccountsForWorker;
  /** The coordination through which the partitions are shared with the workers of other processes. */
  readonly coordination: Coordination;
  /** The id of this process. Its partitions stay with it as long as its lease does. */
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The number of partitions of commands, loans and lending events alike. */
  readonly partitionCount: number;
  /** The most commands decided in one commit; {@link commandsPerCommitMaximum} when absent. */
  readonly commandsPerCommitMaximum?: number;
  /** How long completed commands are kept; for ever when absent. Milliseconds. */
  readonly retentionMilliseconds?: number;
  /**
   * How long a command that posted no transaction is remembered; {@link idempotencyMilliseconds} when absent.
   * Milliseconds.
   */
  readonly idempotencyMilliseconds?: number;
  /** How long the worker waits for definitions; {@link definitionsMillisecondsMaximum} when absent. Milliseconds. */
  readonly definitionsMillisecondsMaximum?: number;
  /** How long the end of a day keeps later commands waiting; {@link endOfDayHoldMilliseconds} when absent. */
  readonly endOfDayHoldMilliseconds?: number;
}

/**
 * Turns each loan command into the new state of the loan and the events that report it, exactly once, partition by
 * partition.
 */
export class LendingWorker {
  readonly #sharing: PartitionSharing;
  readonly #commandLag: CommandLag;

  constructor(options: LendingWorkerOptions) {
    // An alert sees an increase only if the series existed before its first command.
    for (const type of [...commandTypes, unreadableCommandType]) {
      for (const outcome of commandOutcomes) options.metrics.commands.inc({ type, outcome }, 0);
    }
    const commandLag = new CommandLag(options);
    this.#commandLag = commandLag;
    const decodedLoans = new DecodedLoans();
    const turns = new DecidingTurns(options.clock);
    this.#sharing = new PartitionSharing({
      ...options,
      runPartition: (partition, signal, onOwned) =>
        runPartitionLoop({
          commandsPerCommitMaximum,
          definitionsMillisecondsMaximum,
          endOfDayHoldMilliseconds,
          idempotencyMilliseconds,
          retentionMilliseconds: Infinity,
          ...options,
          commandLag,
          decodedLoans,
          turns,
          partition,
          signal,
          onOwned,
        }),
    });
  }

  /**
   * Takes its share of the partitions. The topics must exist. Returns when this process has owned each
   * partition of its first assignment: all partitions if it is the only process, none if others own them all.
   * @throws the errors of the coordination
   */
  start(): Promise<void> {
    return this.#sharing.start();
  }

  /** Lets commits under way finish, then releases every partition. */
  stop(): Promise<void> {
    return this.#sharing.stop();
  }

  /** Updates the metric of the waiting commands. */
  measure(): Promise<void> {
    return this.#commandLag.measure();
  }

  /** The partitions that this process works on, ascending. */
  get partitions(): number[] {
    return this.#sharing.partitions;
  }
}

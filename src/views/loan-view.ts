import { join } from 'node:path';
import type { EventLog, RecordBatch } from '../ports/event-log.ts';
import { noValue } from '../ports/event-log.ts';
import { TopicTail } from '../broker/log/topic-tail.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { HealthPart } from '../health.ts';
import type { Logger } from '../logger.ts';
import { databaseErrorKind } from '../sqlite.ts';
import { CommandOutcomes, type CommandOutcomesLimits } from './command-outcomes.ts';
import { type KnownCommand, LoanDatabase, deleteDatabase, type LoanChanges } from './loan-database.ts';
import type { LoanQuery } from './loan-query.ts';
import { type LoanRow, loanRow } from './loan-row.ts';

/** What a record of the changelog tells when it is not the record of a loan. */
export type ChangelogNews<Outcome> =
  /** What became of the commands of one commit. */
  | { readonly kind: 'outcomes'; readonly outcomes: readonly Outcome[] }
  /** A command that is remembered, or, with null, is no more. */
  | { readonly kind: 'command'; readonly commandId: string; readonly command: KnownCommand | null };

export interface LoanViewOptions<Outcome extends { readonly commandId: string | null }> {
  /** The view's file lies in it: views.db. */
  readonly dataFolder: string;
  readonly log: EventLog;
  /** The changelog of loans. It must exist. */
  readonly topic: string;
  readonly partitionCount: number;
  /** What the record of this key tells; null for the record of a loan. A deleted record has no value. */
  readonly readNews: (key: string, value: Buffer | null) => ChangelogNews<Outcome> | null;
  /** Other limits than its own of what is known of commands. */
  readonly outcomes?: CommandOutcomesLimits | undefined;
  readonly logger: Logger;
  /** Told when the view cannot answer, and when it can again. */
  readonly health?: HealthPart;
}

/** The pause before a view that could not be built again is tried once more. Milliseconds. */
const rebuildPauseMilliseconds = 1_000;

/**
 * The loans as the changelog has them, in a local SQLite file that answers by id, filter, sort and page. The file is a
 * copy: deleted, of another version, damaged, or not in step with the log, it is built again from the log. A file that
 * turns out to be damaged while it is used is built again as well, and nothing is answered meanwhile. The view also
 * tells what became of each command, after the loans that the command changed are in it.
 */
export class LoanView<Outcome extends { readonly commandId: string | null }> {
  readonly #options: LoanViewOptions<Outcome>;
  #database: LoanDatabase;
  readonly #outcomes: CommandOutcomes<Outcome>;
  #tail: TopicTail;
  #failure: string | undefined;
  #rebuilding: Promise<void> | undefined;
  #closed = false;

  private constructor(options: LoanViewOptions<Outcome>, database: LoanDatabase) {
    this.#options = options;
    this.#outcomes = new CommandOutcomes(options.outcomes);
    this.#database = database;
    this.#tail = this.#newTail();
  }

  #newTail(): TopicTail {
    const { log, topic, partitionCount, logger, health } = this.#options;
    return new TopicTail({
      log,
      topic,
      partitionCount,
      startOffsets: this.#database.positions(),
      logger,
      ...(health === undefined ? {} : { health }),
      apply: (batch) => this.#apply(batch),
      onFailure: (error) => this.#fail(error),
    });
  }

  /**
   * Opens the view and returns when it has everything that is in the changelog at this moment.
   * @throws UNKNOWN_TOPIC_OR_PARTITION when there is no changelog; DATA_FOLDER_UNUSABLE when the file cannot be made
   */
  static async open<Outcome extends { readonly commandId: string | null }>(
    options: LoanViewOptions<Outcome>,
  ): Promise<LoanView<Outcome>> {
    const view = new LoanView(options, await openInStep(options));
    try {
      await view.#tail.start();
      // A file that was found damaged on the way is being built again.
      while (view.#rebuilding !== undefined) await view.#rebuilding;
    } catch (error) {
      if (view.#rebuilding === undefined) {
        await view.close();
        throw error;
      }
      while (view.#rebuilding !== undefined) await view.#rebuilding;
    }
    return view;
  }

  /** The loan of this id, else of this encodedKey, as the changelog has it. */
  find(idOrKey: string): string | undefined {
    return this.#read((database) => database.loanState(idOrKey));
  }

  /** The id of the loan of this id, else of this encodedKey. */
  loanId(idOrKey: string): string | undefined {
    return this.#read((database) => database.loanId(idOrKey));
  }

  /** One page of loans, in the query's order, as the changelog has them. */
  list(query: LoanQuery): string[] {
    return this.#read((database) => database.page(query));
  }

  /** How many loans the query finds over all pages. */
  count(query: LoanQuery): number {
    return this.#read((database) => database.count(query));
  }

  /** How many transactions the loan of this id or encodedKey has; 0 when there is no such loan. */
  transactionCount(idOrKey: string): number {
    return this.#read((database) => database.transactionCount(idOrKey));
  }

  /** The id of the loan that a transaction of this id or encodedKey belongs to. */
  loanIdOfTransaction(idOrKey: string): string | undefined {
    return this.#read((database) => database.loanIdOfTransaction(idOrKey));
  }

  /** For looking once more for what a command on another node may have made a moment ago. */
  catchUpOnMiss(): Promise<void> {
    return this.#tail.catchUpOnMiss();
  }

  /**
   * A command that posted no transaction and is remembered, on whichever node and partition it was decided. Those that
   * posted one are known by it.
   */
  knownCommand(commandId: string): KnownCommand | undefined {
    return this.#read((database) => database.command(commandId));
  }

  /** This process is about to send a command. It is under way from now on, however long anybody waits for it. */
  beginCommand(commandId: string, digest: string): void {
    this.#outcomes.begin(commandId, digest);
  }

  /** The command was not sent. */
  abandonCommand(commandId: string): void {
    this.#outcomes.abandon(commandId);
  }

  /** The digest of a command that this process sent and that is not decided yet. */
  commandUnderWay(commandId: string): string | undefined {
    return this.#outcomes.underWay(commandId);
  }

  /**
   * Waits for the next outcome of this command, told when the view has what the command changed. Begin before the
   * command is published.
   * @param signal Ends the wait. It must come some time: waiters are limited in number.
   * @returns undefined when `signal` aborted; rejects when the view ends while it waits
   * @throws LOG_CLOSED when the view is closed, LOG_UNAVAILABLE when it can follow the log no more, OVERLOADED when too
   *   many wait: at once, so that the caller does not publish
   */
  outcomeOf(commandId: string, signal: AbortSignal): Promise<Outcome | undefined> {
    if (this.#closed || this.#failure !== undefined) throw this.#unavailable();
    return this.#outcomes.next(commandId, signal);
  }

  /** What became of this command when it was last decided; undefined when that is not remembered here. */
  recentOutcome(commandId: string): Outcome | undefined {
    return this.#outcomes.recent(commandId);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#tail.stop();
    await this.#rebuilding;
    this.#outcomes.close(this.#unavailable());
    this.#database.close();
  }

  #read<Answer>(question: (database: LoanDatabase) => Answer): Answer {
    if (this.#closed || this.#failure !== undefined) throw this.#unavailable();
    try {
      return question(this.#database);
    } catch (error) {
      if (databaseErrorKind(error) !== 'damaged') throw error;
      this.#rebuild(error);
      throw this.#unavailable();
    }
  }

  #unavailable(): LendstreamError {
    return this.#failure === undefined
      ? new LendstreamError('LOG_CLOSED', 'The view of loans is closed.')
      : new LendstreamError('LOG_UNAVAILABLE', this.#failure);
  }

  /** A view that no longer follows would answer with the past: from then on it answers nothing. */
  #fail(error: Error): void {
    if (this.#closed || this.#rebuilding !== undefined) return;
    this.#failure = `The view of loans no longer follows the log: ${describeError(error)}`;
    this.#outcomes.close(this.#unavailable());
  }

  /** Builds a file that turned out to be damaged again. Who waits for an outcome goes on waiting. */
  #rebuild(cause: unknown): void {
    if (this.#closed || this.#rebuilding !== undefined) return;
    const { logger, health } = this.#options;
    this.#failure = 'The view of loans was damaged and is built again from the log. Try again later.';
    health?.isNotReady(this.#failure);
    logger.error({ error: describeError(cause) }, 'The view of loans is damaged and is built again from the log');
    this.#rebuilding = this.#buildAgain().finally(() => {
      this.#rebuilding = undefined;
    });
  }

  async #buildAgain(): Promise<void> {
    const { logger, health } = this.#options;
    await this.#tail.stop();
    this.#database.abandon();
    while (!this.#closed) {
      try {
        this.#database = newDatabase(this.#options);
        this.#tail = this.#newTail();
        await this.#tail.start();
        this.#failure = undefined;
        health?.isReady();
        return;
      } catch (error) {
        logger.error(
          { error: describeError(error) },
          'The view of loans could not be built again and is tried once more',
        );
        await this.#tail.stop();
        await new Promise((resolve) => setTimeout(resolve, rebuildPauseMilliseconds));
      }
    }
  }

  /** @throws LOG_FULL, LOG_UNAVAILABLE: the changes are tried again */
  #write(changes: LoanChanges): void {
    try {
      this.#database.apply(changes);
    } catch (error) {
      const kind = databaseErrorKind(error);
      if (kind === 'other') throw error;
      if (kind === 'damaged') this.#rebuild(error);
      const code = kind === 'full' ? 'LOG_FULL' : 'LOG_UNAVAILABLE';
      throw new LendstreamError(code, `The view of loans cannot be written: ${describeError(error)}`, { cause: error });
    }
  }

  #apply(batch: RecordBatch): void {
    const loans = new Map<string, LoanRow | null>();
    const commands = new Map<string, KnownCommand | null>();
    const outcomes: Outcome[] = [];
    for (let index = 0; index < batch.count; index += 1) {
      const key = batch.key(index);
      if (key === null) continue;
      const start = batch.valueStarts[index] ?? noValue;
      const value = start === noValue ? null : batch.bytes.subarray(start, batch.valueEnds[index]);
      const news = this.#options.readNews(key, value);
      if (news === null) loans.set(key, value === null ? null : loanRow(value.toString('utf8')));
      else if (news.kind === 'command') commands.set(news.commandId, news.command);
      else outcomes.push(...news.outcomes);
    }
    // Not the end of the whole read: batches of it that come after this one are not in the tables yet.
    const nextOffset = (batch.offsets[batch.count - 1] ?? 0) + 1;
    this.#write({ partition: batch.partition, nextOffset, loans, commands });
    for (const outcome of outcomes) {
      if (outcome.commandId !== null) this.#outcomes.add(outcome.commandId, outcome);
    }
  }
}

/** A new file, in the place of what there is. */
function newDatabase({ dataFolder }: { readonly dataFolder: string }): LoanDatabase {
  const file = join(dataFolder, 'views.db');
  try {
    deleteDatabase(file);
    return new LoanDatabase(file);
  } catch (error) {
    throw new LendstreamError('DATA_FOLDER_UNUSABLE', `${file} cannot be made: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** The view's file when it can go on from where it is, else a new one. */
async function openInStep<Outcome extends { readonly commandId: string | null }>(
  options: LoanViewOptions<Outcome>,
): Promise<LoanDatabase> {
  const { dataFolder, log, topic, partitionCount, logger } = options;
  const file = join(dataFolder, 'views.db');
  const bounds = await log.bounds(Array.from({ length: partitionCount }, (_, partition) => ({ topic, partition })));
  let reason: string;
  let database: LoanDatabase | undefined;
  try {
    database = new LoanDatabase(file);
    const positions = database.positions();
    const foreign = [...positions.keys()].some((partition) => partition >= partitionCount);
    const outside = bounds.some(({ partition, earliest, latest }) => {
      const position = positions.get(partition);
      return position !== undefined && (position < earliest || position > latest);
    });
    if (database.current && !foreign && !outside) return database;
    reason = database.current ? 'it is not in step with the log' : 'it is of another version';
  } catch (error) {
    reason = describeError(error);
  }
  database?.abandon();
  logger.info({ file, reason }, 'The view of loans is built again from the log');
  return newDatabase(options);
}

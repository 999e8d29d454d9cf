/**
 * The local copy of the accounts, for the HTTP API and the worker.
 * In: records of the changelog. Out: accounts, transactions, results of searches, and the outcomes of commands.
 * Start with `AccountsCopy` below. `account-tables.ts` writes and reads the file, `open-or-rebuild.ts` opens it, and
 * `query-queue.ts` passes searches to a thread of their own.
 */

import type { EventLog, Offset, PartitionBounds, RecordBatch } from '../ports/event-log.ts';
import { noValue } from '../ports/event-log.ts';
import { endOfPartition } from '../ports/partition-bounds.ts';
import { TopicTail } from '../broker/log/topic-tail.ts';
import { giveWay, type Clock } from '../clock.ts';
import { IntegrityCheck, type IntegrityProgress } from '../integrity/integrity-check.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { HealthPart } from '../health.ts';
import type { Logger } from '../logger.ts';
import { AccountProducts, accountProductReference } from '../lending-format/account-products.ts';
import { accountRecordOf } from '../lending-format/account-record-keys.ts';
import {
  type CheckpointRecord,
  type CommandOutcome,
  bytesOfOutcome,
  isCheckpointKey,
  parseCheckpoint,
} from '../lending-format/checkpoint.ts';
import {
  type IdempotencyRecord,
  commandIdOfKey,
  parseIdempotencyRecord,
} from '../lending-format/idempotency-record.ts';
import { accountsTopic } from '../lending-format/lending-topics.ts';
import { decodeLoan } from '../lending/changelog/stored-loan.ts';
import type { Loan } from '../lending/loan.ts';
import type { LocalDate } from '../lending/terms.ts';
import { databaseErrorKind } from '../sqlite.ts';
import { changelogBounds } from './changelog-bounds.ts';
import { CopyProgress } from './copy-progress.ts';
import { CommandOutcomes, type CommandOutcomesLimits } from './command-outcomes.ts';
import type { CommandRow, AccountChanges, AccountTables, DecidedCommands } from './account-tables.ts';
import { QueryQueue } from './query-queue.ts';
import { type LoanRow, type TransactionRow, loanRow, transactionRow } from './account-rows.ts';
import { databaseFile, newDatabase, openOrRebuild } from './open-or-rebuild.ts';
import type { PageRow } from './page-rows.ts';
import { DamagedText } from './checksummed-text.ts';
import type { AccountsForWorker, DueCursor, DueDays, OwnCommit } from './accounts-for-worker.ts';

/** What can be searched for. */
export type AccountSearches = Omit<QueryQueue, 'start' | 'stop'>;

export interface AccountsCopyOptions {
  /** The folder of the file of the copy, accounts.db. */
  readonly dataFolder: string;
  readonly log: EventLog;
  readonly partitionCount: number;
  /** Limits of what is known of commands, to replace the defaults. */
  readonly outcomes?: CommandOutcomesLimits | undefined;
  /** How many items a search may look at one by one, to replace the default. */
  readonly examinedItemsMaximum?: number | undefined;
  /**
   * Whether searches are expected: their thread then starts with the copy, and works although the file is removed
   * later. By default the first search starts it.
   */
  readonly isSearched?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Notified when the copy cannot serve reads, and when it can again. */
  readonly health?: HealthPart;
}

/** What a copy is doing, as the beginning of a sentence: at a start, and after damage. */
const readingAtStart = 'The local copy of accounts is being read from the log';
const readingAgain = 'The copy of accounts was damaged and is being rebuilt from the log';

/** The pause before a failed rebuild of the copy is tried again. Milliseconds. */
const rebuildPauseMilliseconds = 1_000;

/**
 * The changelog in a local SQLite file: the HTTP API reads it by id, filter, sort and page, and the worker decides on
 * it. The file is a copy: when it is deleted, of another version, damaged, or out of step with the log, it is rebuilt
 * from the log. A file that turns out to be damaged during use is rebuilt as well, and until then all reads fail. The
 * copy also reports the outcome of each command, once it has the loans that the command changed.
 */
export class AccountsCopy implements AccountsForWorker {
  readonly #options: AccountsCopyOptions;
  #database: AccountTables;
  readonly #queries: QueryQueue;
  readonly #outcomes: CommandOutcomes<CommandOutcome>;
  /** References are hashes of texts, so a database that is rebuilt has the same products under them. */
  readonly #products = new AccountProducts((reference) => this.#database.productState(reference));
  /** As in the database: the offset of the last command done, of each partition. */
  #decidedCommands: Map<number, DecidedCommands>;
  #tail: TopicTail;
  /** The partitions whose owner in this process is about to commit. */
  readonly #heldBack = new Map<number, { readonly released: Promise<void> }>();
  #integrity: IntegrityCheck;
  /** Why it cannot be read now, in sentences. */
  #failure: string | undefined = `${readingAtStart}. Try again later.`;
  /** While it is being filled. */
  #progress: CopyProgress | undefined;
  #rebuilding: Promise<void> | undefined;
  readonly #closing = new AbortController();
  /** What the log had when the file was opened. */
  readonly #boundsAtStart: readonly PartitionBounds[];

  private constructor(options: AccountsCopyOptions, database: AccountTables, bounds: readonly PartitionBounds[]) {
    this.#options = options;
    this.#boundsAtStart = bounds;
    this.#outcomes = new CommandOutcomes(bytesOfOutcome, options.outcomes);
    this.#database = database;
    this.#queries = new QueryQueue(databaseFile(options), options.examinedItemsMaximum);
    this.#decidedCommands = database.decidedCommands();
    this.#tail = this.#newTail();
    this.#integrity = this.#newIntegrityCheck();
  }

  #newIntegrityCheck(): IntegrityCheck {
    const { clock, logger } = this.#options;
    return new IntegrityCheck({
      path: databaseFile(this.#options),
      script: new URL('./copy-check.js', import.meta.url),
      clock,
      logger,
      onDamages: ({ first }) => {
        if (first !== null) this.#rebuild(new Error(first));
      },
    });
  }

  #newTail(): TopicTail {
    const { log, partitionCount, clock, logger, health } = this.#options;
    return new TopicTail({
      log,
      topic: accountsTopic,
      partitionCount,
      startOffsets: this.#database.positions(),
      clock,
      logger,
      health: {
        // That the log can be read again does not make a copy ready which is still being filled.
        reportReady: () => this.#reportHealth(),
        reportNotReady: (reason) => health?.reportNotReady(reason),
      },
      // The owner of a partition on another node announces an outcome when its commit is durable.
      includeUncommitted: true,
      apply: (batches, nextOffset) => this.#applyFromLog(batches, nextOffset),
      onFailure: (error) => this.#fail(error),
    });
  }

  /**
   * Opens the file. All reads fail with LOG_UNAVAILABLE until {@link fill} has returned.
   * @throws UNKNOWN_TOPIC_OR_PARTITION when there is no changelog; DATA_FOLDER_UNUSABLE when the file cannot be created
   */
  static async open(options: AccountsCopyOptions): Promise<AccountsCopy> {
    const { log, partitionCount } = options;
    // The end of a transaction may become readable some time after its commit, and the copy may have that commit.
    const written = await changelogBounds(log, partitionCount, { includeUncommitted: true });
    const readable = await changelogBounds(log, partitionCount);
    return new AccountsCopy(options, openOrRebuild(options, written), readable);
  }

  /**
   * Follows the log, and returns when the copy has all that the log had when this was called. It is called once.
   * @throws LOG_CLOSED when the copy is closed before; what the log throws; what a record throws that cannot be read
   */
  async fill(): Promise<void> {
    try {
      await this.#catchUp(readingAtStart, this.#boundsAtStart);
    } catch (error) {
      // The file may have turned out to be damaged, and is then being rebuilt.
      if (this.#rebuilding === undefined) throw error;
    }
    while (this.#rebuilding !== undefined) await this.#rebuilding;
    this.#requireAvailable();
  }

  /** Follows the log, and returns when the file has all of it up to this moment. Shows how far that is. */
  async #catchUp(task: string, bounds: readonly PartitionBounds[]): Promise<void> {
    const { clock, logger } = this.#options;
    const positionOf = (partition: number): Offset => this.#tail.position(partition);
    this.#progress = new CopyProgress({ task, bounds, positionOf, clock, logger });
    this.#reportHealth();
    try {
      await this.#tail.start();
      this.#requireFollowing();
      await this.#database.finishFilling(async () => {
        await giveWay();
        this.#requireFollowing();
      });
    } catch (error) {
      throw this.#readFailure(error);
    } finally {
      this.#progress.end();
      this.#progress = undefined;
    }
    if (this.#options.isSearched === true) await this.#queries.start();
    this.#requireFollowing();
    this.#database.giveSpaceBack(this.#options.clock, (error) => this.#spaceFailed(error));
    this.#failure = undefined;
    this.#reportHealth();
  }

  /** Throws when the copy was closed, or can no longer follow the log. */
  #requireFollowing(): void {
    if (this.#tail.failure !== undefined) throw this.#tail.failure;
  }

  #reportHealth(): void {
    const { health } = this.#options;
    const progress = this.#progress;
    if (progress !== undefined) health?.reportReading(() => progress.look());
    else if (this.#failure !== undefined) health?.reportNotReady(this.#failure);
    else health?.reportReady();
  }

  /**
   * The loan with this id or, if there is none, with this encodedKey. This and the other lookups of one thing find also
   * what a command on another process may have stored a moment ago.
   * @returns at once when this copy has it; undefined when it does not exist
   * @throws LOG_CLOSED, LOG_UNAVAILABLE when the copy, or what others stored, cannot be read
   */
  find(idOrKey: string): Promise<Loan | undefined> {
    return this.#find((database) => {
      const text = database.loanState(idOrKey);
      return text === undefined ? undefined : this.loanOf(text);
    });
  }

  /** The loan of a text of this copy. */
  loanOf(text: string): Loan {
    return decodeLoan(text, (reference) => this.#read(() => this.#products.get(reference)));
  }

  /** The id of the loan with this id or, if there is none, with this encodedKey, looked up as by {@link find}. */
  loanId(idOrKey: string): Promise<string | undefined> {
    return this.#find((database) => database.loanId(idOrKey));
  }

  /**
   * Searches all accounts, in a thread of its own. {@link loanOf} reads the texts that it finds.
   * @throws what the search throws, LOG_UNAVAILABLE
   */
  search<Result>(ask: (searches: AccountSearches) => Promise<Result>): Promise<Result> {
    return this.#query(ask);
  }

  /** How many transactions the loan with this id has; 0 when there is no such loan. */
  transactionCount(loanId: string): number {
    return this.#read((database) => database.transactionCount(loanId));
  }

  /** The texts of some transactions of a loan, in the order they were posted: those after the first `offset`. */
  transactions(loanId: string, { offset, limit }: { offset: number; limit: number }): string[] {
    return this.#read((database) => database.transactionStates(loanId, offset, limit));
  }

  accountText(loanAccountId: string): string | undefined {
    return this.#read((database) => database.loanStateOfId(loanAccountId));
  }

  loansDueBy(partition: number, date: LocalDate, limit: number): string[] {
    return this.#read((database) => database.loansDueBy(partition, date, limit));
  }

  loansWithRowsDue(partition: number, days: DueDays, after: DueCursor | undefined, limit: number): DueCursor[] {
    return this.#read((database) => database.loansWithRowsDue(partition, days, after, limit));
  }

  lastDueDate(): LocalDate | null {
    return this.#read((database) => database.lastDueDate());
  }

  hasAccountProduct(partition: number, reference: string): boolean {
    return this.#read((database) => database.hasProduct(partition, reference));
  }

  hasLoansOf(productKey: string): boolean {
    return this.#read((database) => database.hasLoansOf(productKey));
  }

  hasExternalId(externalId: string): boolean {
    return this.#read((database) => database.hasExternalId(externalId));
  }

  transactionText(loanAccountId: string, keyOrId: string): string | undefined {
    return this.#read((database) => database.transactionState(loanAccountId, keyOrId));
  }

  commandText(partition: number, commandId: string): string | undefined {
    return this.#read((database) => database.commandState(commandId, partition));
  }

  commandsDecidedUpTo(partition: number, time: number, limit: number): readonly string[] {
    return this.#read((database) => database.commandsDecidedUpTo(partition, time, limit));
  }

  checkpointPosition(partition: number): Offset | null {
    return this.#decidedCommands.get(partition)?.position ?? null;
  }

  decidedAheadTo(partition: number): Offset | null {
    return this.#decidedCommands.get(partition)?.decidedAheadTo ?? null;
  }

  holdBack(partition: number): () => void {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    this.#heldBack.set(partition, { released });
    return () => {
      this.#heldBack.delete(partition);
      release();
    };
  }

  applyOwnCommit({ partition, from, nextOffset, records, checkpoint }: OwnCommit): boolean {
    this.#requireAvailable();
    const position = this.#tail.position(partition);
    if (position >= nextOffset) return true;
    if (position < from) return false;
    const changes = new RecordedChanges();
    for (const [key, text] of records) changes.add(key, text);
    changes.addCheckpoint(checkpoint);
    this.#apply(partition, changes, nextOffset);
    return true;
  }

  async catchUpPartition(partition: number, signal: AbortSignal): Promise<Offset> {
    await this.#rebuilding;
    const topicPartition = { topic: accountsTopic, partition };
    const latest = await endOfPartition(this.#options.log, topicPartition, { includeUncommitted: true });
    try {
      await this.#tail.waitUntilApplied(partition, latest, { signal });
      return latest;
    } catch (error) {
      // A rebuild ends the reading of the log, and begins it again.
      if (!signal.aborted) this.#requireAvailable();
      throw error;
    }
  }

  /** Begins to remove what the file still has of rows that were replaced or removed. It does so in short steps. */
  removeRemains(): void {
    if (this.#failure === undefined) this.#database.removeRemains();
  }

  /** The id of the loan that contains the transaction with this id or encodedKey, looked up as by {@link find}. */
  loanIdOfTransaction(idOrKey: string): Promise<string | undefined> {
    return this.#find((database) => database.loanIdOfTransaction(idOrKey));
  }

  /**
   * A command that posted no transaction and is remembered, whatever node and partition decided it, looked up as by
   * {@link find}. A command that posted one is known by its transaction.
   */
  recordedCommand(commandId: string): Promise<IdempotencyRecord | undefined> {
    return this.#find((database) => {
      const text = database.commandState(commandId);
      return text === undefined ? undefined : parseIdempotencyRecord(text);
    });
  }

  /**
   * This process is about to send a command. From now on the command is under way, however long requests wait for it.
   */
  beginCommand(commandId: string, digest: string): void {
    this.#outcomes.begin(commandId, digest);
  }

  /** The command was not sent. */
  abandonCommand(commandId: string): void {
    this.#outcomes.abandon(commandId);
  }

  /** The digest of a command that this process sent and that is not decided yet. */
  pendingCommandDigest(commandId: string): string | undefined {
    return this.#outcomes.pendingDigest(commandId);
  }

  /**
   * Waits for the next outcome of this command, and returns it when the copy has the changes of the command. Begin
   * before the command is published.
   * @param signal Ends the wait. It must abort at some time, because the number of waiters is limited.
   * @returns undefined when `signal` aborted; rejects when the copy ends during the wait
   * @throws LOG_CLOSED when the copy is closed, LOG_UNAVAILABLE when it can no longer follow the log, OVERLOADED when
   *   too many requests wait. All are thrown at once, so that the caller does not publish.
   */
  outcomeOf(commandId: string, signal: AbortSignal): Promise<CommandOutcome | undefined> {
    this.#requireAvailable();
    return this.#outcomes.waitFor(commandId, signal);
  }

  /** The last outcome of this command, looked up as by {@link find}; undefined when it is not remembered here. */
  recentOutcome(commandId: string): Promise<CommandOutcome | undefined> {
    return this.#tail.find(() => this.#outcomes.recent(commandId));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#closing.abort();
    await this.#tail.stop();
    await this.#rebuilding;
    await this.#integrity.close();
    this.#outcomes.close(this.#unavailable());
    await this.#queries.stop();
    this.#database.close();
  }

  /** How far the check of the file is, which runs in the background. */
  get integrity(): IntegrityProgress {
    return this.#integrity.progress;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #find<Found>(query: (database: AccountTables) => Found | undefined): Promise<Found | undefined> {
    return this.#tail.find(() => this.#read(query));
  }

  #read<Result>(query: (database: AccountTables) => Result): Result {
    this.#requireAvailable();
    try {
      return query(this.#database);
    } catch (error) {
      throw this.#readFailure(error);
    }
  }

  async #query<Result>(query: (queries: QueryQueue) => Promise<Result>): Promise<Result> {
    this.#requireAvailable();
    try {
      return await query(this.#queries);
    } catch (error) {
      throw this.#readFailure(error);
    }
  }

  #requireAvailable(): void {
    if (this.#isClosed || this.#failure !== undefined) throw this.#unavailable();
  }

  /** The error to throw for one of SQLite. A damaged file is rebuilt from now on. */
  #readFailure(error: unknown): unknown {
    if (!(error instanceof DamagedText) && databaseErrorKind(error) !== 'damaged') return error;
    this.#rebuild(error);
    return this.#unavailable();
  }

  #spaceFailed(error: unknown): void {
    const { logger } = this.#options;
    logger.warn({ error: describeError(error) }, 'Giving disk space of the copy of accounts back failed; retrying');
    this.#readFailure(error);
  }

  #unavailable(): LendstreamError {
    return this.#isClosed || this.#failure === undefined
      ? new LendstreamError('LOG_CLOSED', 'The copy of accounts is closed.')
      : new LendstreamError('LOG_UNAVAILABLE', this.#failure);
  }

  /** A copy that no longer follows the log would return outdated loans, so from then on all its reads fail. */
  #fail(error: Error): void {
    if (this.#isClosed || this.#rebuilding !== undefined) return;
    this.#failure = `The copy of accounts no longer follows the log: ${describeError(error)}`;
    this.#outcomes.close(this.#unavailable());
  }

  /** Rebuilds a file that turned out to be damaged. Requests that wait for an outcome continue to wait. */
  #rebuild(cause: unknown): void {
    if (this.#isClosed || this.#rebuilding !== undefined) return;
    const { logger } = this.#options;
    this.#failure = `${readingAgain}. Try again later.`;
    this.#reportHealth();
    logger.error({ error: describeError(cause) }, 'The copy of accounts is damaged; rebuilding it from the log');
    this.#rebuilding = this.#rebuildFromLog().finally(() => {
      this.#rebuilding = undefined;
    });
  }

  async #rebuildFromLog(): Promise<void> {
    const { log, partitionCount, clock, logger } = this.#options;
    await this.#tail.stop();
    await this.#integrity.close();
    await this.#queries.stop();
    this.#database.abandon();
    while (!this.#isClosed) {
      try {
        this.#database = newDatabase(this.#options);
        this.#decidedCommands = new Map();
        this.#tail = this.#newTail();
        await this.#catchUp(readingAgain, await changelogBounds(log, partitionCount));
        this.#integrity = this.#newIntegrityCheck();
        return;
      } catch (error) {
        if (this.#isClosed) return;
        this.#reportHealth();
        logger.error({ error: describeError(error) }, 'Rebuilding the copy of accounts failed; retrying');
        await this.#tail.stop();
        await clock.sleep(rebuildPauseMilliseconds, this.#closing.signal);
      }
    }
  }

  /** @throws LOG_FULL, LOG_UNAVAILABLE: the changes are tried again */
  #applyChanges(changes: AccountChanges): void {
    try {
      this.#database.apply(changes);
    } catch (error) {
      const kind = databaseErrorKind(error);
      if (kind === 'other' || kind === 'constraint') throw error;
      if (kind === 'damaged') this.#rebuild(error);
      const code = kind === 'full' ? 'LOG_FULL' : 'LOG_UNAVAILABLE';
      throw new LendstreamError(code, `The copy of accounts cannot be written: ${describeError(error)}`, {
        cause: error,
      });
    }
  }

  /** Takes batches of the log, as soon as no owner in this process is about to commit to their partition. */
  async #applyFromLog(batches: readonly RecordBatch[], nextOffset: Offset): Promise<void> {
    const [{ partition } = { partition: 0 }] = batches;
    while (this.#heldBack.has(partition)) await this.#heldBack.get(partition)?.released;
    if (this.#tail.position(partition) >= nextOffset) return;
    const changes = new RecordedChanges();
    for (const batch of batches) {
      for (let index = 0; index < batch.count; index += 1) {
        const key = batch.key(index);
        if (key === null) continue;
        const start = batch.valueStarts[index] ?? noValue;
        changes.add(key, start === noValue ? null : batch.bytes.toString('utf8', start, batch.valueEnds[index]));
      }
    }
    this.#apply(partition, changes, nextOffset);
  }

  #apply(
    partition: number,
    { products, pages, loans, transactions, commands, checkpoint, outcomes }: RecordedChanges,
    nextOffset: Offset,
  ): void {
    const { position: commandOffset, decidedAheadTo } = checkpoint ?? {};
    const rows = { products, pages, loans, transactions, commands };
    this.#applyChanges({ partition, nextOffset, ...rows, commandOffset, decidedAheadTo });
    this.#tail.advance(partition, nextOffset);
    if (commandOffset !== undefined) {
      this.#decidedCommands.set(partition, { position: commandOffset, decidedAheadTo: decidedAheadTo ?? null });
    }
    for (const outcome of outcomes) {
      if (outcome.commandId !== null) this.#outcomes.add(outcome.commandId, outcome);
    }
  }
}

/** The changes that records of the changelog make, collected one by one. */
class RecordedChanges {
  readonly pages: PageRow[] = [];
  readonly products = new Map<string, string>();
  readonly loans = new Map<string, LoanRow | null>();
  readonly transactions = new Map<string, TransactionRow | null>();
  readonly commands = new Map<string, CommandRow | null>();
  readonly outcomes: CommandOutcome[] = [];
  checkpoint: CheckpointRecord | undefined;

  /** @param text Null for a record that was deleted. */
  add(key: string, text: string | null): void {
    const account = accountRecordOf(key);
    const commandId = commandIdOfKey(key);
    const productReference = accountProductReference(key);
    if (account?.transactionKey !== undefined) {
      this.transactions.set(account.transactionKey, text === null ? null : transactionRow(text));
    } else if (account?.page !== undefined) {
      this.pages.push({ loanId: account.loanAccountId, ...account.page, state: text });
    } else if (account !== undefined) {
      this.loans.set(account.loanAccountId, text === null ? null : loanRow(text));
    } else if (productReference !== undefined) {
      if (text !== null) this.products.set(productReference, text);
    } else if (commandId !== undefined) {
      this.commands.set(commandId, text === null ? null : commandRow(text));
    } else if (isCheckpointKey(key) && text !== null) {
      this.addCheckpoint(parseCheckpoint(text));
    }
  }

  addCheckpoint(checkpoint: CheckpointRecord): void {
    this.checkpoint = checkpoint;
    this.outcomes.push(...checkpoint.outcomes);
  }
}

function commandRow(state: string): CommandRow {
  return { decidedAt: parseIdempotencyRecord(state).decidedAt, state };
}

import { readFileSync, rmSync } from 'node:fs';
import type { Offset } from '../ports/event-log.ts';
import type { Clock } from '../clock.ts';
import { type Connection, databaseErrorKind, openDatabase, withoutNul } from '../sqlite.ts';
import { joinedAccount } from '../lending-format/account-pages.ts';
import { pageRecordKey } from '../lending-format/account-record-keys.ts';
import { addDays } from '../lending/dates.ts';
import { parseTransactionId } from '../lending/identifiers.ts';
import type { LocalDate } from '../lending/terms.ts';
import { type PageRow, dueDateMark, dueDatesOf, pagesByDueDate, unsealedPages } from './page-rows.ts';
import type { LoanRow, TransactionRow } from './account-rows.ts';
import {
  type IndexName,
  commandsById,
  inUseTable,
  indexes,
  isIndexName,
  schemaVersion,
  tables,
} from './account-schema.ts';
import { loansWithRowsDue, prepareStatements, removeEarlierCommands } from './account-statements.ts';
import type { DueCursor, DueDays } from './accounts-for-worker.ts';
import { DamagedText, sealed, unsealed } from './checksummed-text.ts';
import { FileSpace } from './file-space.ts';

/** The page size of a new file. It holds three accounts of a few installments; half of it would hold one. Bytes. */
const pageBytes = 16 * 1024;

/** How much of the file SQLite keeps in memory, for lookups and changes of loans all over the file. Bytes. */
const cacheBytesMaximum = 32 * 1024 * 1024;

/**
 * How much is written before it is copied into the file, while a file is being filled: most pages are changed again and
 * again, and are copied once. In use, copying as much at once would hold up the event loop. Bytes.
 */
const fillingCheckpointBytes = 64 * 1024 * 1024;
const checkpointBytes = 16 * 1024 * 1024;

/** After every day that a row can be due on. */
const farDay = '9999-12-31';

/** The changes of some batches of a partition of the changelog. */
export interface AccountChanges {
  readonly partition: number;
  /** The offset to continue from after these changes. */
  readonly nextOffset: Offset;
  /** The texts of the products that accounts refer to, by reference. None is ever deleted. */
  readonly products: ReadonlyMap<string, string>;
  /** Pages of accounts, in the order of the changelog. */
  readonly pages: readonly PageRow[];
  /** The newest state of each loan, by loan account id; null for a loan that was deleted. */
  readonly loans: ReadonlyMap<string, LoanRow | null>;
  /** By encodedKey; null for a transaction that was deleted. */
  readonly transactions: ReadonlyMap<string, TransactionRow | null>;
  /** By command id; null for a command that is no longer remembered. */
  readonly commands: ReadonlyMap<string, CommandRow | null>;
  /** The offset of the last command done, where one of the batches has a checkpoint record. */
  readonly commandOffset: Offset | undefined;
  /** As in {@link CheckpointRecord}. */
  readonly decidedAheadTo?: Offset | undefined;
}

/** How far the commands of a partition are done, as in {@link CheckpointRecord}. */
export interface DecidedCommands {
  readonly position: Offset;
  readonly decidedAheadTo: Offset | null;
}

/** A command that posted no transaction and is remembered. */
export interface CommandRow {
  /** Milliseconds since the epoch. */
  readonly decidedAt: number;
  /** Its text in the changelog. */
  readonly state: string;
}

/** A row of the transactions. */
interface FoundTransaction {
  readonly loan_id: string;
  readonly transaction_key: string;
  readonly state: string;
}

/**
 * The tables of accounts. They are a copy of the changelog, together with the position that the copy has reached.
 * A change and its position are one SQLite transaction. Writes do not wait for the disk, so a file that was in use when
 * the machine stopped is not opened again. After the end of the process alone the file is whole.
 */
export class AccountTables {
  readonly #file: string;
  readonly #database: Connection;
  readonly #statements;
  #loansWithRowsDue: ReturnType<Connection['prepare']> | undefined;
  #isFilled: boolean;
  /** What the change that is being applied has removed. */
  #removedBytes = 0;
  #space: FileSpace | undefined;

  /**
   * @throws Error when the file is no database, is of another version, cannot be read, or may have lost data when the
   *   machine stopped
   */
  constructor(file: string) {
    this.#file = file;
    this.#database = openDatabase(file);
    try {
      // How free pages are found can only be chosen for a new file: see file-space.ts. Without secure_delete, a page
      // would keep what was replaced in it, and nothing could erase that later.
      this.#database.exec(`
        PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST;
      `);
      if (this.#version() === 0) this.#database.exec(`BEGIN; ${tables} COMMIT;`);
      if (this.#version() !== schemaVersion) throw new Error('it is of another version');
      this.#database.exec(inUseTable);
      this.#checkPreviousStop();
      this.#markInUse();
      this.#database.exec(`PRAGMA synchronous = OFF; PRAGMA cache_size = -${cacheBytesMaximum / 1024};`);
      this.#isFilled = this.#missingIndexes().length === 0;
      this.#checkpointAfter(this.#isFilled ? checkpointBytes : fillingCheckpointBytes);
      this.#statements = prepareStatements(this.#database);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /**
   * Whether the file has all that the log had when it was made. Before, it can be written, but its lookups would read
   * all of it.
   */
  get isFilled(): boolean {
    return this.#isFilled;
  }

  /**
   * Ends the filling of a new file by making its indexes. Each one holds up the event loop, for about a second for a
   * million loans.
   * @param giveWay Awaited after each index.
   */
  async finishFilling(giveWay: () => Promise<void>): Promise<void> {
    for (const name of this.#missingIndexes()) {
      this.#makeIndex(name);
      await giveWay();
    }
    this.#isFilled = true;
    this.#checkpointAfter(checkpointBytes);
    // Now, so that no commit has to copy all that was written during the filling.
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  #missingIndexes(): IndexName[] {
    const rows = this.#database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index'`).all() as {
      name: string;
    }[];
    const present = new Set(rows.map(({ name }) => name));
    return Object.keys(indexes)
      .filter(isIndexName)
      .filter((name) => !present.has(name));
  }

  #makeIndex(name: IndexName): void {
    if (name === commandsById) return this.#makeCommandsIndex();
    return this.#database.exec(`CREATE INDEX IF NOT EXISTS ${name} ON ${indexes[name]}`);
  }

  /**
   * A command may be done again once its record is old enough, even before that is removed. The first record has its
   * place beside the second one while there is no index. That is rare, so it is looked for when the index says so.
   */
  #makeCommandsIndex(): void {
    const make = `CREATE UNIQUE INDEX IF NOT EXISTS ${commandsById} ON ${indexes[commandsById]}`;
    try {
      this.#database.exec(make);
    } catch (error) {
      if (databaseErrorKind(error) !== 'constraint') throw error;
      this.#database.exec(`${removeEarlierCommands}; ${make}`);
    }
  }

  #checkpointAfter(bytes: number): void {
    this.#database.exec(`PRAGMA wal_autocheckpoint = ${bytes / pageBytes}; PRAGMA journal_size_limit = ${bytes};`);
  }

  /**
   * Gives the space that the file no longer needs back to the disk from now on, in short steps.
   * @param onFailure Called when a step failed. It is tried again.
   */
  giveSpaceBack(clock: Clock, onFailure: (error: unknown) => void): void {
    this.#space = new FileSpace({ database: this.#database, file: this.#file, clock, onFailure });
  }

  /**
   * Removes what the file still has of rows that were replaced or removed, in short steps: it gives all free pages
   * back. Within the other pages, nothing is left of them, because `secure_delete` overwrites it.
   */
  removeRemains(): void {
    this.#space?.giveAllBack();
  }

  /** The next offset of each partition. Partitions that were never read are absent. */
  positions(): Map<number, Offset> {
    const rows = this.#statements.positions.all() as { partition: number; next_offset: number }[];
    return new Map(rows.map(({ partition, next_offset }) => [partition, next_offset]));
  }

  /** Writes the changes and the position in one transaction. */
  apply(changes: AccountChanges): void {
    this.#removedBytes = 0;
    this.#database.exec('BEGIN');
    try {
      this.#write(changes);
      if (this.#removedBytes > 0) this.#statements.addRemoved.run(this.#removedBytes);
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #write({
    partition,
    nextOffset,
    products,
    pages,
    loans,
    transactions,
    commands,
    commandOffset,
    decidedAheadTo,
  }: AccountChanges): void {
    for (const [reference, state] of products) {
      this.#statements.putProduct.run(reference, partition, sealed(reference, state));
    }
    for (const page of pages) this.#putPage(page);
    for (const [loanId, row] of loans) {
      if (row === null) this.#remove(loanId);
      else this.#put(row, partition);
    }
    for (const [transactionKey, row] of transactions) {
      if (row === null) this.#removeTransaction(transactionKey);
      else this.#putTransaction(transactionKey, row);
    }
    for (const [commandId, command] of commands) {
      if (command === null) this.#removeCommand(commandId, partition);
      else this.#statements.putCommand.run(commandId, partition, command.decidedAt, sealed(commandId, command.state));
    }
    if (commandOffset !== undefined) {
      this.#statements.putCheckpoint.run(partition, commandOffset, decidedAheadTo ?? null);
    }
    this.#statements.putPosition.run(partition, nextOffset);
  }

  /** The state of the loan with this id or, if there is none, with this encodedKey. */
  loanState(idOrKey: string): string | undefined {
    const loanId = this.loanId(idOrKey);
    return loanId === undefined ? undefined : this.loanStateOfId(loanId);
  }

  /** The state of the loan with this id. @throws DamagedText, as all that read a state */
  loanStateOfId(loanId: string): string | undefined {
    const found = this.#statements.state.get(loanId) as { state: string } | undefined;
    if (found !== undefined) return joinedAccount(unsealed(loanId, found.state), this.#pageStates(loanId));
    if (this.#statements.idOfId.get(loanId) === undefined) return undefined;
    throw new DamagedText(`The text of ${loanId} is missing`);
  }

  #pageStates(loanId: string): string[] {
    return unsealedPages(loanId, this.#statements.pages.all(loanId));
  }

  /** The text of the product that accounts refer to by this name. */
  productState(reference: string): string | undefined {
    const found = this.#statements.product.get(reference) as { state: string } | undefined;
    return found === undefined ? undefined : unsealed(reference, found.state);
  }

  /** Whether a partition has the product with this reference. */
  hasProduct(partition: number, reference: string): boolean {
    return this.#statements.productOfPartition.get(reference, partition) !== undefined;
  }

  /** Whether there is a loan under the product with this encodedKey. */
  hasLoansOf(productKey: string): boolean {
    return this.#statements.loanOfProduct.get(withoutNul(productKey)) !== undefined;
  }

  /** The id of the loan with this id or, if there is none, with this encodedKey. */
  loanId(idOrKey: string): string | undefined {
    const text = withoutNul(idOrKey);
    const found = this.#statements.idOfId.get(text) ?? this.#statements.idOfKey.get(text);
    return (found as { loan_id: string } | undefined)?.loan_id;
  }

  /** The id of the loan that contains the transaction with this id or encodedKey. */
  loanIdOfTransaction(idOrKey: string): string | undefined {
    return this.#transaction(idOrKey)?.loan_id;
  }

  /** Whether a transaction of any loan has this externalId and was not adjusted. */
  hasExternalId(externalId: string): boolean {
    return this.#statements.standingByExternalId.get(withoutNul(externalId)) !== undefined;
  }

  /** The text of the transaction of a loan with this id or encodedKey. */
  transactionState(loanId: string, idOrKey: string): string | undefined {
    const found = this.#transaction(idOrKey);
    return found?.loan_id === loanId ? unsealed(found.transaction_key, found.state) : undefined;
  }

  /** The texts of some transactions of a loan, in the order they were posted: those after the first `offset`. */
  transactionStates(loanId: string, offset: number, limit: number): string[] {
    const rows = this.#statements.transactionPage.all(
      loanId,
      offset,
      Number.isFinite(limit) ? limit : -1,
    ) as FoundTransaction[];
    return rows.map(({ transaction_key, state }) => unsealed(transaction_key, state));
  }

  #transaction(idOrKey: string): FoundTransaction | undefined {
    const id = parseTransactionId(idOrKey);
    const found =
      this.#statements.transactionByKey.get(withoutNul(idOrKey)) ??
      (id === undefined ? undefined : this.#statements.transactionByNumber.get(withoutNul(id.loanId), id.number));
    return found as FoundTransaction | undefined;
  }

  /**
   * The text of the command with this id, if it posted no transaction and is still remembered.
   * @param partition The partition that decided it; by default the one that did so last.
   */
  commandState(commandId: string, partition?: number): string | undefined {
    const found =
      partition === undefined
        ? this.#statements.lastCommand.get(commandId)
        : this.#statements.command.get(commandId, partition);
    return found === undefined ? undefined : unsealed(commandId, (found as { state: string }).state);
  }

  /** The ids of the oldest commands of a partition that were decided up to a time (milliseconds since the epoch). */
  commandsDecidedUpTo(partition: number, time: number, limit: number): string[] {
    const rows = this.#statements.oldCommands.all(partition, time, limit) as { command_id: string }[];
    return rows.map(({ command_id }) => command_id);
  }

  /** The ids of the loans of a partition to which time alone does something by this date, the earliest first. */
  loansDueBy(partition: number, date: string, limit: number): string[] {
    const rows = this.#statements.dueLoans.all(partition, date, limit) as { loan_id: string }[];
    return rows.map(({ loan_id }) => loan_id);
  }

  /** As in {@link AccountsForWorker}. */
  loansWithRowsDue(
    partition: number,
    { day, isAllAfter }: DueDays,
    after: DueCursor | undefined,
    limit: number,
  ): DueCursor[] {
    const { lastDueDate, firstDueDate, loanId } = after ?? { lastDueDate: '', firstDueDate: '', loanId: '' };
    // Prepared here, because a file that is being filled has no indexes yet.
    this.#loansWithRowsDue ??= this.#database.prepare(loansWithRowsDue);
    return this.#loansWithRowsDue.all(
      isAllAfter ? addDays(day, 1) : day,
      isAllAfter ? farDay : day,
      lastDueDate,
      firstDueDate,
      loanId,
      partition,
      isAllAfter ? dueDateMark : `${dueDateMark}${day}`,
      limit,
    ) as DueCursor[];
  }

  /** As in {@link AccountsForWorker}. */
  lastDueDate(): LocalDate | null {
    const found = this.#database.prepare(`SELECT max(last_due_date) AS day FROM pages INDEXED BY ${pagesByDueDate}`);
    return (found.get() as { day: string | null }).day;
  }

  /** How far the commands of each partition are done. */
  decidedCommands(): Map<number, DecidedCommands> {
    const rows = this.#statements.checkpoints.all() as {
      partition: number;
      command_offset: number;
      decided_ahead_to: number | null;
    }[];
    return new Map(
      rows.map(({ partition, command_offset, decided_ahead_to }) => [
        partition,
        { position: command_offset, decidedAheadTo: decided_ahead_to },
      ]),
    );
  }

  /** How many transactions the loan with this id has; 0 when there is no such loan. */
  transactionCount(loanId: string): number {
    const found = this.#statements.transactionCount.get(loanId);
    return (found as { transaction_count: number } | undefined)?.transaction_count ?? 0;
  }

  /** Closes the file cleanly, so that it can be continued even after a stop of the machine. */
  close(): void {
    if (!this.#database.isOpen) return;
    this.#space?.close();
    try {
      // First write through everything that did not wait for the disk, then record that this was done.
      this.#database.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE);');
      this.#database.exec('DELETE FROM in_use; PRAGMA wal_checkpoint(TRUNCATE);');
    } finally {
      this.#database.close();
    }
  }

  /** Closes the file as it is, without marking it as closed cleanly. */
  abandon(): void {
    this.#space?.close();
    if (this.#database.isOpen) this.#database.close();
  }

  /** @throws Error when the machine stopped while the file was in use, so that it may not be whole */
  #checkPreviousStop(): void {
    const previousUse = this.#database.prepare('SELECT boot_id FROM in_use').get() as { boot_id: string } | undefined;
    if (previousUse === undefined) return;
    // Nothing was written through to the disk: it is unknown which writes survived the stop of the machine.
    const isSameBoot = previousUse.boot_id !== '' && previousUse.boot_id === bootId();
    if (!isSameBoot) throw new Error('the machine ended while it was in use');
  }

  /** Marks the file as in use. The mark is on the disk before anything else is written. */
  #markInUse(): void {
    this.#database.exec('DELETE FROM in_use');
    this.#database.prepare('INSERT INTO in_use VALUES (?)').run(bootId());
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  #version(): number {
    return (this.#database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
  }

  #putPage({ loanId, list, number, state }: PageRow): void {
    const { removePage, putPage, updatePage } = this.#statements;
    if (state === null) {
      this.#countRemoved(removePage.get(loanId, list, number));
      return;
    }
    const { first, last } = dueDatesOf({ list, number }, state);
    const text = sealed(pageRecordKey(loanId, { list, number }), state);
    // Most commands move no due date, and then the index stays as it is.
    const isUpdated = this.#isFilled && updatePage.run(text, loanId, list, number, first, last).changes > 0;
    if (!isUpdated) putPage.run(loanId, list, number, text, first, last);
  }

  #putTransaction(transactionKey: string, row: TransactionRow): void {
    const { loanId, number, type, creationDate, valueDate, state } = row;
    const text = sealed(transactionKey, state);
    const externalId = row.externalId === null ? null : withoutNul(row.externalId);
    this.#statements.putTransaction.run(
      loanId,
      number,
      transactionKey,
      type,
      creationDate,
      valueDate,
      text,
      externalId,
      Number(row.isAdjusted),
    );
  }

  #put(row: LoanRow, partition: number): void {
    const values = [
      row.loanId,
      withoutNul(row.encodedKey),
      withoutNul(row.loanName),
      row.accountHolderKey === null ? null : withoutNul(row.accountHolderKey),
      withoutNul(row.productTypeKey),
      row.accountState,
      row.loanAmount,
      row.creationDate,
      row.approvedDate,
      row.closedDate,
      row.lastModifiedDate,
      row.transactionCount,
      partition,
      row.nextBusinessDate,
    ];
    const { updateLoan, putLoan, putState } = this.#statements;
    // A file that is being filled has no indexes yet, and most of its loans are new.
    const updated = this.#isFilled ? updateLoan.get(...values) : undefined;
    const { loan_number } = (updated ?? putLoan.get(...values)) as { loan_number: number };
    putState.run(loan_number, sealed(row.loanId, row.state));
  }

  #remove(loanId: string): void {
    this.#countRemoved(this.#statements.removeState.get(loanId));
    this.#countRemoved(this.#statements.removeLoan.get(loanId));
  }

  /** @param removed The row that a statement returned, if there was one to remove. */
  #countRemoved(removed: unknown): void {
    this.#removedBytes += (removed as { bytes: number } | undefined)?.bytes ?? 0;
  }

  #removeCommand(commandId: string, partition: number): void {
    if (!this.#isFilled) this.#makeIndex(commandsById);
    this.#countRemoved(this.#statements.removeCommand.get(commandId, partition));
  }

  #removeTransaction(transactionKey: string): void {
    if (!this.#isFilled) this.#makeIndex('transactions_by_key');
    this.#countRemoved(this.#statements.removeTransaction.get(transactionKey));
  }
}

/** The id that Linux gives to this boot of the machine. Empty where there is no such id. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Deletes the file and the files that SQLite keeps beside it. */
export function deleteDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

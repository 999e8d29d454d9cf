import type { Registry } from '../broker/definitions/registry.ts';
import type { LogRecord, PartitionRecords } from '../ports/event-log.ts';
import type { Loan, LoanTransaction, PostedTransactions } from '../lending/loan.ts';
import { encodeAccountProduct } from '../lending/changelog/stored-product.ts';
import type { LoanProduct } from '../lending/products/product.ts';
import type { LocalDate } from '../lending/terms.ts';
import { accountProductKey, namedProduct } from '../lending-format/account-products.ts';
import {
  type CheckpointRecord,
  type CommandOutcome,
  checkpointKey,
  joinedCheckpoint,
  writeOutcome,
} from '../lending-format/checkpoint.ts';
import { transactionKeyOf } from '../lending-format/derived-ids.ts';
import {
  type IdempotencyRecord,
  idempotencyRecordKey,
  parseIdempotencyRecord,
  writeIdempotencyRecord,
} from '../lending-format/idempotency-record.ts';
import {
  type LendingEventTypeName,
  accountsTopic,
  deadLetterRetentionMilliseconds,
  deadLettersTopic,
} from '../lending-format/lending-topics.ts';
import { type Erasure, erasureRecords, erasuresBefore } from '../lending-format/personal-data/erasures.ts';
import {
  type FollowedCalendar,
  closedDayOf,
  closedDayRecord,
  followedCalendarRecord,
} from '../lending-format/stored-business-dates.ts';
import {
  type ProductRecord,
  knownProduct,
  productRecord,
  productRecords,
  versionOf,
} from '../lending-format/stored-products.ts';
import { type DraftedTransaction, LoanDraft, assertFits } from './loan-draft.ts';
import type { CommittedLoan, CommittedState, LoanStore } from './loan-store.ts';

export interface BatchDraftOptions {
  readonly partition: number;
  readonly store: LoanStore;
  readonly registry: Registry;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long a command that posted no transaction is remembered. Milliseconds. */
  readonly idempotencyMilliseconds: number;
  /** How long the log may hold an event. Milliseconds. */
  readonly retentionMilliseconds: number;
}

/** What a batch appends to the log, all at once, and the state of the partition after it. */
export interface BatchCommit {
  readonly records: readonly PartitionRecords[];
  readonly state: CommittedState;
}

export interface WrittenEvent {
  readonly topic: LendingEventTypeName;
  readonly key: string | null;
  readonly value: Buffer;
}

/** The record of a product that accounts of a partition refer to. */
export interface AccountProductRecord {
  readonly key: string;
  readonly text: string;
  readonly bytes: number;
}

/**
 * What one commit will write, before it is written: events, loans, products, dead letters, the results of commands. It
 * shows each of them as committed until the batch changes it. It changes nothing that is committed.
 */
export class BatchDraft {
  readonly #options: BatchDraftOptions;
  readonly #events = new Map<LendingEventTypeName, LogRecord[]>();
  readonly #deadLetters: LogRecord[] = [];
  readonly #loans = new Map<string, LoanDraft>();
  /** The externalIds that the batch took and gave free, with whether a transaction has them now. */
  readonly #externalIds = new Map<string, boolean>();
  /** The products that the batch changed, by their ids; null for those that it removed. */
  readonly #products = new Map<string, ProductRecord | null>();
  /** The texts of the products of accounts that the partition did not have yet, by record key. */
  readonly #accountProducts = new Map<string, string>();
  /** The texts of the records of commands in this batch that posted no transaction, by command id. */
  readonly #results = new Map<string, string>();
  readonly #outcomeTexts: string[] = [];
  readonly #erasures: Erasure[] = [];
  #closedDay: LocalDate | undefined;
  #followedCalendar: FollowedCalendar | undefined;
  #bytes = 0;

  constructor(options: BatchDraftOptions) {
    this.#options = options;
  }

  /** The size of the records, those of accounts by estimate, and of the outcomes of the checkpoint record. Bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The products that it changes, by their ids; null for those that it removes. */
  get products(): ReadonlyMap<string, ProductRecord | null> {
    return this.#products;
  }

  /** Whether it changes definitions, which the next commit must know. */
  get changesDefinitions(): boolean {
    const isChanged = this.#products.size > 0 || this.#erasures.length > 0;
    return isChanged || this.#closedDay !== undefined || this.#followedCalendar !== undefined;
  }

  /** The last business day of the partition that is closed; undefined when none is. */
  get closedDay(): LocalDate | undefined {
    return this.#closedDay ?? closedDayOf(this.#options.registry, this.#options.partition);
  }

  /** @returns null when there is no such account */
  loanOf(loanAccountId: string): Loan | null {
    const draft = this.#loans.get(loanAccountId);
    return draft === undefined ? this.#options.store.loanOf(loanAccountId) : draft.loan;
  }

  transactionsOf(loanAccountId: string): PostedTransactions {
    const find = (keyOrId: string): LoanTransaction | undefined =>
      this.#loans.get(loanAccountId)?.transaction(keyOrId) ?? this.#options.store.transactionOf(loanAccountId, keyOrId);
    return {
      find,
      postedBy: (commandId) => find(transactionKeyOf(loanAccountId, commandId)),
      hasExternalId: (externalId) => this.#externalIds.get(externalId) ?? this.#options.store.hasExternalId(externalId),
    };
  }

  productRecord(loanProductId: string): ProductRecord | undefined {
    const own = this.#products.get(loanProductId);
    return own === undefined ? productRecord(this.#options.registry, loanProductId) : (own ?? undefined);
  }

  /** @returns null when there is no such product */
  productOf(idOrKey: string): LoanProduct | null {
    for (const [id, record] of this.#products) {
      if (record === null) continue;
      const { product } = versionOf(record);
      if (id === idOrKey || product.encodedKey === idOrKey) return product;
    }
    const known = knownProduct(this.#options.registry, idOrKey);
    return known === undefined || this.#products.get(known.id) === null ? null : known;
  }

  hasLoansOf(productKey: string): boolean {
    const isDrafted = [...this.#loans.values()].some(({ loan }) => loan?.product.encodedKey === productKey);
    return isDrafted || this.#options.store.hasLoansOf(productKey);
  }

  /**
   * The result of a remembered command. Undefined when it is so old that the command sent at this time counts as a new
   * one.
   */
  recordedResult(commandId: string, appendedAt: number): IdempotencyRecord | undefined {
    const { store, idempotencyMilliseconds } = this.#options;
    const ownText = this.#results.get(commandId);
    const record = ownText === undefined ? store.idempotencyRecord(commandId) : parseIdempotencyRecord(ownText);
    return record === undefined || appendedAt - record.decidedAt >= idempotencyMilliseconds ? undefined : record;
  }

  /** Remembers the result of a command that posted no transaction. */
  recordResult(commandId: string, result: IdempotencyRecord): void {
    const text = writeIdempotencyRecord(result);
    this.#results.set(commandId, text);
    this.#bytes += idempotencyRecordKey(commandId).length + Buffer.byteLength(text);
  }

  /** The outcomes of a commit share one record. A repeated refusal puts all its errors into it and into no other. */
  addOutcome(outcome: CommandOutcome): void {
    const text = writeOutcome(outcome);
    this.#outcomeTexts.push(text);
    this.#bytes += Buffer.byteLength(text);
  }

  addEvent({ topic, key, value }: WrittenEvent): void {
    const record = { key, value };
    const records = this.#events.get(topic);
    if (records === undefined) this.#events.set(topic, [record]);
    else records.push(record);
    this.#bytes += value.length;
  }

  addDeadLetter(key: string | null, value: Buffer): void {
    this.#deadLetters.push({ key, value });
    this.#bytes += value.length;
  }

  addErasure(erasure: Erasure): void {
    this.#erasures.push(erasure);
  }

  closeDay(businessDate: LocalDate): void {
    this.#closedDay = businessDate;
  }

  /** Notes that the accounts of the partition follow this calendar. */
  followCalendar(calendar: FollowedCalendar): void {
    this.#followedCalendar = calendar;
  }

  changeProduct(loanProductId: string, record: ProductRecord | null): void {
    this.#products.set(loanProductId, record);
    this.#bytes += Buffer.byteLength(JSON.stringify(record));
  }

  /**
   * The record of a product that no account of the partition has yet; undefined when it is stored.
   * @throws RecordTooLarge
   */
  newAccountProduct(product: LoanProduct): AccountProductRecord | undefined {
    const named = namedProduct(product);
    const key = accountProductKey(named.reference);
    if (this.#accountProducts.has(key) || this.#options.store.hasAccountProduct(named.reference)) return undefined;
    const text = encodeAccountProduct(named);
    const valueBytes = Buffer.byteLength(text);
    assertFits(key, valueBytes, 'The product');
    return { key, text, bytes: key.length + valueBytes };
  }

  addAccountProduct({ key, text, bytes }: AccountProductRecord): void {
    if (!this.#accountProducts.has(key)) this.#bytes += bytes;
    this.#accountProducts.set(key, text);
  }

  /** @param before The loan before the command; null when the command opened it. */
  changeLoan(after: Loan, before: Loan | null, transactions: readonly DraftedTransaction[]): void {
    const existing = this.#loans.get(after.id);
    const draft = existing ?? new LoanDraft(before, after);
    const bytesBefore = existing?.bytes ?? 0;
    draft.change(after, transactions);
    this.#loans.set(after.id, draft);
    this.#bytes += draft.bytes - bytesBefore;
  }

  deleteLoan(loan: Loan): void {
    const draft = this.#loans.get(loan.id) ?? new LoanDraft(loan, loan);
    draft.delete();
    this.#loans.set(loan.id, draft);
    this.#bytes += draft.bytes;
  }

  /** A transaction that is taken back and posted again has the same externalId, so those taken back come first. */
  noteExternalIds(transactions: readonly LoanTransaction[]): void {
    for (const isHeld of [false, true]) {
      for (const { externalId, adjustmentTransactionKey } of transactions) {
        const isAdjusted = adjustmentTransactionKey !== null;
        if (externalId !== null && isAdjusted !== isHeld) this.#externalIds.set(externalId, isHeld);
      }
    }
  }

  /**
   * What the commit appends, and the state that it leads to.
   * @param lastAppendedAt When the latest of its commands was appended. Milliseconds since the epoch.
   */
  write(checkpoint: CheckpointRecord, lastAppendedAt: number): BatchCommit {
    const { partition } = this.#options;
    const { changelog, loans } = this.#changes(lastAppendedAt);
    const checkpointValue = Buffer.from(joinedCheckpoint(checkpoint, this.#outcomeTexts));
    const records = [
      ...[...this.#events].map(([topic, ofTopic]) => ({ topic, partition, records: ofTopic })),
      ...(this.#deadLetters.length === 0 ? [] : [{ topic: deadLettersTopic, partition, records: this.#deadLetters }]),
      ...(this.#products.size === 0 ? [] : [productRecords(this.#products)]),
      ...this.#definitionsOfPartition(),
      {
        topic: accountsTopic,
        partition,
        records: [
          ...[...changelog].map(([key, text]) => ({ key, value: text === null ? null : Buffer.from(text) })),
          // The last one of its partition.
          { key: checkpointKey(partition), value: checkpointValue },
        ],
      },
    ];
    return { records, state: { checkpoint, records: changelog, loans } };
  }

  /** What the registry keeps of the partition. */
  #definitionsOfPartition(): PartitionRecords[] {
    const { partition } = this.#options;
    const kept = [
      ...(this.#closedDay === undefined ? [] : [closedDayRecord(partition, this.#closedDay)]),
      ...(this.#followedCalendar === undefined ? [] : [followedCalendarRecord(partition, this.#followedCalendar)]),
      ...(this.#erasures.length === 0 ? [] : [this.#erasureRecords()]),
    ];
    return kept.slice(0, 1).map((first) => ({ ...first, records: kept.flatMap(({ records }) => records) }));
  }

  /** Those of this commit, without those of which the log holds nothing any more. */
  #erasureRecords(): PartitionRecords {
    const { registry, partition, now, retentionMilliseconds } = this.#options;
    const kept = erasuresKeptMilliseconds(retentionMilliseconds);
    const erased = new Set(this.#erasures.map(({ loanAccountEncodedKey }) => loanAccountEncodedKey));
    const old = erasuresBefore(registry, partition, now - kept);
    return erasureRecords(
      this.#erasures,
      old.filter(({ loanAccountEncodedKey }) => !erased.has(loanAccountEncodedKey)),
    );
  }

  /** The records of the changelog other than the checkpoint record, and the loans that they store. */
  #changes(lastAppendedAt: number): {
    readonly changelog: Map<string, string | null>;
    readonly loans: Map<string, CommittedLoan | null>;
  } {
    const { store, idempotencyMilliseconds } = this.#options;
    // Before the accounts that refer to them.
    const changelog = new Map<string, string | null>(this.#accountProducts);
    const loans = new Map<string, CommittedLoan | null>();
    for (const [loanAccountId, draft] of this.#loans) {
      const { records, textLength } = draft.write();
      for (const [key, text] of records) changelog.set(key, text);
      loans.set(loanAccountId, draft.loan === null ? null : { loan: draft.loan, textLength });
    }
    // Commands arrive in the order of the log, so no later command was sent while the ones dropped here were
    // remembered.
    const expired = store.commandsDecidedUpTo(lastAppendedAt - idempotencyMilliseconds);
    for (const commandId of expired) changelog.set(idempotencyRecordKey(commandId), null);
    // A forgotten command may be done again in this commit: its new record replaces the deletion.
    for (const [id, text] of this.#results) changelog.set(idempotencyRecordKey(id), text);
    return { changelog, loans };
  }
}

/** How long an erasure is kept: segments of the log go a tenth later than their records are due. Milliseconds. */
function erasuresKeptMilliseconds(retentionMilliseconds: number): number {
  return 1.1 * Math.max(retentionMilliseconds, deadLetterRetentionMilliseconds) + dayMilliseconds;
}

const dayMilliseconds = 24 * 3_600_000;

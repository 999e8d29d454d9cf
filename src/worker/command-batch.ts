import type { Offset } from '../ports/event-log.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type {
  CommandHeader,
  EndOfDay,
  LoanCommand,
  RestructuringCommand,
  UndoRestructuringCommand,
} from '../lending/commands.ts';
import { dayOf } from '../lending/instants.ts';
import { fieldDefinitionsOf } from '../lending-format/custom-fields/stored-custom-fields.ts';
import type { WorkingCalendar } from '../lending/organization.ts';
import { readCalendar, readOrganization } from '../lending-format/stored-organization.ts';
import { isReplaced } from '../lending/commands/agreements/restructuring.ts';
import { type ExecutionOnTwo, restructure, undoRestructuring } from '../lending/commands/agreements/two-accounts.ts';
import type { DecisionContext } from '../lending/commands/decision.ts';
import { execute } from '../lending/commands/execute.ts';
import type { Loan, LoanTransaction, PostedTransactions } from '../lending/loan.ts';
import type { LoanProduct } from '../lending/products/product.ts';
import { type Refusal, refusal } from '../lending/refusals.ts';
import type { LocalDate } from '../lending/terms.ts';
import type { Toggles } from '../lending/toggle-names.ts';
import {
  type CommandEnvelope,
  type CommandType,
  type ParsedCommand,
  type RestructuringRequest,
  parseCommand,
  unreadableCommandType,
} from '../lending-format/command-format.ts';
import { writeDeadLetter } from './dead-letter.ts';
import {
  type EventSource,
  eventWriter,
  writeBusinessDayClosed,
  writeCommandRejected,
} from '../lending-format/event-format.ts';
import { transactionId } from '../lending/identifiers.ts';
import { personalSets, transactionWithoutPersonalData } from '../lending/personal-data/personal-fields.ts';
import { idFromPattern } from '../lending-format/id-patterns.ts';
import { dueCommandId, keysOf, transactionKeyOf } from '../lending-format/derived-ids.ts';
import { type ProductRequest, decideProduct } from '../lending-format/product-commands.ts';
import type { CheckpointRecord, CommandOutcome } from '../lending-format/checkpoint.ts';
import { partitionOfAccount } from '../lending-format/lending-topics.ts';
import { BatchDraft, type BatchCommit, type BatchDraftOptions } from './batch-draft.ts';
import { type DraftedTransaction, RecordTooLarge, assertFits, draftedTransaction } from './loan-draft.ts';
import type { IdempotencyRecord } from '../lending-format/idempotency-record.ts';
import type { FollowedCalendar, NumberedCalendar } from '../lending-format/stored-business-dates.ts';
import { isOver } from '../lending/business-days/day-commands.ts';
import { SharedTextMemory } from './shared-text-memory.ts';
import type { ProductRecord } from '../lending-format/stored-products.ts';
import { type ApiError, apiErrors } from '../lending-format/refusal-format.ts';
import { type LoanChange, requestedLoan, isRefused } from '../lending-format/loan-changes/loan-changes.ts';
import type { PendingCommand } from './pending-commands.ts';

export interface CommandBatchOptions extends BatchDraftOptions {
  readonly partitionCount: number;
  readonly logger: Logger;
  /** The offsets of the ends of days that wait for their turn, ascending; none when absent. */
  readonly endsOfDays?: readonly Offset[];
}

/**
 * How many characters of a reason are kept. A reason may quote the command, and the size of the checkpoint record is
 * limited.
 */
const reasonCharactersMaximum = 500;

/** How many ids of a product's pattern are tried for one partition, before one of another form is made. */
const patternAttemptsMaximum = 10_000;

/** How far an erasure has come that takes several commits. */
export interface ErasureProgress {
  /** Of its command. */
  readonly offset: Offset;
  /** The number of the last transaction that was looked at. */
  readonly erasedTo: number;
}

/** The labels of a decided command in the metrics. */
export interface DecidedCommand {
  readonly type: CommandType | 'unknown';
  readonly outcome: CommandOutcome['outcome'];
}

/** The result of a command when it was first done. */
type FirstResult = Pick<CommandOutcome, 'transactionKey' | 'errors'> & { readonly digest: string };

/** The command and the loan or product it was about. */
type Subject = Pick<CommandOutcome, 'commandId' | 'loanAccountId' | 'loanProductId'>;

/**
 * Decides the commands of one commit, one after the other, and collects what they lead to in its draft. A batch that is
 * thrown away leaves no trace.
 */
export class CommandBatch {
  readonly #options: CommandBatchOptions;
  readonly #draft: BatchDraft;
  readonly #eventTexts = new SharedTextMemory();
  #lastAppendedAt = 0;
  readonly #outcomes: CommandOutcome[] = [];
  readonly #decided: DecidedCommand[] = [];
  #position = -1;
  /** Up to where commands behind ends of days are done, by this batch or by ones before it. */
  #decidedAheadTo: Offset | null;
  /** Whether the command after those may not be decided in this batch. */
  #leavesProducts = false;
  #dueCommands = 0;
  #erasedTransactions = 0;
  #erasure: ErasureProgress | null = null;

  constructor(options: CommandBatchOptions) {
    this.#options = options;
    this.#draft = new BatchDraft(options);
    this.#decidedAheadTo = options.store.decidedAheadTo;
  }

  /** Commands of the log decided so far. */
  get size(): number {
    return this.#outcomes.length;
  }

  /** Commands decided so far that the end of a day posted. */
  get dueCommands(): number {
    return this.#dueCommands;
  }

  /** Transactions of which it erased what is personal. */
  get erasedTransactions(): number {
    return this.#erasedTransactions;
  }

  /** How far it has come with the erasure that it leaves undone; null without one. */
  get erasure(): ErasureProgress | null {
    return this.#erasure;
  }

  /** Whether it changes definitions, which the next commit must know. */
  get changesDefinitions(): boolean {
    return this.#draft.changesDefinitions;
  }

  /**
   * The size of what was collected so far: the records, those of accounts by estimate, and the outcomes for the
   * checkpoint record. Bytes.
   */
  get bytes(): number {
    return this.#draft.bytes;
  }

  get products(): ReadonlyMap<string, ProductRecord | null> {
    return this.#draft.products;
  }

  get decided(): readonly DecidedCommand[] {
    return this.#decided;
  }

  get checkpoint(): CheckpointRecord {
    const [position, ahead] = [this.#position, this.#decidedAheadTo ?? -1];
    if (ahead <= position) return { position, outcomes: this.#outcomes };
    const { endsOfDays = [] } = this.#options;
    const passed = endsOfDays.find((offset) => offset > position && offset < ahead);
    if (passed === undefined) return { position: ahead, outcomes: this.#outcomes };
    return { position: passed - 1, decidedAheadTo: ahead, outcomes: this.#outcomes };
  }

  /** What the commit appends, and the state that it leads to. */
  write(): BatchCommit {
    return this.#draft.write(this.checkpoint, this.#lastAppendedAt);
  }

  /**
   * Decides the next command.
   * @throws Error only when a committed loan cannot be read; then nothing may be decided on this partition
   */
  decide(command: PendingCommand, toggles: Toggles): void {
    this.#decide(command, parsedCommand(command), toggles);
    this.#position = command.offset;
  }

  /**
   * Decides a command behind the end of a day that is under way and that later commits continue.
   * @param mayChangeProducts Whether one that changes products is decided.
   * @returns whether the command was decided
   * @throws as {@link decide}
   */
  decideAhead(command: PendingCommand, toggles: Toggles, mayChangeProducts: boolean): boolean {
    const parsed = parsedCommand(command);
    this.#leavesProducts = parsed.kind === 'product' && !mayChangeProducts;
    if (this.#leavesProducts) return false;
    this.#decide(command, parsed, toggles);
    this.#decidedAheadTo = command.offset;
    return true;
  }

  /**
   * Erases what transactions keep of persons, before the command that asks for it is decided: an account of many years
   * may have more of them than one commit should write.
   * @param command ERASE_PERSONAL_DATA
   * @param begun How far commits before have come with it, or with another one; null when none has begun.
   * @param isFull Whether the commit is full.
   * @param giveWay Awaited after each transaction.
   * @returns whether all are done, so that the command can be decided; else {@link erasure} says how far it came
   */
  async eraseTransactions(
    command: PendingCommand,
    begun: ErasureProgress | null,
    isFull: () => boolean,
    giveWay: () => Promise<void>,
  ): Promise<boolean> {
    this.#erasure = null;
    const parsed = parsedCommand(command);
    if (!isErasure(parsed)) return true;
    const { loanAccountId = '', commandId } = parsed.envelope;
    const { partition, partitionCount, registry } = this.#options;
    const loan =
      partitionOfAccount(loanAccountId, partitionCount) === partition ? this.#draft.loanOf(loanAccountId) : null;
    if (loan === null || this.#draft.recordedResult(commandId, command.appendedAt) !== undefined) return true;
    const isPersonalSet = personalSets(fieldDefinitionsOf(registry));
    const transactions = this.#draft.transactionsOf(loan.id);
    const from = begun?.offset === command.offset ? begun.erasedTo : 0;
    for (let number = from + 1; number <= loan.transactionCount; number += 1) {
      const transaction = transactions.find(transactionId(loan.id, number));
      if (transaction === undefined) continue;
      const erased = transactionWithoutPersonalData(transaction, isPersonalSet);
      if (erased !== transaction) {
        this.#draft.changeLoan(loan, loan, [draftedTransaction(loan.id, erased)]);
        this.#erasedTransactions += 1;
      }
      if (number < loan.transactionCount && isFull()) {
        this.#erasure = { offset: command.offset, erasedTo: number };
        return false;
      }
      await giveWay();
    }
    return true;
  }

  #decide(command: PendingCommand, parsed: ParsedCommand, toggles: Toggles): void {
    this.#lastAppendedAt = Math.max(this.#lastAppendedAt, command.appendedAt);
    const outcome = this.#outcomeOf(parsed, command, toggles);
    this.#outcomes.push(outcome);
    this.#draft.addOutcome(outcome);
    const type = parsed.kind === 'unreadable' ? unreadableCommandType : parsed.envelope.type;
    this.#decided.push({ type, outcome: outcome.outcome });
  }

  #outcomeOf(parsed: ParsedCommand, command: PendingCommand, toggles: Toggles): CommandOutcome {
    if (parsed.kind === 'unreadable') return this.#deadLetter(command, parsed.reason, { commandId: parsed.commandId });
    const { envelope } = parsed;
    const { partition, partitionCount } = this.#options;
    const right = envelope.partition ?? partitionOfAccount(keyOf(envelope) ?? '', partitionCount);
    const recorded = this.#draft.recordedResult(envelope.commandId, command.appendedAt);
    // Outside the `try` below: a stored loan that cannot be read is not the fault of the command.
    const { loanAccountId } = envelope;
    const loan = loanAccountId === undefined || right !== partition ? null : this.#draft.loanOf(loanAccountId);
    try {
      if (recorded !== undefined) return this.#repeated(envelope, recorded, command, toggles);
      if (right !== partition) return this.#refuseElsewhere(envelope, right, command, toggles);
      if (parsed.kind === 'refused') return this.#refuseMalformed(envelope, parsed.refusals, loan, command, toggles);
      if (parsed.kind === 'product') return this.#changeProduct(envelope, parsed.request, command, toggles);
      if (parsed.kind === 'end of day') return this.#finishEndOfDay(envelope, parsed.command, command, toggles);
      if (parsed.kind === 'loan change') return this.#changeAccount(envelope, parsed.change, loan, command, toggles);
      if (parsed.kind === 'restructuring') return this.#restructure(envelope, parsed.request, loan, command, toggles);
      const { command: asked } = parsed;
      if (asked.type === 'UNDO_RESCHEDULE' || asked.type === 'UNDO_REFINANCE') {
        return this.#undoRestructuring(envelope, asked, loan, command, toggles);
      }
      return this.#executeOnLoan(envelope, this.#withProduct(asked), loan, command, toggles);
    } catch (error) {
      const reason = `The command could not be decided: ${describeError(error)}`;
      return this.#deadLetter(command, reason, envelope);
    }
  }

  #changeAccount(
    envelope: CommandEnvelope,
    change: LoanChange,
    loan: Loan | null,
    command: PendingCommand,
    toggles: Toggles,
  ): CommandOutcome {
    if (loan === null) {
      return this.#refused(envelope, [refusal('INVALID_LOAN_ACCOUNT_ID', 'loanAccountId')], command, toggles);
    }
    const requested = requestedLoan(loan, change);
    if (isRefused(requested)) return this.#refused(envelope, requested, command, toggles);
    const { commandId, digest, receivedAt } = envelope;
    const header = { commandId, digest, receivedAt, loanAccountId: loan.id };
    return this.#executeOnLoan(envelope, { type: 'UPDATE_LOAN', ...header, requested }, loan, command, toggles);
  }

  /**
   * One thing that falls due on an account at the end of a day: a command that a person could have posted, decided
   * without being in the log. Its id comes from the account and the date, so that after a crash it is the same command.
   */
  decideDue(loanCommand: LoanCommand, endOfDay: PendingCommand, toggles: Toggles): void {
    const { commandId, digest, type, loanAccountId, receivedAt } = loanCommand;
    const envelope: CommandEnvelope = { commandId, digest, type, loanAccountId, receivedAt, flowId: null };
    const source: PendingCommand = { ...endOfDay, dueCommandId: commandId };
    const { outcome } = this.#executeOnLoan(envelope, loanCommand, this.#draft.loanOf(loanAccountId), source, toggles);
    this.#decided.push({ type, outcome });
    this.#dueCommands += 1;
  }

  /** An account on which the end of a day failed. It stays as it is, and the next end of a day tries again. */
  skipDue(loanAccountId: string, endOfDay: PendingCommand, error: unknown): void {
    const reason = `The end of the day failed on ${loanAccountId}: ${describeError(error)}`;
    this.#deadLetter(endOfDay, reason, { commandId: null, loanAccountId });
  }

  /** The account as this batch has left it. */
  loanOf(loanAccountId: string): Loan | null {
    return this.#draft.loanOf(loanAccountId);
  }

  /** The transactions of an account as this batch has left them. */
  transactionsOf(loanAccountId: string): PostedTransactions {
    return this.#draft.transactionsOf(loanAccountId);
  }

  /** The days on which the organization is closed, as they are known now. */
  get calendar(): WorkingCalendar {
    return readOrganization(this.#options.registry);
  }

  /** The same days, with the number of changes that made them. */
  get numberedCalendar(): NumberedCalendar {
    return readCalendar(this.#options.registry);
  }

  /** Whether the day to close is over where the organization is. */
  isOver(endOfDay: EndOfDay): boolean {
    return isOver({ ...endOfDay, ...this.#dayOf(endOfDay) });
  }

  /** Closes a day of the partition, on which everything is done. */
  closeDay(businessDate: LocalDate, { commandId, digest, type, receivedAt }: EndOfDay, command: PendingCommand): void {
    const { partition } = this.#options;
    const key = String(partition);
    const envelope: CommandEnvelope = { commandId, digest, type, partition, receivedAt, flowId: null };
    const source = { ...command, dueCommandId: dueCommandId(key, businessDate, 'closed') };
    const value = this.#eventTexts.write(writeBusinessDayClosed(businessDate, this.#sourceOf(envelope, source)));
    this.#draft.addEvent({ topic: 'business_day_closed', key, value });
    this.#draft.closeDay(businessDate);
  }

  /** Notes that the accounts of the partition follow this calendar. */
  followCalendar(calendar: FollowedCalendar): void {
    this.#draft.followCalendar(calendar);
  }

  /** The end of a day that is not done yet: what it did so far is committed, and it is read again. */
  leaveUndone({ offset }: PendingCommand): void {
    this.#position = offset - 1;
  }

  /** Whether a change of products, behind the end of a day, waits for a batch that may have it. */
  get leavesProducts(): boolean {
    return this.#leavesProducts;
  }

  #executeOnLoan(
    envelope: CommandEnvelope,
    loanCommand: LoanCommand,
    loan: Loan | null,
    command: PendingCommand,
    toggles: Toggles,
  ): CommandOutcome {
    const { loanAccountId } = loanCommand;
    const dated = { ...loanCommand, ...this.#dayOf(loanCommand) };
    const execution = execute(loan, dated, this.#contextOf(loanAccountId, envelope, command, toggles));
    const result = execution.outcome === 'committed' ? { ...execution, steps: [execution] } : execution;
    const outcome = this.#take(envelope, result, command, toggles);
    if (loanCommand.type === 'ERASE_PERSONAL_DATA' && loan !== null && outcome.outcome === 'committed') {
      this.#noteErasure(loan, envelope, command);
    }
    if (execution.outcome === 'committed' && execution.refusals !== undefined) {
      // The events of the transaction that takes it back have the ids of the command.
      const source = { ...command, dueCommandId: `${envelope.commandId}/refused` };
      this.#reportRejection(envelope, apiErrors(execution.refusals), source, toggles);
    }
    return outcome;
  }

  #noteErasure(before: Loan, { commandId, publishedBy }: CommandEnvelope, command: PendingCommand): void {
    const erasedBy = publishedBy ?? null;
    const { partition, logger, now } = this.#options;
    this.#draft.addErasure({
      loanAccountId: before.id,
      loanAccountEncodedKey: before.encodedKey,
      eventSequence: before.eventSequence,
      partition,
      commandOffset: command.offset,
      commandId,
      erasedAt: Math.max(now, command.appendedAt),
      erasedBy,
    });
    const facts = { loanAccountId: before.id, commandId, erasedBy };
    logger.info(facts, 'The personal data of an account is being erased');
  }

  /** Replaces an account by a new one. Both are in this partition, so one commit changes them. */
  #restructure(
    envelope: CommandEnvelope,
    { productTypeKey, newAccountId: asked, ...request }: RestructuringRequest,
    loan: Loan | null,
    command: PendingCommand,
    toggles: Toggles,
  ): CommandOutcome {
    if (loan === null) {
      return this.#refused(envelope, [refusal('INVALID_LOAN_ACCOUNT_ID', 'loanAccountId')], command, toggles);
    }
    const { partition, partitionCount } = this.#options;
    const right = asked === undefined ? partition : partitionOfAccount(asked, partitionCount);
    const posted = this.#draft.transactionsOf(loan.id).postedBy(envelope.commandId);
    if (right !== partition && posted === undefined) {
      const messages = {
        INVALID_PARAMETERS: `Accounts with this id are in partition ${right}, and the replaced one is in ${partition}. Leave the id out, or choose another one.`,
      };
      return this.#refused(envelope, [refusal('INVALID_PARAMETERS', 'loanAccount.id')], command, toggles, messages);
    }
    const product = this.#draft.productOf(productTypeKey);
    const newAccountId = asked ?? this.#newAccountId(product, command);
    const full: RestructuringCommand = { ...request, ...this.#dayOf(request), product, newAccountId };
    const result = restructure(loan, this.#draft.loanOf(newAccountId), full, (id) =>
      this.#contextOf(id, envelope, command, toggles),
    );
    return this.#take(envelope, result, command, toggles);
  }

  /** Takes the replacement of an account back; the command names either of the two accounts. */
  #undoRestructuring(
    envelope: CommandEnvelope,
    asked: UndoRestructuringCommand,
    loan: Loan | null,
    command: PendingCommand,
    toggles: Toggles,
  ): CommandOutcome {
    if (loan === null) {
      return this.#refused(envelope, [refusal('INVALID_LOAN_ACCOUNT_ID', 'loanAccountId')], command, toggles);
    }
    const posted = this.#draft.transactionsOf(loan.id).postedBy(envelope.commandId);
    if (posted !== undefined) return this.#repeated(envelope, firstResultOf(posted), command, toggles);
    const old = isReplaced(loan, asked) ? loan : this.#draft.loanOf(loan.originalAccount?.id ?? '');
    const opened = old === null ? null : this.#draft.loanOf(old.position.rescheduledTo?.id ?? '');
    const isPair = old !== null && opened !== null && isReplaced(old, asked) && [old.id, opened.id].includes(loan.id);
    if (!isPair) return this.#refused(envelope, [refusal('INVALID_ACCOUNT_STATE')], command, toggles);
    const dated = { ...asked, ...this.#dayOf(asked) };
    const result = undoRestructuring(old, opened, dated, (id) => this.#contextOf(id, envelope, command, toggles));
    return this.#take(envelope, result, command, toggles);
  }

  /** An id for a new account of this partition that no account has, in the form that its product asks for. */
  #newAccountId(product: LoanProduct | null, command: PendingCommand): string {
    const { partition, partitionCount } = this.#options;
    const newKey = keysOf(command);
    const settings = product?.newAccountSettings;
    const pattern = settings?.idGeneratorType === 'RANDOM_PATTERN' ? settings.idPattern : undefined;
    for (let attempt = 0; ; attempt += 1) {
      const seed = newKey(`account/id/${attempt}`);
      const isOfPattern = pattern !== undefined && attempt < patternAttemptsMaximum;
      const id = isOfPattern ? idFromPattern(pattern, seed) : seed.slice(0, 16).toUpperCase();
      if (partitionOfAccount(id, partitionCount) === partition && this.#draft.loanOf(id) === null) return id;
    }
  }

  #contextOf(
    loanAccountId: string,
    { commandId }: CommandEnvelope,
    command: PendingCommand,
    toggles: Toggles,
  ): DecisionContext {
    const newPositionalKey = keysOf(command);
    const newKey = (purpose: string): string =>
      purpose === 'transaction' ? transactionKeyOf(loanAccountId, commandId) : newPositionalKey(purpose);
    const { calendar } = this;
    const customFields = fieldDefinitionsOf(this.#options.registry);
    return { toggles, calendar, customFields, newKey, transactions: this.#draft.transactionsOf(loanAccountId) };
  }

  /** Takes the result of a command into the batch: all that it did to its accounts, or nothing. */
  #take(
    envelope: CommandEnvelope,
    execution: ExecutionOnTwo,
    command: PendingCommand,
    toggles: Toggles,
  ): CommandOutcome {
    if (execution.outcome === 'repeated') {
      return this.#repeated(envelope, firstResultOf(execution.transaction), command, toggles);
    }
    if (execution.outcome === 'refused') return this.#refused(envelope, execution.refusals, command, toggles);
    const { steps } = execution;
    const drafted: DraftedTransaction[][] = [];
    for (const { loan, transactions } of steps) {
      const ofStep = draftedTransactions(loan.id, transactions);
      if (ofStep instanceof RecordTooLarge) {
        const messages = { INVALID_PARAMETERS: `${ofStep.message}. Pay fewer fees at once.` };
        return this.#refused(envelope, [refusal('INVALID_PARAMETERS')], command, toggles, messages);
      }
      drafted.push(ofStep);
    }
    const digits = steps[0]?.loan.product.currency.digits ?? 0;
    const write = eventWriter(this.#sourceOf(envelope, command), digits);
    const events = steps
      .flatMap((step) => step.events)
      .map((event, index) => {
        const value = this.#eventTexts.write(write(event, index));
        assertFits(event.loanAccountId, value.length, 'An event');
        return { topic: event.eventType, key: event.loanAccountId, value };
      });
    const loansBefore = steps.map(({ loan }) => this.#draft.loanOf(loan.id));
    const products = steps.flatMap(({ loan }, index) =>
      loansBefore[index] === null ? (this.#draft.newAccountProduct(loan.product) ?? []) : [],
    );
    for (const event of events) this.#draft.addEvent(event);
    for (const product of products) this.#draft.addAccountProduct(product);
    for (const [index, { loan, isDeleted }] of steps.entries()) {
      if (isDeleted) this.#draft.deleteLoan(loan);
      else this.#draft.changeLoan(loan, loansBefore[index] ?? null, drafted[index] ?? []);
    }
    for (const { transactions } of steps) this.#draft.noteExternalIds(transactions);
    const transactionKey = transactionKeyOfCommand(execution, envelope);
    if (transactionKey === null) return this.#committed(envelope, command);
    return outcomeOf(envelope, { outcome: 'committed', digest: envelope.digest, transactionKey });
  }

  /** The day of a command where the organization is. */
  #dayOf({ receivedAt }: CommandHeader): Pick<CommandHeader, 'receivedOn'> {
    const { timeZoneID } = readOrganization(this.#options.registry);
    return timeZoneID === 'UTC' ? {} : { receivedOn: dayOf(receivedAt, timeZoneID) };
  }

  /**
   * Refuses a command that a producer put into the wrong partition of the topic. Only the worker of the right one may
   * change the loan: two would write its records and number its events.
   */
  #refuseElsewhere(
    envelope: CommandEnvelope,
    right: number,
    command: PendingCommand,
    toggles: Toggles,
  ): CommandOutcome {
    const { partition } = this.#options;
    const messages = {
      INVALID_PARAMETERS: `The command was put into partition ${partition}, not into its own, ${right}.`,
    };
    return this.#refused(envelope, [refusal('INVALID_PARAMETERS', 'metadata.partition')], command, toggles, messages);
  }

  /** A malformed payload is refused in the same way as by a rule: its command id is used up. */
  #refuseMalformed(
    envelope: CommandEnvelope,
    refusals: readonly Refusal[],
    loan: Loan | null,
    command: PendingCommand,
    toggles: Toggles,
  ): CommandOutcome {
    const transaction = loan === null ? undefined : this.#draft.transactionsOf(loan.id).postedBy(envelope.commandId);
    return transaction === undefined
      ? this.#refused(envelope, refusals, command, toggles)
      : this.#repeated(envelope, firstResultOf(transaction), command, toggles);
  }

  #changeProduct(
    envelope: CommandEnvelope,
    request: ProductRequest,
    command: PendingCommand,
    toggles: Toggles,
  ): CommandOutcome {
    const { commandId, digest: commandDigest, loanProductId = '', receivedAt } = envelope;
    const known = this.#draft.productRecord(loanProductId);
    // A creation is known by its product for ever, longer than its result is remembered.
    if (request.type === 'CREATE_PRODUCT' && known?.commandId === commandId) {
      return this.#repeated(envelope, { digest: known.commandDigest }, command, toggles);
    }
    const decision = decideProduct(request, known, {
      commandId,
      commandDigest,
      loanProductId,
      receivedAt,
      newKey: keysOf(command),
      isKeyTaken: (encodedKey) => this.#draft.productOf(encodedKey) !== null,
      hasAccounts: (encodedKey) => this.#draft.hasLoansOf(encodedKey),
    });
    if (decision.outcome === 'refused') {
      return this.#refused(envelope, decision.refusals, command, toggles, decision.messages);
    }
    if (decision.record !== undefined) this.#draft.changeProduct(loanProductId, decision.record);
    return this.#committed(envelope, command);
  }

  /** Closes a business day, once everything that falls due by its end was done. A day that is closed stays closed. */
  #finishEndOfDay(
    envelope: CommandEnvelope,
    endOfDay: EndOfDay,
    command: PendingCommand,
    toggles: Toggles,
  ): CommandOutcome {
    const { businessDate } = endOfDay;
    if (!this.isOver(endOfDay)) {
      // It is not remembered: once the day is over, the same command closes it.
      const errors = apiErrors([refusal('INVALID_DATE', 'businessDate')]);
      this.#reportRejection(envelope, errors, command, toggles);
      return outcomeOf(envelope, { outcome: 'refused', digest: envelope.digest, errors });
    }
    const closed = this.#draft.closedDay;
    if (closed === undefined || closed < businessDate) this.closeDay(businessDate, endOfDay, command);
    return this.#committed(envelope, command);
  }

  /** The outcome of a committed command that posted no transaction. */
  #committed(envelope: CommandEnvelope, command: PendingCommand): CommandOutcome {
    const { digest } = envelope;
    this.#recordResult(envelope, command, {});
    return outcomeOf(envelope, { outcome: 'committed', digest });
  }

  #refused(
    envelope: CommandEnvelope,
    refusals: readonly Refusal[],
    command: PendingCommand,
    toggles: Toggles,
    messages: Parameters<typeof apiErrors>[1] = {},
  ): CommandOutcome {
    const errors = apiErrors(refusals, messages);
    this.#reportRejection(envelope, errors, command, toggles);
    this.#recordResult(envelope, command, { errors });
    return outcomeOf(envelope, { outcome: 'refused', digest: envelope.digest, errors });
  }

  /** Changes nothing. A command that differs from the first one with its id is also reported as rejected. */
  #repeated(
    envelope: CommandEnvelope,
    { digest, transactionKey, errors }: FirstResult,
    command: PendingCommand,
    toggles: Toggles,
  ): CommandOutcome {
    if (digest !== envelope.digest) {
      this.#reportRejection(envelope, apiErrors([refusal('INVALID_PARAMETERS', 'commandId')]), command, toggles);
    }
    return outcomeOf(envelope, {
      outcome: 'repeated',
      digest,
      ...(transactionKey === undefined ? {} : { transactionKey }),
      ...(errors === undefined ? {} : { errors }),
    });
  }

  #reportRejection(
    envelope: CommandEnvelope,
    errors: readonly ApiError[],
    command: PendingCommand,
    toggles: Toggles,
  ): void {
    const value = this.#eventTexts.write(writeCommandRejected(errors, this.#sourceOf(envelope, command), toggles));
    const key = keyOf(envelope);
    assertFits(key ?? '', value.length, 'The rejection');
    this.#draft.addEvent({ topic: 'command_rejected', key, value });
  }

  #recordResult(
    { commandId, digest }: CommandEnvelope,
    { appendedAt, dueCommandId }: PendingCommand,
    result: Pick<IdempotencyRecord, 'errors'>,
  ): void {
    // The business date of the account says that it was done.
    if (dueCommandId !== undefined) return;
    // The decision is never earlier than the command, whatever the clock of this machine says.
    const decidedAt = Math.max(this.#options.now, appendedAt);
    this.#draft.recordResult(commandId, { digest, decidedAt, ...result });
  }

  #deadLetter(command: PendingCommand, fullReason: string, subject: Subject): CommandOutcome {
    const { offset } = command;
    const reason = fullReason.slice(0, reasonCharactersMaximum);
    this.#options.logger.warn({ offset, reason, commandId: subject.commandId }, 'A command went to the dead letters');
    const value = writeDeadLetter(command, reason, subject.commandId);
    this.#draft.addDeadLetter(keyOf(subject), value);
    return outcomeOf(subject, { outcome: 'dead_letter', reason });
  }

  #withProduct(command: Extract<ParsedCommand, { kind: 'loan' }>['command']): LoanCommand {
    if (command.type !== 'CREATE_LOAN') return command;
    const { productTypeKey, ...rest } = command;
    return { product: this.#draft.productOf(productTypeKey), ...rest };
  }

  #sourceOf(envelope: CommandEnvelope, position: PendingCommand): EventSource {
    return { envelope, position, receivedAt: this.#options.now };
  }
}

function isErasure(parsed: ParsedCommand): parsed is Extract<ParsedCommand, { kind: 'loan' }> {
  return parsed.kind === 'loan' && parsed.command.type === 'ERASE_PERSONAL_DATA';
}

function parsedCommand(command: PendingCommand): ParsedCommand {
  if (command.value === null) return { kind: 'unreadable', reason: 'The record has no value', commandId: null };
  return parseCommand(command.value, command);
}

/** The transaction that a command posted to the account that it names. */
function transactionKeyOfCommand(
  { steps }: Extract<ExecutionOnTwo, { outcome: 'committed' }>,
  { loanAccountId }: CommandEnvelope,
): string | null {
  const own = steps.find(({ loan, transactionKey }) => loan.id === loanAccountId && transactionKey !== null);
  return own?.transactionKey ?? null;
}

/** The key of a record about a command: the id of its loan or product, null where it could not be read. */
function keyOf({ loanAccountId, loanProductId }: Omit<Subject, 'commandId'>): string | null {
  return loanAccountId ?? loanProductId ?? null;
}

/**
 * The transactions of a command with their records. One that pays some twenty thousand fees at once is too large: it
 * keeps each of them, so that it can be adjusted.
 */
function draftedTransactions(
  loanAccountId: string,
  transactions: readonly LoanTransaction[],
): DraftedTransaction[] | RecordTooLarge {
  try {
    return transactions.map((transaction) => draftedTransaction(loanAccountId, transaction));
  } catch (error) {
    if (error instanceof RecordTooLarge) return error;
    throw error;
  }
}

function firstResultOf({ encodedKey, commandDigest }: LoanTransaction): FirstResult {
  return { digest: commandDigest, transactionKey: encodedKey };
}

function outcomeOf(subject: Subject, result: Omit<CommandOutcome, keyof Subject>): CommandOutcome {
  const { commandId, loanAccountId, loanProductId } = subject;
  return {
    commandId,
    ...(loanAccountId === undefined ? {} : { loanAccountId }),
    ...(loanProductId === undefined ? {} : { loanProductId }),
    ...result,
  };
}

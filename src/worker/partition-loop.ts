import type { Coordination } from '../ports/coordination.ts';
import type { EventLog, FencedWriter } from '../ports/event-log.ts';
import { withLock } from '../broker/definitions/definition-locks.ts';
import type { Registry } from '../broker/definitions/registry.ts';
import type { Clock } from '../clock.ts';
import { describeError, isLendstreamError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { CommandBatch, type ErasureProgress } from './command-batch.ts';
import type { CommandType } from '../lending-format/command-format.ts';
import { CommandRetention } from './command-retention.ts';
import { type PendingCommand, PendingCommands } from './pending-commands.ts';
import { loanCommandsTopic, partitionsWrittenBy } from '../lending-format/lending-topics.ts';
import type { AccountsForWorker } from '../accounts/accounts-for-worker.ts';
import type { DecodedLoans } from './decoded-loans.ts';
import { EndOfDayRun } from './end-of-day.ts';
import { LoanStore } from './loan-store.ts';
import type { LoopEnd } from './partition-ownership.ts';
import { closedDayOf, followedCalendarOf } from '../lending-format/stored-business-dates.ts';
import { readToggles } from '../lending-format/stored-toggles.ts';
import type { CommandLag } from './command-lag.ts';
import type { DecidingTurns } from './deciding-turns.ts';
import { firstUndecidedOffset } from './resume-offset.ts';

/**
 * The loop of one partition: own, read, decide, commit, and only then change the loans in memory.
 *
 * `owning`  opens the writer of the partition, which fences the previous owner, then reads the changelog to its end.
 * `working` takes the commands after the checkpoint record, decides them and commits all their results at once: events,
 *           loan states, products, dead letters, the new checkpoint record. Only after the commit does it replace the
 *           loans in memory.
 * After an error it is unknown what the log contains. The loop then drops the writer and the loans in memory, pauses,
 * and is `owning` again. Only a newer owner (WRITER_FENCED), `signal` or a closed log ends it. Where and when it begins
 * again is decided in partition-ownership.ts.
 */
export interface PartitionLoopOptions {
  readonly log: EventLog;
  readonly registry: Registry;
  /** Where loops take turns, on this process and others, to store products. */
  readonly coordination: Coordination;
  /** The local copy of the changelog. */
  readonly copy: AccountsForWorker;
  /** Shared by all partitions of the process. */
  readonly decodedLoans: DecodedLoans;
  /** Shared by all partitions of the process. */
  readonly turns: DecidingTurns;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly commandLag: CommandLag;
  readonly partition: number;
  readonly partitionCount: number;
  /** Ends the loop after the commit under way. */
  readonly signal: AbortSignal;
  readonly commandsPerCommitMaximum: number;
  /** How long completed commands are kept. Milliseconds. */
  readonly retentionMilliseconds: number;
  /** How long a command that posted no transaction is remembered. Milliseconds. */
  readonly idempotencyMilliseconds: number;
  /** How long definitions may take to be readable before the loop starts over. Milliseconds. */
  readonly definitionsMillisecondsMaximum: number;
  /** How long the end of a day keeps later commands waiting. Milliseconds. */
  readonly endOfDayHoldMilliseconds: number;
  /** Called whenever the partition is owned and its loans are in memory. */
  readonly onOwned: () => void;
}

/** What is under way over several commits: the end of a day, or an erasure of personal data. */
interface LongRuns {
  current: EndOfDayRun | null;
  /**
   * From this monotonic time on, in milliseconds, later commands pass it, and the ends of days that wait behind it;
   * null while none is under way.
   */
  passableFrom: number | null;
  /** Whether the next commit does nothing for the day, so that products may change in it. */
  isForProducts: boolean;
  /** How far the erasure under way has come; null when none is. */
  erasure: ErasureProgress | null;
}

/** The most commands decided in one commit, unless the options say less. */
export const commandsPerCommitMaximum = 500;
/**
 * How long definitions may take to be readable, unless the options say otherwise. It is longer than the time-out of a
 * transaction that a worker left open when it died: waiting is cheaper than starting over from the log. Milliseconds.
 */
export const definitionsMillisecondsMaximum = 30_000;
/**
 * How long the end of a day keeps later commands waiting, unless the options say otherwise. Most days are closed by
 * then. After that, each commit takes some of both. With the turns of the other partitions, a command waits for a
 * second at most. Milliseconds.
 */
export const endOfDayHoldMilliseconds = 500;
/**
 * The part of a commit that the end of a day may take. Partitions decide on one thread, and each command of a day costs
 * about ten times as much as one of a customer: with larger parts, these waited several seconds for their turn.
 */
const endOfDayShare = 0.1;
/** A commit is closed when its records have reached this size. Bytes. */
const commitBytesMaximum = 4 * 1024 * 1024;
/** How many bytes of commands are read ahead. */
const readBytesMaximum = 1024 * 1024;
/** The pause after the first error in a row; it doubles with each further error up to the longest one. Milliseconds. */
const initialBackoffMilliseconds = 100;
const backoffMillisecondsMaximum = 5_000;

/** Works on the partition until something ends the loop, then removes the metric of the partition. */
export async function runPartitionLoop(options: PartitionLoopOptions): Promise<LoopEnd> {
  options.commandLag.startTracking(options.partition);
  const end = await runUntilStopped(options);
  options.commandLag.stopTracking(options.partition);
  return end;
}

async function runUntilStopped(options: PartitionLoopOptions): Promise<LoopEnd> {
  const { signal, partition } = options;
  const logger = options.logger.child({ partition });
  let backoffMilliseconds = initialBackoffMilliseconds;
  while (!signal.aborted) {
    try {
      await acquireAndProcess({ ...options, logger }, () => (backoffMilliseconds = initialBackoffMilliseconds));
    } catch (error) {
      if (signal.aborted) break;
      if (isLendstreamError(error, 'WRITER_FENCED')) {
        logger.info({}, 'Another worker took over the partition');
        return 'taken_over';
      }
      if (isLendstreamError(error, 'LOG_CLOSED')) {
        logger.info({}, 'The log was closed while the worker ran');
        return 'log_closed';
      }
      logger.warn({ error: describeError(error), pause: backoffMilliseconds }, 'The worker restarts from the log');
      await options.clock.sleep(backoffMilliseconds, signal);
      backoffMilliseconds = Math.min(backoffMilliseconds * 2, backoffMillisecondsMaximum);
    }
  }
  logger.info({}, 'The worker released the partition');
  return 'stopped';
}

async function acquireAndProcess(options: PartitionLoopOptions, onCommit: () => void): Promise<void> {
  const { log, copy, decodedLoans, logger, partition, signal } = options;
  const writer = await log.openWriter(`lending-worker/${partition}`, partitionsWrittenBy(partition));
  const retention = new CommandRetention(options);
  try {
    const store = await LoanStore.open(copy, partition, signal, decodedLoans);
    logger.info({ position: store.position }, 'The worker owns the partition');
    options.onOwned();
    await processCommands(options, writer, store, retention, onCommit);
  } finally {
    await retention.stop();
    // Closing a writer that failed may fail too. The first error is the one to report.
    await writer.close().catch((error: unknown) => logger.debug({ error: describeError(error) }, 'Closing failed'));
  }
}

async function processCommands(
  options: PartitionLoopOptions,
  writer: FencedWriter,
  store: LoanStore,
  retention: CommandRetention,
  onCommit: () => void,
): Promise<void> {
  const { log, clock, metrics, commandLag, partition, signal } = options;
  const pending = new PendingCommands();
  const runs: LongRuns = { current: null, passableFrom: null, isForProducts: false, erasure: null };
  let nextReadOffset = await firstUndecidedOffset(options, store.position);
  commandLag.advance(partition, nextReadOffset);
  retention.advance(nextReadOffset);
  while (!signal.aborted) {
    // The end of a day stays the first command until it is done, and later ones are read meanwhile.
    if (pending.isReadable) {
      const { batches, nextOffset } = await log.read(
        { topic: loanCommandsTopic, partition, offset: nextReadOffset },
        { bytesMaximum: readBytesMaximum, waitMilliseconds: pending.isEmpty ? Infinity : 0, signal },
      );
      const hasMore = pending.add(batches, store);
      nextReadOffset = nextOffset;
      if (pending.isEmpty) continue;
      // A product or toggle whose creation was confirmed counts for every command sent after that, on any node.
      if (hasMore) await catchUpWithDefinitions(options);
      if (signal.aborted) break;
    }
    const startedAt = clock.monotonic();
    const batch = await decideAndCommit(options, writer, store, pending, runs);
    commandLag.advance(partition, batch.checkpoint.position + 1);
    retention.advance(batch.checkpoint.position + 1);
    onCommit();
    pending.removeDone(store);
    runs.isForProducts = batch.leavesProducts;
    runs.erasure = batch.erasure;
    if (!pending.beginsWithEndOfDay) runs.passableFrom = null;
    metrics.commandSeconds.observe((clock.monotonic() - startedAt) / 1000);
    for (const { type, outcome } of batch.decided) metrics.commands.inc({ type, outcome });
    await store.waitForCopy(signal);
    // The very next command may open a loan under the new product, or close the next day.
    if (batch.changesDefinitions) await catchUpWithDefinitions(options);
  }
}

/**
 * Returns when this process has all definitions that exist at this moment. Also returns when the loop is to stop, which
 * no wait may delay.
 * @throws LOG_UNAVAILABLE when they cannot be read in time
 */
async function catchUpWithDefinitions({
  registry,
  signal,
  definitionsMillisecondsMaximum: milliseconds,
}: PartitionLoopOptions): Promise<void> {
  const ended = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { signal: ended.signal });
  });
  try {
    await Promise.race([registry.catchUp(milliseconds), stopped]);
  } finally {
    ended.abort();
  }
}

/**
 * Decides and commits as many of the waiting commands as fit into one commit. A product must have an encodedKey that no
 * other product has, and the partition of another product may be in the middle of storing it. So loops take turns to
 * store products, and what was decided before the turn counts no more.
 * @throws as {@link withLock}
 */
async function decideAndCommit(
  options: PartitionLoopOptions,
  writer: FencedWriter,
  store: LoanStore,
  pending: PendingCommands,
  runs: LongRuns,
): Promise<CommandBatch> {
  const commit = async (batch: CommandBatch): Promise<CommandBatch> => {
    const { records, state } = batch.write();
    await store.commit(state, async () => {
      await writer.append(records);
      return writer.commit();
    });
    return batch;
  };
  const batch = await decide(options, store, pending, runs);
  const [firstProduct] = batch.products.keys();
  if (firstProduct === undefined) return commit(batch);
  const products = { kind: 'product', name: firstProduct, lockedAs: 'any' } as const;
  return withLock(options, products, async () => commit(await decide(options, store, pending, runs)));
}

/** Decides as many of the waiting commands as fit into one commit. */
async function decide(
  options: PartitionLoopOptions,
  store: LoanStore,
  pending: PendingCommands,
  runs: LongRuns,
): Promise<CommandBatch> {
  const { clock, registry, partition, turns } = options;
  const batch = new CommandBatch({ ...options, store, now: clock.now(), endsOfDays: pending.endsOfDays });
  const giveWayInTime = (): Promise<void> => turns.giveWayInTime();
  await turns.begin();
  for (const { command, endOfDay } of pending) {
    if (endOfDay !== null) {
      // It reads the accounts as they are committed.
      if (batch.size > 0) break;
      if (runs.isForProducts) {
        batch.leaveUndone(command);
        await decideAhead(options, batch, pending, runs, true);
        break;
      }
      if (runs.current?.isOf(command) !== true) runs.current = new EndOfDayRun(store, endOfDay, command);
      runs.passableFrom ??= clock.monotonic() + options.endOfDayHoldMilliseconds;
      const isPassable = clock.monotonic() >= runs.passableFrom;
      const isFull = (): boolean => isCommitFull(batch, options, endOfDayShare);
      const [closedDay, followed] = [closedDayOf(registry, partition), followedCalendarOf(registry, partition)];
      if (await runs.current.decideDue(batch, closedDay, followed, readToggles(registry), isFull, giveWayInTime)) {
        if (isPassable) await decideAhead(options, batch, pending, runs, false);
        break;
      }
    }
    if (mayErase(command) && !(await eraseTransactions(options, batch, command, runs))) {
      batch.leaveUndone(command);
      break;
    }
    batch.decide(command, readToggles(registry));
    if (isCommitFull(batch, options)) break;
    await giveWayInTime();
  }
  return batch;
}

/**
 * Decides commands behind the end of a day that is under way, so that customers need not wait for all accounts of the
 * partition. For its account, each is a command that came before the end of the day, and before those that wait behind
 * it. The commands stay in their order. One that changes products ends it, unless the batch has nothing of the day: it
 * may be decided twice, see {@link decideAndCommit}, and the run counts what it did only once.
 */
async function decideAhead(
  options: PartitionLoopOptions,
  batch: CommandBatch,
  pending: PendingCommands,
  runs: LongRuns,
  mayChangeProducts: boolean,
): Promise<void> {
  const { registry, turns } = options;
  for (const command of pending.passing()) {
    if (isCommitFull(batch, options)) return;
    await turns.giveWayInTime();
    if (mayErase(command) && !(await eraseTransactions(options, batch, command, runs))) return;
    if (!batch.decideAhead(command, readToggles(registry), mayChangeProducts)) return;
  }
}

const erasureMark = '"ERASE_PERSONAL_DATA"' satisfies `"${CommandType}"`;

/** Whether a command may ask for an erasure; only reading it tells. */
function mayErase({ value }: PendingCommand): boolean {
  return value?.includes(erasureMark) === true;
}

/**
 * Erases what the transactions of an account keep of persons, as many as the commit takes.
 * @returns whether all of them are done, so that the command can be decided
 */
function eraseTransactions(
  options: PartitionLoopOptions,
  batch: CommandBatch,
  command: PendingCommand,
  { erasure }: LongRuns,
): Promise<boolean> {
  const isFull = (): boolean => isCommitFull(batch, options);
  return batch.eraseTransactions(command, erasure, isFull, () => options.turns.giveWayInTime());
}

/** @param share The part of a whole commit that may be filled. */
function isCommitFull(batch: CommandBatch, { commandsPerCommitMaximum }: PartitionLoopOptions, share = 1): boolean {
  const commands = batch.size + batch.dueCommands + batch.erasedTransactions;
  return batch.bytes >= commitBytesMaximum * share || commands >= commandsPerCommitMaximum * share;
}

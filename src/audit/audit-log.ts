/**
 * The audit: who changed what, and who was refused.
 * In: entries of requests. Out: records in the log, each with the hash of the one before.
 * Start with `AuditLog` below. `chain-writer.ts` appends to the chain, `access-refusals.ts` counts refusals together,
 * and `recorded-definitions.ts` says how a definition is recorded.
 */

import { randomUUID } from 'node:crypto';
import { after, type Clock } from '../clock.ts';
import { LendstreamError, describeError, isLendstreamError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { EventLog, Offset } from '../ports/event-log.ts';
import { ChainWriter, isStored, readTail, type IdentifiedEntry } from './chain-writer.ts';
import type { AuditEntry } from './audit-entry.ts';

/** How long a request waits for its record to be stored before it gets 503. Milliseconds. */
export const auditMillisecondsMaximum = 5_000;

/** The most records that wait at the same time. More are refused. */
export const waitingRecordsMaximum = 10_000;

/** The most records of one commit. */
const batchRecordsMaximum = 500;

/** The longest text of records in one commit, roughly. Characters. */
const batchCharactersMaximum = 2 * 1024 * 1024;

/** How long to wait after a failed attempt. Milliseconds. */
const retryMilliseconds = 250;

/** So many attempts in a row may fail before changes are refused at once. */
const failuresMaximum = 2;

/** How long the last records may take when the process stops. Milliseconds. */
const closingMilliseconds = 3_000;

export interface AuditLogOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The partitions that this process may write to: of several, it takes the one that was written to least recently. */
  readonly partitions: readonly number[];
}

/** An entry that is not stored yet. */
interface WaitingEntry extends IdentifiedEntry {
  readonly resolve: () => void;
  readonly reject: (error: LendstreamError) => void;
}

/** An append of which it is not known yet whether it was stored. */
interface OpenOutcome {
  readonly partition: number;
  readonly position: Offset;
  readonly batch: readonly WaitingEntry[];
}

/**
 * Stores audit entries. One commit is in progress at a time, and entries that arrive in the meantime form the next one,
 * so that many cost little more than one. An entry stays until it is stored, also when the request that it belongs to
 * no longer waits.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  #waiting: WaitingEntry[] = [];
  #chain: ChainWriter | undefined;
  /** Where another process writes: it was the one that ended the last writer of this one. */
  #avoided: number | undefined;
  #openOutcome: OpenOutcome | undefined;
  #failures = 0;
  /** Why the last attempt failed. */
  #failure: unknown;
  #isLate = false;
  #running: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  /** Whether records cannot be stored now. Changes are refused until the waiting ones are stored. */
  get isFailing(): boolean {
    return this.#isLate || this.#failures >= failuresMaximum;
  }

  /** @throws LOG_UNAVAILABLE, LOG_FULL while records cannot be stored: what would need one must not be begun */
  requireWritable(): void {
    if (this.isFailing) throw unavailable(this.#failure);
  }

  /**
   * Stores an entry and returns when it is durable.
   * @throws LOG_UNAVAILABLE, LOG_FULL when that takes more than {@link auditMillisecondsMaximum}, and the entry may be
   *   stored later; OVERLOADED when {@link waitingRecordsMaximum} wait, and it is not stored
   */
  append(entry: AuditEntry): Promise<void> {
    const { metrics } = this.#options;
    if (this.#waiting.length >= waitingRecordsMaximum || this.#closing.signal.aborted) {
      metrics.auditLost.inc();
      return Promise.reject(new LendstreamError('OVERLOADED', 'Too many records of the audit wait to be stored.'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ eid: randomUUID(), entry, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Stores what waits, as far as that is possible soon, and gives up the partition. */
  async close(): Promise<void> {
    const { clock } = this.#options;
    const giveUp = after(clock, closingMilliseconds, () => this.#closing.abort());
    await this.#running;
    giveUp.cancel();
    this.#closing.abort();
    await this.#chain?.close().catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { clock, logger, metrics } = this.#options;
    // Entries of the same turn of the event loop share the first commit.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#openOutcome?.batch ?? this.#nextBatch();
      const late = after(clock, auditMillisecondsMaximum, () => this.#refuseWaiting());
      try {
        await this.#store(batch);
        this.#waiting.splice(0, batch.length);
        for (const { resolve } of batch) resolve();
        metrics.auditRecords.inc(batch.length);
        if (this.isFailing) logger.info({ records: batch.length }, 'The audit can be written again');
        this.#failures = 0;
        this.#isLate = false;
      } catch (error) {
        // Another process has taken the partition, and nothing is wrong.
        if (!isLendstreamError(error, 'WRITER_FENCED')) {
          metrics.auditFailures.inc();
          this.#failures += 1;
          this.#failure = error;
          logger.warn({ error: describeError(error), waiting: this.#waiting.length }, 'The audit cannot be written');
          if (this.isFailing) this.#refuseWaiting();
        }
        if (this.#closing.signal.aborted) {
          this.#abandon();
          break;
        }
        await clock.sleep(retryMilliseconds, this.#closing.signal);
      } finally {
        late.cancel();
        metrics.auditWaiting.set(this.#waiting.length);
      }
    }
    this.#running = undefined;
  }

  #nextBatch(): readonly WaitingEntry[] {
    let characters = 0;
    let count = 0;
    for (const { entry } of this.#waiting) {
      characters += lengthOf(entry.before) + lengthOf(entry.after);
      if (count === batchRecordsMaximum || (count > 0 && characters > batchCharactersMaximum)) break;
      count += 1;
    }
    return this.#waiting.slice(0, count);
  }

  async #store(batch: readonly WaitingEntry[]): Promise<void> {
    const { log, clock } = this.#options;
    if (this.#openOutcome !== undefined) {
      const { partition, position } = this.#openOutcome;
      // From here on, the writer with the unknown outcome cannot write any more.
      this.#chain ??= await ChainWriter.open(log, partition);
      const wasStored = await isStored(log, partition, position, (batch[0] as WaitingEntry).eid);
      this.#openOutcome = undefined;
      if (wasStored) return;
    }
    const chain = (this.#chain ??= await this.#openChain());
    try {
      await chain.append(batch, clock.now());
    } catch (error) {
      this.#chain = undefined;
      const { partition, position } = chain;
      if (isLendstreamError(error, 'WRITER_FENCED')) this.#avoided = partition;
      else this.#openOutcome = { partition, position, batch };
      await chain.close().catch(() => undefined);
      throw error;
    }
  }

  async #openChain(): Promise<ChainWriter> {
    const { log, partitions, logger } = this.#options;
    const candidates = partitions.length > 1 ? partitions.filter((each) => each !== this.#avoided) : partitions;
    const tails = await Promise.all(
      candidates.map(async (partition) => ({ partition, writtenAt: await tailTime(log, partition) })),
    );
    const oldest = tails.reduce((least, each) => (each.writtenAt < least.writtenAt ? each : least));
    const chain = await ChainWriter.open(log, oldest.partition);
    const { sequence, hash } = chain.head;
    // Kept with the log lines, it shows later that the audit was not cut off before here.
    logger.info({ partition: chain.partition, sequence, hash }, 'The audit continues after this record');
    return chain;
  }

  /** Tells the requests that wait that they have waited long enough. Their entries stay. */
  #refuseWaiting(): void {
    this.#isLate = true;
    for (const { reject } of this.#waiting) reject(unavailable(this.#failure));
  }

  #abandon(): void {
    const { logger, metrics } = this.#options;
    metrics.auditLost.inc(this.#waiting.length);
    logger.error({ records: this.#waiting.length }, 'Records of the audit are lost: the process stops');
    this.#refuseWaiting();
    this.#waiting = [];
  }
}

/** When a partition was last written to, as readers see it: a process that was killed may have left a transaction. */
async function tailTime(log: EventLog, partition: number): Promise<number> {
  return (await readTail(log, partition, { includeUncommitted: false })).head.appendedAt;
}

/** A full disk has a code of its own, by which clients know that waiting does not help. */
function unavailable(cause: unknown): LendstreamError {
  const code = isLendstreamError(cause, 'LOG_FULL') ? 'LOG_FULL' : 'LOG_UNAVAILABLE';
  const reason = cause === undefined ? '' : `: ${describeError(cause)}`;
  return new LendstreamError(code, `The audit cannot be written now, so nothing may be changed${reason}`, { cause });
}

/** How long a definition is, roughly. */
function lengthOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? definitionCharacters : 0;
}

/** What a definition is taken to have, for the size of commits: the bound of `recorded-definitions.ts`. */
const definitionCharacters = 64 * 1024;

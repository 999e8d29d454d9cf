import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { hashPartition } from '../../src/broker/publishing/partitioning.ts';
import { systemClock } from '../../src/clock.ts';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { isCheckpointKey } from '../../src/lending-format/checkpoint.ts';
import { commandIdOfKey } from '../../src/lending-format/idempotency-record.ts';
import { accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { allTogglesOff } from '../../src/lending/toggle-names.ts';
import { silentLogger } from '../../src/logger.ts';
import type { EventLog, LogRecord, PartitionRecords } from '../../src/ports/event-log.ts';
import { CommandBatch } from '../../src/worker/command-batch.ts';
import { LoanStore } from '../../src/worker/loan-store.ts';
import { emptyCopy } from '../bench/empty-copy.ts';
import { eventBytes, publishBody } from '../bench/events.ts';
import { partitionCount, startMeasuredService } from '../bench/measured-service.ts';
import { loanIdOf } from '../bench/scale/loan-commands.ts';

/**
 * Weighs what is stored: loans, their transactions, commands and events. The worker's own code decides and encodes the
 * commands, and a copy of accounts follows the log that has them.
 */

/** What one of each takes, in its unit. */
export interface Weight {
  readonly name: string;
  readonly amount: number;
  readonly unit: 'B' | 'µs';
}

/** These loans have repayments beside their disbursement. So few that the worker keeps them all decoded. */
const repaidLoansMaximum = 200;
const repaymentsPerLoan = 25;
/** A commit of each of four partitions has ten of them. */
const commandsPerCommit = 40;
/** As many loans are decided in turn. */
const loansPerRound = 2_000;

const product = 'weighed';
const eventType = 'weighed.events';
const disbursedOn = '2026-01-12';
const idempotencyMilliseconds = 24 * 3_600_000;

interface Command {
  readonly type: string;
  readonly loanAccountId: string;
  readonly payload: object;
}

/**
 * @param loanCount How many loans the copy of accounts has, ten or more. With many it takes longer to store a command.
 * @param progress Receives the name of each part when it begins.
 */
export async function weigh(loanCount: number, progress: (text: string) => void): Promise<Weight[]> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'lendstream-weigh-'));
  try {
    progress('The service makes its topics, and takes events');
    await prepare(dataFolder);
    const log = await EmbeddedLog.open({
      dataFolder,
      logger: silentLogger,
      syncsToDisk: false,
    });
    try {
      return [await weighEvents(log), ...(await weighLoans(log, dataFolder, loanCount, progress))];
    } finally {
      await log.close();
    }
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
}

async function prepare(dataFolder: string): Promise<void> {
  const service = await startMeasuredService({
    DATA_DIR: dataFolder,
    END_OF_DAY_SCHEDULE: 'off',
  });
  await service.call('POST', '/loanproducts', {
    id: product,
    name: product,
    type: 'FIXED_TERM_LOAN',
    currency: { code: 'EUR' },
    interestSettings: { interestRate: { defaultValue: 10 } },
    scheduleSettings: { numInstallments: { defaultValue: 12 } },
  });
  await service.defineEventType(eventType);
  await service.call('POST', `/event-types/${eventType}/events`, publishBody(0));
  await service.stop();
  await rm(join(dataFolder, 'accounts.db'), { force: true });
}

/** What is stored of an event, beyond its own bytes: metadata and the key. */
async function weighEvents(log: EventLog): Promise<Weight> {
  let bytes = 0;
  let count = 0;
  for (let partition = 0; partition < partitionCount; partition += 1) {
    const read = await log.read(
      { topic: eventType, partition, offset: 0 },
      { bytesMaximum: 2 ** 20, waitMilliseconds: 0 },
    );
    for (const batch of read.batches) {
      count += batch.count;
      for (const [index, start] of batch.valueStarts.entries()) {
        bytes += (batch.valueEnds[index] ?? 0) - start + Buffer.byteLength(batch.key(index) ?? '');
      }
    }
  }
  const amount = bytes / count - eventBytes;
  return { name: `metadata of an event of ${eventBytes} B`, amount, unit: 'B' };
}

async function weighLoans(
  log: EventLog,
  dataFolder: string,
  loanCount: number,
  progress: (text: string) => void,
): Promise<Weight[]> {
  progress(`${loanCount.toLocaleString('en-US')} loans are decided`);
  const registry = new Registry(log, silentLogger);
  await registry.start();
  const repaid = Math.min(loanCount, repaidLoansMaximum);
  const first = await Decisions.open(registry);
  const loansOf = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, index) => loanIdOf(from + index));
  await first.decide(openingsOf(loansOf(0, repaid)));
  await append(log, first.takeChangelog());
  for (let from = repaid; from < loanCount; from += loansPerRound) {
    const others = await Decisions.open(registry);
    await others.decide(openingsOf(loansOf(from, Math.min(from + loansPerRound, loanCount))));
    await append(log, others.takeChangelog());
    first.addBytes(others);
  }
  const opened = first.compactedBytes;

  progress('A copy of accounts reads them');
  const filling = await follow(log, dataFolder);

  const repayments = Array.from({ length: repaymentsPerLoan }, () =>
    loansOf(0, repaid).map((loanAccountId) => ({
      type: 'REPAY',
      loanAccountId,
      payload: { amount: 1 },
    })),
  ).flat();
  progress(`The copy follows ${repayments.length.toLocaleString('en-US')} repayments`);
  const writtenBefore = first.writtenBytes;
  const commits: PartitionRecords[][] = [];
  for (let start = 0; start < repayments.length; start += commandsPerCommit) {
    await first.decide(repayments.slice(start, start + commandsPerCommit));
    commits.push(first.takeChangelog());
  }
  const written = first.writtenBytes - writtenBefore;
  const half = Math.ceil(commits.length / 2);
  const liveCommands = half * commandsPerCommit;
  const live = await followLive(log, dataFolder, commits.slice(0, half));
  const before = process.cpuUsage();
  for (const commit of commits.slice(half)) await append(log, commit);
  const { user, system } = process.cpuUsage(before);
  const followed = live - user - system;
  const behind = await follow(log, dataFolder);
  await registry.stop();
  const each = repayments.length;
  return [
    {
      name: 'a loan with its disbursement, in the compacted changelog',
      amount: opened / loanCount,
      unit: 'B',
    },
    {
      name: 'the same in accounts.db',
      amount: filling.bytes / loanCount,
      unit: 'B',
    },
    {
      name: 'the same, read into an empty accounts.db',
      amount: filling.microseconds / loanCount,
      unit: 'µs',
    },
    {
      name: 'a further transaction, in the compacted changelog',
      amount: (first.compactedBytes - opened) / each,
      unit: 'B',
    },
    {
      name: 'a further transaction, in accounts.db',
      amount: (behind.bytes - filling.bytes) / each,
      unit: 'B',
    },
    {
      name: 'a command that another process decided, followed',
      amount: followed / liveCommands,
      unit: 'µs',
    },
    {
      name: 'the same, read by a process that was away',
      amount: behind.microseconds / (each - liveCommands),
      unit: 'µs',
    },
    {
      name: 'a command, with all that it writes',
      amount: written / each,
      unit: 'B',
    },
  ];
}

/** The commands of new loans of twelve installments. */
function openingsOf(loans: readonly string[]): Command[] {
  return loans.flatMap((loanAccountId, index) => [
    {
      type: 'CREATE_LOAN',
      loanAccountId,
      payload: {
        productTypeKey: product,
        accountHolderKey: `holder-${index % 1_000}`,
        loanAmount: 1_000,
      },
    },
    { type: 'CHANGE_STATE', loanAccountId, payload: { action: 'APPROVE' } },
    { type: 'DISBURSE', loanAccountId, payload: { valueDate: disbursedOn } },
  ]);
}

/** What workers of all partitions decide on loans that none of them has to read. */
class Decisions {
  readonly #registry: Registry;
  readonly #stores: readonly LoanStore[];
  #offset = 0;
  #changelog: PartitionRecords[] = [];
  /** Of the last record of each key. */
  readonly #lastBytes = new Map<string, number>();
  writtenBytes = 0;

  private constructor(registry: Registry, stores: readonly LoanStore[]) {
    this.#registry = registry;
    this.#stores = stores;
  }

  static async open(registry: Registry): Promise<Decisions> {
    const { signal } = new AbortController();
    const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
    return new Decisions(
      registry,
      await Promise.all(partitions.map((partition) => LoanStore.open(emptyCopy, partition, signal))),
    );
  }

  /** What the changelog keeps when it is compacted. Bytes. */
  get compactedBytes(): number {
    return [...this.#lastBytes.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Counts what others have decided. */
  addBytes(others: Decisions): void {
    this.#lastBytes.set(randomUUID(), others.compactedBytes);
  }

  /** Decides commands, those of each partition in one commit. */
  async decide(commands: readonly Command[]): Promise<void> {
    const now = Date.now();
    const partitionOf = ({ loanAccountId }: Command): number => hashPartition([loanAccountId], partitionCount);
    for (const [partition, store] of this.#stores.entries()) {
      const batch = new CommandBatch({
        partition,
        partitionCount,
        store,
        registry: this.#registry,
        logger: silentLogger,
        now,
        idempotencyMilliseconds,
        retentionMilliseconds: idempotencyMilliseconds,
      });
      for (const command of commands.filter((one) => partitionOf(one) === partition)) {
        const metadata = {
          eid: randomUUID(),
          received_at: new Date(now).toISOString(),
        };
        const value = Buffer.from(JSON.stringify({ metadata, ...command }));
        batch.decide({ partition, offset: this.#offset, appendedAt: now, value }, allTogglesOff);
        this.#offset += 1;
        this.writtenBytes += value.length;
      }
      const { records, state } = batch.write();
      await store.commit(state, async () => [{ topic: accountsTopic, partition, nextOffset: this.#offset }]);
      const refused = batch.decided.find(({ outcome }) => outcome !== 'committed');
      if (refused !== undefined) throw new Error(`A ${refused.type} was ${refused.outcome}`);
      for (const written of records) {
        this.writtenBytes += bytesOf(written.records);
        if (written.topic === accountsTopic) this.#keep(partition, written.records);
      }
    }
  }

  /** What was decided since, without what is forgotten after a day. */
  takeChangelog(): PartitionRecords[] {
    const changelog = this.#changelog;
    this.#changelog = [];
    return changelog;
  }

  #keep(partition: number, records: readonly LogRecord[]): void {
    const kept = records.filter(({ key }) => key === null || !(isCheckpointKey(key) || commandIdOfKey(key)));
    for (const record of kept) {
      if (record.value === null) this.#lastBytes.delete(`${partition} ${record.key}`);
      else this.#lastBytes.set(`${partition} ${record.key}`, bytesOf([record]));
    }
    this.#changelog.push({ topic: accountsTopic, partition, records: kept });
  }
}

async function append(log: EventLog, changelog: readonly PartitionRecords[]): Promise<void> {
  for (const records of changelog) {
    for (const result of await log.append([records])) if (result.outcome === 'failed') throw result.error;
  }
}

/** Lets a copy of accounts read what it lacks. @returns the size of its file, and the processor time of all threads */
async function follow(log: EventLog, dataFolder: string): Promise<{ bytes: number; microseconds: number }> {
  const before = process.cpuUsage();
  const copy = await openCopy(log, dataFolder);
  const { user, system } = process.cpuUsage(before);
  await copy.close();
  const { size } = await stat(join(dataFolder, 'accounts.db'));
  return { bytes: size, microseconds: user + system };
}

/** Lets a copy follow commits one after the other. @returns the processor time of all threads, with the log's */
async function followLive(log: EventLog, dataFolder: string, commits: PartitionRecords[][]): Promise<number> {
  const { signal } = new AbortController();
  const copy = await openCopy(log, dataFolder);
  const before = process.cpuUsage();
  for (const commit of commits) {
    await append(log, commit);
    await Promise.all(commit.map(({ partition }) => copy.catchUpPartition(partition, signal)));
  }
  const { user, system } = process.cpuUsage(before);
  await copy.close();
  return user + system;
}

async function openCopy(log: EventLog, dataFolder: string): Promise<AccountsCopy> {
  const copy = await AccountsCopy.open({
    dataFolder,
    log,
    partitionCount,
    clock: systemClock,
    logger: silentLogger,
  });
  await copy.fill();
  return copy;
}

function bytesOf(records: readonly LogRecord[]): number {
  return records.reduce((sum, { key, value }) => sum + Buffer.byteLength(key ?? '') + (value?.length ?? 0), 0);
}

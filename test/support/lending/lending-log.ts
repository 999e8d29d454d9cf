import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach } from 'mocha';
import { type EventLog, type PartitionBounds, type LogRecord, noValue } from '../../../src/ports/event-log.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import { type Clock, systemClock } from '../../../src/clock.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import type { HealthPart } from '../../../src/health.ts';
import { type Logger, silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import {
  type CommandType,
  idFieldOf,
  prepareCommand,
  readPayload,
  writeCommand,
} from '../../../src/lending-format/command-format.ts';
import { joinedAccount } from '../../../src/lending-format/account-pages.ts';
import { AccountProducts, accountProductKey } from '../../../src/lending-format/account-products.ts';
import { decodeLoan } from '../../../src/lending/changelog/stored-loan.ts';
import type { Loan } from '../../../src/lending/loan.ts';
import { accountRecordKey } from '../../../src/lending-format/account-record-keys.ts';
import { type CommandOutcome, isCheckpointKey, parseCheckpoint } from '../../../src/lending-format/checkpoint.ts';
import {
  type LendingEventTypeName,
  deadLettersTopic,
  lendingEventTypeNames,
  loanCommandsTopic,
  accountsTopic,
  ensureLendingTopics,
  partitionOfAccount,
} from '../../../src/lending-format/lending-topics.ts';
import type { AccountsForWorker } from '../../../src/accounts/accounts-for-worker.ts';
import { openFilledCopy } from './filled-copy.ts';
import { LendingWorker } from '../../../src/worker/lending-worker.ts';
import type { Schemas } from '../../../src/contract.ts';
import { openCoordinationUnderTest, openLogUnderTest } from '../backend-under-test.ts';
import { removeFolder, temporaryFolder } from '../processes/service.ts';

export type Json = Record<string, unknown>;

/** A log with the topics that the worker reads and writes, by default in one partition. */
export async function openLendingLog(
  dataFolder: string,
  partitionCount = 1,
  open: (dataFolder: string) => Promise<EventLog> = openLogUnderTest,
): Promise<EventLog> {
  const log = await open(dataFolder);
  const create = async (name: string): Promise<void> => {
    const topic = { name, partitionCount, cleanupPolicy: 'delete', retentionMilliseconds: 3_600_000 } as const;
    await log.createTopic(topic).catch((error: unknown) => {
      if (!isLendstreamError(error, 'TOPIC_ALREADY_EXISTS')) throw error;
    });
  };
  // Kafka takes as long for all of them as for one.
  await Promise.all([loanCommandsTopic, ...lendingEventTypeNames].map(create));
  return log;
}

export interface RunningWorker {
  readonly worker: LendingWorker;
  readonly registry: Registry;
  readonly metrics: ReturnType<typeof createMetrics>;
  /** The folder of its copy of the changelog. */
  readonly dataFolder: string;
  stop(): Promise<void>;
}

export interface WorkerOptions {
  readonly registry?: Registry;
  /** Shared with other workers; by default a separate one. */
  readonly coordination?: Coordination;
  readonly nodeId?: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly commandsPerCommitMaximum?: number;
  readonly idempotencyMilliseconds?: number;
  readonly retentionMilliseconds?: number;
  readonly definitionsMillisecondsMaximum?: number;
  /** By default, later commands wait until the day is closed, however slow the machine is. */
  readonly endOfDayHoldMilliseconds?: number;
  /** By default one. */
  readonly partitionCount?: number;
  /** Notified whether the worker's copy can be read. */
  readonly health?: HealthPart;
  /** Replaces parts of the worker's copy of the changelog. */
  readonly copyWith?: (copy: AccountsForWorker) => AccountsForWorker;
}

/** A worker on that log, by default with its own registry and coordination, and a lease of an hour. */
export async function startWorker(log: EventLog, options: WorkerOptions = {}): Promise<RunningWorker> {
  const registry = options.registry ?? new Registry(log, silentLogger);
  if (options.registry === undefined) await registry.start();
  const coordination = options.coordination ?? (await openCoordinationUnderTest(`worker-${randomUUID()}`, log));
  const nodeId = options.nodeId ?? randomUUID();
  await coordination.renewLease(nodeId, 3_600_000);
  const metrics = createMetrics();
  const { copyWith = (copy) => copy, health, ...settings } = options;
  const { clock = systemClock, logger = silentLogger, partitionCount = 1 } = settings;
  await ensureLendingTopics(log, partitionCount);
  const dataFolder = await temporaryFolder();
  const accounts = await openFilledCopy({
    dataFolder,
    log,
    partitionCount,
    clock: systemClock,
    logger,
    ...(health === undefined ? {} : { health }),
  });
  const worker = new LendingWorker({
    log,
    partitionCount,
    endOfDayHoldMilliseconds: Infinity,
    ...settings,
    clock,
    logger,
    copy: copyWith(accounts),
    registry,
    coordination,
    nodeId,
    metrics,
  });
  await worker.start();
  const end = async (): Promise<void> => {
    await worker.stop();
    await accounts.close();
    await removeFolder(dataFolder);
    if (options.coordination === undefined) await coordination.close();
    if (options.registry === undefined) await registry.stop();
  };
  let ended: Promise<void> | undefined;
  const stop = (): Promise<void> => (ended ??= end());
  return { worker, registry, metrics, dataFolder, stop };
}

/** A lending log in a separate folder and a worker on it, both new for each test. */
export interface WorkerForEachTest {
  readonly log: EventLog;
  readonly running: RunningWorker;
  /** Starts another worker, which knows only the log. Stop the previous one first. */
  start(options?: WorkerOptions, onLog?: EventLog): Promise<void>;
  stop(): Promise<void>;
  /** As after a restart or a takeover by another process. */
  restart(options?: WorkerOptions, onLog?: EventLog): Promise<void>;
}

/** Call this in the suite whose tests need it. */
export function workerForEachTest(): WorkerForEachTest {
  let folder: string;
  let log: EventLog;
  let coordination: Coordination;
  let running: RunningWorker;

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLendingLog(folder);
    // All workers of a test share it: a new one would wait for other processes to return, as after a loss of Redis.
    coordination = await openCoordinationUnderTest(folder, log);
    await start();
  });

  afterEach(async () => {
    await running.stop();
    await coordination.close();
    await log.close();
    await removeFolder(folder);
  });

  const start = async (options: WorkerOptions = {}, onLog = log): Promise<void> => {
    running = await startWorker(onLog, { coordination, ...options });
  };
  const stop = (): Promise<void> => running.stop();
  return {
    get log() {
      return log;
    },
    get running() {
      return running;
    },
    start,
    stop,
    restart: async (options, onLog) => {
      await stop();
      await start(options, onLog);
    },
  };
}

/** The default time at which commands of a test enter the log: 12 January 2026, ten o'clock UTC. */
export const commandTime = Date.UTC(2026, 0, 12, 10);

export interface TestCommand {
  readonly type: CommandType;
  /** The id of the loan, or of the product for CREATE_PRODUCT. */
  readonly id: string;
  readonly payload?: Json;
  readonly commandId?: string;
  /** By default {@link commandTime}. */
  readonly receivedAt?: number;
}

/** A command as publishing stores it: with the time it was received. */
export function commandRecord({
  type,
  id,
  payload = {},
  commandId = randomUUID(),
  receivedAt = commandTime,
}: TestCommand): LogRecord {
  const subject = { [idFieldOf(type)]: id };
  const requested = { commandId, type, ...subject, payload: readPayload(JSON.stringify(payload)) };
  const { eid, occurredAt, fieldsText } = writeCommand(prepareCommand({ ...requested, receivedAt }));
  const metadata = { eid, occurred_at: occurredAt, received_at: occurredAt, flow_id: `flow of ${commandId}` };
  return { key: id, value: Buffer.from(`{"metadata":${JSON.stringify(metadata)},${fieldsText}}`) };
}

/** An id with this beginning, of a loan or product that belongs to the partition. */
export function idInPartition(partition: number, partitionCount: number, beginning: string): string {
  let number = 0;
  while (partitionOfAccount(`${beginning}-${number}`, partitionCount) !== partition) number += 1;
  return `${beginning}-${number}`;
}

/** Appends commands durably and in order. @returns the offset of the first one */
export async function send(log: EventLog, records: readonly LogRecord[], partition = 0): Promise<number> {
  const [result] = await log.append([{ topic: loanCommandsTopic, partition, records }]);
  if (result?.outcome !== 'appended') throw new Error('The commands could not be appended.');
  return result.baseOffset;
}

export interface StoredRecord {
  readonly offset: number;
  readonly key: string | null;
  readonly text: string | null;
}

/**
 * Transactions that a killed worker left open end when a successor starts, so this does not wait longer than a commit
 * takes.
 */
const commitMillisecondsMaximum = 3_000;

/**
 * All records of a partition, in order.
 * @param includeUncommitted Waits for records that are being committed. False when no process commits them any more.
 */
export async function recordsOf(
  log: EventLog,
  topic: string,
  partition = 0,
  includeUncommitted = true,
): Promise<StoredRecord[]> {
  const [bounds] = await log.bounds([{ topic, partition }], { includeUncommitted });
  if (bounds === undefined) throw new Error(`No bounds of ${topic}.`);
  return recordsWithin(log, bounds);
}

async function recordsWithin(
  log: EventLog,
  { topic, partition, earliest, latest }: PartitionBounds,
): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for (let offset = earliest; offset < latest;) {
    const from = { topic, partition, offset };
    const { batches, nextOffset } = await log.read(from, {
      bytesMaximum: 1_000_000,
      waitMilliseconds: commitMillisecondsMaximum,
    });
    if (nextOffset === offset) break;
    for (const batch of batches) {
      for (let index = 0; index < batch.count; index += 1) {
        const start = batch.valueStarts[index] ?? noValue;
        const text = start === noValue ? null : batch.bytes.toString('utf8', start, batch.valueEnds[index]);
        records.push({ offset: batch.offsets[index] ?? -1, key: batch.key(index), text });
      }
    }
    offset = nextOffset;
  }
  return records;
}

/** Schemas are named after their event type. */
type PascalCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Capitalize<First>}${PascalCase<Rest>}`
  : Capitalize<Name>;

/** The events of a type as a consumer parses them. */
export function eventsOfType<Name extends LendingEventTypeName>(
  log: EventLog,
  name: Name,
): Promise<Schemas[PascalCase<Name>][]> {
  return parsedRecords(log, name);
}

/** The events of a type in one partition, as a consumer parses them. */
export function eventsOfPartition(log: EventLog, name: LendingEventTypeName, partition: number): Promise<Json[]> {
  return parsedRecords(log, name, partition);
}

async function parsedRecords<Value>(log: EventLog, topic: string, partition = 0): Promise<Value[]> {
  return (await recordsOf(log, topic, partition)).map(({ text }) => JSON.parse(text ?? '') as Value);
}

/** Every event the worker published to a partition, in no particular order. */
export async function allEvents(log: EventLog, partition = 0): Promise<Json[]> {
  const partitions = lendingEventTypeNames.map((topic) => ({ topic, partition }));
  const bounds = await log.bounds(partitions, { includeUncommitted: true });
  const lists = await Promise.all(bounds.map((each) => recordsWithin(log, each)));
  return lists.flat().map(({ text }) => JSON.parse(text ?? '') as Json);
}

export function deadLetters(log: EventLog): Promise<Json[]> {
  return parsedRecords(log, deadLettersTopic);
}

/**
 * The outcomes of the commands, from the checkpoint records that the changelog still has, in order.
 * @param includeUncommitted As in {@link recordsOf}.
 */
export async function outcomesOf(log: EventLog, partition = 0, includeUncommitted = true): Promise<CommandOutcome[]> {
  const records = await recordsOf(log, accountsTopic, partition, includeUncommitted);
  return records.flatMap(({ key, text }) =>
    key !== null && text !== null && isCheckpointKey(key) ? parseCheckpoint(text).outcomes : [],
  );
}

/** The latest stored text of a loan in the changelog. */
export async function loanText(log: EventLog, loanAccountId: string): Promise<string | null> {
  const records = await recordsOf(log, accountsTopic);
  return records.findLast(({ key }) => key === accountRecordKey(loanAccountId))?.text ?? null;
}

/** A loan as the changelog has it at last; null when it has none. */
export async function storedLoan(log: EventLog, loanAccountId: string): Promise<Loan | null> {
  const records = await recordsOf(log, accountsTopic);
  const textOf = (wanted: string): string | undefined =>
    records.findLast(({ key }) => key === wanted)?.text ?? undefined;
  const products = new AccountProducts((reference) => textOf(accountProductKey(reference)));
  const text = textOf(accountRecordKey(loanAccountId));
  const pages = new Map(
    records.flatMap(({ key, text: page }) => (key?.startsWith(`loan/${loanAccountId}/`) ? [[key, page] as const] : [])),
  );
  const pageTexts = (list: string): string[] =>
    [...pages]
      .filter(([key, page]) => page !== null && key.includes(`/${list}/`))
      .toSorted(([one], [other]) => Number(one.split('/').at(-1)) - Number(other.split('/').at(-1)))
      .map(([, page]) => page ?? '');
  if (text === undefined) return null;
  return decodeLoan(joinedAccount(text, [...pageTexts('charges'), ...pageTexts('installments')]), (reference) =>
    products.get(reference),
  );
}

/** A busy machine takes its time. Milliseconds. */
const nothingDoneMillisecondsMaximum = 45_000;

/** Waits until the commands up to this offset are done. */
export async function untilDone(log: EventLog, offset: number, partition = 0): Promise<void> {
  let from = 0;
  for (let position = -1; position < offset;) {
    const read = await log.read(
      { topic: accountsTopic, partition, offset: from },
      { bytesMaximum: 1_000_000, waitMilliseconds: nothingDoneMillisecondsMaximum },
    );
    if (read.nextOffset === from) throw new Error(`Commands are done up to ${position}, not up to ${offset}.`);
    from = read.nextOffset;
    for (const batch of read.batches) {
      for (let index = 0; index < batch.count; index += 1) {
        if (!isCheckpointKey(batch.key(index) ?? '')) continue;
        position = parseCheckpoint(batch.bytes.subarray(batch.valueStarts[index], batch.valueEnds[index])).position;
      }
    }
  }
}

/** Sends commands and waits until they are done. @returns their outcomes */
export async function decided(
  log: EventLog,
  commands: readonly (TestCommand | LogRecord)[],
): Promise<CommandOutcome[]> {
  const records = commands.map((command) => ('type' in command ? commandRecord(command) : command));
  const before = (await outcomesOf(log)).length;
  const first = await send(log, records);
  await untilDone(log, first + records.length - 1);
  return (await outcomesOf(log)).slice(before);
}

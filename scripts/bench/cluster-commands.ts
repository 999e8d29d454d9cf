import { randomUUID } from 'node:crypto';
import { lendingEventTypeNames, accountsTopic } from '../../src/lending-format/lending-topics.ts';
import type { BenchOptions } from './bench-options.ts';
import type { MeasuredCluster } from './measured-cluster.ts';
import { partitionCount, type MeasuredService } from './measured-service.ts';
import { runProgram, startProgram } from './processes.ts';
import { against } from './report.ts';
import { processorMilliseconds } from './service-figures.ts';
import { feeProduct } from './fee-product.ts';
import { figure, median } from './statistics.ts';

/**
 * Deciding loan commands against a kafkajs loop that decides nothing. The loop reads the same commands and writes as
 * many records of the same size to as many topics, with as many commands per transaction.
 */

const commandTopic = 'lendstream.loan-commands';
const rawCheckpointTopic = 'bench.raw-checkpoints';
const rawBatchBytesMaximum = 64 * 1024 * 1024;
const retryMilliseconds = 2;

/** The worker's output topics, and the topics to which the loop writes the same. */
const outputs = [...lendingEventTypeNames, accountsTopic].map((topic) => ({ topic, rawTopic: `bench.raw-${topic}` }));

/** Enough loans that the start of the worker and of the loop does not affect the figures. */
const loansPerRound = 4_000;
const commandsPerRequest = 100;
const requestsAtOnce = 8;
const feesPerLoan = 7;

interface CommandRange {
  readonly partition: number;
  readonly first: number;
  readonly end: number;
}

/**
 * Each round first publishes commands while no worker runs. Then a worker alone decides them, and then the raw loop
 * reads them, with as many commands per transaction as the worker had. A reader of committed records times both.
 */
export async function measureCommands(options: BenchOptions, cluster: MeasuredCluster): Promise<void> {
  const { report, scale } = options;
  report.begin('Commands: a worker on a backlog against a kafkajs loop of consuming and producing in transactions');
  const product = `bench-${Date.now()}`;
  const service = await cluster.startService();
  await createProduct(service, product);
  await service.stop();
  const rawTopics = [...outputs.map(({ rawTopic }) => rawTopic), rawCheckpointTopic];
  // kafkajs writes all records of a partition as one batch, of whatever size.
  await cluster.createTopics(rawTopics, partitionCount, { 'max.message.bytes': String(rawBatchBytesMaximum) });

  let commands: readonly CommandRange[] = [];
  let commandsPerCommit = 0;
  let written: readonly RawOutput[] = [];
  const batchSizes: number[] = [];
  const processorTimes: number[] = [];
  const writtenBytes: number[] = [];
  const rawProcessorTimes: number[] = [];
  const turns = await report.inTurns(
    async () => {
      commands = await publishCommands(cluster, product, Math.ceil(loansPerRound * scale));
      const firsts = await outputEnds(cluster);
      const decided = await decide(cluster, commands);
      written = await writtenFor(cluster, commands, firsts);
      commandsPerCommit = decided.commandsPerCommit;
      writtenBytes.push(written.reduce((sum, { recordsPerCommand, bytes }) => sum + recordsPerCommand * bytes, 0));
      batchSizes.push(commandsPerCommit);
      processorTimes.push(decided.microsecondsPerCommand);
      return decided.commandsPerSecond;
    },
    async () => {
      const looped = await loopRaw(cluster, commands, Math.max(1, Math.round(commandsPerCommit)), written);
      rawProcessorTimes.push(looped.microsecondsPerCommand);
      return looped.commandsPerSecond;
    },
  );
  report.printRatio({
    name: 'commands decided / raw transactional loop',
    ratios: turns.ratios,
    atLeast: 0.6,
    stretch: 0.8,
    figures:
      `${against(turns, 'commands/s')}, ${figure(median(batchSizes))} commands in a commit, ` +
      `${figure(median(processorTimes))} us of processor each against ${figure(median(rawProcessorTimes))} us, ` +
      `${figure(median(writtenBytes))} bytes written each, retry of the raw loop ${retryMilliseconds} ms`,
  });
}

async function createProduct(service: MeasuredService, id: string): Promise<void> {
  await service.call('POST', '/loanproducts', { id, ...feeProduct });
}

let roundCount = 0;

/** Publishes the life of new loans, from application to the last fee, and returns the offsets of their commands. */
async function publishCommands(cluster: MeasuredCluster, product: string, loanCount: number): Promise<CommandRange[]> {
  roundCount += 1;
  const service = await cluster.startService({ ROLES: 'serve' });
  const firsts = await cluster.ends(commandTopic);
  const loans = Array.from({ length: loanCount }, (_, index) => `${product}-${roundCount}-${index}`);
  let next = 0;
  await Promise.all(
    Array.from({ length: requestsAtOnce }, async () => {
      while (next < loans.length) {
        const some = loans.slice(next, next + commandsPerRequest);
        next += commandsPerRequest;
        for (const command of lifeOfLoan(product)) {
          const events = some.map((loanAccountId) => ({
            metadata: { eid: randomUUID(), occurred_at: new Date().toISOString() },
            loanAccountId,
            ...command,
          }));
          await service.call('POST', `/event-types/${commandTopic}/events`, events);
        }
      }
    }),
  );
  await service.stop();
  const ends = await cluster.ends(commandTopic);
  return ends.map((end, partition) => ({ partition, first: firsts[partition] ?? 0, end }));
}

function lifeOfLoan(product: string): { readonly type: string; readonly payload: object }[] {
  return [
    { type: 'CREATE_LOAN', payload: { productTypeKey: product, loanAmount: 1000 } },
    { type: 'CHANGE_STATE', payload: { action: 'APPROVE' } },
    { type: 'DISBURSE', payload: { valueDate: '2026-01-12' } },
    ...Array.from({ length: feesPerLoan }, () => ({
      type: 'APPLY_FEE',
      payload: { amount: 0.01, installmentNumber: 4 },
    })),
  ];
}

interface Decided {
  readonly commandsPerSecond: number;
  readonly commandsPerCommit: number;
  /** Processor time of the worker. */
  readonly microsecondsPerCommand: number;
}

async function decide(cluster: MeasuredCluster, commands: readonly CommandRange[]): Promise<Decided> {
  const watch = await watchCheckpoints(cluster, accountsTopic, commands);
  const worker = await cluster.startService({ ROLES: 'work' });
  const before = { decided: decidedOf(await metricsOf(worker)), milliseconds: processorMilliseconds(worker.processId) };
  const commandsPerSecond = await watch.commandsPerSecond();
  const metrics = await metricsOf(worker);
  const milliseconds = processorMilliseconds(worker.processId) - before.milliseconds;
  await worker.stop();
  const all = decidedOf(metrics);
  const committed = sumOf(metrics, /^lendstream_loan_commands_total\{.*outcome="committed".*\} (\d+)$/gm);
  if (committed < all) throw new Error(`${all - committed} of ${all} commands were not committed:\n${metrics}`);
  return {
    commandsPerSecond,
    commandsPerCommit: all / sumOf(metrics, /^lendstream_loan_command_batch_seconds_count (\d+)$/gm),
    microsecondsPerCommand: (milliseconds * 1000) / (all - before.decided),
  };
}

async function metricsOf({ url }: MeasuredService): Promise<string> {
  return (await fetch(`${url}/metrics`, { headers: { Accept: 'text/plain' } })).text();
}

function decidedOf(metrics: string): number {
  return sumOf(metrics, /^lendstream_loan_commands_total\{.*\} (\d+)$/gm);
}

function sumOf(metrics: string, form: RegExp): number {
  return [...metrics.matchAll(form)].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** The loop's output to one topic: on average the same as the worker's. */
interface RawOutput {
  readonly topic: string;
  readonly recordsPerCommand: number;
  /** Size of one record's value. */
  readonly bytes: number;
}

function outputEnds(cluster: MeasuredCluster): Promise<number[][]> {
  return Promise.all(outputs.map(({ topic }) => cluster.ends(topic)));
}

/**
 * The records that the worker wrote for these commands since its topics ended at `firsts`: events, loans and
 * checkpoints.
 */
async function writtenFor(
  cluster: MeasuredCluster,
  commands: readonly CommandRange[],
  firsts: readonly (readonly number[])[],
): Promise<RawOutput[]> {
  const ends = await outputEnds(cluster);
  const topics = outputs.map(({ topic }, index) => ({ topic, firsts: firsts[index], ends: ends[index] }));
  const { brokers } = cluster;
  const found = await runProgram<{ topic: string; records: number; bytes: number }[]>(
    'scripts/bench/written-records.js',
    { brokers, topics },
  );
  const commandCount = commands.reduce((sum, { first, end }) => sum + end - first, 0);
  return outputs.flatMap(({ topic, rawTopic }) => {
    const { records = 0, bytes = 0 } = found.find((each) => each.topic === topic) ?? {};
    if (records === 0) return [];
    return [{ topic: rawTopic, recordsPerCommand: records / commandCount, bytes: Math.round(bytes / records) }];
  });
}

async function loopRaw(
  cluster: MeasuredCluster,
  commands: readonly CommandRange[],
  commandsPerTransaction: number,
  written: readonly RawOutput[],
): Promise<{ readonly commandsPerSecond: number; readonly microsecondsPerCommand: number }> {
  const watch = await watchCheckpoints(cluster, rawCheckpointTopic, commands);
  const loop = runProgram<{ microsecondsPerCommand: number }>('scripts/bench/baselines/kafkajs-transactions.js', {
    brokers: cluster.brokers,
    commandTopic,
    outputs: written,
    checkpointTopic: rawCheckpointTopic,
    commandsPerTransaction,
    commands,
    retryMilliseconds,
  });
  const [commandsPerSecond, { microsecondsPerCommand }] = await Promise.all([watch.commandsPerSecond(), loop]);
  return { commandsPerSecond, microsecondsPerCommand };
}

async function watchCheckpoints(
  { brokers }: MeasuredCluster,
  topic: string,
  commands: readonly CommandRange[],
): Promise<{ commandsPerSecond(): Promise<number> }> {
  const watch = startProgram('scripts/bench/checkpoint-watch.js', [JSON.stringify({ brokers, topic, commands })]);
  await watch.nextLine();
  return {
    async commandsPerSecond() {
      const { commandsPerSecond } = JSON.parse(await watch.nextLine()) as { commandsPerSecond: number };
      return commandsPerSecond;
    },
  };
}

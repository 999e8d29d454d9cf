import { randomUUID } from 'node:crypto';
import type { BenchOptions } from './bench-options.ts';
import type { MeasuredCluster } from './measured-cluster.ts';
import { partitionCount, type MeasuredService } from './measured-service.ts';
import { runProgram, startProgram } from './processes.ts';
import { against } from './report.ts';
import { processorMilliseconds } from './service-figures.ts';
import { figure, median } from './statistics.ts';

/** Deciding loan commands against a loop of kafkajs that reads and writes as much and decides nothing. */

const commandTopic = 'lendstream.loan-commands';
const loansTopic = 'lendstream.loans';
const rawFenceTopic = 'bench.raw-fences';
const retryMilliseconds = 2;

/**
 * Four events for each command, of the size of the worker's in the mean (5.6 KB for each command). The loans that the
 * worker writes besides, 10 KB for each loan of a commit, are its own affair.
 */
const rawOutputs = ['transactions', 'fees', 'balances', 'schedules'].map((name) => ({
  topic: `bench.raw-${name}`,
  bytes: 1_400,
}));

const loansPerRound = 2_000;
const commandsPerRequest = 100;
const requestsAtOnce = 8;
const feesPerLoan = 7;

interface CommandRange {
  readonly partition: number;
  readonly first: number;
  readonly end: number;
}

/**
 * Each round publishes commands while no worker runs, then lets a worker alone decide them, and then the raw loop read
 * them, in transactions of as many commands as the worker's had. A reader of committed records times both.
 */
export async function measureCommands(options: BenchOptions, cluster: MeasuredCluster): Promise<void> {
  const { report, scale } = options;
  report.progress('Commands: a worker on a backlog against a kafkajs loop of consuming and producing in transactions');
  const product = `bench-${Date.now()}`;
  const service = await cluster.startService();
  await createProduct(service, product);
  await service.stop();
  await cluster.createTopics([...rawOutputs.map(({ topic }) => topic), rawFenceTopic], partitionCount);

  let commands: readonly CommandRange[] = [];
  let commandsPerCommit = 0;
  const batchSizes: number[] = [];
  const processorTimes: number[] = [];
  const turns = await report.inTurns(
    async () => {
      commands = await publishCommands(cluster, product, Math.ceil(loansPerRound * scale));
      const decided = await decide(cluster, commands);
      commandsPerCommit = decided.commandsPerCommit;
      batchSizes.push(commandsPerCommit);
      processorTimes.push(decided.microsecondsPerCommand);
      return decided.commandsPerSecond;
    },
    () => loopRaw(cluster, commands, Math.max(1, Math.round(commandsPerCommit))),
  );
  report.tellRatio({
    name: 'commands decided / raw transactional loop',
    ratios: turns.ratios,
    atLeast: 0.6,
    stretch: 0.8,
    figures:
      `${against(turns, 'commands/s')}, ${figure(median(batchSizes))} commands in a commit, ` +
      `${figure(median(processorTimes))} us of processor each, retry of the raw loop ${retryMilliseconds} ms`,
  });
}

async function createProduct(service: MeasuredService, id: string): Promise<void> {
  await service.call('POST', '/loanproducts', {
    id,
    name: 'Benchmark',
    type: 'FIXED_TERM_LOAN',
    currency: { code: 'EUR' },
    interestSettings: { interestRate: { defaultValue: 10 } },
    scheduleSettings: { numInstallments: { defaultValue: 4 } },
    feesSettings: { allowArbitraryFees: true },
  });
}

let roundCount = 0;

/** Publishes the life of new loans, from application to the last fee, and answers where its commands lie. */
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
  /** Of the worker's processor time. */
  readonly microsecondsPerCommand: number;
}

async function decide(cluster: MeasuredCluster, commands: readonly CommandRange[]): Promise<Decided> {
  const watch = await watchFences(cluster, loansTopic, commands);
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
  return (await fetch(`${url}/metrics`)).text();
}

function decidedOf(metrics: string): number {
  return sumOf(metrics, /^lendstream_loan_commands_total\{.*\} (\d+)$/gm);
}

function sumOf(metrics: string, form: RegExp): number {
  return [...metrics.matchAll(form)].reduce((sum, [, value]) => sum + Number(value), 0);
}

async function loopRaw(
  cluster: MeasuredCluster,
  commands: readonly CommandRange[],
  commandsPerTransaction: number,
): Promise<number> {
  const watch = await watchFences(cluster, rawFenceTopic, commands);
  const loop = runProgram('scripts/bench/kafkajs-transactions.js', {
    brokers: cluster.brokers,
    commandTopic,
    outputs: rawOutputs,
    fenceTopic: rawFenceTopic,
    commandsPerTransaction,
    commands,
    retryMilliseconds,
  });
  const [commandsPerSecond] = await Promise.all([watch.commandsPerSecond(), loop]);
  return commandsPerSecond;
}

async function watchFences(
  { brokers }: MeasuredCluster,
  topic: string,
  commands: readonly CommandRange[],
): Promise<{ commandsPerSecond(): Promise<number> }> {
  const watch = startProgram('scripts/bench/fence-watch.js', [JSON.stringify({ brokers, topic, commands })]);
  await watch.nextLine();
  return {
    async commandsPerSecond() {
      const { commandsPerSecond } = JSON.parse(await watch.nextLine()) as { commandsPerSecond: number };
      return commandsPerSecond;
    },
  };
}

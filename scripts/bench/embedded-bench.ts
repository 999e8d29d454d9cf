import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandsPerCommitMaximum } from '../../src/worker/partition-loop.ts';
import { measureCostOfKeys } from './access/cost-of-keys.ts';
import { measureFairness } from './access/fairness.ts';
import { fillBacklog, readBacklog, type Backlog } from './load/backlog.ts';
import type { BenchOptions } from './bench-options.ts';
import { measureDefinitions } from './definitions.ts';
import { eventBytes, eventsPerBatch, type Shapes } from './events.ts';
import { measureFinding } from './find-event.ts';
import { feeProduct } from './fee-product.ts';
import { measureLargeLog } from './large-log.ts';
import { startMeasuredService, type MeasuredService } from './measured-service.ts';
import { measureGrowth } from './growing-loan.ts';
import { measureEndOfDay } from './scale/end-of-day.ts';
import { measureManyLoans } from './scale/many-loans.ts';
import { runProgram, startProgram } from './processes.ts';
import { redisRound, redisServer } from './baselines/redis.ts';
import { against, nameColumns, spread, type Report } from './report.ts';
import { measureIdleStreams, processorMilliseconds } from './service-figures.ts';
import { reportFirstEvent } from './streaming/first-event.ts';
import { figure, median } from './statistics.ts';
import { bytesWrittenByWorker, lastRow } from './worker-bytes.ts';

const connections = 8;
const publishSettings = { connections, milliseconds: 3_000, warmUpMilliseconds: 1_000, eventBytes };
const idleStreamCount = 2_000;
const freshSubscriptions = 100;

interface Bench extends BenchOptions {
  readonly folder: string;
  readonly service: MeasuredService;
  readonly backlog: Backlog;
}

interface Throughput {
  readonly eventsPerSecond: number;
}

/** Runs the requested parts, with a folder and a service of their own. */
export async function measureEmbedded(options: BenchOptions): Promise<void> {
  const { wanted, profileFolder, scale } = options;
  const folder = await mkdtemp(join(tmpdir(), 'lendstream-bench-'));
  try {
    const service = await startMeasuredService({ DATA_DIR: folder }, profileFolder);
    const events = Math.ceil((800_000 * scale) / eventsPerBatch) * eventsPerBatch;
    const backlog = { eventType: 'bench.backlog', events, eventBytes };
    const bench: Bench = { ...options, folder, service, backlog };
    // Streams come before publishing, which leaves gigabytes in the log: its first check would take minutes.
    if (wanted('egress', 'fanout', 'window', 'first')) {
      options.report.progress(`Filling a backlog of ${figure(backlog.events)} events`);
      await fillBacklog(service, backlog);
    }
    if (wanted('egress')) await measureEgress(bench);
    if (wanted('fanout')) await measureFanOut(bench);
    if (wanted('window')) await measureWindow(bench);
    if (wanted('first')) await reportFirstEvent(options.report, service, backlog.eventType, freshSubscriptions);
    if (wanted('publish')) await measurePublish(bench, 'alike');
    if (wanted('publish-differing')) await measurePublish(bench, 'differing');
    if (wanted('find')) await measureFinding(options.report, service, scale);
    if (wanted('commands')) await measureCommands(bench);
    if (wanted('growth')) await measureGrowth(options.report, service, scale);
    if (wanted('access')) await measureCostOfKeys(options.report, service, scale);
    if (wanted('fairness')) await measureFairness(options.report, service);
    await service.stop();
    if (wanted('loans')) await measureManyLoans(options);
    if (wanted('end-of-day')) await measureEndOfDay(options);
    if (wanted('definitions')) await measureDefinitions(options);
    if (wanted('idle')) {
      // The check of a large log takes memory from the tenth second on, which is not the streams'.
      const fresh = await startMeasuredService({ DATA_DIR: join(folder, 'idle') }, profileFolder);
      await reportIdleStreams({ ...bench, service: fresh });
      await fresh.stop();
    }
    if (wanted('start')) await measureLargeLog(options.report, scale);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Targets of publishing, by the shapes of the events. */
const publishTargets = {
  alike: { name: 'durable publish', againstBareServer: 0.5, againstRedis: 1.2 },
  differing: { name: 'durable publish, no two shapes equal', againstBareServer: 0.4, againstRedis: 0.8 },
} as const;

async function measurePublish({ report, service, folder }: Bench, shapes: Shapes): Promise<void> {
  const { name, againstBareServer, againstRedis } = publishTargets[shapes];
  report.begin(
    `Publishing: ${eventBytes} B events of ${shapes} shapes, batches of ${eventsPerBatch}, ${connections} connections`,
  );
  const eventType = `bench.publish-${shapes}`;
  await service.defineEventType(eventType);
  const bare = startProgram('scripts/bench/baselines/bare-server.js', [join(folder, 'bare.log')]);
  const bareUrl = await bare.nextLine();
  const bareStore = startProgram('scripts/bench/baselines/bare-store.js', [join(folder, `bare-${shapes}.db`)]);
  const bareStoreUrl = await bareStore.nextLine();
  const redis = await redisServer(folder);
  const settings = { ...publishSettings, shapes };
  const loadTimes: number[] = [];
  const load = async (url: string): Promise<number> => {
    const { eventsPerSecond, processorMicroseconds } = await runProgram<
      Throughput & { readonly processorMicroseconds: number }
    >('scripts/bench/load/publish.js', { ...settings, url });
    loadTimes.push(processorMicroseconds);
    return eventsPerSecond;
  };
  const processorTimes: number[] = [];
  /** Also notes the processor time of an event, in microseconds. */
  const measured = async (processId: number, url: string, times: number[]): Promise<number> => {
    const before = processorMilliseconds(processId);
    const rate = await load(url);
    const seconds = (settings.milliseconds + settings.warmUpMilliseconds) / 1_000;
    times.push(((processorMilliseconds(processId) - before) * 1_000) / (rate * seconds));
    return rate;
  };
  const redisRates: number[] = [];
  const bareStoreRates: number[] = [];
  const bareStoreTimes: number[] = [];
  const turns = await report.inTurns(
    () => measured(service.processId, `${service.url}/event-types/${eventType}/events`, processorTimes),
    async () => {
      const rate = await load(bareUrl);
      bareStoreRates.push(await measured(bareStore.child.pid ?? 0, bareStoreUrl, bareStoreTimes));
      if (redis !== undefined) redisRates.push(await redisRound(redis, connections, shapes));
      return rate;
    },
  );
  await bare.stop();
  await bareStore.stop();
  report.printRatio({
    name: `${name} / bare server, same sync`,
    ratios: turns.ratios,
    atLeast: againstBareServer,
    figures: `${against(turns, 'events/s')}, ${figure(median(processorTimes.slice(1)))} us of processor each`,
  });
  printBound(report, 'bare store / bare server, same sync', bareStoreRates, turns.seconds, againstBareServer);
  report.print(`${'bare store'.padEnd(nameColumns)} ${figure(median(bareStoreTimes.slice(1)))} us of processor each`);
  report.print(`${'the load'.padEnd(nameColumns)} ${figure(median(loadTimes))} us of processor each`);
  const besideRedis = `${name} / Redis, XADD, always sync`;
  if (redis === undefined) {
    report.printUnmeasured(besideRedis, 'redis-server is not installed');
    return;
  }
  await redis.stop();
  const seconds = redisRates.slice(1);
  const ratios = turns.firsts.map((rate, index) => rate / (seconds[index] ?? Number.NaN));
  report.printRatio({
    name: besideRedis,
    ratios,
    atLeast: againstRedis,
    figures: against({ firsts: turns.firsts, seconds, ratios }, 'events/s'),
  });
  printBound(report, 'bare store / Redis, XADD, always sync', bareStoreRates, seconds, againstRedis);
}

/** Of the raw scan. */
const streamTarget = 0.8;

/**
 * How often the backlog is read before the turns that count. Until then the engine compiles the code of a stream, which
 * takes up to three tenths of the processor time of the first reads. A scan runs little code that is compiled. The
 * backlog is read until the first integrity check has ended, too: later, readers seldom have one beside them.
 */
const readsBeforeTurns = 8;

/** At full speed: large batches, a window that never closes, few commits. */
const atFullSpeed = { batchLimit: 1_000, window: 200_000, commitEachLine: false };

async function measureEgress({ report, service, folder, backlog }: Bench): Promise<void> {
  report.begin('Egress: one stream over the backlog against a raw scan of the store');
  const scan = { folder, topic: backlog.eventType };
  const bare = startProgram('scripts/bench/baselines/bare-stream.js', [JSON.stringify(scan)]);
  const reading = { url: await bare.nextLine(), events: backlog.events };
  /** Also notes the processor time of an event, in microseconds. */
  const measured = async (processId: number, read: () => Promise<number>, times: number[]): Promise<number> => {
    const before = processorMilliseconds(processId);
    const rate = await read();
    times.push(((processorMilliseconds(processId) - before) * 1_000) / backlog.events);
    return rate;
  };
  const processorTimes: number[] = [];
  const bareProcessorTimes: number[] = [];
  const readStream = (): Promise<number> =>
    measured(service.processId, () => readBacklog(service, backlog, { streams: 1, ...atFullSpeed }), processorTimes);
  const readBare = (): Promise<number> =>
    measured(
      bare.child.pid ?? 0,
      async () => {
        const read = await runProgram<Throughput>('scripts/bench/baselines/bare-stream-reader.js', reading);
        return read.eventsPerSecond;
      },
      bareProcessorTimes,
    );
  for (let read = 0; read < readsBeforeTurns || !(await service.isChecked()); read += 1) {
    await readStream();
    await readBare();
  }
  const bareRates: number[] = [];
  const turns = await report.inTurns(readStream, async () => {
    bareRates.push(await readBare());
    return (await runProgram<Throughput>('scripts/bench/baselines/raw-scan.js', scan)).eventsPerSecond;
  });
  await bare.stop();
  const timeOf = (times: readonly number[]): string =>
    `${figure(median(times.slice(-report.rounds)))} us of processor each`;
  report.printRatio({
    name: 'one HTTP stream / raw scan of the store',
    ratios: turns.ratios,
    atLeast: streamTarget,
    figures: `${against(turns, 'events/s')}, ${timeOf(processorTimes)}`,
  });
  printBound(report, 'bare stream / raw scan of the store', bareRates, turns.seconds, streamTarget);
  report.print(`${'bare stream'.padEnd(nameColumns)} ${timeOf(bareProcessorTimes)}`);
}

/**
 * What is left of the measured work when it does only what cannot be left out.
 * @param rates With the warm-up.
 * @param target Of the service.
 */
function printBound(
  report: Report,
  name: string,
  rates: readonly number[],
  seconds: readonly number[],
  target: number,
): void {
  const firsts = rates.slice(1);
  const ratios = firsts.map((rate, index) => rate / (seconds[index] ?? Number.NaN));
  const written = `${median(ratios).toFixed(2)} (${spread(ratios, (each) => each.toFixed(2))})`;
  const figures = against({ firsts, seconds, ratios }, 'events/s');
  report.print(`${name.padEnd(nameColumns)} ${written}  the service: at least ${target}   ${figures}`);
}

/** Ten streams share what is read, but not what is written to their connections. */
const fanOutTarget = 2;

async function measureFanOut({ report, service, backlog }: Bench): Promise<void> {
  report.begin('Fan-out: ten subscriptions at once against one, total deliveries');
  const turns = await report.inTurns(
    () => readBacklog(service, backlog, { streams: 10, ...atFullSpeed }),
    () => readBacklog(service, backlog, { streams: 1, ...atFullSpeed }),
  );
  report.printRatio({
    name: 'ten subscriptions / one, total deliveries',
    ratios: turns.ratios,
    atLeast: fanOutTarget,
    figures: against(turns, 'events/s'),
  });
}

async function measureWindow({ report, service, backlog }: Bench): Promise<void> {
  report.begin('One stream with max_uncommitted_events 1000, commits as fast as possible');
  const reading = { streams: 1, batchLimit: 500, window: 1_000, commitEachLine: true };
  const rates: number[] = [];
  for (let round = 0; round < report.rounds; round += 1) {
    rates.push(await report.measured(() => readBacklog(service, backlog, reading)));
  }
  const rate = median(rates);
  report.printFigure('one stream, window 1,000', `${figure(rate)} events/s`, rate >= 100_000, '>= 100,000');
}

async function reportIdleStreams({ report, service }: Bench): Promise<void> {
  report.begin(`Memory of ${idleStreamCount} idle streams`);
  const name = `memory per idle stream at ${figure(idleStreamCount)} streams`;
  if (process.platform !== 'linux') {
    report.printUnmeasured(name, 'only Linux tells it');
    return;
  }
  const { kilobytesEach } = await measureIdleStreams(service, idleStreamCount, 0);
  report.printFigure(name, `${figure(kilobytesEach)} KB`, kilobytesEach <= 20, '<= 20 KB');
}

const [loansPerRound, commandsPerLoan] = [100, 50];
const commandsPerSecondMinimum = 8_000;

async function measureCommands(bench: Bench): Promise<void> {
  const { report, service, folder } = bench;
  report.begin('Commands: fees applied to loans by a producer, against a bare loop that decides nothing');
  const product = `bench-${Date.now()}`;
  await service.call('POST', '/loanproducts', { id: product, ...feeProduct });
  let loans: readonly string[] = [];
  const load = async (url: string): Promise<number> => {
    const settings = { url, loans, commandsPerLoan };
    return (await runProgram<{ commandsPerSecond: number }>('scripts/bench/load/command.js', settings))
      .commandsPerSecond;
  };
  const bytesEach: number[] = [];
  let round = 0;
  const turns = await report.inTurns(
    async () => {
      loans = await openLoans(service, product, `${product}-${(round += 1)}`);
      const rowBefore = lastRow(folder);
      const rate = await load(service.url);
      bytesEach.push(bytesWrittenByWorker(folder, rowBefore) / (loansPerRound * commandsPerLoan));
      return rate;
    },
    async () => {
      const settings = [join(folder, 'bare-commands.log'), String(Math.round(bytesEach.at(-1) ?? 0))];
      const bare = startProgram('scripts/bench/baselines/bare-commands.js', settings);
      const rate = await load(await bare.nextLine());
      await bare.stop();
      return rate;
    },
  );
  report.printRatio({
    name: 'loan commands / bare loop, same parse, same sync',
    ratios: turns.ratios,
    atLeast: 0.5,
    figures: `${against(turns, 'commands/s')}, ${figure(median(bytesEach))} bytes written each`,
  });
  const { processorMicroseconds } = await runProgram<{ processorMicroseconds: number }>(
    'scripts/bench/baselines/deciding-alone.js',
    {
      dataFolder: join(folder, 'deciding'),
      loansPerRound,
      commandsPerLoan,
      commandsPerCommit: commandsPerCommitMaximum,
    },
  );
  const atMost = figure(1_000_000 / processorMicroseconds);
  report.print(
    `${'deciding alone, nothing read, stored or served'.padEnd(nameColumns)} ${figure(processorMicroseconds)} us of ` +
      `processor each, at most ${atMost} commands/s on one core`,
  );
  const rate = median(turns.firsts);
  const isReached = rate >= commandsPerSecondMinimum;
  report.printFigure('loan commands decided and visible', `${figure(rate)} commands/s`, isReached, '>= 8,000');
}

/** New active loans. @returns their ids */
async function openLoans(service: MeasuredService, productTypeKey: string, prefix: string): Promise<string[]> {
  const loans = Array.from({ length: loansPerRound }, (_, index) => `${prefix}-${index}`);
  await Promise.all(
    loans.map(async (id) => {
      await service.call('POST', '/loans', { id, productTypeKey, loanAmount: 1000 });
      await service.call('POST', `/loans/${id}:changeState`, { action: 'APPROVE' });
      await service.call('POST', `/loans/${id}/disbursement-transactions`, { valueDate: '2026-01-12' });
    }),
  );
  return loans;
}

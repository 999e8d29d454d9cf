import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../bench-options.ts';
import { eventBatch } from '../events.ts';
import type { MeasuredCluster } from '../measured-cluster.ts';
import type { MeasuredService } from '../measured-service.ts';
import { startProgram, type Running } from '../processes.ts';
import { processorMilliseconds, residentKilobytesInUse } from '../service-figures.ts';
import { figure } from '../statistics.ts';

/**
 * Ten thousand subscriptions, each with one open stream, on four processes of the service: what they cost while nothing
 * happens, and how long they are silent when Redis loses everything.
 */

const processCount = 4;
const subscriptionsAtScaleOne = 10_000;
const eventTypeCount = 10;
/** Streams of each process that are opened first, so that code and pools shared by all streams do not count. */
const warmUpStreams = 100;

/** Twice the default flush timeout, so that it covers two keep-alives of each partition. */
const restMilliseconds = 60_000;
/**
 * After the streams are opened. When little happens, the engine collects once more what that left, some 90 s later:
 * half a second of processor time and more for each process, and not again.
 */
const settleMilliseconds = 120_000;

const kilobytesMaximum = 20;
const busyShareMaximum = 0.05;
const scrapeMillisecondsMaximum = 200;
const lossMillisecondsMaximum = 10_000;

/** Prints the figures of the processes together. Their Redis loses everything else. */
export async function measureFourProcesses({ report, scale }: BenchOptions, cluster: MeasuredCluster): Promise<void> {
  const count = Math.ceil((subscriptionsAtScaleOne * scale) / processCount) * processCount;
  const streams = `${figure(count)} streams on ${processCount} processes`;
  report.begin(`${streams}, one of each subscription, at rest`);
  const services: MeasuredService[] = [];
  for (let index = 0; index < processCount; index += 1) {
    services.push(await cluster.startService({ ROLES: 'serve' }));
  }
  const shares = await subscribe(services, count);
  await warmUp(services, shares);

  const before = await residentInUse(services);
  report.progress('    opening the streams');
  const consumers = await Promise.all(services.map(({ url }, index) => openStreams(url, shares[index] ?? [])));
  const kilobytesEach = ((await residentInUse(services)) - before) / count;
  report.printFigure(
    `memory per stream, ${streams}`,
    `${figure(kilobytesEach)} KB`,
    kilobytesEach <= kilobytesMaximum,
    `<= ${kilobytesMaximum} KB`,
  );

  const atRest = await restShares(report, services, (rest) => report.measured(rest));
  report.printFigure(
    'processor time at rest, all together',
    inWords(atRest),
    sumOf(atRest) <= busyShareMaximum,
    `<= ${busyShareMaximum * 100} %`,
  );

  const scrapes: number[] = [];
  const scrapeProcessor = processorTimes(services);
  for (const service of services) scrapes.push(await scrape(service));
  const processorEach =
    processorTimes(services).reduce((sum, time, index) => sum + time - (scrapeProcessor[index] ?? 0), 0) / processCount;
  const slowest = Math.max(...scrapes);
  report.printFigure(
    'first scrape of each process',
    `at most ${figure(slowest)} ms (${scrapes.map(figure).join(', ')}), ${figure(processorEach)} ms of processor each`,
    slowest <= scrapeMillisecondsMaximum,
    `<= ${scrapeMillisecondsMaximum} ms`,
  );

  report.progress('    Redis loses everything');
  const lossProcessor = processorTimes(services);
  const { milliseconds, reopened, refusedCommits } = await loseRedis(cluster, services, consumers);
  const lossTotal = processorTimes(services).reduce((sum, time, index) => sum + time - (lossProcessor[index] ?? 0), 0);
  report.printFigure(
    'until all stream and commit again after a loss of Redis',
    `${figure(milliseconds)} ms, ${figure(lossTotal)} ms of processor, ${reopened} streams opened again, ` +
      `${refusedCommits} commits sent again`,
    milliseconds <= lossMillisecondsMaximum,
    `<= ${figure(lossMillisecondsMaximum)} ms`,
  );
  for (const consumer of consumers) await consumer.stop();
  for (const service of services) await service.stop();
  await measureBare(report, cluster, shares);
}

/** Prints what is left at rest when nothing but keep-alives is written, see bare-keep-alives.ts. */
async function measureBare(
  report: BenchOptions['report'],
  cluster: MeasuredCluster,
  shares: readonly (readonly string[])[],
): Promise<void> {
  report.progress('    bare programs with as many streams');
  const names = Array.from({ length: eventTypeCount }, (_, index) => eventTypeName(index));
  const ends = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await cluster.ends(name)])));
  const settings = JSON.stringify({ broker: cluster.brokers[0], ends, redisUrl: cluster.redisUrl });
  const programs = shares.map(() => startProgram('scripts/bench/baselines/bare-keep-alives.js', [settings]));
  const urls = await Promise.all(programs.map((program) => program.nextLine()));
  const consumers = await Promise.all(urls.map((url, index) => openStreams(url, shares[index] ?? [])));
  const processes = programs.map(({ child }) => ({ processId: child.pid ?? 0 }));
  report.print(
    `bare programs that only write keep-alives, at rest: ${inWords(await restShares(report, processes, (rest) => rest()))}`,
  );
  for (const running of [...consumers, ...programs]) await running.stop();
}

/**
 * The share of a core that each process takes, when what opening the streams left is collected.
 * @param watch Runs the time that counts.
 */
async function restShares(
  report: BenchOptions['report'],
  processes: readonly Pick<MeasuredService, 'processId'>[],
  watch: (rest: () => Promise<void>) => Promise<void>,
): Promise<number[]> {
  await sleep(settleMilliseconds);
  report.progress(`    at rest for ${restMilliseconds / 1_000} s`);
  const before = processorTimes(processes);
  await watch(() => sleep(restMilliseconds));
  return processorTimes(processes).map(
    (milliseconds, index) => (milliseconds - (before[index] ?? 0)) / restMilliseconds,
  );
}

function sumOf(shares: readonly number[]): number {
  return shares.reduce((sum, share) => sum + share, 0);
}

function inWords(shares: readonly number[]): string {
  const each = shares.map((share) => (share * 100).toFixed(1)).join(', ');
  return `${(sumOf(shares) * 100).toFixed(1)} % of a core (${each})`;
}

function eventTypeName(index: number): string {
  return `bench.many-streams-${index}`;
}

/** The subscriptions of each process. */
async function subscribe(services: readonly MeasuredService[], count: number): Promise<string[][]> {
  const [first] = services as [MeasuredService];
  for (let index = 0; index < eventTypeCount; index += 1) await first.defineEventType(eventTypeName(index));
  const ofEach = Math.ceil(count / eventTypeCount);
  const ids: string[] = [];
  for (let index = 0; index < eventTypeCount; index += 1) {
    const service = services[index % services.length] ?? first;
    ids.push(...(await service.subscribe(Math.min(ofEach, count - ids.length), eventTypeName(index), 'end')));
  }
  return services.map((_, index) => ids.filter((_id, position) => position % services.length === index));
}

async function warmUp(services: readonly MeasuredService[], shares: readonly (readonly string[])[]): Promise<void> {
  const warm = await Promise.all(
    services.map(({ url }, index) => openStreams(url, (shares[index] ?? []).slice(0, warmUpStreams))),
  );
  for (const consumer of warm) await consumer.stop();
}

async function openStreams(url: string, subscriptions: readonly string[]): Promise<Running> {
  const consumers = startProgram('scripts/bench/load/many-streams.js', []);
  consumers.child.stdin?.write(`${JSON.stringify({ url, subscriptions })}\n`);
  await consumers.nextLine();
  return consumers;
}

async function residentInUse(services: readonly MeasuredService[]): Promise<number> {
  const kilobytes = await Promise.all(services.map(({ processId }) => residentKilobytesInUse(processId)));
  return kilobytes.reduce((sum, each) => sum + each, 0);
}

function processorTimes(services: readonly Pick<MeasuredService, 'processId'>[]): number[] {
  return services.map(({ processId }) => processorMilliseconds(processId));
}

/** Milliseconds. */
async function scrape({ url }: MeasuredService): Promise<number> {
  const begin = performance.now();
  const response = await fetch(`${url}/metrics`, { headers: { Accept: 'text/plain' } });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`A scrape was answered ${response.status}`);
  return performance.now() - begin;
}

interface Loss {
  readonly milliseconds: number;
  readonly reopened: number;
  readonly refusedCommits: number;
}

/**
 * Ends Redis, starts an empty one, publishes an event of each type, and waits until every stream has delivered it and
 * its commit is accepted. The time begins when Redis ends.
 */
async function loseRedis(
  cluster: MeasuredCluster,
  services: readonly MeasuredService[],
  consumers: readonly Running[],
): Promise<Loss> {
  for (const { child } of consumers) child.stdin?.write('expect\n');
  for (const consumer of consumers) await consumer.nextLine();
  const begin = performance.now();
  await cluster.loseRedis();
  const [first] = services as [MeasuredService];
  for (let index = 0; index < eventTypeCount; index += 1) {
    await first.call('POST', `/event-types/${eventTypeName(index)}/events`, [
      JSON.parse(eventBatch(index)[0]?.json ?? ''),
    ]);
  }
  const responses = await Promise.all(consumers.map((consumer) => consumer.nextLine()));
  const milliseconds = performance.now() - begin;
  const counts = responses.map((line) => JSON.parse(line) as Omit<Loss, 'milliseconds'>);
  return {
    milliseconds,
    reopened: counts.reduce((sum, { reopened }) => sum + reopened, 0),
    refusedCommits: counts.reduce((sum, { refusedCommits }) => sum + refusedCommits, 0),
  };
}

import type { BenchOptions, ClusterBench } from './bench-options.ts';
import type { MeasuredCluster } from './measured-cluster.ts';
import { partitionCount } from './measured-service.ts';
import { runProgram } from './processes.ts';
import { spread } from './report.ts';
import { measureIdleStreams, openIdleStreams } from './service-figures.ts';
import { figure, median, quantile } from './statistics.ts';

/** Figures of the service on Kafka and Redis that are compared only with their targets. */

const latencyEvents = 1_000;
const latencySettings = { warmUpEvents: 200, everyMilliseconds: 5 };
const idleStreamsBeside = 1_000;

/** From publishing an event to its arrival on an open stream, both alone and beside many idle streams. */
export async function reportLatency(bench: ClusterBench): Promise<void> {
  const { report, service, scale } = bench;
  report.begin(`Publish to receive, one event every ${latencySettings.everyMilliseconds} ms`);
  await reportLatencyOf(bench, 'publish to receive, one open stream', { p50: 3, p99: 12 });
  const count = Math.ceil(idleStreamsBeside * scale);
  report.begin(`Publish to receive beside ${figure(count)} idle streams`);
  await service.defineEventType('bench.idle-beside');
  const idle = await openIdleStreams(service, await service.subscribe(count, 'bench.idle-beside', 'end'));
  await reportLatencyOf(bench, `publish to receive beside ${figure(count)} idle streams`, { p50: Infinity, p99: 26 });
  await idle.close();
}

let latencyTypes = 0;

async function reportLatencyOf(
  { report, service, scale }: ClusterBench,
  name: string,
  target: { readonly p50: number; readonly p99: number },
): Promise<void> {
  latencyTypes += 1;
  const eventType = `bench.latency-${latencyTypes}`;
  await service.defineEventType(eventType);
  const [p50s, p99s]: [number[], number[]] = [[], []];
  for (let round = 0; round < report.rounds; round += 1) {
    const [subscription] = await service.subscribe(1, eventType, 'end');
    const events = Math.ceil(latencyEvents * scale);
    const settings = { ...latencySettings, url: service.url, eventType, subscription, events };
    const { milliseconds } = await report.measured(() =>
      runProgram<{ milliseconds: number[] }>('scripts/bench/load/latency.js', settings),
    );
    p50s.push(quantile(milliseconds, 0.5));
    p99s.push(quantile(milliseconds, 0.99));
    report.progress(`    p50 ${figure(p50s.at(-1) ?? 0)} ms, p99 ${figure(p99s.at(-1) ?? 0)} ms`);
  }
  const [p50, p99] = [median(p50s), median(p99s)];
  const targets = target.p50 === Infinity ? `p99 <= ${target.p99}` : `p50 <= ${target.p50}, p99 <= ${target.p99}`;
  report.printFigure(
    name,
    `p50 ${figure(p50)} (${spread(p50s)}) ms, p99 ${figure(p99)} (${spread(p99s)}) ms`,
    p50 <= target.p50 && p99 <= target.p99,
    targets,
  );
}

const handOvers = 100;

/** How long a partition is idle between the last commit on one process's stream and delivery on another process's. */
export async function reportHandOver({ report, service, cluster, scale }: ClusterBench): Promise<void> {
  report.begin('Hand-over to a stream of another process');
  const eventType = 'bench.hand-over';
  await service.defineEventType(eventType);
  const other = await cluster.startService();
  const subscriptions = await service.subscribe(Math.ceil(handOvers * scale), eventType, 'end');
  const settings = { url: service.url, otherUrl: other.url, eventType, subscriptions, partitions: partitionCount };
  const { milliseconds } = await report.measured(() =>
    runProgram<{ milliseconds: number[] }>('scripts/bench/load/hand-over.js', settings),
  );
  await other.stop();
  const [p50, p99] = [quantile(milliseconds, 0.5), quantile(milliseconds, 0.99)];
  report.printFigure(
    'hand-over after the last commit',
    `p50 ${figure(p50)} ms, p99 ${figure(p99)} ms`,
    p99 <= 200,
    'p99 <= 200',
  );
}

const idleStreamsForMemory = 2_000;
const idleStreamsAtRest = 1_000;
const restMilliseconds = 10_000;

/** The cost of idle streams. Each count runs in a process of its own. */
export async function reportIdle({ report, scale }: BenchOptions, cluster: MeasuredCluster): Promise<void> {
  const [many, fewer] = [Math.ceil(idleStreamsForMemory * scale), Math.ceil(idleStreamsAtRest * scale)];
  const memory = `memory per idle stream at ${figure(many)} streams`;
  const processorTime = `processor time at rest with ${figure(fewer)} idle streams`;
  if (process.platform !== 'linux') {
    for (const name of [memory, processorTime]) report.printUnmeasured(name, 'only Linux tells it');
    return;
  }
  report.begin(`Memory of ${figure(many)} idle streams, processor time of ${figure(fewer)}`);
  const first = await cluster.startService();
  const { kilobytesEach } = await measureIdleStreams(first, many, 0);
  await first.stop();
  report.printFigure(memory, `${figure(kilobytesEach)} KB`, kilobytesEach <= 20, '<= 20 KB');
  const second = await cluster.startService();
  const { busyShare } = await measureIdleStreams(second, fewer, restMilliseconds);
  await second.stop();
  report.printFigure(processorTime, `${(busyShare * 100).toFixed(1)} % of a core`, busyShare <= 0.02, '<= 2 %');
}

import { measureFairness } from './access/fairness.ts';
import { fillBacklog, readBacklog, type Backlog } from './load/backlog.ts';
import type { BenchOptions, ClusterBench } from './bench-options.ts';
import { measureCommands } from './cluster-commands.ts';
import { reportHandOver, reportIdle, reportLatency } from './cluster-figures.ts';
import { measureDefinitionsOnCluster } from './definitions.ts';
import { eventBytes, eventsPerBatch, type Shapes } from './events.ts';
import { measureGrowth } from './growing-loan.ts';
import { startMeasuredCluster, type MeasuredCluster } from './measured-cluster.ts';
import { runProgram } from './processes.ts';
import { against } from './report.ts';
import { measureFourProcesses } from './scale/four-processes.ts';
import { processorMilliseconds } from './service-figures.ts';
import { figure, median } from './statistics.ts';
import { measureCommits } from './streaming/commits.ts';
import { reportFirstEventOnCluster } from './streaming/first-event.ts';
import { reportTakeOver } from './take-over.ts';

const largeEventBytes = 1_000;
/** How many requests or sends are under way at a time. */
const inFlight = 8;
const publishSettings = { milliseconds: 4_000, warmUpMilliseconds: 1_500 };
const fanOut = 10;
const freshSubscriptions = 300;

interface Throughput {
  readonly eventsPerSecond: number;
}

/** Runs the requested parts on a cluster of their own. */
export async function measureCluster(options: BenchOptions): Promise<void> {
  const { report, wanted, scale, profileFolder } = options;
  const cluster = await startMeasuredCluster((line) => report.progress(line), profileFolder);
  try {
    const service = await cluster.startService();
    const bench: ClusterBench = { ...options, cluster, service };
    const small = backlogOf('bench.small', 1_500_000 * scale, eventBytes);
    const large = backlogOf('bench.large', 400_000 * scale, largeEventBytes);
    // Publishing comes first: its baseline must not wait for a disk that is still writing a backlog.
    for (const published of publishing) if (wanted(published.part)) await measurePublish(bench, published);
    if (wanted('egress', 'fanout', 'first')) await fill(bench, small);
    if (wanted('egress')) await measureEgress(bench, small);
    if (wanted('fanout')) await measureFanOut(bench, { ...small, events: wholeBatches(300_000 * scale) });
    if (wanted('egress-1k')) {
      await fill(bench, large);
      await measureEgress(bench, large);
    }
    if (wanted('commits')) await measureCommits(bench);
    if (wanted('first')) {
      await reportFirstEventOnCluster(bench, small.eventType, Math.ceil(freshSubscriptions * scale));
    }
    if (wanted('latency')) await reportLatency(bench);
    if (wanted('hand-over')) await reportHandOver(bench);
    if (wanted('growth')) await measureGrowth(report, service, scale);
    if (wanted('fairness')) await measureFairness(report, service);
    await service.stop();
    if (wanted('commands')) await measureCommands(options, cluster);
    if (wanted('take-over')) await reportTakeOver(options, cluster);
    if (wanted('idle')) await reportIdle(options, cluster);
    // Last, because both empty Redis, and the second leaves thousands of topics.
    if (wanted('four-processes')) await measureFourProcesses(options, cluster);
    if (wanted('definitions')) await measureDefinitionsOnCluster(options, cluster);
  } finally {
    await cluster.stop();
  }
}

function wholeBatches(events: number): number {
  return Math.ceil(events / eventsPerBatch) * eventsPerBatch;
}

function backlogOf(eventType: string, events: number, bytes: number): Backlog {
  return { eventType, events: wholeBatches(events), eventBytes: bytes };
}

async function fill({ report, service }: ClusterBench, backlog: Backlog): Promise<void> {
  report.progress(`Filling a backlog of ${figure(backlog.events)} events of ${backlog.eventBytes} B`);
  await fillBacklog(service, backlog);
}

interface Published {
  readonly part: string;
  readonly bytes: number;
  readonly shapes: Shapes;
  readonly atLeast: number;
}

/**
 * What is published, and the least ratio. Events alike are neither parsed nor validated one by one, so more is expected
 * of them. With 1 KB, what both sides leave to the kernel and to Kafka for each byte is the larger part, so less is.
 */
const publishing: readonly Published[] = [
  { part: 'publish', bytes: eventBytes, shapes: 'alike', atLeast: 2.5 },
  { part: 'publish-differing', bytes: eventBytes, shapes: 'differing', atLeast: 2 },
  { part: 'publish-1k', bytes: largeEventBytes, shapes: 'alike', atLeast: 2 },
];

/**
 * Each round has a topic of its own, which is deleted after it. A virtual machine gets memory that it has not used yet
 * a page at a time, 10 us for 4 KB here. A log that only grows would measure that.
 */
async function measurePublish(
  { report, service, cluster }: ClusterBench,
  { bytes, shapes, atLeast }: Published,
): Promise<void> {
  report.begin(
    `Publishing: ${bytes} B events of ${shapes} shapes, batches of ${eventsPerBatch}, ${inFlight} in flight`,
  );
  const settings = { ...publishSettings, eventBytes: bytes, shapes };
  const processorTimes: number[] = [];
  let round = 0;
  let eventType = '';
  const turns = await report.inTurns(
    async () => {
      eventType = `bench.publish-${bytes}-${shapes}-${(round += 1)}`;
      await service.defineEventType(eventType);
      const url = `${service.url}/event-types/${eventType}/events`;
      const before = processorMilliseconds(service.processId);
      const { eventsPerSecond } = await runProgram<Throughput>('scripts/bench/load/publish.js', {
        ...settings,
        url,
        connections: inFlight,
      });
      const seconds = (settings.milliseconds + settings.warmUpMilliseconds) / 1_000;
      processorTimes.push(((processorMilliseconds(service.processId) - before) * 1_000) / (eventsPerSecond * seconds));
      return eventsPerSecond;
    },
    async () => {
      const raw = { ...settings, brokers: cluster.brokers, topic: eventType, inFlight };
      const { eventsPerSecond } = await runProgram<Throughput>('scripts/bench/baselines/kafkajs-producer.js', raw);
      await service.call('DELETE', `/event-types/${eventType}`);
      return eventsPerSecond;
    },
  );
  report.printRatio({
    name: `HTTP publish / kafkajs producer, ${bytes} B${shapes === 'alike' ? '' : ', no two shapes equal'}`,
    ratios: turns.ratios,
    atLeast,
    figures: `${against(turns, 'events/s')}, ${figure(median(processorTimes.slice(1)))} us of the service each`,
  });
}

/** At full speed: large batches, a window that never closes, few commits. */
const atFullSpeed = { batchLimit: 1_000, window: 200_000, commitEachLine: false };

async function measureEgress({ report, service, cluster }: ClusterBench, backlog: Backlog): Promise<void> {
  report.begin(`Egress: one stream over ${backlog.eventBytes} B events against a kafkajs consumer`);
  const processorTimes: number[] = [];
  const turns = await report.inTurns(
    async () => {
      const before = processorMilliseconds(service.processId);
      const rate = await readBacklog(service, backlog, { streams: 1, ...atFullSpeed });
      processorTimes.push(((processorMilliseconds(service.processId) - before) * 1000) / backlog.events);
      return rate;
    },
    () => consumeRaw(cluster, backlog, 1),
  );
  const isSmall = backlog.eventBytes === eventBytes;
  report.printRatio({
    name: `one HTTP stream / kafkajs eachBatch, ${backlog.eventBytes} B`,
    ratios: turns.ratios,
    atLeast: isSmall ? 3.5 : 1.7,
    figures: `${against(turns, 'events/s')}, ${figure(median(processorTimes))} us of the service's processor each`,
  });
}

async function measureFanOut({ report, service, cluster }: ClusterBench, backlog: Backlog): Promise<void> {
  report.begin('Fan-out: ten streams of ten subscriptions against ten kafkajs consumers, total deliveries');
  const turns = await report.inTurns(
    () => readBacklog(service, backlog, { streams: fanOut, ...atFullSpeed }),
    () => consumeRaw(cluster, backlog, fanOut),
  );
  report.printRatio({
    name: 'ten HTTP streams / ten kafkajs consumers',
    ratios: turns.ratios,
    atLeast: 10,
    figures: against(turns, 'events/s'),
  });
}

async function consumeRaw({ brokers }: MeasuredCluster, backlog: Backlog, consumers: number): Promise<number> {
  const settings = { brokers, topic: backlog.eventType, consumers, events: backlog.events };
  return (await runProgram<Throughput>('scripts/bench/baselines/kafkajs-consumer.js', settings)).eventsPerSecond;
}

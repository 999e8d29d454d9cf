import type { ClusterBench } from '../bench-options.ts';
import { partitionCount, serviceMemory, type MeasuredService } from '../measured-service.ts';
import { runProgram, startProgram } from '../processes.ts';
import { nameColumns, type Report } from '../report.ts';
import { figure, quantile } from '../statistics.ts';

const name = 'first event of a fresh subscription';

/** For each address the times from requesting a stream of a new subscription to its first event. Milliseconds. */
async function firstEvents(
  report: Report,
  urls: readonly string[],
  subscriptions: readonly string[],
): Promise<number[][]> {
  const { milliseconds } = await report.measured(() =>
    runProgram<{ milliseconds: number[][] }>('scripts/bench/load/first-event.js', { urls, subscriptions }),
  );
  return milliseconds;
}

/** Reports the time from requesting a stream of a new subscription to its first event. */
export async function reportFirstEvent(
  report: Report,
  service: MeasuredService,
  eventType: string,
  count: number,
): Promise<void> {
  report.begin('First event of a fresh subscription');
  const [ofService = []] = await firstEvents(report, [service.url], await service.subscribe(count, eventType));
  printService(report, ofService);
}

/** The same on a cluster, in turns with a server that makes only the calls that nothing can do without. */
export async function reportFirstEventOnCluster(
  { report, service, cluster }: ClusterBench,
  eventType: string,
  count: number,
): Promise<void> {
  report.begin('First event of a fresh subscription, against a bare server');
  const offsetsTopic = 'bench.bare-first-event';
  await cluster.createTopics([offsetsTopic], 1, { 'cleanup.policy': 'compact' });
  const { brokers, redisUrl } = cluster;
  const settings = { brokers, redisUrl, eventType, partitions: partitionCount, offsetsTopic };
  const bareProgram = 'scripts/bench/baselines/bare-first-event.js';
  const bare = startProgram(bareProgram, [JSON.stringify(settings)], {}, serviceMemory);
  const urls = [service.url, await bare.nextLine()];
  const [ofService = [], ofBare = []] = await firstEvents(report, urls, await service.subscribe(count, eventType));
  await bare.stop();
  printService(report, ofService);
  report.print(`${'the same of a bare server'.padEnd(nameColumns)} ${textOf(ofBare)}`);
}

function printService(report: Report, milliseconds: readonly number[]): void {
  const isReached = quantile(milliseconds, 0.5) <= 5 && quantile(milliseconds, 0.99) <= 15;
  report.printFigure(name, textOf(milliseconds), isReached, 'p50 <= 5, p99 <= 15');
}

function textOf(milliseconds: readonly number[]): string {
  return `p50 ${figure(quantile(milliseconds, 0.5))} ms, p99 ${figure(quantile(milliseconds, 0.99))} ms`;
}

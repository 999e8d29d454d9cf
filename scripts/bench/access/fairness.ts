import type { MeasuredService } from '../measured-service.ts';
import { runProgram, startProgram } from '../processes.ts';
import { nameColumns, spread, type Report } from '../report.ts';
import { processorMilliseconds } from '../service-figures.ts';
import { figure, median, quantile } from '../statistics.ts';
import { createKey, type PresentedKey } from './keys.ts';

/** By how much one key may make another wait. */
const factorMaximum = 2;

const greedyConnections = 8;
const modest = { rounds: 150, everyMilliseconds: 5 };

/** The limit of the greedy key: batches a second. */
const limit = 50;

const kinds = ['publish', 'commit', 'delivery'] as const;

/** The 99th percentiles of a turn, and what the service needed for it. Milliseconds. */
type Waits = Readonly<Record<(typeof kinds)[number] | 'processorPerSecond', number>>;

/** A key that takes what it can, and how much it asks for. */
interface Greedy {
  readonly name: string;
  readonly key: PresentedKey;
  readonly connections: number;
  /** As fast as responses allow when absent. */
  readonly requestsPerSecond?: number;
  /** Whether nothing is promised beside it: the administrator has given it no limit. */
  readonly isUnlimited?: boolean;
}

/** How long a modest key waits while a greedy one sends what it can, against how long it waits without. */
export async function measureFairness(report: Report, service: MeasuredService): Promise<void> {
  report.begin('Fairness: a modest key beside a greedy one, against the same alone');
  for (const name of ['bench.greedy', 'bench.modest']) await service.defineEventType(name);
  const key = await createKey(service);
  const limited = await createKey(service, { requests_per_second: limit });
  const [connections, tenfold] = [greedyConnections, greedyConnections * 10];
  for (const greedy of [
    { name: 'at its limit', key: limited, connections, requestsPerSecond: limit },
    { name: 'ten times beyond its limit', key: limited, connections: tenfold, requestsPerSecond: 10 * limit },
    { name: 'far beyond its limit, without a pause', key: limited, connections },
    { name: 'without a limit, as fast as it can', key: await createKey(service), connections, isUnlimited: true },
  ]) {
    await compare(report, service, key, greedy);
  }
}

async function compare(report: Report, service: MeasuredService, key: PresentedKey, greedy: Greedy): Promise<void> {
  report.progress(`  ${greedy.name}`);
  const turns: { readonly alone: Waits; readonly beside: Waits }[] = [];
  for (let round = 0; round <= report.rounds; round += 1) {
    const alone = await waitsOf(service, key);
    const { connections, requestsPerSecond } = greedy;
    const settings = { url: service.url, eventType: 'bench.greedy', connections, requestsPerSecond };
    const running = startProgram('scripts/bench/load/greedy.js', [
      JSON.stringify({ ...settings, headers: greedy.key.headers }),
    ]);
    await running.nextLine();
    const beside = await waitsOf(service, key);
    running.child.kill('SIGTERM');
    const requests = await running.nextLine();
    const shown = [...kinds, 'processorPerSecond' as const].map(
      (kind) => `${kind} ${figure(beside[kind])} against ${figure(alone[kind])}`,
    );
    report.progress(`    ${shown.join(', ')} ms, greedy ${requests}`);
    if (round > 0) turns.push({ alone, beside });
  }
  for (const kind of kinds) {
    const factors = turns.map(({ alone, beside }) => beside[kind] / alone[kind]);
    const factor = median(factors);
    const times = (side: 'alone' | 'beside'): string => figure(median(turns.map((turn) => turn[side][kind])));
    const name = `p99 of ${kind} beside a key ${greedy.name}`;
    const text = `${figure(factor)} times (${spread(factors)}), ${times('beside')} against ${times('alone')} ms`;
    if (greedy.isUnlimited === true) report.print(`${name.padEnd(nameColumns)} ${text}`);
    else report.printFigure(name, text, factor <= factorMaximum, `<= ${factorMaximum}`);
  }
}

async function waitsOf(service: MeasuredService, { headers }: PresentedKey): Promise<Waits> {
  const subscriptions = await service.subscribe(1, 'bench.modest', 'end');
  const [began, spentBefore] = [performance.now(), processorMilliseconds(service.processId)];
  const times = await runProgram<Record<'publishes' | 'commits' | 'deliveries', number[]>>(
    'scripts/bench/load/paced.js',
    { url: service.url, eventType: 'bench.modest', subscription: subscriptions[0], headers, ...modest },
  );
  const spent = processorMilliseconds(service.processId) - spentBefore;
  const seconds = (performance.now() - began) / 1_000;
  await service.unsubscribe(subscriptions);
  return {
    publish: quantile(times.publishes, 0.99),
    commit: quantile(times.commits, 0.99),
    delivery: quantile(times.deliveries, 0.99),
    processorPerSecond: spent / seconds,
  };
}

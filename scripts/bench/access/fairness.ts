import type { MeasuredService } from '../measured-service.ts';
import { runProgram, startProgram } from '../processes.ts';
import { spread, type Report } from '../report.ts';
import { figure, median, quantile } from '../statistics.ts';
import { createKey, type PresentedKey } from './keys.ts';

/** By how much one key may make another wait. */
const factorMaximum = 2;

const greedyConnections = 8;
const modest = { rounds: 150, everyMilliseconds: 5 };

/** The 99th percentiles of a turn. Milliseconds. */
interface Waits {
  readonly publish: number;
  readonly commit: number;
}

/** How long a modest key waits while a greedy one sends what it can, against how long it waits without. */
export async function measureFairness(report: Report, service: MeasuredService): Promise<void> {
  report.progress('Fairness: a modest key beside a greedy one, against the same alone');
  for (const name of ['bench.greedy', 'bench.modest']) await service.defineEventType(name);
  const key = await createKey(service);
  const beyond = await createKey(service, { requests_per_second: 50 });
  const below = await createKey(service);
  await compare(report, service, key, 'far above its limit', beyond);
  await compare(report, service, key, 'as fast as it can below its limit', below);
}

async function compare(
  report: Report,
  service: MeasuredService,
  key: PresentedKey,
  name: string,
  greedy: PresentedKey,
): Promise<void> {
  const turns: { readonly alone: Waits; readonly beside: Waits }[] = [];
  for (let round = 0; round <= report.rounds; round += 1) {
    const alone = await waitsOf(service, key);
    const running = startProgram('scripts/bench/load/greedy.js', [
      JSON.stringify({
        url: service.url,
        eventType: 'bench.greedy',
        connections: greedyConnections,
        headers: greedy.headers,
      }),
    ]);
    await running.nextLine();
    const beside = await waitsOf(service, key);
    running.child.kill('SIGTERM');
    const requests = await running.nextLine();
    report.progress(
      `    publish ${figure(beside.publish)} against ${figure(alone.publish)} ms, ` +
        `commit ${figure(beside.commit)} against ${figure(alone.commit)} ms, greedy ${requests}`,
    );
    if (round > 0) turns.push({ alone, beside });
  }
  for (const kind of ['publish', 'commit'] as const) {
    const factors = turns.map(({ alone, beside }) => beside[kind] / alone[kind]);
    const factor = median(factors);
    const times = (side: 'alone' | 'beside'): string => figure(median(turns.map((turn) => turn[side][kind])));
    report.printFigure(
      `p99 of ${kind} beside a key ${name}`,
      `${figure(factor)} times (${spread(factors)}), ${times('beside')} against ${times('alone')} ms`,
      factor <= factorMaximum,
      `<= ${factorMaximum}`,
    );
  }
}

async function waitsOf(service: MeasuredService, { headers }: PresentedKey): Promise<Waits> {
  const subscriptions = await service.subscribe(1, 'bench.modest', 'end');
  const { publishes, commits } = await runProgram<{ publishes: number[]; commits: number[] }>(
    'scripts/bench/load/paced.js',
    { url: service.url, eventType: 'bench.modest', subscription: subscriptions[0], headers, ...modest },
  );
  await service.unsubscribe(subscriptions);
  return { publish: quantile(publishes, 0.99), commit: quantile(commits, 0.99) };
}

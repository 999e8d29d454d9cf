import type { ClusterBench } from '../bench-options.ts';
import { eventBytes } from '../events.ts';
import { fillBacklog } from '../load/backlog.ts';
import { partitionCount, serviceMemory } from '../measured-service.ts';
import { startProgram } from '../processes.ts';
import { nameColumns, spread, type Report } from '../report.ts';
import { processorMilliseconds } from '../service-figures.ts';
import { figure, median } from '../statistics.ts';

/** Subscriptions of four partitions each; together they make sixteen lanes of commits. */
const committingSubscriptions = 4;
const committedEvents = 48_000;
const commitSettings = { milliseconds: 3_000, warmUpMilliseconds: 1_000 };
const commitsPerSecondMinimum = 15_000;

/** The last line of the load. */
interface LoadResult {
  /** All that were made, those of the warm-up included. */
  readonly commits: number;
  readonly commitsPerSecond: number;
  readonly milliseconds: number;
}

/** The rounds of the service or of the bare server. */
class Rounds {
  readonly rates: number[] = [];
  readonly #times = { server: [] as number[], Redis: [] as number[], load: [] as number[] };

  /** @param microseconds Processor time of one commit: of the server, of Redis, of the load. */
  add(rate: number, [server = 0, ofRedis = 0, ofLoad = 0]: readonly number[]): void {
    this.rates.push(rate);
    this.#times.server.push(server);
    this.#times.Redis.push(ofRedis);
    this.#times.load.push(ofLoad);
  }

  text(server: string): string {
    const { server: ofServer, Redis, load } = this.#times;
    const times = [
      `${figure(median(ofServer))} us of ${server}`,
      `${figure(median(Redis))} us of Redis`,
      `${figure(median(load))} us of load`,
    ];
    return `${figure(median(this.rates))} (${spread(this.rates)}) commits/s; each ${times.join(', ')}`;
  }
}

/**
 * Cursor commits over HTTP, 16 in flight, each of which moves a cursor forward: of the service, and of a server that
 * does only what a commit cannot do without, in turns.
 */
export async function measureCommits({ report, service, cluster }: ClusterBench): Promise<void> {
  report.begin('Cursor commits, 16 in flight, against a bare server');
  const backlog = { eventType: 'bench.commits', events: committedEvents, eventBytes };
  await fillBacklog(service, backlog);
  const settings = { redisUrl: cluster.redisUrl, partitions: partitionCount, events: committedEvents };
  const bareProgram = 'scripts/bench/baselines/bare-commits.js';
  const bare = startProgram(bareProgram, [JSON.stringify(settings)], {}, serviceMemory);
  const bareUrl = await bare.nextLine();
  const [ofService, ofBare] = [new Rounds(), new Rounds()];
  for (let round = 0; round <= report.rounds; round += 1) {
    const subscriptions = await service.subscribe(committingSubscriptions, backlog.eventType);
    const commit = async (url: string, serverId: number, rounds: Rounds): Promise<void> => {
      const { rate, times } = await commitRound(report, url, subscriptions, [serverId, cluster.redisProcessId]);
      if (round > 0) rounds.add(rate, times);
    };
    const commitToService = (): Promise<void> => commit(service.url, service.processId, ofService);
    await (round === 0 ? commitToService() : report.measured(commitToService));
    await service.unsubscribe(subscriptions);
    await commit(bareUrl, bare.child.pid ?? 0, ofBare);
  }
  await bare.stop();
  const rate = median(ofService.rates);
  const isReached = rate >= commitsPerSecondMinimum;
  const target = `>= ${figure(commitsPerSecondMinimum)}`;
  report.printFigure('cursor commits over HTTP, 16 in flight', ofService.text('service'), isReached, target);
  report.print(`${'the same of a bare server'.padEnd(nameColumns)} ${ofBare.text('server')}`);
}

/** @returns Commits per second, and the processor time of one in each process, the load last. Microseconds. */
async function commitRound(
  report: Report,
  url: string,
  subscriptions: readonly string[],
  processIds: readonly number[],
): Promise<{ readonly rate: number; readonly times: readonly number[] }> {
  const load = startProgram('scripts/bench/load/commit.js', [
    JSON.stringify({ ...commitSettings, url, subscriptions, events: committedEvents }),
  ]);
  await load.nextLine();
  const ids = [...processIds, load.child.pid ?? 0];
  const before = ids.map(processorMilliseconds);
  const { commits, commitsPerSecond, milliseconds } = JSON.parse(await load.nextLine()) as LoadResult;
  const times = ids.map((id, index) => ((processorMilliseconds(id) - (before[index] ?? 0)) * 1_000) / commits);
  await load.stop();
  const written = times.map(figure).join(', ');
  report.progress(`    ${figure(commitsPerSecond)} commits/s, median ${figure(milliseconds)} ms; each ${written} us`);
  return { rate: commitsPerSecond, times };
}

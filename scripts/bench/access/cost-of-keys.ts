import { eventBytes } from '../events.ts';
import { fillBacklog, readBacklog, type Backlog } from '../load/backlog.ts';
import type { SliceTotals } from '../load/slices.ts';
import type { MeasuredService } from '../measured-service.ts';
import { runProgram } from '../processes.ts';
import { against, nameColumns, spread, type Report } from '../report.ts';
import { processorMilliseconds } from '../service-figures.ts';
import { figure, median } from '../statistics.ts';
import { createKey, type PresentedKey } from './keys.ts';

/** What a key may cost: what the same takes without one, as a share of that with one. */
const againstOpen = 0.95;

/** So often the backlog is read in a row: once takes an eighth of a second, and processor time has steps of 10 ms. */
const readingsInTurn = 8;

const slicing = { slices: 24, sliceMilliseconds: 200, warmUpSlices: 4 };

interface Bench {
  readonly report: Report;
  readonly service: MeasuredService;
  readonly key: PresentedKey;
  readonly backlog: Backlog;
}

/** Requests of a restricted key of the registry, against the same without a key, on one open service. */
export async function measureCostOfKeys(report: Report, service: MeasuredService, scale: number): Promise<void> {
  report.begin('Access: requests of a restricted key against those without any, on one open service');
  const events = Math.max(100_000, Math.ceil((200_000 * scale) / 100) * 100);
  const backlog = { eventType: 'bench.access', events, eventBytes };
  await fillBacklog(service, backlog);
  const bench = { report, service, key: await createKey(service), backlog };
  await service.defineEventType('bench.access-publish');
  await measureRequests(bench, 'publishing one event', 'bench.access-publish', false);
  await measureRequests(bench, 'commit', backlog.eventType, true);
  await measureStream(bench);
}

/** What a request with the key, and one without it, cost in a round. */
interface Round {
  readonly rates: readonly number[];
  readonly microseconds: readonly number[];
}

async function measureRequests(
  { report, service, key, backlog }: Bench,
  name: string,
  eventType: string,
  isCommitting: boolean,
): Promise<void> {
  const rounds: Round[] = [];
  for (let round = 0; round <= report.rounds; round += 1) {
    const subscriptions = isCommitting ? await service.subscribe(1, eventType) : [];
    const totals = await runProgram<SliceTotals[]>('scripts/bench/load/slices.js', {
      url: service.url,
      processId: service.processId,
      eventType,
      subscription: subscriptions[0],
      events: backlog.events,
      headers: [key.headers, ''],
      ...slicing,
    });
    await service.unsubscribe(subscriptions);
    const rates = totals.map(({ requests, milliseconds }) => (requests * 1_000) / milliseconds);
    const microseconds = totals.map(({ requests, processorMilliseconds: spent }) => (spent * 1_000) / requests);
    report.progress(
      `    ${round === 0 ? 'warm-up' : `round ${round}`}: ${microseconds.map(figure).join(' against ')} us`,
    );
    if (round > 0) rounds.push({ rates, microseconds });
  }
  const at = (values: readonly number[], index: number): number => values[index] ?? Number.NaN;
  const medianOf = (of: keyof Round, index: number): string =>
    figure(median(rounds.map((each) => at(each[of], index))));
  report.printRatio({
    name: `${name}, with a key / without, rate`,
    ratios: rounds.map(({ rates }) => at(rates, 0) / at(rates, 1)),
    atLeast: againstOpen,
    figures: `${medianOf('rates', 0)} against ${medianOf('rates', 1)} requests/s`,
  });
  report.printRatio({
    name: `${name}, processor without a key / with`,
    ratios: rounds.map(({ microseconds }) => at(microseconds, 1) / at(microseconds, 0)),
    atLeast: againstOpen,
    figures: `${medianOf('microseconds', 1)} against ${medianOf('microseconds', 0)} us for a request`,
  });
}

async function measureStream({ report, service, key, backlog }: Bench): Promise<void> {
  const [withKey, without]: [number[], number[]] = [[], []];
  const read = async (apiKey: string | undefined, times: number[]): Promise<number> => {
    const before = processorMilliseconds(service.processId);
    const reading = { streams: 2, batchLimit: 500, window: 20_000, commitEachLine: false, apiKey };
    const rates: number[] = [];
    while (rates.length < readingsInTurn) rates.push(await readBacklog(service, backlog, reading));
    const thousands = (backlog.events * reading.streams * readingsInTurn) / 1_000;
    times.push((processorMilliseconds(service.processId) - before) / thousands);
    return median(rates);
  };
  const turns = await report.inTurns(
    () => read(key.apiKey, withKey),
    () => read(undefined, without),
  );
  const rates = `${median(turns.ratios).toFixed(2)} (${spread(turns.ratios, (each) => each.toFixed(2))})`;
  report.print(`${'stream, with a key / without, rate'.padEnd(nameColumns)} ${rates}  ${against(turns, 'events/s')}`);
  const [firsts, seconds] = [without.slice(1), withKey.slice(1)];
  report.printRatio({
    name: 'stream, processor without a key / with',
    ratios: firsts.map((time, index) => time / (seconds[index] ?? Number.NaN)),
    atLeast: againstOpen,
    figures: `${figure(median(firsts))} against ${figure(median(seconds))} ms for 1,000 events`,
  });
}

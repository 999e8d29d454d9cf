import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { partitionCount, startMeasuredService, type MeasuredService } from './measured-service.ts';
import { runProgram } from './processes.ts';
import type { Report } from './report.ts';
import { residentKilobytes } from './service-figures.ts';
import { figure, median, quantile } from './statistics.ts';

/**
 * What a log costs because it is large: the start, the memory, and the integrity check while events are published and
 * read. The same is measured with a log an eighth of its size, for nothing here may depend on the size.
 */

/** Size of the large log at scale 1. Bytes. */
const largeLogBytes = 4e9;
const smallLogShare = 1 / 8;

/** The most that a start may take on two cores. Seconds. */
const startSecondsMaximum = 3;
const startAfterKillSecondsMaximum = 10;
/** The small log's figure divided by the large log's: the large one may take half as long again. */
const sizeRatioMinimum = 0.67;
/** The latency without the integrity check divided by the latency with it. */
const checkRatioMinimum = 0.5;

/** One event every five milliseconds: the round without the check ends before the check begins, ten seconds after. */
const latencyLoad = { events: 1_400, warmUpEvents: 100, everyMilliseconds: 5 };

interface FilledLog {
  readonly folder: string;
  readonly bytes: number;
}

interface Starts {
  readonly afterStop: number[];
  readonly afterKill: number[];
  readonly megabytes: number[];
}

/** Prints how long a start takes with a large and a small log, and what the integrity check does to others. */
export async function measureLargeLog(report: Report, scale: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lendstream-bench-start-'));
  try {
    const large = await fill(report, join(folder, 'large'), largeLogBytes * scale);
    const small = await fill(report, join(folder, 'small'), largeLogBytes * scale * smallLogShare);
    const starts = new Map([large, small].map((log): [FilledLog, Starts] => [log, emptyStarts()]));
    for (let round = 0; round <= report.rounds; round += 1) {
      for (const [log, { afterStop, afterKill, megabytes }] of starts) {
        const first = await start(log);
        await first.service.kill();
        const second = await start(log);
        const resident = residentKilobytes(second.service.processId) / 1_000;
        await second.service.stop();
        const third = await start(log);
        await third.service.stop();
        report.progress(
          `    ${size(log)}: ${figure(second.seconds)} s after a kill, ${figure(third.seconds)} s after a stop`,
        );
        if (round === 0) continue;
        afterKill.push(second.seconds);
        afterStop.push(third.seconds);
        megabytes.push(resident);
      }
    }
    const [ofLarge = emptyStarts(), ofSmall = emptyStarts()] = [starts.get(large), starts.get(small)];
    for (const [name, kind, maximum] of [
      ['an orderly stop', 'afterStop', startSecondsMaximum],
      ['kill -9', 'afterKill', startAfterKillSecondsMaximum],
    ] as const) {
      const seconds = median(ofLarge[kind]);
      const title = `start with ${size(large)} of log after ${name}`;
      report.printFigure(title, `${figure(seconds)} s`, seconds <= maximum, `<= ${maximum} s`);
    }
    for (const [name, kind, unit] of [
      ['start after a stop', 'afterStop', 's'],
      ['start after kill -9', 'afterKill', 's'],
      ['resident memory', 'megabytes', 'MB'],
    ] as const) {
      report.printRatio({
        name: `${name}, log of ${size(small)} / of ${size(large)}`,
        ratios: ofLarge[kind].map((value, round) => (ofSmall[kind][round] ?? Number.NaN) / value),
        atLeast: sizeRatioMinimum,
        figures: `${figure(median(ofSmall[kind]))} against ${figure(median(ofLarge[kind]))} ${unit}`,
      });
    }
    await measureCheck(report, large);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function emptyStarts(): Starts {
  return { afterStop: [], afterKill: [], megabytes: [] };
}

function size({ bytes }: FilledLog): string {
  return `${figure(bytes / 1e9)} GB`;
}

async function fill(report: Report, folder: string, bytes: number): Promise<FilledLog> {
  report.progress(`Filling a log of ${figure(bytes / 1e9)} GB`);
  const service = await startMeasuredService({ DATA_DIR: folder });
  await service.defineEventType('bench.large');
  await service.stop();
  await runProgram('scripts/bench/load/fill-log.js', { folder, topic: 'bench.large', partitionCount, bytes });
  return { folder, bytes };
}

async function start({ folder }: FilledLog): Promise<{ readonly service: MeasuredService; readonly seconds: number }> {
  const begin = performance.now();
  const service = await startMeasuredService({ DATA_DIR: folder });
  return { service, seconds: (performance.now() - begin) / 1_000 };
}

/** The time from publishing to receiving, before the integrity check begins and while it runs. */
async function measureCheck(report: Report, large: FilledLog): Promise<void> {
  report.begin('From publishing to receiving, without and with the integrity check');
  const without: number[] = [];
  const during: number[] = [];
  for (let round = 0; round < report.rounds; round += 1) {
    const { service } = await start(large);
    without.push(await latency(service));
    while ((await checkedShare(service)) === 0) await sleep(200);
    during.push(await latency(service));
    const share = await checkedShare(service);
    report.progress(`    p99 ${figure(without.at(-1) ?? 0)} and ${figure(during.at(-1) ?? 0)} ms, ${share} checked`);
    if (share === 1) report.print('The check ended during the measurement: choose a larger scale');
    await service.stop();
  }
  report.printRatio({
    name: 'publish to receive, p99: no check / integrity check',
    ratios: without.map((value, round) => value / (during[round] ?? Number.NaN)),
    atLeast: checkRatioMinimum,
    figures: `${figure(median(without))} against ${figure(median(during))} ms`,
  });
}

async function latency(service: MeasuredService): Promise<number> {
  const eventType = `bench.latency.${Date.now()}`;
  await service.defineEventType(eventType);
  const [subscription] = await service.subscribe(1, eventType, 'end');
  const load = { url: service.url, eventType, subscription, ...latencyLoad };
  const { milliseconds } = await runProgram<{ milliseconds: number[] }>('scripts/bench/load/latency.js', load);
  return quantile(milliseconds, 0.99);
}

async function checkedShare(service: MeasuredService): Promise<number> {
  const response = await fetch(`${service.url}/metrics`, { headers: { Accept: 'text/plain' } });
  const found = /^lendstream_integrity_checked_ratio\{file="log.db"\} (\S+)$/m.exec(await response.text());
  return Number(found?.[1] ?? 0);
}

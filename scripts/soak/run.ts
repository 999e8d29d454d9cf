import { mkdirSync } from 'node:fs';
import { lendingEventTypeNames } from '../../src/lending-format/lending-topics.ts';
import { startMeasuredCluster } from '../bench/measured-cluster.ts';
import { startMeasuredService, type MeasuredService } from '../bench/measured-service.ts';
import { startProgram, type Running } from '../bench/processes.ts';
import type { Interval, Series } from './judge.ts';
import type { LoadFigures } from './load/counts.ts';
import type { LoadSettings } from './load/load.ts';
import { bytesInUse, diskOf, memoryOf } from './measures.ts';
import { earlierCommandsPerMinute, linesUntil, type SoakSettings } from './settings.ts';

const eventType = 'soak.published';
const product = 'soak';

/**
 * Starts the service, puts it under load, and measures it in each interval.
 * @param folder For the data of the service; it must not exist.
 * @param onInterval Called at the end of each interval.
 */
export async function runSoak(
  settings: SoakSettings,
  folder: string,
  onInterval: (interval: Interval) => void,
): Promise<Series> {
  const { service, stop } = await startService(settings, folder);
  const load = startProgram('scripts/soak/load/load.js', [JSON.stringify(await setStage(service, settings))]);
  const { minutes, warmUpMinutes, secondsPerLine, eventsPerSecond, loansPerMinute, commandsPerMinute } = settings;
  const intervals: Interval[] = [];
  const lineCount = linesUntil(minutes, settings);
  // The warm-up ends with a line: the first one, if it is shorter than that takes.
  const lastWarmLine = Math.max(1, linesUntil(warmUpMinutes, settings));
  let warm = Number.NaN;
  for (let line = 1; line <= lineCount; line += 1) {
    const figures = await nextFigures(load);
    const minute = (line * secondsPerLine) / 60;
    const interval = { minute, ...figures, memory: await memoryOf(service), disk: diskOf(folder) };
    intervals.push(interval);
    onInterval(interval);
    if (line === lastWarmLine) warm = await bytesInUse(service);
  }
  await load.stop();
  const end = await bytesInUse(service);
  await stop();
  const asked = { eventsPerSecond, loansPerMinute, commandsPerMinute };
  return { intervals, warmUpMinutes, bytesInUse: { warm, end }, asked };
}

async function nextFigures(load: Running): Promise<LoadFigures> {
  return JSON.parse(await load.nextLine()) as LoadFigures;
}

async function startService(
  { backend, heapFolder }: SoakSettings,
  folder: string,
): Promise<{ readonly service: MeasuredService; readonly stop: () => Promise<void> }> {
  const environment = { DATA_DIR: folder, ...(heapFolder === undefined ? {} : snapshotsOnSignal(heapFolder)) };
  if (backend === 'embedded') {
    // A cluster in the environment is for those who ask for it.
    const service = await startMeasuredService({ ...environment, KAFKA_BROKERS: '', REDIS_URL: '' });
    return { service, stop: () => service.stop() };
  }
  const cluster = await startMeasuredCluster((line) => void process.stderr.write(`${line}\n`), undefined);
  return { service: await cluster.startService(environment), stop: () => cluster.stop() };
}

/** The signal on which garbage is collected also writes a snapshot. */
function snapshotsOnSignal(heapFolder: string): Record<string, string> {
  mkdirSync(heapFolder, { recursive: true });
  return { NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${heapFolder}` };
}

/** Defines what the load uses. @returns the settings of the load */
async function setStage(service: MeasuredService, settings: SoakSettings): Promise<LoadSettings> {
  await service.defineEventType(eventType);
  const subscriptions = await service.subscribe(settings.streams, eventType, 'end');
  const { id } = await service.call('POST', '/subscriptions', {
    owning_application: 'bench',
    event_types: lendingEventTypeNames,
    consumer_group: 'loans',
    read_from: 'end',
  });
  await service.call('POST', '/loanproducts', {
    id: product,
    name: 'Soak',
    type: 'FIXED_TERM_LOAN',
    currency: { code: 'EUR' },
    interestSettings: { interestRate: { defaultValue: 10 } },
    scheduleSettings: { numInstallments: { defaultValue: 12 } },
    feesSettings: { allowArbitraryFees: true },
  });
  const { secondsPerLine, eventsPerSecond, loansPerMinute, transactionsPerLoan } = settings;
  return {
    url: service.url,
    secondsPerLine,
    eventType,
    eventsPerSecond,
    subscriptions: [...subscriptions, String(id)],
    product,
    loansPerMinute,
    transactionsPerLoan,
    earlierCommandsPerMinute: earlierCommandsPerMinute(settings),
  };
}

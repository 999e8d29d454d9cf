import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loanCommandsTopic } from '../../src/lending-format/lending-topics.ts';
import type { BenchOptions } from './bench-options.ts';
import { eventBytes, eventsPerBatch, publishBody } from './events.ts';
import type { MeasuredCluster } from './measured-cluster.ts';
import { startMeasuredService, type MeasuredService } from './measured-service.ts';
import { runProgram } from './processes.ts';
import {
  eventTypeName,
  eventTypeRequest,
  productCommand,
  subscriptionIdOf,
  subscriptionsPerEventType,
} from './scale/many-definitions.ts';
import { processorMilliseconds, residentKilobytes } from './service-figures.ts';
import { figure, median, quantile } from './statistics.ts';

/**
 * What definitions cost because there are many: the start, the memory, lists, a scrape of the metrics, new definitions,
 * and streams. Everything is measured with a tenth of them first, for what concerns one definition may not depend on
 * their number.
 */

/** Each with a topic of one partition and ten subscriptions, of which each has a committed cursor. */
const eventTypesAtScaleOne = 10_000;
const productsAtScaleOne = 1_000;
const smallShare = 1 / 10;

const streamCount = 10;
const eventsPerStream = 30_000;
const streamBatchLimit = 1_000;
const publishesAtOnce = 8;
const productsPerRequest = 500;
const topicsPerRequest = 200;
const pollMilliseconds = 100;

/** How long the processor time is watched before a service counts as at rest, and the most that it may have used. */
const restMilliseconds = 3_000;
const busyShareAtRest = 0.05;
const untilRestMillisecondsMaximum = 180_000;

/** The most that a start may take of the processor, and that the process may hold in memory. */
const startProcessorMillisecondsMaximum = 5_000;
const residentMegabytesMaximum = 1_000;

/** The backend that is measured. */
interface Backend {
  readonly name: 'embedded' | 'cluster';
  start(): Promise<MeasuredService>;
  /** Where the program that writes definitions finds the log. */
  readonly logSettings:
    | { readonly dataFolder: string }
    | { readonly brokers: readonly string[]; readonly haveTopics: true };
  /** Creates the topics of event types together. Absent where each takes no longer by itself. */
  createTopics?(names: readonly string[]): Promise<void>;
  /** Makes the coordination store lose everything. Absent where it is in the process. */
  emptyCoordination?(): Promise<void>;
}

/** Milliseconds of one run: elapsed, and of the service's processor time. */
interface Cost {
  readonly elapsed: number;
  readonly processor: number;
}

/** The costs with one number of definitions, by what was done. */
type Costs = Map<string, Cost>;

interface Measured {
  readonly eventTypes: number;
  readonly costs: Costs;
  readonly megabytesAfterStart: number;
  readonly megabytesAfterRequests: number;
  readonly eventsPerSecond: number;
  readonly firstEventMilliseconds: number;
}

/** Prints the figures of the embedded backend, in a folder of its own. */
export async function measureDefinitions(options: BenchOptions): Promise<void> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'lendstream-bench-definitions-'));
  try {
    await measureBackend(options, {
      name: 'embedded',
      start: () => startMeasuredService({ DATA_DIR: dataFolder }, options.profileFolder),
      logSettings: { dataFolder },
    });
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
}

/** Prints the figures of a cluster. Its Redis loses everything else. */
export async function measureDefinitionsOnCluster(options: BenchOptions, cluster: MeasuredCluster): Promise<void> {
  await measureBackend(options, {
    name: 'cluster',
    start: () => cluster.startService(),
    logSettings: { brokers: cluster.brokers, haveTopics: true },
    createTopics: async (names) => {
      const kafka = new Kafka({ clientId: 'bench', brokers: [...cluster.brokers], logLevel: logLevel.ERROR });
      const admin = kafka.admin();
      await admin.connect();
      for (let first = 0; first < names.length; first += topicsPerRequest) {
        const topics = names.slice(first, first + topicsPerRequest).map((topic) => ({ topic, numPartitions: 1 }));
        await admin.createTopics({ topics, waitForLeaders: false });
      }
      await admin.disconnect();
    },
    emptyCoordination: async () => {
      const redis = new Redis(cluster.redisUrl);
      await redis.flushall();
      await redis.quit();
    },
  });
}

async function measureBackend(options: BenchOptions, backend: Backend): Promise<void> {
  const { report, scale } = options;
  const large = Math.ceil(eventTypesAtScaleOne * scale);
  const small = Math.ceil(large * smallShare);
  const products = Math.ceil(productsAtScaleOne * scale);
  const steps = [
    { from: 0, to: small, productsFrom: 0, productsTo: Math.ceil(products * smallShare) },
    { from: small, to: large, productsFrom: Math.ceil(products * smallShare), productsTo: products },
  ];
  const measured: Measured[] = [];
  for (const { from, to, productsFrom, productsTo } of steps) {
    report.begin(
      `Definitions: ${figure(to)} event types, ${figure(to * subscriptionsPerEventType)} subscriptions, ` +
        `${figure(productsTo)} products`,
    );
    // Its start makes the topics of the service.
    const first = await backend.start();
    await createProducts(first, productsFrom, productsTo);
    await first.stop();
    await backend.createTopics?.(Array.from({ length: to - from }, (_, index) => eventTypeName(from + index)));
    await runProgram('scripts/bench/scale/write-definitions.js', { ...backend.logSettings, from, to });
    measured.push(await measureStep(options, backend, from, to));
  }
  print(options, measured);
}

async function createProducts(service: MeasuredService, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += productsPerRequest) {
    const count = Math.min(productsPerRequest, to - first);
    const commands = Array.from({ length: count }, (_, index) => ({
      metadata: { eid: randomUUID(), occurred_at: new Date().toISOString() },
      ...productCommand(first + index),
    }));
    await service.call('POST', `/event-types/${loanCommandsTopic}/events`, commands);
  }
  for (;;) {
    const response = await fetch(`${service.url}/loanproducts?limit=1&paginationDetails=ON`);
    await response.arrayBuffer();
    if (Number(response.headers.get('items-total')) >= to) return;
    await sleep(pollMilliseconds);
  }
}

async function measureStep({ report }: BenchOptions, backend: Backend, from: number, to: number): Promise<Measured> {
  const costs: Costs = new Map();
  const note = (name: string, cost: Cost): void => {
    costs.set(name, cost);
    report.progress(`    ${name}: ${figure(cost.elapsed)} ms, ${figure(cost.processor)} ms of processor time`);
  };
  if (backend.emptyCoordination !== undefined) {
    await backend.emptyCoordination();
    const { service, ...cost } = await start(backend);
    note('start with an empty Redis', cost);
    await service.stop();
  }
  const starts: Cost[] = [];
  let megabytesAfterStart = 0;
  for (let round = 0; round < report.rounds; round += 1) {
    const { service, ...cost } = await start(backend);
    starts.push(cost);
    megabytesAfterStart = Math.max(megabytesAfterStart, residentKilobytes(service.processId) / 1_000);
    await service.stop();
  }
  note('start', {
    elapsed: median(starts.map(({ elapsed }) => elapsed)),
    processor: median(starts.map(({ processor }) => processor)),
  });
  const { service } = await start(backend);
  if (backend.emptyCoordination !== undefined) note('until it is at rest', await restOf(service));
  await measureRequests(service, to, note);
  const streams = await measureStreams(service, from, to);
  const megabytesAfterRequests = residentKilobytes(service.processId) / 1_000;
  await service.stop();
  return { eventTypes: to, costs, megabytesAfterStart, megabytesAfterRequests, ...streams };
}

async function start(backend: Backend): Promise<Cost & { readonly service: MeasuredService }> {
  const before = performance.now();
  const service = await backend.start();
  const elapsed = performance.now() - before;
  return { service, elapsed, processor: processorMilliseconds(service.processId) };
}

/**
 * Waits until the service does nothing by itself: on a cluster a first process also shows every subscription to tools
 * that look at consumer groups. Returns the time from the end of the start, and all processor time so far.
 */
async function restOf({ processId }: MeasuredService): Promise<Cost> {
  const begin = performance.now();
  let before = processorMilliseconds(processId);
  for (;;) {
    await sleep(restMilliseconds);
    const now = processorMilliseconds(processId);
    const elapsed = performance.now() - begin;
    if (now - before <= restMilliseconds * busyShareAtRest || elapsed > untilRestMillisecondsMaximum) {
      return { elapsed: elapsed - restMilliseconds, processor: now };
    }
    before = now;
  }
}

/** Lists, scrapes, and makes and removes definitions. */
async function measureRequests(
  service: MeasuredService,
  eventTypes: number,
  note: (name: string, cost: Cost) => void,
): Promise<void> {
  const measure = async (name: string, times: number, run: (turn: number) => Promise<unknown>): Promise<void> => {
    // The first run may compile or connect something. What is done once is measured all the same.
    if (times > 1) await run(0);
    const elapsed: number[] = [];
    const before = processorMilliseconds(service.processId);
    for (let turn = 1; turn <= times; turn += 1) {
      const begin = performance.now();
      await run(turn);
      elapsed.push(performance.now() - begin);
    }
    note(name, {
      elapsed: median(elapsed),
      processor: (processorMilliseconds(service.processId) - before) / times,
    });
  };
  const subscriptions = eventTypes * subscriptionsPerEventType;
  const anyEventType = (turn: number): string => eventTypeName((turn * 7_919) % eventTypes);
  const names = new Map<number, string>();
  const ids = new Map<number, string>();
  await measure('GET /event-types?limit=50', 20, () => get(service, '/event-types?limit=50'));
  await measure('GET /event-types', 5, () => get(service, '/event-types'));
  await measure('GET /subscriptions?limit=50', 20, () => get(service, '/subscriptions?limit=50'));
  await measure('GET /subscriptions?event_type', 20, (turn) =>
    get(service, `/subscriptions?event_type=${anyEventType(turn)}`),
  );
  await measure('all pages of 1,000 subscriptions', 2, async () => {
    for (let offset = 0; offset < subscriptions; offset += 1_000) {
      await get(service, `/subscriptions?limit=1000&offset=${offset}`);
    }
  });
  await measure('GET /loanproducts?limit=50', 20, () => get(service, '/loanproducts?limit=50'));
  await measure('GET /metrics, lags computed', 1, () => get(service, '/metrics'));
  await measure('GET /metrics, again', 5, () => get(service, '/metrics'));
  await measure('creating an event type', 30, async (turn) => {
    const name = `definitions.new-${turn}-${randomUUID()}`;
    await service.call('POST', '/event-types', eventTypeRequest(name));
    names.set(turn, name);
  });
  await measure('deleting an event type', 30, (turn) => service.call('DELETE', `/event-types/${names.get(turn)}`));
  await measure('creating a subscription', 60, async (turn) => {
    const { id } = await service.call('POST', '/subscriptions', {
      owning_application: 'bench',
      event_types: [anyEventType(turn)],
      consumer_group: `new-${randomUUID()}`,
      read_from: 'begin',
    });
    ids.set(turn, String(id));
  });
  await measure('deleting a subscription', 60, (turn) => service.call('DELETE', `/subscriptions/${ids.get(turn)}`));
}

/** Reads a response to its end without looking at it. */
async function get({ url }: MeasuredService, path: string): Promise<void> {
  const response = await fetch(`${url}${path}`, { headers: { Accept: 'text/plain, */*' } });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
}

/** Ten streams of ten subscriptions to ten of the event types from `from` to the one before `to`. */
async function measureStreams(
  service: MeasuredService,
  from: number,
  to: number,
): Promise<Pick<Measured, 'eventsPerSecond' | 'firstEventMilliseconds'>> {
  const count = Math.min(streamCount, to - from);
  const numbers = Array.from({ length: count }, (_, index) => from + Math.floor((index * (to - from)) / count));
  const bodies = Array.from({ length: 8 }, (_, seed) => publishBody(seed, eventBytes));
  const batches = numbers.flatMap((number) => Array<number>(eventsPerStream / eventsPerBatch).fill(number)).values();
  await Promise.all(
    Array.from({ length: publishesAtOnce }, async (_, index) => {
      for (const number of batches) {
        await service.call('POST', `/event-types/${eventTypeName(number)}/events`, bodies[index % bodies.length]);
      }
    }),
  );
  const all = numbers.flatMap((number) =>
    Array.from({ length: subscriptionsPerEventType }, (_, index) =>
      subscriptionIdOf(number * subscriptionsPerEventType + index),
    ),
  );
  const { milliseconds } = await runProgram<{ milliseconds: number[] }>('scripts/bench/load/first-event.js', {
    url: service.url,
    subscriptions: all,
  });
  const { eventsPerSecond } = await runProgram<{ eventsPerSecond: number }>('scripts/bench/load/stream-reader.js', {
    url: service.url,
    subscriptions: all.filter((_, index) => index % subscriptionsPerEventType === 0),
    events: eventsPerStream - streamBatchLimit,
    batchLimit: streamBatchLimit,
    window: 200_000,
    commitEachLine: false,
  });
  return { eventsPerSecond, firstEventMilliseconds: quantile(milliseconds, 0.5) };
}

function print({ report }: BenchOptions, measured: readonly Measured[]): void {
  const [small, large] = measured as [Measured, Measured];
  report.print(`${figure(small.eventTypes)} and ${figure(large.eventTypes)} event types, elapsed and processor time:`);
  for (const [name, { elapsed, processor }] of large.costs) {
    const before = small.costs.get(name);
    report.print(
      `${name.padEnd(36)} ${figure(before?.elapsed ?? 0)} and ${figure(elapsed)} ms, ` +
        `${figure(before?.processor ?? 0)} and ${figure(processor)} ms`,
    );
  }
  report.print(
    `${'first event of a stream'.padEnd(36)} ${figure(small.firstEventMilliseconds)} and ` +
      `${figure(large.firstEventMilliseconds)} ms`,
  );
  report.print(
    `${'ten streams'.padEnd(36)} ${figure(small.eventsPerSecond)} and ${figure(large.eventsPerSecond)} events/s`,
  );
  const startMilliseconds = large.costs.get('start')?.processor ?? Number.NaN;
  report.printFigure(
    'processor time of a start',
    `${figure(startMilliseconds)} ms`,
    startMilliseconds <= startProcessorMillisecondsMaximum,
    `<= ${figure(startProcessorMillisecondsMaximum)} ms`,
  );
  for (const [name, of] of [
    ['resident memory after the start', 'megabytesAfterStart'],
    ['resident memory after these requests', 'megabytesAfterRequests'],
  ] as const) {
    report.printFigure(
      name,
      `${figure(small[of])} and ${figure(large[of])} MB`,
      large[of] <= residentMegabytesMaximum,
      `<= ${figure(residentMegabytesMaximum)} MB`,
    );
  }
}

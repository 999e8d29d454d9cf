import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventBytes, eventSchema, eventsPerBatch, publishBody } from './events.ts';
import { runProgram, startProgram, type Running } from './processes.ts';
import { redisRound, redisServer } from './redis-load.ts';
import { figure, median, quantile } from './statistics.ts';

/**
 * Speed as ratios: what is measured and what it is measured against run in turns, in one run, on one machine. Absolute
 * figures are for scale. `npm run bench -- --rounds 3` for a shorter run, `--only publish,egress,...` for a part.
 */
interface Ratio {
  readonly name: string;
  readonly ratios: readonly number[];
  readonly atLeast: number;
  readonly figures: string;
}

const options = new Map<string, string>();
for (let index = 2; index < process.argv.length; index += 2) {
  options.set((process.argv[index] ?? '').replace(/^--/, ''), process.argv[index + 1] ?? '');
}
const rounds = Number(options.get('rounds') ?? 5);
const only = options.get('only')?.split(',');
const wanted = (name: string): boolean => only === undefined || only.includes(name);

const connections = 8;
const publishSettings = { connections, milliseconds: 3_000, warmUpMilliseconds: 1_000 };
const backlogEvents = 800_000;
const partitions = 4;

let folder = '';
let service: Running | undefined;
let url = '';
let report: string[] = [];
let missed = 0;

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function tell(text: string): void {
  report.push(text);
  progress(`  ${text}`);
}

function tellRatio({ name, ratios, atLeast, figures }: Ratio): void {
  const value = median(ratios);
  const verdict = value >= atLeast ? 'ok' : 'MISSED';
  if (value < atLeast) missed += 1;
  tell(
    `${name.padEnd(52)} ${value.toFixed(2)} (${quantile(ratios, 0.1).toFixed(2)}..${quantile(ratios, 0.9).toFixed(2)})` +
      `  at least ${atLeast}  ${verdict}   ${figures}`,
  );
}

function tellFigure(name: string, text: string, reached: boolean, target: string): void {
  if (!reached) missed += 1;
  tell(`${name.padEnd(52)} ${text}  target ${target}  ${reached ? 'ok' : 'MISSED'}`);
}

async function startMeasuredService(): Promise<void> {
  service = startProgram('src/main.js', [], { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'warn' });
  const line = await service.nextLine();
  url = /ready at (http:\S+)/.exec(line)?.[1] ?? '';
}

async function call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) }),
    headers: { 'Content-Type': 'application/json' },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
  return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
}

function defineEventType(name: string): Promise<unknown> {
  return call('POST', '/event-types', {
    name,
    owning_application: 'bench',
    category: 'business',
    enrichment_strategies: ['metadata_enrichment'],
    partition_strategy: 'hash',
    partition_key_fields: ['account'],
    schema: { type: 'json_schema', schema: JSON.stringify(eventSchema) },
    default_statistic: {
      messages_per_minute: 1,
      message_size: 1,
      read_parallelism: partitions,
      write_parallelism: partitions,
    },
  });
}

let subscriptionCount = 0;
async function subscribe(eventType: string, readFrom: 'begin' | 'end' = 'begin'): Promise<string> {
  subscriptionCount += 1;
  const { id } = await call('POST', '/subscriptions', {
    owning_application: 'bench',
    event_types: [eventType],
    consumer_group: `group-${subscriptionCount}`,
    read_from: readFrom,
  });
  return String(id);
}

function subscribeMany(count: number, eventType: string, readFrom: 'begin' | 'end' = 'begin'): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => subscribe(eventType, readFrom)));
}

interface Throughput {
  readonly eventsPerSecond: number;
}

/** Runs both in turns, drops the first turn of each, and answers the pairs. */
async function inTurns(
  first: () => Promise<number>,
  second: () => Promise<number>,
): Promise<{ firsts: number[]; seconds: number[]; ratios: number[] }> {
  const firsts: number[] = [];
  const seconds: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const a = await first();
    const b = await second();
    progress(`    ${round === 0 ? 'warm-up' : `round ${round}`}: ${figure(a)} against ${figure(b)}`);
    if (round === 0) continue;
    firsts.push(a);
    seconds.push(b);
  }
  return { firsts, seconds, ratios: firsts.map((value, index) => value / (seconds[index] ?? Number.NaN)) };
}

async function measurePublish(): Promise<void> {
  progress(`Publishing: ${eventBytes} B events, batches of ${eventsPerBatch}, ${connections} connections`);
  await defineEventType('bench.publish');
  const bare = startProgram('scripts/bench/bare-server.js', [join(folder, 'bare.log')]);
  const bareUrl = await bare.nextLine();
  const load = async (target: string): Promise<number> =>
    (await runProgram<Throughput>('scripts/bench/publish-load.js', { ...publishSettings, url: target }))
      .eventsPerSecond;
  const { firsts, seconds, ratios } = await inTurns(
    () => load(`${url}/event-types/bench.publish/events`),
    () => load(bareUrl),
  );
  await bare.stop();
  tellRatio({
    name: 'durable publish / bare server with the same sync',
    ratios,
    atLeast: 0.5,
    figures: `${figure(median(firsts))} against ${figure(median(seconds))} events/s`,
  });
  const redis = await redisServer(folder);
  if (redis === undefined) {
    tell('redis-server is not installed: no figure beside it');
    return;
  }
  const redisRates: number[] = [];
  for (let round = 0; round <= rounds; round += 1) redisRates.push(await redisRound(redis, connections));
  await redis.stop();
  tell(`${'the same events by XADD, appendfsync always'.padEnd(52)} ${figure(median(redisRates.slice(1)))} events/s`);
}

async function fillBacklog(): Promise<void> {
  progress(`Filling a backlog of ${figure(backlogEvents)} events`);
  await defineEventType('bench.backlog');
  const bodies = Array.from({ length: 32 }, (_, seed) => publishBody(seed));
  let left = backlogEvents / eventsPerBatch;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (left > 0) {
        left -= 1;
        await call('POST', '/event-types/bench.backlog/events', bodies[left % bodies.length]);
      }
    }),
  );
}

async function read(count: number, batchLimit: number, window: number, commitEachLine: boolean): Promise<number> {
  const subscriptions = await subscribeMany(count, 'bench.backlog');
  const { eventsPerSecond } = await runProgram<Throughput>('scripts/bench/stream-reader.js', {
    url,
    subscriptions,
    events: backlogEvents,
    batchLimit,
    window,
    commitEachLine,
  });
  for (const id of subscriptions) await call('DELETE', `/subscriptions/${id}`);
  return eventsPerSecond;
}

async function measureEgress(): Promise<void> {
  progress('Egress: one stream over the backlog against a raw scan of the store');
  const { firsts, seconds, ratios } = await inTurns(
    () => read(1, 1_000, 200_000, false),
    async () =>
      (await runProgram<Throughput>('scripts/bench/raw-scan.js', { folder, topic: 'bench.backlog' })).eventsPerSecond,
  );
  tellRatio({
    name: 'one HTTP stream / raw scan of the store',
    ratios,
    atLeast: 0.5,
    figures: `${figure(median(firsts))} against ${figure(median(seconds))} events/s`,
  });
}

async function measureFanOut(): Promise<void> {
  progress('Fan-out: ten subscriptions at once against one, total deliveries');
  const { firsts, seconds, ratios } = await inTurns(
    () => read(10, 1_000, 200_000, false),
    () => read(1, 1_000, 200_000, false),
  );
  tellRatio({
    name: 'ten subscriptions / one, total deliveries',
    ratios,
    atLeast: 2.5,
    figures: `${figure(median(firsts))} against ${figure(median(seconds))} events/s`,
  });
}

async function measureWindow(): Promise<void> {
  progress('One stream with max_uncommitted_events 1000, commits as fast as possible');
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) rates.push(await read(1, 500, 1_000, true));
  const rate = median(rates);
  tellFigure('one stream, window 1,000', `${figure(rate)} events/s`, rate >= 100_000, '>= 100,000');
}

async function measureFirstEvent(): Promise<void> {
  progress('First event of a fresh subscription');
  const subscriptions = await subscribeMany(100, 'bench.backlog');
  const { milliseconds } = await runProgram<{ milliseconds: number[] }>('scripts/bench/first-event.js', {
    url,
    subscriptions,
  });
  const [p50, p99] = [quantile(milliseconds, 0.5), quantile(milliseconds, 0.99)];
  tellFigure(
    'first event of a fresh subscription',
    `p50 ${figure(p50)} ms, p99 ${figure(p99)} ms`,
    p50 <= 10 && p99 <= 50,
    'p50 <= 10, p99 <= 50',
  );
}

function residentKilobytes(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN);
}

async function measureIdleStreams(): Promise<void> {
  const count = 2_000;
  progress(`Memory of ${count} idle streams`);
  if (process.platform !== 'linux') {
    tell('memory per idle stream: only measured on Linux');
    return;
  }
  // A process of its own: what earlier parts left in the heap would hide the difference.
  await service?.stop();
  await startMeasuredService();
  await defineEventType(`bench.idle-${Date.now()}`).catch(() => undefined);
  const name = `bench.idle.${Date.now()}`;
  await defineEventType(name);
  const subscriptions: string[] = [];
  for (let start = 0; start < count; start += 50) subscriptions.push(...(await subscribeMany(50, name, 'end')));
  const processId = service?.child.pid ?? 0;
  // One stream of each first, so that code and pools that all streams share are not counted to them.
  const warm = startProgram('scripts/bench/idle-streams.js', [
    JSON.stringify({ url, subscriptions: subscriptions.slice(0, 100) }),
  ]);
  await warm.nextLine();
  await warm.stop();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const before = residentKilobytes(processId);
  const idle = startProgram('scripts/bench/idle-streams.js', [JSON.stringify({ url, subscriptions })]);
  await idle.nextLine();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const each = (residentKilobytes(processId) - before) / count;
  await idle.stop();
  tellFigure('memory per idle stream at 2,000 streams', `${figure(each)} KB`, each <= 20, '<= 20 KB');
}

async function measureCommands(): Promise<void> {
  progress('Commands: fees applied to loans by a producer');
  const product = `bench-${Date.now()}`;
  await call('POST', '/loanproducts', {
    id: product,
    name: 'Benchmark',
    type: 'FIXED_TERM_LOAN',
    currency: { code: 'EUR' },
    interestSettings: { interestRate: { defaultValue: 10 } },
    scheduleSettings: { numInstallments: { defaultValue: 4 } },
    feesSettings: { allowArbitraryFees: true },
  });
  const loans = Array.from({ length: 100 }, (_, index) => `${product}-${index}`);
  await Promise.all(
    loans.map(async (id) => {
      await call('POST', '/loans', { id, productTypeKey: product, loanAmount: 1000 });
      await call('POST', `/loans/${id}:changeState`, { action: 'APPROVE' });
      await call('POST', `/loans/${id}/disbursement-transactions`, { valueDate: '2026-01-12' });
    }),
  );
  const { commandsPerSecond } = await runProgram<{ commandsPerSecond: number }>('scripts/bench/command-load.js', {
    url,
    loans,
    commandsPerLoan: 50,
  });
  tell(`${'loan commands decided and visible'.padEnd(52)} ${figure(commandsPerSecond)} commands/s`);
}

function describeMachine(): string {
  const [cpu] = cpus();
  const revision = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  return `${cpus().length} x ${cpu?.model ?? 'unknown CPU'}, Node ${process.version}, load ${figure(loadavg()[0] ?? 0)}, ${revision}`;
}

async function run(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'lendstream-bench-'));
  report = [describeMachine()];
  progress(report[0] ?? '');
  try {
    await startMeasuredService();
    if (wanted('publish')) await measurePublish();
    if (['egress', 'fanout', 'window', 'first'].some(wanted)) await fillBacklog();
    if (wanted('egress')) await measureEgress();
    if (wanted('fanout')) await measureFanOut();
    if (wanted('window')) await measureWindow();
    if (wanted('first')) await measureFirstEvent();
    if (wanted('commands')) await measureCommands();
    if (wanted('idle')) await measureIdleStreams();
    await service?.stop();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  console.log(`\n${report.join('\n')}`);
  console.log(missed === 0 ? 'Every target was reached.' : `${missed} targets were missed.`);
  process.exit(missed === 0 ? 0 : 1);
}

await run();

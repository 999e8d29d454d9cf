import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { boundsOfPartition } from '../../src/ports/partition-bounds.ts';
import { systemClock } from '../../src/clock.ts';
import { KafkaLog } from '../../src/kafka/log.ts';
import { accountsTopic, loanCommandsTopic } from '../../src/lending-format/lending-topics.ts';
import { silentLogger } from '../../src/logger.ts';
import { RedisCoordination } from '../../src/redis/coordination.ts';
import { loanPartitionsId } from '../../src/worker/partition-ownership.ts';
import type { BenchOptions } from './bench-options.ts';
import type { MeasuredCluster } from './measured-cluster.ts';
import { partitionCount, type MeasuredService } from './measured-service.ts';
import { spread } from './report.ts';
import { figure, median } from './statistics.ts';

/** How long a partition of loans waits for its next owner, when the process that decided its commands was killed. */

const loanCount = 100_000;
const commandsPerRequest = 500;
/** Enough that each partition has some. */
const commandsAfterDeath = 64;
const pollMilliseconds = 2;
const readBytes = 1024 * 1024;
const millisecondsMaximum = 2_000;

/**
 * Two processes work on loans, both with all of them in their copies. One is killed, and then commands are sent. The
 * time runs from the end of the killed process's session, which the other one finds when the lease has run out, to the
 * first decision in a partition that was the killed one's.
 */
export async function reportTakeOver({ report, scale }: BenchOptions, cluster: MeasuredCluster): Promise<void> {
  const loans = Math.ceil(loanCount * scale);
  report.begin(`Take-over from a killed process, with ${figure(loans)} loans in the copy`);
  const serving = await cluster.startService({ ROLES: 'serve' });
  let survivor = await cluster.startService({ ROLES: 'work' });
  await openLoans(serving, loans);
  await until(() => hasDecidedAll(survivor));
  const services = { clock: systemClock, logger: silentLogger };
  const log = await KafkaLog.open({ ...services, brokers: cluster.brokers, clientId: 'bench' });
  const coordination = await RedisCoordination.open({ ...services, log, redisUrl: cluster.redisUrl });
  const times: number[] = [];
  for (let round = 0; round < report.rounds; round += 1) {
    const killed = survivor;
    survivor = await cluster.startService({ ROLES: 'work' });
    const taker = survivor;
    await until(async () => (await partitionsOf(taker)).length > 0);
    const [partition = 0] = await partitionsOf(killed);
    const { latest } = await boundsOfPartition(log, { topic: accountsTopic, partition });
    process.kill(killed.processId, 'SIGKILL');
    await publish(serving, ids(commandsAfterDeath), { type: 'CHANGE_STATE', payload: { action: 'APPROVE' } });
    const decided = log
      .read({ topic: accountsTopic, partition, offset: latest }, { bytesMaximum: readBytes, waitMilliseconds: 60_000 })
      .then(() => performance.now());
    await until(async () => (await coordination.topology(loanPartitionsId)).sessions.length === 1);
    const knownAt = performance.now();
    times.push((await decided) - knownAt);
    report.progress(`    ${figure(times.at(-1) ?? 0)} ms`);
  }
  await coordination.close();
  await log.close();
  await Promise.all([serving.stop(), survivor.stop()]);
  report.printFigure(
    `take-over with ${figure(loans)} loans, after the lease`,
    `${figure(median(times))} (${spread(times)}) ms`,
    Math.max(...times) <= millisecondsMaximum,
    `<= ${figure(millisecondsMaximum)} ms`,
  );
}

function ids(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `take-over-${index}`);
}

async function openLoans(service: MeasuredService, count: number): Promise<void> {
  const product = 'take-over';
  await service.call('POST', '/loanproducts', {
    id: product,
    name: 'Take-over',
    type: 'FIXED_TERM_LOAN',
    currency: { code: 'EUR' },
    interestSettings: { interestRate: { defaultValue: 10 } },
    scheduleSettings: { numInstallments: { defaultValue: 4 } },
  });
  const loans = ids(count);
  const payload = { productTypeKey: product, loanAmount: 1_000 };
  for (let next = 0; next < count; next += commandsPerRequest) {
    await publish(service, loans.slice(next, next + commandsPerRequest), { type: 'CREATE_LOAN', payload });
  }
}

async function publish(service: MeasuredService, loans: readonly string[], command: object): Promise<void> {
  const events = loans.map((loanAccountId) => ({
    metadata: { eid: randomUUID(), occurred_at: new Date().toISOString() },
    loanAccountId,
    ...command,
  }));
  await service.call('POST', `/event-types/${loanCommandsTopic}/events`, events);
}

/** The commands that wait in each partition of a process, by the text of the partition's label. */
async function waitingByPartition({ url }: MeasuredService): Promise<readonly (readonly [string, number])[]> {
  const metrics = await (await fetch(`${url}/metrics`, { headers: { Accept: 'text/plain' } })).text();
  const form = /^lendstream_worker_waiting_commands\{partition="(\d+)"\} (\d+)$/gm;
  return [...metrics.matchAll(form)].map(([, partition = '', waiting]) => [partition, Number(waiting)]);
}

async function partitionsOf(service: MeasuredService): Promise<number[]> {
  return (await waitingByPartition(service)).map(([partition]) => Number(partition));
}

/** Whether a process that has all partitions has decided every command. */
async function hasDecidedAll(service: MeasuredService): Promise<boolean> {
  const partitions = await waitingByPartition(service);
  return partitions.length === partitionCount && partitions.every(([, waiting]) => waiting === 0);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(pollMilliseconds);
}

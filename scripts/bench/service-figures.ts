import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MeasuredService } from './measured-service.ts';
import { startProgram } from './processes.ts';

/** Memory and processor time of the service and of its idle streams, on either backend. */

export interface IdleStreams {
  /** Kilobytes of resident memory that are in use: garbage was collected before and after. */
  readonly kilobytesEach: number;
  /** Share of one core, while nothing happens. */
  readonly busyShare: number;
}

/** Streams that are opened first, so that code and pools shared by all streams do not count. */
const warmUpStreams = 100;
const settleMilliseconds = 2_000;

/**
 * The cost of idle streams in a service that has done nothing before: earlier work would leave memory in the heap and
 * hide the difference. Garbage is collected first, because its amount depends on when the engine last did so. Linux
 * only.
 * @param watchMilliseconds How long the processor time is watched while the streams are idle.
 */
export async function measureIdleStreams(
  service: MeasuredService,
  count: number,
  watchMilliseconds: number,
): Promise<IdleStreams> {
  const eventType = `bench.idle.${Date.now()}`;
  await service.defineEventType(eventType);
  const subscriptions = await service.subscribe(count, eventType, 'end');
  const warm = await openIdleStreams(service, subscriptions.slice(0, warmUpStreams));
  await warm.close();
  const before = await residentKilobytesInUse(service.processId);
  const idle = await openIdleStreams(service, subscriptions);
  const kilobytesEach = ((await residentKilobytesInUse(service.processId)) - before) / count;
  const busyBefore = processorMilliseconds(service.processId);
  await sleep(watchMilliseconds);
  const busyShare = (processorMilliseconds(service.processId) - busyBefore) / watchMilliseconds;
  await idle.close();
  return { kilobytesEach, busyShare };
}

/** Opens one idle stream for each subscription. All run in one separate process. */
export async function openIdleStreams(
  service: MeasuredService,
  subscriptions: readonly string[],
): Promise<{ close(): Promise<void> }> {
  const idle = startProgram('scripts/bench/load/idle-streams.js', []);
  idle.child.stdin?.end(`${JSON.stringify({ url: service.url, subscriptions })}\n`);
  await idle.nextLine();
  return { close: () => idle.stop() };
}

/** Resident memory after all garbage was collected, and its pages returned to the system. */
export async function residentKilobytesInUse(processId: number): Promise<number> {
  await sleep(settleMilliseconds);
  process.kill(processId, 'SIGUSR2');
  await sleep(settleMilliseconds);
  return residentKilobytes(processId);
}

/** Resident memory, with what is garbage. */
export function residentKilobytes(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN);
}

/** One tick of the kernel's clock, its unit of processor time: every Linux has 100 a second. */
const tickMilliseconds = 10;

/** Processor time of all threads so far. */
export function processorMilliseconds(processId: number): number {
  const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
  // The name in parentheses may contain spaces. After it, user time is the 12th field and system time the 13th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMilliseconds;
}

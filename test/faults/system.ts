import type { EventLog } from '../../src/ports/event-log.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { silenceMillisecondsMaximum, type EventPosition } from './history.ts';
import type { LoadOrder, ServiceNode } from './load-process.ts';
import type { PlannedFault, SystemShape } from './plan.ts';
import type { ServiceProcess } from './service-process.ts';

/** The system under load into which a run injects faults. */
export interface SystemUnderTest {
  readonly shape: SystemShape;
  /** In words: versions, processes. */
  readonly description: string;
  /** The processes that answer HTTP. */
  readonly nodes: readonly ServiceNode[];
  /** The targets of faults, by name. */
  readonly targets: ReadonlyMap<string, Target>;
  /** The processes of the service, by name. */
  readonly services: ReadonlyMap<string, ServiceProcess>;
  /** Opens the log that the processes share. On one machine, where one process has it at a time, that has ended. */
  openLog(): Promise<EventLog>;
  /** Deletes all data of Redis. */
  flush?(): Promise<void>;
  /** Deletes all current events of the type, and returns the new start of each partition. */
  truncate?(eventType: string): Promise<readonly EventPosition[]>;
  /** Stops everything that was started. Returns the processes that did not exit cleanly. */
  stop(): Promise<readonly string[]>;
}

/** A part that can fail. */
export interface Target {
  readonly kill: () => Promise<void>;
  /** Starts it after a kill, and returns when it works. */
  readonly start: () => Promise<void>;
  readonly pause: () => Promise<void> | void;
  readonly resume: () => Promise<void> | void;
  /** The proxy that all connections to it pass. */
  readonly proxy?: TcpProxy;
}

/** A process of the service as a target. */
export function targetOf(service: ServiceProcess): Target {
  return {
    kill: () => service.kill(),
    start: () => service.start(),
    pause: () => service.pause(),
    resume: () => service.resume(),
    proxy: service.proxy,
  };
}

/** Until a consumer has recorded that a stream is silent. Milliseconds. */
const silenceNoticeMilliseconds = 1_500;

/**
 * Waits until consumers have noticed each stream that stays silent after a stall. Meanwhile no other fault may begin:
 * it would excuse the silence.
 */
export function untilSilenceIsNoticed(): Promise<void> {
  return sleep(silenceMillisecondsMaximum + silenceNoticeMilliseconds);
}

/** What faults need in addition to the system. */
export interface FaultSurroundings {
  /** The event type whose events may be deleted. */
  readonly expiringEventType: string;
  /** Called with each partition whose start was moved. */
  readonly truncated: (position: EventPosition) => void;
  readonly sendToLoad: (order: LoadOrder) => void;
}

/** Injects the fault, and returns how it is healed. */
export async function beginFault(
  system: SystemUnderTest,
  fault: PlannedFault,
  { expiringEventType, truncated, sendToLoad }: FaultSurroundings,
): Promise<() => Promise<void>> {
  const atOnce = (): Promise<void> => Promise.resolve();
  if (fault.kind === 'stall') {
    sendToLoad('stall');
    return () => Promise.resolve(sendToLoad('resume'));
  }
  if (fault.kind === 'flush') {
    if (system.flush === undefined) throw new Error('There is no Redis to flush');
    await system.flush();
    return atOnce;
  }
  if (fault.kind === 'truncate') {
    if (system.truncate === undefined) throw new Error('There is no log to truncate');
    for (const position of await system.truncate(expiringEventType)) truncated(position);
    return atOnce;
  }
  const target = system.targets.get(fault.target);
  if (target === undefined) throw new Error(`There is no ${fault.target}`);
  if (fault.kind === 'kill') {
    await target.kill();
    return () => target.start();
  }
  if (fault.kind === 'pause') {
    await target.pause();
    return async () => target.resume();
  }
  const { proxy } = target;
  if (proxy === undefined) throw new Error(`Nothing passes a proxy on its way to ${fault.target}`);
  proxy.setMode(fault.kind === 'delay' ? { kind: 'delay', milliseconds: fault.delay ?? 0 } : { kind: fault.kind });
  return () => Promise.resolve(proxy.setMode({ kind: 'pass' }));
}

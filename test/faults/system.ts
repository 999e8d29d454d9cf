import type { TcpProxy } from '../support/tcp-proxy.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { silenceMillisecondsMaximum, type EventPosition } from './history.ts';
import type { LoadOrder, ServiceNode } from './load-process.ts';
import type { PlannedFault, SystemShape } from './plan.ts';
import type { ServiceProcess } from './service-process.ts';

/** The system that a run puts under load and does harm to. */
export interface SystemUnderTest {
  readonly shape: SystemShape;
  /** In words: versions, processes. */
  readonly description: string;
  /** The processes that answer HTTP. */
  readonly nodes: readonly ServiceNode[];
  /** What faults are done to, by name. */
  readonly targets: ReadonlyMap<string, Target>;
  /** Makes Redis forget everything. */
  flush?(): Promise<void>;
  /** Deletes every event of the type that there is now, and answers where each partition begins from then on. */
  truncate?(eventType: string): Promise<readonly EventPosition[]>;
  /** Ends everything that was started. Answers what did not end in order. */
  stop(): Promise<readonly string[]>;
}

/** Something that can fail. */
export interface Target {
  readonly kill: () => Promise<void>;
  /** Starts it after a kill, and returns when it works. */
  readonly start: () => Promise<void>;
  readonly pause: () => Promise<void> | void;
  readonly resume: () => Promise<void> | void;
  /** What everybody passes who wants to reach it. */
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

/** Until a consumer has noted that a stream is silent. Milliseconds. */
const silenceNoticeMilliseconds = 1_500;

/** What faults need besides the system. */
export interface FaultSurroundings {
  /** Whose events may be deleted. */
  readonly expiringEventType: string;
  /** Told of each partition that was cut off. */
  readonly truncated: (position: EventPosition) => void;
  readonly sendToLoad: (order: LoadOrder) => void;
}

/** Does the fault, and answers how it is healed. */
export async function beginFault(
  system: SystemUnderTest,
  fault: PlannedFault,
  { expiringEventType, truncated, sendToLoad }: FaultSurroundings,
): Promise<() => Promise<void>> {
  const atOnce = (): Promise<void> => Promise.resolve();
  if (fault.kind === 'stall') {
    sendToLoad('stall');
    return async () => {
      sendToLoad('resume');
      // A stream that has fallen silent is told from others only while nothing else ails it.
      await sleep(silenceMillisecondsMaximum + silenceNoticeMilliseconds);
    };
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

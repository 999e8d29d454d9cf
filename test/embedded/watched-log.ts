import type { EmbeddedLog, EmbeddedLogOptions } from '../../src/embedded/log.ts';
import { Health } from '../../src/health.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { watchThreads, type StartedThreads } from '../support/started-threads.ts';
import { openTemporaryLog, type TemporaryLog } from '../support/temporary-log.ts';

/** How often retention and compaction run by themselves in a watched log. */
export const maintenanceMilliseconds = 60_000;

/** The partition of a watched log. */
export const orders = { topic: 'orders', partition: 0 };

/** The scripts of the threads that change the log. */
export const scripts = { maintenance: 'thread/removable-records.js', writer: 'thread/writer.js' } as const;

/** An embedded log on a clock that is turned by hand, with the threads that it has started. */
export interface WatchedLog extends Pick<TemporaryLog, 'dataFolder' | 'reopen' | 'cleanup'> {
  /** The one that was opened last. */
  readonly log: EmbeddedLog;
  readonly clock: SimulatedClock;
  readonly health: Health;
  readonly threads: StartedThreads;
  /** Lets a second pass. A request to each thread then waits for the requests before it. */
  second(): Promise<void>;
  /** How many requests with this name the threads with this script have had. */
  requestCount(script: string, name: string): number;
}

/** Opens a log with one topic, which keeps everything. The file is never checked. */
export async function openWatchedLog(options: Partial<EmbeddedLogOptions> = {}): Promise<WatchedLog> {
  const threads = watchThreads();
  const clock = new SimulatedClock();
  const health = new Health(clock);
  const temporary = await openTemporaryLog({
    clock,
    health,
    maintenanceMilliseconds,
    firstCheckMilliseconds: Number.MAX_SAFE_INTEGER,
    ...options,
  });
  await temporary.log.createTopic({
    name: orders.topic,
    partitionCount: 1,
    cleanupPolicy: 'delete',
    retentionMilliseconds: Infinity,
  });
  return {
    dataFolder: temporary.dataFolder,
    get log() {
      return temporary.log;
    },
    reopen: (changed) => temporary.reopen(changed),
    clock,
    health,
    threads,
    second: async () => {
      await clock.turn(1_000);
      await temporary.log.runRetention();
    },
    requestCount: (script, name) => threads.requests(script).filter((request) => request === name).length,
    cleanup: async () => {
      await temporary.cleanup();
      threads.stop();
    },
  };
}

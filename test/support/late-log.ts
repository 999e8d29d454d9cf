import type { EventLog } from '../../src/ports/event-log.ts';
import { overriding } from './stepping-log.ts';

/** The log of a process that does not see new records of one topic until it requests the end of that topic. */
export interface LateLog {
  readonly log: EventLog;
  /** From now on, records of the topic are held back until the process requests its end offsets. */
  holdBack(): void;
  release(): void;
  /** The number of requests of this process for the end offsets of the topic. */
  readonly requests: number;
}

export function lateLog(log: EventLog, topic: string): LateLog {
  let released = Promise.resolve();
  let release = (): void => {};
  let requests = 0;
  return {
    log: overriding<EventLog>(log, {
      read: async (from, options) => {
        const result = await log.read(from, options);
        if (from.topic === topic) await released;
        return result;
      },
      endOffsets: async (partitions, options) => {
        const found = await log.endOffsets(partitions, options);
        if (partitions.some((partition) => partition.topic === topic)) {
          requests += 1;
          release();
        }
        return found;
      },
    }),
    holdBack() {
      release();
      released = new Promise((resolve) => (release = resolve));
    },
    release: () => release(),
    get requests() {
      return requests;
    },
  };
}

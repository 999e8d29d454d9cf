import type { EventLog } from '../../src/ports/event-log.ts';
import { overriding } from './stepping-log.ts';

/** A real log whose reads fail, for errors that an intact log does not produce: damaged bytes, an outage. */
export function failingReads(log: EventLog, error: Error): EventLog {
  return overriding(log, { read: () => Promise.reject(error) });
}

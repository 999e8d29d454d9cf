import type { EventLog } from '../../src/ports/event-log.ts';
import { overriding } from '../support/stepping-log.ts';

/** The same log, which counts the records that were read. */
export function countedLog(log: EventLog): { readonly log: EventLog; readonly recordsRead: () => number } {
  let count = 0;
  const read: EventLog['read'] = async (from, options) => {
    const result = await log.read(from, options);
    for (const batch of result.batches) count += batch.count;
    return result;
  };
  return { log: overriding(log, { read }), recordsRead: () => count };
}

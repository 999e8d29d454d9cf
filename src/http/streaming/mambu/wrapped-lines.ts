import { frameWithNames, lineEnd, lineFrame, type LineFormat } from '../../../broker/streaming/line-format.ts';
import { formatShardOffset, mixedEventType, shardName } from './shards.ts';
import { wrappedEvents } from './wrapped-events.ts';

/** What both versions have: clients refuse a field that they do not know, so the reason for an end is text alone. */
const wrappedLines = {
  batchStart: '',
  keepAliveStart: '',
  lineEnd: (info) => lineEnd(info === undefined ? undefined : { debug: info.debug }),
} satisfies LineFormat;

/** The lines of version 1: cursors as in the log's own API, events wrapped. */
export const firstVersionLines: LineFormat = {
  ...wrappedLines,
  frameOf: (eventType, partition) => ({
    ...lineFrame(eventType, partition),
    addRun: wrappedEvents(eventType, partition),
  }),
};

/** The lines of version 2: cursors name shards in place of partitions. @param eventTypes Those of the subscription. */
export function secondVersionLines(eventTypes: readonly string[]): LineFormat {
  return {
    ...wrappedLines,
    frameOf: (eventType, partition) => ({
      ...frameWithNames(shardName(eventTypes, { eventType, partition }), mixedEventType),
      formatOffset: formatShardOffset,
      addRun: wrappedEvents(eventType, partition),
    }),
  };
}

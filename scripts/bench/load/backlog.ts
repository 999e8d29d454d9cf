import { eventsPerBatch, publishBody } from '../events.ts';
import { partitionCount, type MeasuredService } from '../measured-service.ts';
import { runProgram } from '../processes.ts';

/** A backlog of events, and reading it over HTTP. */

export interface Backlog {
  readonly eventType: string;
  readonly events: number;
  /** Size of one event, as it is published. */
  readonly eventBytes: number;
}

export interface Reading {
  /** The number of streams open at once, each of its own subscription. */
  readonly streams: number;
  readonly batchLimit: number;
  /** max_uncommitted_events */
  readonly window: number;
  readonly commitEachLine: boolean;
  /** The key of the reader, if it has one. */
  readonly apiKey?: string | undefined;
}

/** How many requests are under way at a time. */
const connections = 8;

/** Defines the event type and publishes all its events. */
export async function fillBacklog(service: MeasuredService, backlog: Backlog): Promise<void> {
  await service.defineEventType(backlog.eventType);
  const bodies = Array.from({ length: 32 }, (_, seed) => publishBody(seed, backlog.eventBytes));
  let left = backlog.events / eventsPerBatch;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (left > 0) {
        left -= 1;
        await service.call('POST', `/event-types/${backlog.eventType}/events`, bodies[left % bodies.length]);
      }
    }),
  );
}

/**
 * Reads the backlog with new subscriptions and returns the events delivered to all of them per second. It does not read
 * to the very end: the last batch of each partition is not full and would wait for its flush timeout.
 */
export async function readBacklog(service: MeasuredService, backlog: Backlog, reading: Reading): Promise<number> {
  const { streams, ...settings } = reading;
  const subscriptions = await service.subscribe(streams, backlog.eventType);
  const { eventsPerSecond } = await runProgram<{ eventsPerSecond: number }>('scripts/bench/load/stream-reader.js', {
    url: service.url,
    subscriptions,
    events: backlog.events - partitionCount * reading.batchLimit,
    ...settings,
  });
  await service.unsubscribe(subscriptions);
  return eventsPerSecond;
}

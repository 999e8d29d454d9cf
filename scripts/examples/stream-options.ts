/** What a consumer may ask of its stream beyond Nakadi's API. docs/consuming.md explains each option. */
import { type Consumer, filterFor, type Lendstream } from 'lendstream/client';

/**
 * A consumer that gets only the events of one country, cannot commit by mistake what it was not sent, waits half a
 * minute for its partition, and may take ten minutes for a batch. With a filter, it also commits what was passed over.
 */
export function consumeCountry(lendstream: Lendstream, subscription: string, country: string): Consumer {
  return lendstream.consume(subscription, {
    stream: {
      filter: [filterFor(['to'], country)],
      strict_commits: true,
      wait_for_slot: 30,
      commit_heartbeat: true,
    },
    processingMilliseconds: 600_000,
  });
}

/** A subscription that begins with the events of a time, such as `2026-01-31T12:00:00Z`. */
export async function subscribeAt(lendstream: Lendstream, eventType: string, time: string): Promise<string> {
  const positions = await lendstream.cursorsAt(eventType, time);
  const { id } = await lendstream.subscribe({
    owning_application: 'tracking',
    consumer_group: `since ${time}`,
    event_types: [eventType],
    read_from: 'cursors',
    initial_cursors: positions.map((position) => ({ event_type: eventType, ...position })),
  });
  return id;
}

/** Moves a subscription to a time, which ends its streams. Their next ones begin there. */
export async function resetTo(
  lendstream: Lendstream,
  subscription: string,
  eventType: string,
  time: string,
): Promise<void> {
  const partitions = await lendstream.partitions(eventType);
  const offset = `TIME:${time}`;
  await lendstream.moveCursors(
    subscription,
    partitions.map(({ partition }) => ({ event_type: eventType, partition, offset })),
  );
}

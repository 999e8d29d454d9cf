/** What a consumer may ask of its stream beyond Nakadi's API. docs/consuming.md explains each option. */
import { type Consumer, filterFor, type Lendstream, LendstreamError, type Position } from 'lendstream/client';

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

/**
 * Commits a position of an event type for a stream, which a consumer does by itself for what it was sent.
 * @returns why the service refuses it, as it refuses what a stream with strict commits was not sent
 */
export async function refusalOfCommit(
  lendstream: Lendstream,
  subscription: string,
  streamId: string,
  eventType: string,
  position: Position,
): Promise<string | undefined> {
  const items = [{ event_type: eventType, cursor_token: '', ...position }];
  const headers = { 'X-Nakadi-StreamId': streamId };
  try {
    await lendstream.request('POST', `/subscriptions/${subscription}/cursors`, { headers, body: { items } });
    return undefined;
  } catch (error) {
    if (error instanceof LendstreamError && error.status === 422) return error.detail;
    throw error;
  }
}

/** A consumer whose streams wait five minutes for a commit. Without the annotation, a minute is the most. */
export async function consumeSlowly(lendstream: Lendstream, eventType: string, seconds = 300): Promise<Consumer> {
  const subscription = await lendstream.subscribe({
    owning_application: 'tracking',
    consumer_group: 'slow',
    event_types: [eventType],
    read_from: 'begin',
    annotations: { 'lendstream/commit-timeout-seconds-maximum': '300' },
  });
  return lendstream.consume(subscription, { stream: { commit_timeout: seconds } });
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

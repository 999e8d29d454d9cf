import type { EventTypeStatistics, Subscription } from '../../client/client.ts';
import { type Command, type CommandInput, exitCodes } from '../command.ts';

interface PartitionLag {
  readonly event_type: string;
  readonly partition: string;
  readonly state: string;
  readonly unconsumed_events: number | undefined;
  readonly consumer_lag_seconds: number | undefined;
}

export const lagCommand: Command = {
  name: 'lag',
  parameters: '[<subscription>]',
  wordsMinimum: 0,
  wordsMaximum: 1,
  summary: 'how many events are not committed, by subscription or by its partitions',
  options: {
    application: { value: 'NAME', summary: 'only subscriptions of this owning application' },
    'event-type': { value: 'NAME', summary: 'only subscriptions to this event type' },
  },
  async run(input) {
    const { words, lendstream, output, isJson } = input;
    const [id] = words;
    if (id !== undefined) {
      const partitions = partitionsOf(await lendstream.lag(id, { timeLag: true }));
      if (isJson) for (const each of partitions) await output.json(each);
      else {
        await output.table(partitions, {
          'event type': (each) => each.event_type,
          partition: (each) => each.partition,
          state: (each) => each.state,
          events: (each) => each.unconsumed_events,
          seconds: (each) => each.consumer_lag_seconds,
        });
      }
      return exitCodes.done;
    }
    const rows = await subscriptionsOf(input);
    if (isJson) for (const each of rows) await output.json(each);
    else {
      await output.table(rows, {
        subscription: (each) => each.id,
        application: (each) => each.owning_application,
        group: (each) => each.consumer_group,
        'event types': (each) => each.event_types.join(','),
        streams: (each) => each.streams,
        events: (each) => each.unconsumed_events,
        seconds: (each) => each.consumer_lag_seconds,
      });
    }
    return exitCodes.done;
  },
};

function partitionsOf(statistics: readonly EventTypeStatistics[]): PartitionLag[] {
  return statistics.flatMap(({ event_type: eventType, partitions }) =>
    partitions.map((each) => ({
      event_type: eventType,
      partition: each.partition,
      state: each.state,
      unconsumed_events: each.unconsumed_events,
      consumer_lag_seconds: each.consumer_lag_seconds,
    })),
  );
}

type SubscriptionLag = Pick<Subscription, 'id' | 'owning_application' | 'consumer_group' | 'event_types'> & {
  readonly streams: number;
  readonly unconsumed_events: number | undefined;
  readonly consumer_lag_seconds: number | undefined;
};

/** Every subscription with its sums, those with the most events first. */
async function subscriptionsOf({ lendstream, text }: CommandInput): Promise<SubscriptionLag[]> {
  const [application, eventType] = [text('application'), text('event-type')];
  const rows: SubscriptionLag[] = [];
  const subscriptions = lendstream.subscriptions({
    ...(application === undefined ? {} : { owning_application: application }),
    ...(eventType === undefined ? {} : { event_type: eventType }),
  });
  for await (const { id, owning_application, consumer_group, event_types } of subscriptions) {
    const statistics = await lendstream.lag(id, { timeLag: true });
    const partitions = partitionsOf(statistics);
    const events = partitions.map((each) => each.unconsumed_events).filter((each) => each !== undefined);
    const seconds = partitions.map((each) => each.consumer_lag_seconds).filter((each) => each !== undefined);
    const streams = statistics.flatMap((each) => each.partitions.map(({ stream_id: streamId }) => streamId));
    rows.push({
      id,
      owning_application,
      consumer_group,
      event_types,
      streams: new Set(streams.filter((streamId) => streamId !== '')).size,
      unconsumed_events: events.length === 0 ? undefined : events.reduce((sum, each) => sum + each, 0),
      consumer_lag_seconds: seconds.length === 0 ? undefined : Math.max(...seconds),
    });
  }
  return rows.sort((a, b) => (b.unconsumed_events ?? -1) - (a.unconsumed_events ?? -1));
}

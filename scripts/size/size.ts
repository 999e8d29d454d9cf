import { flag, numberAboveZero, oneOf, optionsOf, wholeNumber } from '../command-line.ts';
import { estimate, exampleLoad, usualCapacity, type Load } from './estimate.ts';
import { linesOf, partLines } from './lines.ts';
import type { Part, RehearsedStore, Size } from './rehearsal.ts';

/** The command line of size: what an installation takes, and the rehearsal of its coordination. */

const values = optionsOf('size', {
  streams: wholeNumber<number>(1, exampleLoad.streams),
  subscriptions: wholeNumber<number>(1, exampleLoad.subscriptions),
  'event-types': wholeNumber<number>(1, exampleLoad.eventTypes),
  partitions: wholeNumber<number>(1, exampleLoad.partitionsPerEventType),
  'event-types-per-subscription': wholeNumber<number>(1, exampleLoad.eventTypesPerSubscription),
  'events-per-second': wholeNumber<number>(0, exampleLoad.eventsPerSecond),
  'event-bytes': wholeNumber<number>(1, exampleLoad.eventBytes),
  'seconds-between-commits': numberAboveZero(exampleLoad.secondsBetweenCommits),
  'retention-hours': wholeNumber<number>(1, exampleLoad.retentionHours),
  replication: wholeNumber<number>(1, exampleLoad.replicationFactor),
  loans: wholeNumber<number>(0, exampleLoad.loans),
  'commands-per-second': wholeNumber<number>(0, exampleLoad.commandsPerSecond),
  'lending-partitions': wholeNumber<number>(1, exampleLoad.lendingPartitions),
  rehearse: flag,
  store: oneOf(['memory', 'redis'], 'redis'),
});

const load: Load = {
  streams: values.streams,
  subscriptions: values.subscriptions,
  eventTypes: values['event-types'],
  partitionsPerEventType: values.partitions,
  eventTypesPerSubscription: values['event-types-per-subscription'],
  eventsPerSecond: values['events-per-second'],
  eventBytes: values['event-bytes'],
  secondsBetweenCommits: values['seconds-between-commits'],
  retentionHours: values['retention-hours'],
  replicationFactor: values.replication,
  loans: values.loans,
  commandsPerSecond: values['commands-per-second'],
  lendingPartitions: values['lending-partitions'],
};

/** A rehearsal is done with a tenth of the subscriptions first: what each costs may not depend on their number. */
const smallShare = 1 / 10;

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (text: string): void => void process.stderr.write(`${text} ...\n`);

if (values.rehearse) {
  // Loaded for a rehearsal alone, so that an estimate or --help takes no time.
  const [{ rehearse }, { withMemory, withRedis }] = await Promise.all([
    import('./rehearsal.ts'),
    import('./stores.ts'),
  ]);
  const size: Size = {
    subscriptions: load.subscriptions,
    streamsPerSubscription: Math.max(1, Math.round(load.streams / load.subscriptions)),
    partitionsPerSubscription: load.partitionsPerEventType * load.eventTypesPerSubscription,
  };
  const run = (store: RehearsedStore, subscriptions: number): Promise<Part[]> =>
    rehearse(store, { ...size, subscriptions }, progress);
  const both = async (store: RehearsedStore): Promise<[Part[], Part[]]> => [
    await run(store, Math.ceil(size.subscriptions * smallShare)),
    await run(store, size.subscriptions),
  ];
  const [small, large] = await (values.store === 'redis' ? withRedis(progress, both) : withMemory(both));
  for (const line of partLines(values.store, small, large)) printLine(line);
} else {
  for (const line of linesOf(estimate(load, usualCapacity))) printLine(line);
}

import { flag, numberAboveZero, oneOf, optionsOf, orEnd, wholeNumber, WrongUsage } from '../command-line.ts';
import {
  contradictionsOf,
  estimate,
  exampleLoad,
  usualCapacity,
  usualChangesPerSecond,
  type Load,
} from './estimate.ts';
import { linesOf, partLines, weightLines } from './lines.ts';
import type { Part, RehearsedStore, Size } from './rehearsal.ts';

/** The command line of size: what an installation takes, a rehearsal of its coordination, and the weight of loans. */

const values = optionsOf('size', {
  streams: wholeNumber<number>(1, exampleLoad.streams),
  subscriptions: wholeNumber<number>(1, exampleLoad.subscriptions),
  'event-types': wholeNumber<number>(1, exampleLoad.eventTypes),
  partitions: wholeNumber<number>(1, exampleLoad.partitionsPerEventType),
  'event-types-per-subscription': wholeNumber<number>(1, exampleLoad.eventTypesPerSubscription),
  'events-per-second': wholeNumber<number>(0, exampleLoad.eventsPerSecond),
  'event-bytes': wholeNumber<number>(1, exampleLoad.eventBytes),
  'seconds-between-commits': numberAboveZero(exampleLoad.secondsBetweenCommits),
  'changes-per-second': wholeNumber<number | undefined>(0, undefined),
  'retention-hours': wholeNumber<number>(1, exampleLoad.retentionHours),
  replication: wholeNumber<number>(1, exampleLoad.replicationFactor),
  loans: wholeNumber<number>(0, exampleLoad.loans),
  'transactions-per-loan': wholeNumber<number>(0, exampleLoad.transactionsPerLoan),
  'commands-per-second': wholeNumber<number>(0, exampleLoad.commandsPerSecond),
  'lending-partitions': wholeNumber<number>(1, exampleLoad.lendingPartitions),
  rehearse: flag,
  store: oneOf(['memory', 'redis'], 'redis'),
  weigh: wholeNumber<number | undefined>(10, undefined),
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
  changesPerSecond: values['changes-per-second'] ?? usualChangesPerSecond(values.streams),
  retentionHours: values['retention-hours'],
  replicationFactor: values.replication,
  loans: values.loans,
  transactionsPerLoan: values['transactions-per-loan'],
  commandsPerSecond: values['commands-per-second'],
  lendingPartitions: values['lending-partitions'],
};

/** A rehearsal is done with a tenth of the subscriptions first: what each costs may not depend on their number. */
const smallShare = 1 / 10;

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (text: string): void => void process.stderr.write(`${text} ...\n`);

if (values.weigh !== undefined) {
  const { weigh } = await import('./weighing.ts');
  for (const line of weightLines(await weigh(values.weigh, progress))) printLine(line);
} else if (values.rehearse) {
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
  orEnd(() => {
    const [contradiction] = contradictionsOf(load);
    if (contradiction !== undefined) throw new WrongUsage(contradiction);
  });
  for (const line of linesOf(estimate(load, usualCapacity))) printLine(line);
}

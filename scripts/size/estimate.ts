import { fixed, measured } from './measured.ts';

/** What an installation needs for a load: a pure function from the load to amounts, by the costs of measured.ts. */

/** What an installation is to carry. */
export interface Load {
  /** Streams that are open at the same time. */
  readonly streams: number;
  readonly subscriptions: number;
  readonly eventTypes: number;
  readonly partitionsPerEventType: number;
  readonly eventTypesPerSubscription: number;
  /** Published per second, over all event types. */
  readonly eventsPerSecond: number;
  /** Of an event as a producer sends it. */
  readonly eventBytes: number;
  /** How often an average stream commits, in seconds. */
  readonly secondsBetweenCommits: number;
  /** Streams that open or close per second. */
  readonly changesPerSecond: number;
  readonly retentionHours: number;
  readonly replicationFactor: number;
  readonly loans: number;
  /** Transactions that an average loan has, its disbursement not counted. They are never removed. */
  readonly transactionsPerLoan: number;
  readonly commandsPerSecond: number;
  readonly lendingPartitions: number;
}

/** How many streams open or close per second, if each is opened again at its end. */
export function usualChangesPerSecond(streams: number): number {
  return (2 * streams) / fixed.streamSeconds;
}

/** The load of docs/scale.md: a million streams, 100,000 subscriptions, 100 million loans. */
export const exampleLoad: Load = {
  streams: 1_000_000,
  subscriptions: 100_000,
  eventTypes: 10_000,
  partitionsPerEventType: 8,
  eventTypesPerSubscription: 2,
  eventsPerSecond: 100_000,
  eventBytes: 200,
  secondsBetweenCommits: 10,
  changesPerSecond: usualChangesPerSecond(1_000_000),
  retentionHours: 96,
  replicationFactor: 3,
  loans: 100_000_000,
  transactionsPerLoan: 24,
  commandsPerSecond: 1_000,
  lendingPartitions: 100,
};

/** What one process or server may take. The rest is for peaks, and for the load of one that has failed. */
export interface Capacity {
  /** The share of a core that a process or a Redis may use all the time. */
  readonly busyShare: number;
  /** Memory of one process. */
  readonly processGigabytes: number;
  /** Disk of one process, for its copy of accounts. */
  readonly processTerabytes: number;
  /** Memory of one Redis primary. */
  readonly redisGigabytes: number;
  /** Partitions, each counted once for each replica, that one broker carries. */
  readonly replicasPerBroker: number;
  readonly brokerTerabytes: number;
  /** Of the network of one broker, in and out together. */
  readonly brokerMegabytesPerSecond: number;
  readonly endOfDayMinutes: number;
}

export const usualCapacity: Capacity = {
  busyShare: 0.5,
  processGigabytes: 4,
  processTerabytes: 1,
  redisGigabytes: 16,
  replicasPerBroker: 4_000,
  brokerTerabytes: 8,
  brokerMegabytesPerSecond: 500,
  endOfDayMinutes: 60,
};

/** An amount that is needed, and what decides it. */
export interface Need {
  readonly name: string;
  /** Undefined when no amount is enough: {@link because} says why. */
  readonly amount: number | undefined;
  readonly unit: string;
  /** What takes most of it, in words. */
  readonly because: string;
  /** The most that there can be; absent where there is none. */
  readonly limit?: Limit;
  /** A figure of one of several that share the work: more load may mean more of them, and less for each. */
  readonly isShared?: boolean;
}

export interface Limit {
  readonly amount: number;
  /** The setting, or the change of the code, that moves it. */
  readonly movedBy: string;
}

/** The same need seen from several sides: the largest one decides. */
interface Side {
  readonly amount: number;
  readonly because: string;
}

/** Where what others take leaves nothing. */
interface Impossible {
  readonly amount: undefined;
  readonly because: string;
}

/** Numbers of processes. */
type Processes = Side | Impossible;

/** What makes a load one that cannot be, each as a sentence. */
export function contradictionsOf(load: Load): string[] {
  if (load.eventTypesPerSubscription <= load.eventTypes) return [];
  const { eventTypesPerSubscription, eventTypes } = load;
  return [`a subscription cannot read ${eventTypesPerSubscription} event types where there are ${eventTypes}`];
}

/**
 * @param load One without {@link contradictionsOf}.
 * @returns what is needed of each kind. Amounts of machines and processes are whole and at least 1.
 */
export function estimate(load: Load, capacity: Capacity): readonly Need[] {
  const serving = servingProcesses(load, capacity);
  const working = workingProcesses(load, capacity);
  return [
    ...servingNeeds(load, capacity, serving),
    ...redisNeeds(load, capacity, serving),
    ...brokerNeeds(load, capacity, serving, working),
    ...subscriptionNeeds(load),
    ...workingNeeds(load, capacity, working),
    ...copyNeeds(load, capacity),
  ];
}

function servingNeeds(load: Load, capacity: Capacity, serving: Processes): Need[] {
  const streams = (load.streams * measured.idleStreamKilobytes.value) / 1e6;
  return [
    { name: 'serving processes', unit: 'processes of one core', ...serving },
    {
      name: 'memory of a serving process',
      unit: 'GB',
      because: 'itself, its streams, and all definitions',
      ...ofProcesses(serving, (count) => processGigabytes(load) + streams / count),
      limit: {
        amount: capacity.processGigabytes / 2,
        movedBy: 'more memory: half of it is for batches, caches and garbage',
      },
      isShared: true,
    },
  ];
}

/** What depends on a number of processes: no amount where there is no such number. */
function ofProcesses({ amount }: Processes, of: (count: number) => number): { amount: number } | Impossible {
  return amount === undefined ? unknownProcesses : { amount: of(amount) };
}

const unknownProcesses: Impossible = {
  amount: undefined,
  because: 'depends on the number of processes',
};

function servingProcesses(load: Load, capacity: Capacity): Processes {
  const following = followingCores(load);
  const room = capacity.busyShare - following;
  if (room <= 0) return { amount: undefined, because: followingTakes(following) };
  const usable = capacity.processGigabytes / 2 - processGigabytes(load);
  if (usable <= 0) {
    const filled = `definitions alone fill the ${capacity.processGigabytes / 2} GB of each process`;
    return {
      amount: undefined,
      because: `${filled}: fewer subscriptions, or more memory`,
    };
  }
  const cores = serveCores(load);
  return wholeOf([
    { amount: cores.total / room, because: cores.because },
    {
      amount: (load.streams * measured.idleStreamKilobytes.value) / 1e6 / usable,
      because: 'memory of open streams, beside the definitions',
    },
  ]);
}

function followingTakes(cores: number): string {
  const taken = `each takes ${cores.toFixed(2)} cores to follow accounts, however many there are`;
  return `${taken}: processes that follow some partitions`;
}

/** Cores of all serving processes together, without what each takes to follow accounts. */
function serveCores(load: Load): {
  readonly total: number;
  readonly because: string;
} {
  return sumOf([
    {
      amount: load.streams * measured.idleStreamMicroseconds.value,
      because: 'watching over open streams',
    },
    {
      amount: load.eventsPerSecond * measured.publishMicroseconds.value,
      because: 'publishing',
    },
    {
      amount: deliveriesPerSecond(load) * measured.deliveryMicroseconds.value,
      because: 'delivering',
    },
    {
      amount: commitsPerSecond(load) * measured.commitMicroseconds.value,
      because: 'commits',
    },
  ]);
}

function redisNeeds(load: Load, capacity: Capacity, serving: Processes): Need[] {
  const gigabytes = redisGigabytes(load);
  const cores = redisCores(load, serving.amount);
  return [
    {
      name: 'Redis primaries',
      unit: 'primaries',
      ...wholeOf([
        { amount: cores.total / capacity.busyShare, because: cores.because },
        {
          amount: gigabytes / capacity.redisGigabytes,
          because: 'memory of subscriptions and streams',
        },
      ]),
      limit: {
        amount: fixed.redisShards,
        movedBy: 'more shards, or changes counted for each subscription',
      },
    },
    {
      name: 'memory of Redis, all primaries',
      amount: gigabytes,
      unit: 'GB',
      because: 'subscriptions with their commits, and streams',
    },
    {
      name: 'until an empty Redis is filled again',
      amount: (load.subscriptions * partitionsPerSubscription(load) * measured.refillMicroseconds.value) / 6e7,
      unit: 'minutes',
      because: 'one process reads the committed cursors from the log',
    },
  ];
}

/**
 * Cores of all Redis primaries together.
 * @param processes Undefined where no number is enough: then each stream is counted as if no other shared its process.
 */
function redisCores(load: Load, processes: number | undefined): { readonly total: number; readonly because: string } {
  const watched = processes === undefined ? load.streams : watchedSubscriptions(load, processes);
  return sumOf([
    {
      amount: commitsPerSecond(load) * measured.redisCommitMicroseconds.value,
      because: 'commits',
    },
    {
      amount: load.changesPerSecond * measured.redisChangeMicroseconds.value,
      because: 'streams that open and close',
    },
    {
      amount: watched * checksPerSecond(load) * measured.redisCheckMicroseconds.value,
      because: 'checks of watched subscriptions',
    },
  ]);
}

/** How often a process checks each subscription that it watches: each change of a shard makes it check all there. */
function checksPerSecond({ changesPerSecond }: Load): number {
  return Math.min(1 / fixed.checkRoundSeconds, 1 / fixed.checkAtRestSeconds + changesPerSecond / fixed.redisShards);
}

/**
 * How many subscriptions all processes watch together, if the streams of each are spread over the processes by chance:
 * a process watches a subscription once, however many of its streams it has.
 */
function watchedSubscriptions({ streams, subscriptions }: Load, processes: number): number {
  return processes * subscriptions * shareTouched(processes, streams / subscriptions);
}

/** The share of so many places that are touched by one or more of some throws. */
function shareTouched(places: number, throws: number): number {
  return places === 1 ? Math.min(1, throws) : -Math.expm1(throws * Math.log1p(-1 / places));
}

function brokerNeeds(load: Load, capacity: Capacity, serving: Processes, working: Processes): Need[] {
  const replicas = partitionReplicas(load);
  const stored = storedTerabytes(load);
  const disks = stored.events + stored.changelog + stored.commands;
  const isKnown = serving.amount !== undefined && working.amount !== undefined;
  const requests = requestGigabytesPerSecond(load, serving.amount ?? 1);
  const network = networkOf(load, requests, (serving.amount ?? 1) + (working.amount ?? 1));
  const number = wholeOf([
    { amount: load.replicationFactor, because: 'one for each replica' },
    { amount: replicas / capacity.replicasPerBroker, because: 'partitions' },
    { amount: disks / capacity.brokerTerabytes, because: 'disks' },
    {
      amount: (network.total * 1e3) / capacity.brokerMegabytesPerSecond,
      because: 'network',
    },
  ]);
  const ifKnown = (need: Side): Side | Impossible => (isKnown ? need : unknownProcesses);
  return [
    { name: 'brokers', unit: 'brokers', ...ifKnown(number) },
    {
      name: 'partitions in all replicas',
      amount: replicas,
      unit: 'partitions',
      because: 'those of event types, and those of loans',
    },
    {
      name: 'disks of all brokers',
      amount: disks,
      unit: 'TB',
      because: 'the next three together',
    },
    {
      name: 'published events',
      amount: stored.events,
      unit: 'TB',
      because: 'until their retention ends, in all replicas',
    },
    {
      name: 'commands and events of loans',
      amount: stored.commands,
      unit: 'TB',
      because: 'until their retention ends, in all replicas',
    },
    {
      name: 'changelog of accounts',
      amount: stored.changelog,
      unit: 'TB',
      because: 'loans and all their transactions, compacted, in all replicas',
    },
    {
      name: 'network of all brokers',
      unit: 'GB/s',
      ...ifKnown({ amount: network.total, because: network.because }),
    },
    {
      name: 'requests for events, in that',
      unit: 'GB/s',
      because: 'each process names the partitions without events twice a second',
      ...ofProcesses(serving, () => requests),
    },
    {
      name: 'partitions that a process waits for',
      unit: 'partitions',
      because: 'those of its streams, each once',
      ...ofProcesses(serving, (count) => Math.round(awaitedPartitions(load, count))),
      isShared: true,
    },
  ];
}

/** In and out, over all brokers, in GB/s. */
function networkOf(
  load: Load,
  requests: number,
  followers: number,
): { readonly total: number; readonly because: string } {
  const { replicationFactor } = load;
  // Into the leader, out to its followers, and into each of them.
  const copies = 2 * replicationFactor - 1;
  const due = dueLoansPerSecond(load);
  const loanBytes = load.commandsPerSecond * measured.commandBytes.value + due * measured.endOfDayBytes.value;
  const followed = (load.commandsPerSecond + due) * measured.loanBytesInLog.value;
  return sumOf(
    [
      {
        amount: publishedBytesPerSecond(load) * copies,
        because: 'publishing, in all replicas',
      },
      // Streams of one process share what it reads; in the worst case each subscription is read for itself.
      {
        amount: deliveriesPerSecond(load) * storedEventBytes(load),
        because: 'each event once for each subscription',
      },
      { amount: requests * 1e9, because: 'requests for events' },
      {
        amount: loanBytes * copies,
        because: 'commands and events of loans, in all replicas',
      },
      {
        amount: followed * followers,
        because: 'the changelog of accounts, once for each process',
      },
    ],
    1e9,
  );
}

/** What all serving processes send to ask for partitions without events, in GB/s. */
function requestGigabytesPerSecond(load: Load, processes: number): number {
  const bytes = awaitedPartitions(load, processes) * fixed.requestedPartitionBytes * fixed.pollsPerSecond;
  return (processes * bytes) / 1e9;
}

/** In how many partitions an average process has streams that wait for events. */
function awaitedPartitions(load: Load, processes: number): number {
  const partitions = load.eventTypes * load.partitionsPerEventType;
  const owned = Math.min(load.subscriptions, load.streams) * partitionsPerSubscription(load);
  return partitions * shareTouched(partitions, owned / processes);
}

function partitionReplicas(load: Load): number {
  const ofLoans = fixed.lendingTopics * load.lendingPartitions;
  return (load.eventTypes * load.partitionsPerEventType + ofLoans) * load.replicationFactor;
}

function storedTerabytes(load: Load): Readonly<Record<'events' | 'commands' | 'changelog', number>> {
  const { loanBytesInLog, transactionBytesInLog, commandBytes, endOfDayBytes } = measured;
  const replicated = load.replicationFactor / 1e12;
  const retentionSeconds = load.retentionHours * 3_600;
  const ofCommands = load.commandsPerSecond * commandBytes.value * retentionSeconds;
  const ofDays = dueLoansPerDay(load) * endOfDayBytes.value * (load.retentionHours / 24);
  const ofLoan = loanBytesInLog.value + load.transactionsPerLoan * transactionBytesInLog.value;
  return {
    events: publishedBytesPerSecond(load) * retentionSeconds * replicated,
    commands: (ofCommands + ofDays) * replicated,
    changelog: load.loans * ofLoan * replicated,
  };
}

function subscriptionNeeds(load: Load): Need[] {
  const each = partitionsPerSubscription(load);
  const usual = (setting: string, most: number): string => `beyond ${most}, ${setting} has to be raised`;
  return [
    {
      name: 'partitions of an event type',
      amount: load.partitionsPerEventType,
      unit: 'partitions',
      because: usual('EVENT_TYPE_PARTITIONS_MAXIMUM', fixed.eventTypePartitionsUsual),
      limit: {
        amount: fixed.eventTypePartitionsMaximum,
        movedBy: 'no setting',
      },
    },
    {
      name: 'partitions of a subscription',
      amount: each,
      unit: 'partitions',
      because: usual('SUBSCRIPTION_PARTITIONS_MAXIMUM', fixed.subscriptionPartitionsUsual),
      limit: {
        amount: fixed.subscriptionPartitionsMaximum,
        movedBy: 'several subscriptions',
      },
    },
    {
      name: 'streams of a subscription',
      amount: load.streams / load.subscriptions,
      unit: 'streams',
      because: 'a stream without a partition receives nothing',
      limit: { amount: each, movedBy: 'more partitions of its event types' },
      isShared: true,
    },
  ];
}

function workingNeeds(load: Load, capacity: Capacity, working: Processes): Need[] {
  const limit = Math.min(load.lendingPartitions, fixed.lendingPartitionsMaximum);
  return [
    {
      name: 'working processes',
      unit: 'processes of one core',
      ...working,
      limit: {
        amount: limit,
        movedBy: 'LENDING_PARTITIONS, fixed at the first start, at most 100',
      },
    },
    {
      name: 'memory of a working process',
      amount: measured.workerMegabytes.value / 1e3 + definitionGigabytes(load),
      unit: 'GB',
      because: 'caches, which have limits, and all definitions',
      limit: { amount: capacity.processGigabytes, movedBy: 'more memory' },
    },
    endOfDayNeed(load, capacity, Math.min(working.amount ?? limit, limit)),
  ];
}

/** The shares of a worker's core in the hour in which a day is closed, and otherwise. */
function workingProcesses(load: Load, capacity: Capacity): Processes {
  const following = followingCores(load);
  const alwaysFollowing = load.commandsPerSecond * followedSeconds;
  const deciding = (load.commandsPerSecond * measured.commandMicroseconds.value) / 1e6;
  const closing = (dueLoansPerDay(load) * measured.endOfDayMilliseconds.value) / 1e3 / (capacity.endOfDayMinutes * 60);
  if (following >= 1 || alwaysFollowing >= capacity.busyShare) {
    return { amount: undefined, because: followingTakes(following) };
  }
  return wholeOf([
    {
      amount: deciding / (capacity.busyShare - alwaysFollowing),
      because: 'deciding commands',
    },
    {
      amount: (closing + deciding) / (1 - following),
      because: 'closing a day within an hour',
    },
  ]);
}

function endOfDayNeed(load: Load, capacity: Capacity, processes: number): Need {
  const need = {
    name: 'end of a day',
    unit: 'minutes',
    limit: {
      amount: capacity.endOfDayMinutes,
      movedBy: 'more working processes, up to LENDING_PARTITIONS',
    },
    isShared: true,
  };
  const deciding = (load.commandsPerSecond * measured.commandMicroseconds.value) / 1e6 / processes;
  const room = 1 - deciding - load.commandsPerSecond * followedSeconds;
  if (room <= 0)
    return {
      ...need,
      amount: undefined,
      because: 'commands leave no time for it',
    };
  const closing = measured.endOfDayMilliseconds.value / 1e3 / processes;
  return {
    ...need,
    amount: (dueLoansPerDay(load) * (closing + followedSeconds)) / room / 60,
    because: 'a thirtieth of the loans has an installment due',
  };
}

function copyNeeds(load: Load, capacity: Capacity): Need[] {
  const { loanBytesInCopy, transactionBytesInCopy, loansRebuiltPerSecond, transactionRebuiltMicroseconds } = measured;
  const ofLoan = loanBytesInCopy.value + load.transactionsPerLoan * transactionBytesInCopy.value;
  const readingOfLoan =
    1 / loansRebuiltPerSecond.value + (load.transactionsPerLoan * transactionRebuiltMicroseconds.value) / 1e6;
  const posted = load.commandsPerSecond * secondsPerMonth + load.loans;
  return [
    {
      name: 'following accounts',
      amount: followingCores(load),
      unit: 'cores of each process',
      because: 'each process applies what all workers decide, and in one hour the end of the day',
      limit: {
        amount: capacity.busyShare,
        movedBy: 'processes that follow some partitions',
      },
    },
    {
      name: 'accounts.db of each process',
      amount: (load.loans * ofLoan) / 1e12,
      unit: 'TB',
      because: 'each process has a copy of all loans and all their transactions',
      limit: {
        amount: capacity.processTerabytes,
        movedBy: 'larger disks, or processes that follow some partitions',
      },
    },
    {
      name: 'growth of accounts.db in a month',
      amount: (posted * transactionBytesInCopy.value) / 1e12,
      unit: 'TB',
      because: 'at most: each command, and the interest of each loan, posts a transaction that is kept for ever',
    },
    {
      name: 'reading accounts.db from the log',
      amount: (load.loans * readingOfLoan) / 3_600,
      unit: 'hours',
      because: 'a process without its file reads the changelog',
    },
  ];
}

/** Installments fall due monthly. */
const daysBetweenInstallments = 30;
const secondsPerMonth = 30 * 86_400;

const followedSeconds = measured.followedCommandMicroseconds.value / 1e6;

function dueLoansPerDay({ loans }: Load): number {
  return loans / daysBetweenInstallments;
}

/** In the hour in which a day is closed. */
function dueLoansPerSecond(load: Load): number {
  return dueLoansPerDay(load) / 3_600;
}

/** Cores of each process that follows accounts, in the hour in which a day is closed. */
function followingCores(load: Load): number {
  return (load.commandsPerSecond + dueLoansPerSecond(load)) * followedSeconds;
}

function storedEventBytes(load: Load): number {
  return load.eventBytes + measured.storedEventOverheadBytes.value;
}

function publishedBytesPerSecond(load: Load): number {
  return load.eventsPerSecond * storedEventBytes(load);
}

function deliveriesPerSecond(load: Load): number {
  return (load.eventsPerSecond * load.subscriptions * load.eventTypesPerSubscription) / load.eventTypes;
}

function commitsPerSecond(load: Load): number {
  return load.streams / load.secondsBetweenCommits;
}

function partitionsPerSubscription(load: Load): number {
  return load.eventTypesPerSubscription * load.partitionsPerEventType;
}

function definitionGigabytes(load: Load): number {
  return (load.subscriptions * measured.definitionBytes.value) / 1e9;
}

/** A serving process without streams. */
function processGigabytes(load: Load): number {
  return measured.processMegabytes.value / 1e3 + definitionGigabytes(load);
}

function redisGigabytes(load: Load): number {
  const { redisPartitionBytes, redisStreamBytes } = measured;
  const ofSubscription = partitionsPerSubscription(load) * redisPartitionBytes.value;
  return (load.subscriptions * ofSubscription + load.streams * redisStreamBytes.value) / 1e9;
}

/** What parts take together, in units of a million unless the call says otherwise, and which takes most. */
function sumOf(parts: readonly Side[], unit = 1e6): { readonly total: number; readonly because: string } {
  return {
    total: parts.reduce((sum, { amount }) => sum + amount, 0) / unit,
    because: largest(parts).because,
  };
}

function largest(sides: readonly Side[]): Side {
  return sides.reduce((most, side) => (side.amount > most.amount ? side : most));
}

/** At least one, and no part of one. */
function wholeOf(sides: readonly Side[]): Side {
  const { amount, because } = largest(sides);
  return { amount: Math.max(1, Math.ceil(amount)), because };
}

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
  readonly retentionHours: number;
  readonly replicationFactor: number;
  readonly loans: number;
  readonly commandsPerSecond: number;
  readonly lendingPartitions: number;
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
  retentionHours: 96,
  replicationFactor: 3,
  loans: 100_000_000,
  commandsPerSecond: 1_000,
  lendingPartitions: 100,
};

/** What one process or server may take. The rest is for peaks, and for the load of one that has failed. */
export interface Capacity {
  /** The share of a core that a process or a Redis may use all the time. */
  readonly busyShare: number;
  /** Memory of one serving process. */
  readonly processGigabytes: number;
  /** Memory of one Redis primary. */
  readonly redisGigabytes: number;
  /** Partitions, each counted once for each replica, that one broker carries. */
  readonly replicasPerBroker: number;
  readonly brokerTerabytes: number;
  /** Of the network of one broker, in and out together. */
  readonly brokerMegabytesPerSecond: number;
}

export const usualCapacity: Capacity = {
  busyShare: 0.5,
  processGigabytes: 4,
  redisGigabytes: 16,
  replicasPerBroker: 4_000,
  brokerTerabytes: 8,
  brokerMegabytesPerSecond: 500,
};

/** An amount that is needed, and what decides it. */
export interface Need {
  readonly name: string;
  readonly amount: number;
  readonly unit: string;
  /** What takes most of it, in words. */
  readonly because: string;
  /** The amount up to which the present code can go; absent where more machines always help. */
  readonly limit?: number;
}

/** The same need seen from several sides: the largest one decides. */
interface Side {
  readonly amount: number;
  readonly because: string;
}

/**
 * @returns what is needed of each kind. Amounts of machines and processes are whole and at least 1.
 */
export function estimate(load: Load, capacity: Capacity): readonly Need[] {
  const streaming = estimateStreaming(load, capacity);
  return [...streaming, ...estimateLending(load, capacity)];
}

function estimateStreaming(load: Load, capacity: Capacity): Need[] {
  const cores = serveCores(load);
  const serving = largest([
    { amount: cores.total / capacity.busyShare, because: cores.because },
    {
      amount: (load.streams * measured.idleStreamKilobytes.value) / 1e6 / usableGigabytes(load, capacity),
      because: 'memory of open streams, beside the definitions',
    },
  ]);
  const processes = whole(serving.amount);
  const redisCores = redisCoresOf(load, processes);
  const primaries = largest([
    { amount: redisCores.total / capacity.busyShare, because: redisCores.because },
    { amount: redisGigabytes(load) / capacity.redisGigabytes, because: 'memory of subscriptions and streams' },
  ]);
  const brokers = largest(brokerSides(load, capacity));
  return [
    { name: 'serving processes', amount: processes, unit: 'processes of one core', because: serving.because },
    {
      name: 'memory of a serving process',
      amount: (load.streams * measured.idleStreamKilobytes.value) / 1e6 / processes + definitionGigabytes(load),
      unit: 'GB',
      because: 'its streams, and all definitions',
    },
    {
      name: 'Redis primaries',
      amount: whole(primaries.amount),
      unit: 'primaries',
      because: primaries.because,
      limit: fixed.redisShards,
    },
    {
      name: 'memory of Redis, all primaries',
      amount: redisGigabytes(load),
      unit: 'GB',
      because: 'subscriptions and streams',
    },
    {
      name: 'until an empty Redis is filled again',
      amount: (load.subscriptions * partitionsPerSubscription(load) * measured.refillMicroseconds.value) / 1e6,
      unit: 's',
      because: 'one process reads the committed cursors from the log',
    },
    {
      name: 'brokers',
      amount: Math.max(load.replicationFactor, whole(brokers.amount)),
      unit: 'brokers',
      because: brokers.because,
    },
    {
      name: 'disks of all brokers',
      amount: storedBytesPerSecond(load) * load.retentionHours * 3_600 * 1e-12,
      unit: 'TB',
      because: 'events until their retention ends, in all replicas',
    },
    {
      name: 'network to consumers',
      amount: (deliveriesPerSecond(load) * storedEventBytes(load)) / 1e9,
      unit: 'GB/s',
      because: 'each event once for each subscription',
    },
    {
      name: 'streams of a subscription that receive events',
      amount: load.streams / load.subscriptions,
      unit: 'of its partitions',
      because: 'a stream without a partition receives nothing',
      limit: Math.min(partitionsPerSubscription(load), fixed.partitionsPerSubscriptionMaximum),
    },
  ];
}

function estimateLending(load: Load, capacity: Capacity): Need[] {
  const deciding = (load.commandsPerSecond * measured.commandMicroseconds.value) / 1e6;
  const dueLoansPerDay = load.loans / daysBetweenInstallments;
  const endOfDaySeconds = (dueLoansPerDay * measured.endOfDayMilliseconds.value) / 1_000;
  const working = largest([
    { amount: deciding / capacity.busyShare, because: 'deciding commands' },
    { amount: endOfDaySeconds / endOfDaySecondsMaximum, because: 'closing a day within an hour' },
  ]);
  const processes = Math.min(whole(working.amount), load.lendingPartitions);
  return [
    {
      name: 'working processes',
      amount: whole(working.amount),
      unit: 'processes of one core',
      because: working.because,
      limit: Math.min(load.lendingPartitions, fixed.lendingPartitionsMaximum),
    },
    {
      name: 'end of a day',
      amount: endOfDaySeconds / processes / 60,
      unit: 'minutes',
      because: 'a thirtieth of the loans has an installment due',
    },
    {
      name: 'accounts.db of each process',
      amount: (load.loans * measured.loanBytesInCopy.value) / 1e9,
      unit: 'GB',
      because: 'each process has a copy of all accounts',
    },
    {
      name: 'reading accounts.db from the log',
      amount: load.loans / measured.loansRebuiltPerSecond.value / 60,
      unit: 'minutes',
      because: 'a process without its file reads the changelog',
    },
    {
      name: 'following accounts',
      amount: (load.commandsPerSecond * measured.followedCommandMicroseconds.value) / 1e6,
      unit: 'cores of each process',
      because: 'each process applies what all workers decide',
      limit: capacity.busyShare,
    },
    {
      name: 'changelog of accounts',
      amount: (load.loans * measured.loanBytesInLog.value * load.replicationFactor) / 1e12,
      unit: 'TB',
      because: 'a record for each account and page, compacted, in all replicas',
    },
    {
      name: 'events and commands of loans',
      amount:
        (load.commandsPerSecond * measured.commandBytes.value * load.replicationFactor * load.retentionHours * 3_600) /
        1e12,
      unit: 'TB',
      because: 'until their retention ends, in all replicas',
    },
  ];
}

/** Installments fall due monthly. */
const daysBetweenInstallments = 30;

const endOfDaySecondsMaximum = 3_600;

/** Cores of all serving processes together. */
function serveCores(load: Load): { readonly total: number; readonly because: string } {
  const parts = [
    { amount: load.streams * measured.idleStreamMicroseconds.value, because: 'watching over open streams' },
    { amount: load.eventsPerSecond * measured.publishMicroseconds.value, because: 'publishing' },
    { amount: deliveriesPerSecond(load) * measured.deliveryMicroseconds.value, because: 'delivering' },
    { amount: commitsPerSecond(load) * measured.commitMicroseconds.value, because: 'commits' },
  ];
  return { total: parts.reduce((sum, { amount }) => sum + amount, 0) / 1e6, because: largest(parts).because };
}

/** Cores of all Redis primaries together. */
function redisCoresOf(load: Load, processes: number): { readonly total: number; readonly because: string } {
  const parts = [
    { amount: commitsPerSecond(load) * measured.redisCommitMicroseconds.value, because: 'commits' },
    {
      amount: (watchedSubscriptions(load, processes) / fixed.watchRoundSeconds) * measured.redisWatchMicroseconds.value,
      because: 'checks of watched subscriptions',
    },
  ];
  return { total: parts.reduce((sum, { amount }) => sum + amount, 0) / 1e6, because: largest(parts).because };
}

/**
 * How many subscriptions all processes watch together, if the streams of each are spread over the processes by chance:
 * a process watches a subscription once, however many of its streams it has.
 */
function watchedSubscriptions({ streams, subscriptions }: Load, processes: number): number {
  if (subscriptions === 0) return 0;
  return processes * subscriptions * (1 - (1 - 1 / processes) ** (streams / subscriptions));
}

function brokerSides(load: Load, capacity: Capacity): Side[] {
  const replicas = load.eventTypes * load.partitionsPerEventType * load.replicationFactor;
  const written = storedBytesPerSecond(load);
  // Streams of one process share what it reads; in the worst case each subscription is read for itself.
  const read = deliveriesPerSecond(load) * storedEventBytes(load);
  return [
    { amount: replicas / capacity.replicasPerBroker, because: 'partitions' },
    { amount: (written * load.retentionHours * 3_600) / (capacity.brokerTerabytes * 1e12), because: 'disks' },
    { amount: (written + read) / (capacity.brokerMegabytesPerSecond * 1e6), because: 'network' },
  ];
}

function storedEventBytes(load: Load): number {
  return load.eventBytes + measured.storedEventOverheadBytes.value;
}

/** Bytes per second that all brokers store, with every replica. */
function storedBytesPerSecond(load: Load): number {
  return load.eventsPerSecond * storedEventBytes(load) * load.replicationFactor;
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

/** What a serving process has left for streams. Half of its memory is for garbage, batches and caches. */
function usableGigabytes(load: Load, capacity: Capacity): number {
  return Math.max(capacity.processGigabytes / 2 - definitionGigabytes(load), Number.EPSILON);
}

function redisGigabytes(load: Load): number {
  const { redisSubscriptionBytes, redisStreamBytes } = measured;
  return (load.subscriptions * redisSubscriptionBytes.value + load.streams * redisStreamBytes.value) / 1e9;
}

function largest(sides: readonly Side[]): Side {
  return sides.reduce((most, side) => (side.amount > most.amount ? side : most));
}

/** At least one, and no part of one. */
function whole(amount: number): number {
  return Math.max(1, Math.ceil(amount));
}

import { missedChangesMillisecondsMaximum } from '../../src/ports/coordination.ts';
import { shardCount } from '../../src/redis/keys.ts';

/**
 * What one of each costs. Each cost names the row of a table that has its figure, and the command that measures that
 * row again. A test compares them: who changes a row changes the figure here.
 */

/** A figure in a row of a table. */
export interface TableFigure {
  readonly document: 'docs/performance.md' | 'docs/scale.md';
  /** The first cell of the row, or words that only it has. */
  readonly row: string;
  readonly figure: number;
  /** What follows the figure in the row. */
  readonly unit: string;
}

/** A cost, and how it was found. */
export interface Measured {
  readonly value: number;
  readonly unit: string;
  readonly from: readonly TableFigure[];
  /** How the value follows from the figures. Absent where it is the figure. */
  readonly how?: string;
  /** The command that measures the figures. */
  readonly command: string;
}

const bench = 'npm run bench --';
const cluster = `${bench} --backend cluster`;
const rehearsal = 'npm run size -- --rehearse --subscriptions 3000 --streams 30000';
const weighing = 'npm run size -- --weigh 10000';

function performanceRow(row: string, figure: number, unit: string): TableFigure {
  return { document: 'docs/performance.md', row, figure, unit };
}

function scaleRow(row: string, figure: number, unit: string): TableFigure {
  return { document: 'docs/scale.md', row, figure, unit };
}

/** A cost that is the figure of a row. */
function asMeasured(from: TableFigure, unit: string, command: string): Measured {
  return { value: from.figure, unit, from: [from], command };
}

/** A cost that is worked out from figures. */
function derived(
  from: readonly TableFigure[],
  value: (...figures: readonly [number, number, number]) => number,
  texts: {
    readonly how: string;
    readonly unit: string;
    readonly command: string;
  },
): Measured {
  const [first = Number.NaN, second = Number.NaN, third = Number.NaN] = from.map(({ figure }) => figure);
  return { value: value(first, second, third), from, ...texts };
}

function toBytes(kilobytes: number): number {
  return Math.round(kilobytes * 1e3);
}

/** Of the rows that have a process with many definitions. */
const definitionsInRows = 100_000;
/** Of the row of streams at rest. */
const streamsAtRest = 10_000;
const checksInRehearsal = 4;

const processAfterStart = performanceRow('resident memory after the start', 147, 'MB');

export const measured = {
  processMegabytes: asMeasured(
    processAfterStart,
    'MB of a process that has no streams and no definitions',
    `${bench} --only start`,
  ),
  idleStreamKilobytes: asMeasured(
    performanceRow('four processes, 10,000 streams: memory of a stream', 12.4, 'KB'),
    'KB of a serving process for each open stream',
    `${cluster} --only four-processes`,
  ),
  idleStreamMicroseconds: derived(
    [performanceRow('four processes, 10,000 streams: processor time at rest, all together', 4.5, '% of a core')],
    (percent) => (percent * 1e4) / streamsAtRest,
    {
      how: 'divided by the 10,000 streams of the row',
      unit: 'µs of a serving process for each open stream and second, while nothing happens',
      command: `${cluster} --only four-processes`,
    },
  ),
  publishMicroseconds: asMeasured(
    performanceRow('publish, no two events of one shape / kafkajs producer', 2.6, 'µs'),
    'µs of a serving process for each event of 200 B that is published',
    `${cluster} --only publish-differing`,
  ),
  deliveryMicroseconds: asMeasured(
    performanceRow('ten streams over the backlog / one, deliveries', 0.22, 'µs'),
    'µs of a serving process for each event of 200 B and stream, if several streams of the process read it',
    `${bench} --only fanout`,
  ),
  commitMicroseconds: asMeasured(
    performanceRow('cursor commits, 16 in flight', 62, 'µs'),
    'µs of a serving process for each commit of cursors',
    `${cluster} --only commits`,
  ),
  definitionBytes: derived(
    [performanceRow('resident memory after these requests', 410, 'MB'), processAfterStart],
    (full, empty) => ((full - empty) * 1e6) / definitionsInRows,
    {
      how: 'what a process with 100,000 subscriptions has more than an empty one, divided by their number',
      unit: 'B of every process for each subscription, with a tenth of an event type',
      command: `${cluster} --only definitions`,
    },
  ),
  refillMicroseconds: derived(
    [performanceRow('start that fills an empty Redis, elapsed', 21, 's')],
    (seconds) => (seconds * 1e6) / definitionsInRows,
    {
      how: 'a start that fills an empty Redis, divided by its 100,000 cursors',
      unit: 'µs on the clock for each cursor that one process brings back into an empty Redis',
      command: `${cluster} --only definitions`,
    },
  ),
  redisCommitMicroseconds: asMeasured(
    performanceRow('processor time of Redis for a cursor commit', 20, 'µs'),
    'µs of Redis for each commit',
    `${cluster} --only commits`,
  ),
  redisCheckMicroseconds: derived(
    [scaleRow('the same while each shard changes', 107, 'µs')],
    (six) => six / checksInRehearsal,
    {
      how: 'divided by the four checks of six seconds',
      unit: 'µs of Redis for each time that a process checks a subscription with ten streams',
      command: rehearsal,
    },
  ),
  redisChangeMicroseconds: derived(
    [scaleRow('streams opened', 28.8, 'µs'), scaleRow('subscriptions shared out', 235, 'µs')],
    (opened, shared) => opened + shared,
    {
      how: 'one stream opens or closes, and its subscription is shared out',
      unit: 'µs of Redis for each stream that opens or closes',
      command: rehearsal,
    },
  ),
  redisPartitionBytes: asMeasured(
    scaleRow('cursors brought back into an empty Redis', 335, 'B'),
    'B of Redis for each partition of a subscription: after a refill, when it is most',
    rehearsal,
  ),
  redisStreamBytes: asMeasured(scaleRow('streams opened', 246, 'B'), 'B of Redis for each open stream', rehearsal),
  storedEventOverheadBytes: asMeasured(
    performanceRow('bytes of metadata stored with an event', 170, 'B'),
    'B that metadata adds to each event',
    `${weighing}, which counts the key as well`,
  ),
  commandMicroseconds: asMeasured(
    performanceRow('loan commands / raw consume-transact-produce loop', 337, 'µs'),
    'µs of a working process for each loan command',
    `${cluster} --only commands`,
  ),
  commandBytes: derived([performanceRow('bytes written for a loan command on a cluster', 10.6, 'KB')], toBytes, {
    how: 'in bytes',
    unit: 'B of the log that a worker writes for each loan command: its events, and the changelog',
    command: `${cluster} --only commands`,
  }),
  followedCommandMicroseconds: asMeasured(
    performanceRow('storing a loan and its command in a file with 300,000', 140, 'µs'),
    'µs of each process that follows accounts, for each command that another process decided',
    `${weighing}, whose file is smaller`,
  ),
  loanBytesInLog: derived([performanceRow('bytes of the compacted changelog for a loan', 3.3, 'KB')], toBytes, {
    how: 'in bytes',
    unit: 'B of the compacted changelog for each loan of twelve installments; a command writes as much again',
    command: `${weighing}, without the commands that are forgotten after a day`,
  }),
  loanBytesInCopy: derived([performanceRow('bytes of `accounts.db` for a loan', 4.6, 'KB')], toBytes, {
    how: 'in bytes',
    unit: 'B of accounts.db for each loan of twelve installments, with its disbursement',
    command: `${weighing}, without the commands that are forgotten after a day`,
  }),
  transactionBytesInLog: asMeasured(
    scaleRow('a further transaction, in the compacted changelog', 726, 'B'),
    'B of the compacted changelog for each further transaction of a loan',
    weighing,
  ),
  transactionBytesInCopy: asMeasured(
    scaleRow('a further transaction, in accounts.db', 1_121, 'B'),
    'B of accounts.db for each further transaction of a loan',
    weighing,
  ),
  loansRebuiltPerSecond: asMeasured(
    performanceRow('reading 1,000,000 loans from the log', 22_200, 'loans/s'),
    'loans without transactions that a process reads from the changelog in a second',
    `${bench} --only loans --scale 10`,
  ),
  transactionRebuiltMicroseconds: asMeasured(
    performanceRow('storing a loan and its command in a file that is being filled', 37, 'µs'),
    'µs of a process that reads the changelog for each transaction, as for a loan and its command',
    `${bench} --only loans --scale 2`,
  ),
  endOfDayMilliseconds: asMeasured(
    performanceRow('processor time for each loan', 1.7, 'ms'),
    'ms of a working process for each loan with an installment that falls due on the day',
    `${bench} --only end-of-day`,
  ),
  endOfDayBytes: asMeasured(
    performanceRow('bytes written for each loan', 9_953, ''),
    'B of the log for each loan with an installment that falls due on the day',
    `${bench} --only end-of-day`,
  ),
  workerMegabytes: asMeasured(
    performanceRow('resident memory, garbage included', 1_201, 'MB'),
    'MB of a working process that closes a day, however many loans there are: its caches have limits',
    `${bench} --only end-of-day`,
  ),
} as const satisfies Readonly<Record<string, Measured>>;

/** Fixed by the code or by its settings: see the names. */
export const fixed = {
  /** No more primaries of a Redis Cluster can share the load. */
  redisShards: shardCount,
  /** How often a process asks Redis for changes, as src/redis/missed-changes-and-dead-nodes.ts does. Seconds. */
  checkRoundSeconds: (missedChangesMillisecondsMaximum * 0.75) / 1_000,
  /** How often it checks subscriptions in which nothing was counted as a change: the same file. Seconds. */
  checkAtRestSeconds: 30,
  /** How long an average stream stays open where it asks for no time of its own: 3,000 to 4,200 seconds. */
  streamSeconds: 3_600,
  /** The most of LENDING_PARTITIONS: no more processes decide commands. */
  lendingPartitionsMaximum: 100,
  /** The topics that have as many: commands, eight event types, accounts, and dead letters. */
  lendingTopics: 11,
  /** The default and the most of SUBSCRIPTION_PARTITIONS_MAXIMUM. */
  subscriptionPartitionsUsual: 100,
  subscriptionPartitionsMaximum: 1_000,
  /** The default and the most of EVENT_TYPE_PARTITIONS_MAXIMUM. */
  eventTypePartitionsUsual: 8,
  eventTypePartitionsMaximum: 1_000,
  /** A partition in a request for events: 28 bytes, and a name of 25 with its lengths where no other shares it. */
  requestedPartitionBytes: 60,
  /** How often a process asks for partitions without events: the longest poll of src/kafka/consume. */
  pollsPerSecond: 2,
} as const;

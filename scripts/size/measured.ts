/**
 * What one of each costs, as measured. Every figure names where it comes from, so that it can be measured again; a
 * figure of this file that is no longer true makes docs/scale.md wrong, and nothing else.
 */

/** A cost, and how it was found. */
export interface Measured {
  readonly value: number;
  readonly unit: string;
  /** The command that measures it, or the page that says it. */
  readonly source: string;
}

const cluster = 'npm run bench -- --backend cluster';

export const measured = {
  idleStreamKilobytes: {
    value: 15.9,
    unit: 'KB of a serving process for each open stream',
    source: `${cluster} --only idle`,
  },
  idleStreamMicroseconds: {
    value: 18,
    unit: 'µs of a serving process for each open stream and second, while nothing happens',
    source: `${cluster} --only idle`,
  },
  publishMicroseconds: {
    value: 7.1,
    unit: 'µs of a serving process for each event of 200 B that is published',
    source: 'npm run bench -- --only publish',
  },
  deliveryMicroseconds: {
    value: 0.35,
    unit: 'µs of a serving process for each event of 200 B and stream, if several streams of the process read it',
    source: 'npm run bench -- --only fanout',
  },
  commitMicroseconds: {
    value: 110,
    unit: 'µs of a serving process for each commit of cursors',
    source: `${cluster} --only commits`,
  },
  definitionBytes: {
    value: 3_700,
    unit: 'B of every process for each subscription, with a tenth of an event type',
    source: `${cluster} --only definitions`,
  },
  refillMicroseconds: {
    value: 60,
    unit: 'µs of one process for each cursor that it brings back into an empty Redis',
    source: `${cluster} --only definitions`,
  },
  redisCommitMicroseconds: {
    value: 45,
    unit: 'µs of Redis for each commit',
    source: 'npm run size -- --rehearse',
  },
  redisWatchMicroseconds: {
    value: 20,
    unit: 'µs of Redis for each subscription that a process checks',
    source: 'npm run size -- --rehearse',
  },
  redisSubscriptionBytes: {
    value: 2_400,
    unit: 'B of Redis for each subscription with sixteen partitions',
    source: 'npm run size -- --rehearse',
  },
  redisStreamBytes: {
    value: 250,
    unit: 'B of Redis for each open stream',
    source: 'npm run size -- --rehearse',
  },
  storedEventOverheadBytes: {
    value: 170,
    unit: 'B that metadata adds to each event of 200 B',
    source: 'docs/performance.md, On a cluster',
  },
  commandMicroseconds: {
    value: 337,
    unit: 'µs of a working process for each loan command',
    source: `${cluster} --only commands`,
  },
  commandBytes: {
    value: 7_200,
    unit: 'B that each loan command writes to the log, with its events',
    source: 'docs/performance.md, Commands',
  },
  followedCommandMicroseconds: {
    value: 140,
    unit: 'µs of each process that follows accounts, for each command that another process decided',
    source: 'docs/performance.md, Many loans',
  },
  loanBytesInCopy: {
    value: 1_800,
    unit: 'B of accounts.db for each loan of twelve installments',
    source: 'docs/performance.md, Large logs',
  },
  loanBytesInLog: {
    value: 2_900,
    unit: 'B of the compacted changelog for each loan of twelve installments',
    source: 'docs/performance.md, Commands',
  },
  loansRebuiltPerSecond: {
    value: 18_300,
    unit: 'loans that a process reads from the changelog in a second',
    source: 'npm run bench -- --only loans --scale 10',
  },
  endOfDayMilliseconds: {
    value: 1.7,
    unit: 'ms of a working process for each loan with an installment that falls due on the day',
    source: 'npm run bench -- --only end-of-day',
  },
} as const satisfies Readonly<Record<string, Measured>>;

/** Fixed by the code: see the names of the constants. */
export const fixed = {
  /** `shardCount` of src/redis/keys.ts: no more primaries of a Redis Cluster can share the load. */
  redisShards: 16,
  /** `roundIntervalMilliseconds` of src/redis/missed-changes-and-dead-nodes.ts. Seconds. */
  watchRoundSeconds: 1.5,
  /** LENDING_PARTITIONS: at most so many processes decide commands. */
  lendingPartitionsMaximum: 100,
  /** Partitions of a subscription: at most so many of its streams receive something. */
  partitionsPerSubscriptionMaximum: 100,
} as const;

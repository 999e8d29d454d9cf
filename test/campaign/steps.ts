/** The options of a campaign. */
export interface CampaignSettings {
  /** Corrupted requests, and as many with keys of every kind. */
  readonly requests: number;
  /** Minutes of faults, for each size of the cluster, and of a steady load, on each backend. */
  readonly minutes: number;
  /** Seeds of the simulation, starting with `seed`. */
  readonly seeds: number;
  readonly seed: number;
}

/** One part of a campaign: a program that exits with 0 when it found no fault. */
export interface Step {
  readonly name: string;
  readonly title: string;
  /** The compiled program, below dist. */
  readonly program: string;
  readonly arguments: (settings: CampaignSettings) => readonly (string | number)[];
  /** Environment variables of the program in addition to those of the campaign. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The files that ask how much of them runs: test/support/values/extent.ts. */
const testsInParts = [
  'test/admin/pages/accessibility.test.ts',
  'test/faults/cluster.test.ts',
  'test/fuzz/cluster.test.ts',
  'test/http/edge/json-stream.test.ts',
  'test/kafka/protocol/record-batch-fuzz.test.ts',
  'test/redis/model.test.ts',
  'test/redis/scripts/script-mutants.test.ts',
  'test/worker/done-once.test.ts',
  'test/worker/end-of-day-kills.test.ts',
  'test/worker/written-bytes.test.ts',
];

/** The parts, in their order. */
export const steps: readonly Step[] = [
  {
    name: 'fuzz',
    title: 'Spoilt requests, on the embedded store',
    program: 'test/fuzz/run.js',
    arguments: ({ requests, seed }) => ['--requests', requests, '--seed', seed],
  },
  {
    name: 'keys',
    title: 'Requests with keys of every kind, compared with what the documents allow',
    program: 'test/security/keys/run.js',
    arguments: ({ requests, seed }) => ['--requests', requests, '--seed', seed],
  },
  {
    name: 'faults',
    title: 'Faults, on a cluster of one broker',
    program: 'test/faults/run.js',
    arguments: ({ minutes, seed }) => ['--minutes', minutes, '--seed', seed],
  },
  {
    name: 'faults-three-brokers',
    title: 'Faults, on a cluster of three brokers',
    program: 'test/faults/run.js',
    arguments: ({ minutes, seed }) => ['--brokers', 3, '--minutes', minutes, '--seed', seed + 1],
  },
  {
    name: 'story',
    title: 'The story of a loan with ten thousand transactions, on one machine and after faults on a cluster',
    program: 'scripts/run-tests.js',
    arguments: () => ['test/faults/story', 'test/faults/cluster.test.ts'],
    environment: { STORY_TRANSACTIONS: '10000', TEST_EXTENT: 'whole' },
  },
  {
    name: 'whole',
    title: 'The tests of which scripts/test runs a part, whole',
    program: 'scripts/run-tests.js',
    arguments: () => testsInParts,
    environment: { TEST_EXTENT: 'whole' },
  },
  {
    name: 'kills',
    title: 'A process killed in the middle of appends, two hundred times',
    program: 'scripts/run-tests.js',
    arguments: () => ['test/embedded/log-crash.test.ts'],
    environment: { CRASH_ROUNDS: '200' },
  },
  {
    name: 'properties',
    title: 'Properties of random loans and schedules, a thousand of each',
    program: 'scripts/run-tests.js',
    arguments: () => ['test/lending'],
    environment: { PROPERTY_RUNS: '1000' },
  },
  {
    name: 'simulation',
    title: 'Nodes and clients against an adversary, in simulated time',
    program: 'test/simulation/run.js',
    arguments: ({ seeds, seed }) => ['--seeds', seeds, '--from', seed],
  },
  {
    name: 'simulation-redis',
    title: 'The same on the scripts of a real Redis, with a tenth of the seeds',
    program: 'test/simulation/run.js',
    arguments: ({ seeds, seed }) => ['--store', 'redis', '--seeds', Math.ceil(seeds / 10), '--from', seed],
  },
  {
    name: 'planted-faults',
    title: 'Faults planted in the code, which the simulation has to find',
    program: 'test/simulation/run.js',
    arguments: () => ['--mutants'],
  },
  {
    name: 'soak',
    title: 'A steady load, on the embedded store',
    program: 'scripts/soak/soak.js',
    arguments: ({ minutes }) => ['--minutes', minutes],
  },
  {
    name: 'soak-cluster',
    title: 'A steady load, on a cluster',
    program: 'scripts/soak/soak.js',
    arguments: ({ minutes }) => ['--backend', 'cluster', '--minutes', minutes],
  },
];

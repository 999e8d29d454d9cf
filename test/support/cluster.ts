import { before, describe } from 'mocha';

/** A Kafka and a Redis that a suite may use. Others use them too, so every suite makes its own names. */
export interface Cluster {
  /** host:port of each broker. */
  readonly kafkaBrokers: readonly string[];
  readonly redisUrl: string;
}

/** The Kafka version of all suites, and the previous major version, which a few suites test as well. */
export type KafkaGeneration = 'current' | 'previous';

const brokersSettings: Record<KafkaGeneration, string> = {
  current: 'KAFKA_BROKERS',
  previous: 'PREVIOUS_KAFKA_BROKERS',
};

const wanted = new Set<KafkaGeneration>();
const provided = new Map<KafkaGeneration, Cluster>();

/** The clusters required by the suites declared so far. */
export function wantedClusters(): readonly KafkaGeneration[] {
  return [...wanted];
}

/** Sets a cluster that was started for the suites, before they run. */
export function provideCluster(generation: KafkaGeneration, cluster: Cluster): void {
  provided.set(generation, cluster);
}

/** The cluster of that version, started for the suites or named by the environment. */
export function providedCluster(generation: KafkaGeneration): Cluster | undefined {
  const started = provided.get(generation);
  if (started !== undefined) return started;
  const brokers = process.env[brokersSettings[generation]] ?? '';
  const redisUrl = process.env['REDIS_URL'] ?? '';
  return brokers === '' || redisUrl === '' ? undefined : { kafkaBrokers: brokers.split(','), redisUrl };
}

function describeOn(generation: KafkaGeneration, title: string, body: (cluster: () => Cluster) => void): void {
  wanted.add(generation);
  describe(title, function () {
    before(function () {
      if (providedCluster(generation) !== undefined) return;
      const reason = `"${title}" needs ${brokersSettings[generation]} and REDIS_URL, or scripts/test to start them`;
      if (process.env['CI'] === 'true') throw new Error(reason);
      process.stdout.write(`    skipped: ${reason}\n`);
      this.skip();
    });
    // In a separate suite, because hooks beside the skipping one would still run.
    describe('on Kafka and Redis', () => {
      body(() => {
        const cluster = providedCluster(generation);
        if (cluster === undefined) throw new Error('The cluster may be asked for in hooks and tests only');
        return cluster;
      });
    });
  });
}

/**
 * A suite that needs a real Kafka and a real Redis: those that scripts/test starts, or those of KAFKA_BROKERS and
 * REDIS_URL. Without them its tests are pending, and with CI=true it fails.
 * @param body declares the tests of the suite; it may use the cluster in hooks and tests, not while it declares them
 */
export function describeOnCluster(title: string, body: (cluster: () => Cluster) => void): void {
  describeOn('current', title, body);
}

/** The same suite on the previous major version of Kafka. */
export function describeOnPreviousKafka(title: string, body: (cluster: () => Cluster) => void): void {
  describeOn('previous', `${title}, on the Kafka before`, body);
}

/** The same suite on both versions. It takes twice as long. */
export function describeOnEachKafka(title: string, body: (cluster: () => Cluster) => void): void {
  describeOnCluster(title, body);
  describeOnPreviousKafka(title, body);
}

import { before, describe } from 'mocha';
import { brokersSettings, providedCluster, type Cluster, type KafkaGeneration } from './clusters/provided-cluster.ts';

const wanted = new Set<KafkaGeneration>();

/** The clusters required by the suites declared so far. */
export function wantedClusters(): readonly KafkaGeneration[] {
  return [...wanted];
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
